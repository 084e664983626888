"""Lessons and transcripts: figures of the matrix game; exact columns apart; rows that replay."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from saddlesynth.games.equilibrium import regret
from saddlesynth.games.play import mixture
from saddlesynth.games.toys import TOYS
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.lesson import Lesson, from_table, from_toy, replay
from saddlesynth.synthesis.lesson.games import GAMES
from saddlesynth.synthesis.lesson.transcript import MARK, Transcript

EVERY_GAME = pytest.mark.parametrize("game", GAMES)
BITS = pd.DataFrame({"a": ["x", "y"] * 40, "b": ["u", "u", "v", "v"] * 20})
SCHEMA = {
    "columns": {
        "a": {"type": "categorical", "values": ["x", "y"]},
        "b": {"type": "categorical", "values": ["u", "v"]},
    }
}


@EVERY_GAME
@pytest.mark.parametrize("noise", [True, False])
def test_every_game_is_walked_through(lesson, game, noise):
    played = lesson(game=game, noise=noise)
    assert 1 <= len(played.seen) <= 6 and played.step() is None
    np.testing.assert_allclose(played.data_play().sum(axis=1), 1)
    np.testing.assert_allclose(played.query_play().sum(axis=1), 1)
    assert (played.seen[-1].epsilon > 0) == noise
    assert played.seen[-1].epsilon <= 1


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("game", ["fem", "dualquery", "mwem"])
def test_regrets_are_those_of_the_matrix_game(lesson, toy, game):
    played = lesson(toy, game)
    found = regret(played.exhibit.matrix.values, played.data_play(), played.query_play())
    figures = played.seen[-1].exact
    assert figures.data_regret == pytest.approx(found.data)
    assert figures.query_regret == pytest.approx(found.query)
    assert figures.mean_error <= played.exhibit.value + figures.gap + 1e-9


def test_a_lesson_can_be_walked_in_parts(lesson):
    walked = Lesson(from_toy("colors", 100), rounds=6, samples=4, seed=1)
    assert walked.step().round.number == 1
    assert len(walked.run(until=4).seen) == 4 and not walked.over
    assert [s.exact.payoff for s in walked.run().seen] == [s.exact.payoff for s in lesson().seen]


def test_copies_change_the_people_and_not_the_game():
    one, many = from_toy("forbidden"), from_toy("forbidden", 50)
    assert (one.rows, many.rows) == (8, 400)
    np.testing.assert_allclose(one.matrix.values, many.matrix.values)


def test_the_chances_are_those_of_the_exponential_mechanism(lesson):
    seen = lesson("coin", rounds=1).seen[0]
    scores, epsilon = seen.selection.scores, seen.selection.epsilon
    weights = np.exp(epsilon / 2 * scores)
    np.testing.assert_allclose(seen.selection.chances, weights / weights.sum())
    assert seen.selection.scores[seen.selection.drawn[0]] == pytest.approx(400 * seen.exact.payoff)


# ---------------------------------------------------------------------- what may leave
def test_exact_columns_are_marked_and_apart(lesson):
    transcript = lesson().transcript()
    assert all(MARK in name for name in transcript.private)
    assert not [name for name in transcript.frame if MARK in name]
    assert not set(transcript.frame) & set(transcript.exact)
    assert {"payoff", "probability", "error", "gap"} <= set(transcript.exact)


def test_a_transcript_of_a_private_table_has_no_exact_columns(lesson):
    with pytest.raises(PermissionError, match="declared public"):
        _ = Transcript(lesson().transcript().frame).private


@EVERY_GAME
def test_the_saved_rows_replay_to_the_same_synthetic_table(tmp_path, game):
    """On a 2 x 2 table, from the saved file alone."""
    exhibit = from_table(BITS, SCHEMA, public=True)
    played = Lesson(exhibit, game, rounds=6, samples=4, epsilon=5.0, seed=0).run()
    played.transcript().save(tmp_path / "rounds.csv")
    saved = pd.read_csv(tmp_path / "rounds.csv")
    assert MARK not in (tmp_path / "rounds.csv").read_text() and "payoff" not in saved
    again, last = replay(saved, exhibit.domain), played.seen[-1]
    if last.after is None:
        rounds = [seen.round for seen in played.seen]
        np.testing.assert_array_equal(again.records, mixture(rounds))
    else:
        np.testing.assert_array_equal(again.records, last.records)
        np.testing.assert_array_equal(again.weights, last.after)


def test_a_fitted_game_has_a_trace_that_replays_and_nothing_exact():
    from saddlesynth.synthesis.methods import make

    made = make("fem", rounds=5, samples=3, random_state=0).fit(BITS, SCHEMA)
    trace, model = made.trace_, made.release_.fit.model
    assert len(trace) == 5 and not {"payoff", "error", "probability"} & set(trace)
    np.testing.assert_array_equal(replay(trace, model.domain, made.tail).records, model.records)


def test_without_noise_no_transcript_is_written(lesson, tmp_path):
    with pytest.raises(InputError, match="without noise"):
        lesson(noise=False).transcript().save(tmp_path / "rounds.csv")
    assert not list(tmp_path.iterdir())


def test_a_table_that_is_not_declared_public_is_refused():
    with pytest.raises(InputError, match="--public"):
        from_table(BITS, SCHEMA, public=False, name="people.csv")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"game": "chess"}, "game"),
        ({"game": "smalldb"}, "no rounds"),
        ({"rounds": 0}, "rounds is 0"),
        ({"samples": 0}, "samples is 0"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"solver": "abacus"}, "solver"),
    ],
)
def test_wrong_settings_are_named(wrong, said):
    with pytest.raises(InputError, match=said):
        Lesson(from_toy("coin"), **wrong)


# ---------------------------------------------------------------------- plots
@pytest.mark.parametrize("name", ["payoff", "error_heat", "payoff_heat", "simplex", "epsilon"])
def test_a_plot_takes_an_axes_and_returns_its_figure(lesson, name):
    from matplotlib.figure import Figure

    from saddlesynth.synthesis.lesson import plots

    played = lesson()
    draw, about = {
        "payoff": (plots.payoff_plot, played),
        "error_heat": (plots.error_heat_map, played),
        "payoff_heat": (plots.payoff_heat_map, played.exhibit.matrix),
        "simplex": (plots.simplex_plot, played),
        "epsilon": (plots.epsilon_plot, played),
    }[name]
    assert isinstance(draw(about), Figure)
    figure = Figure()
    ax = figure.add_subplot()
    assert draw(about, ax) is figure and ax.has_data()


def test_a_triangle_needs_three_records(lesson):
    from saddlesynth.synthesis.lesson.plots import simplex_plot

    with pytest.raises(ValueError, match="exactly three"):
        simplex_plot(lesson("coin"))


def test_importing_the_lesson_imports_neither_pandas_nor_matplotlib():
    import subprocess
    import sys

    code = (
        "import saddlesynth.synthesis.lesson, sys;"
        "print({'matplotlib', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
