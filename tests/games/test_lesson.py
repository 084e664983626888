"""Playthroughs of the toys: golden transcripts, plots, the page in a browser, the command."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from saddlesynth.games.toys import TOYS
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.query_release import plots
from saddlesynth.synthesis.query_release.lesson import Playthrough, public_table, replay
from saddlesynth.synthesis.query_release.page import lesson_page, write_lesson

GOLDEN = Path(__file__).parent / "playthroughs"
GAMES = ["fem", "sepfem", "dualquery", "dqrs", "mwem", "pmw", "smalldb"]


def _play(table="colors", game="fem", **settings):
    length = {"pmw": {"updates": 4}, "smalldb": {"size": 4}}.get(game, {"rounds": 6})
    few = {"samples": 4} if game in ("fem", "sepfem", "dualquery", "dqrs") else {}
    return Playthrough(table, game, **{**length, **few, **settings})


# ---------------------------------------------------------------------- golden playthroughs
@pytest.mark.parametrize("game", ["fem", "dualquery", "mwem"])
@pytest.mark.parametrize("table", TOYS)
def test_a_seeded_play_is_the_golden_one(table, game):
    """To make them anew: ``python tests/games/make_playthroughs.py``; say in the commit why."""
    trace = _play(table, game).run().trace().drop(columns=["seconds"], errors="ignore")
    golden = pd.read_csv(GOLDEN / f"{table}_{game}.csv")
    pd.testing.assert_frame_equal(
        trace, golden, check_dtype=False, check_exact=False, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("noise", [True, False])
def test_every_game_can_be_stepped_through(game, noise):
    play = _play(game=game, noise=noise)
    steps = 0
    while play.step() is not None:
        steps += 1
    assert steps == len(play.trace()) == len(play.exact) > 0
    assert (play.spent[-1] > 0) == noise
    np.testing.assert_allclose(play.mix(steps).sum(), 1.0)


def test_a_play_can_be_run_in_parts():
    play = _play().run(2)
    assert len(play.rounds) == 2
    assert play.run().trace().equals(_play().run().trace()) or len(play.rounds) == 6


# ---------------------------------------------------------------------- what may leave
def test_private_columns_are_marked_and_left_out_of_what_is_saved(tmp_path):
    play = _play().run()
    trace = play.trace()
    assert {"exact_payoff", "exact_mean_error", "exact_gap"} <= set(trace.attrs["private"])
    saved = pd.read_csv(play.save(tmp_path / "trace.csv"))
    assert not [c for c in saved.columns if c.startswith("exact_")]
    assert list(play.trace(private=False).columns) == list(saved.columns)


def test_the_saved_trace_replays_to_the_same_records(tmp_path):
    play = _play("forbidden").run()
    again = replay(pd.read_csv(play.save(tmp_path / "trace.csv")))
    np.testing.assert_array_equal(again, np.concatenate([r.records for r in play.rounds]))


def test_a_fitted_game_has_a_trace_without_private_columns():
    from saddlesynth.synthesis.methods import make

    frame = pd.DataFrame({"a": ["x", "y"] * 40, "b": ["u", "u", "v", "v"] * 20})
    schema = {
        "columns": {
            "a": {"type": "categorical", "values": ["x", "y"]},
            "b": {"type": "categorical", "values": ["u", "v"]},
        }
    }
    made = make("fem", rounds=5, samples=3, random_state=0).fit(frame, schema)
    trace = made.trace_
    assert len(trace) == 5
    assert not [c for c in trace.columns if c.startswith("exact_")]
    pool = made.release_.fit.model.records
    np.testing.assert_array_equal(replay(trace), pool)


# ---------------------------------------------------------------------- plots
DRAWN = {
    "payoff": plots.payoff_plot,
    "error": plots.error_plot,
    "simplex": plots.simplex_plot,
    "budget": plots.budget_plot,
    "matrix": lambda play, ax=None: plots.matrix_plot(play.matrix(), ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_takes_an_axes_and_returns_its_figure(name):
    from matplotlib.figure import Figure

    play = _play("colors").run()
    assert isinstance(DRAWN[name](play), Figure)
    figure = Figure()
    ax = figure.add_subplot()
    assert DRAWN[name](play, ax) is figure
    assert ax.has_data()


def test_a_triangle_needs_three_records():
    with pytest.raises(ValueError, match="exactly three"):
        plots.simplex_plot(_play("coin").run())


# ---------------------------------------------------------------------- the page
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --enable-logging=stderr --window-size=1100,900 "
    "--virtual-time-budget=12000"
).split()
PROBE = """<script>
const seen = {};
const look = (name) => { seen[name] = [document.getElementById("where").textContent,
  document.querySelectorAll("th.asked").length, document.getElementById("said").textContent]; };
look("start");
document.getElementById("next").click(); look("next");
document.getElementById("back").click(); look("back");
const slider = document.getElementById("slider");
slider.value = 4; slider.dispatchEvent(new Event("input")); look("slider");
dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"})); look("key");
document.getElementById("first").click();
document.getElementById("play").click();
setTimeout(() => {
  look("played");
  seen.button = document.getElementById("play").textContent;
  seen.asked = performance.getEntriesByType("resource").map((e) => e.name);
  seen.wide = document.documentElement.scrollWidth > innerWidth + 1;
  document.title = JSON.stringify(seen);
}, 8000);
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
def test_the_page_plays_steps_and_slides_in_a_browser_offline(tmp_path):
    file = tmp_path / "probe.html"
    page = lesson_page(_play("forbidden").run())
    file.write_text(page.replace("</body>", PROBE), "utf-8")
    ran = subprocess.run(
        [str(BROWSER), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
         file.as_uri()],
        capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    title = re.search(r"<title>(\{.*?\})</title>", ran.stdout)
    assert title is not None, ran.stderr[-500:]
    seen = json.loads(html.unescape(title.group(1)))
    places = {name: seen[name][0] for name in ("start", "next", "back", "slider", "key", "played")}
    assert places == {
        "start": "round 1 of 6", "next": "round 2 of 6", "back": "round 1 of 6",
        "slider": "round 4 of 6", "key": "round 5 of 6", "played": "round 6 of 6",
    }  # fmt: skip
    assert seen["start"][1] == 1 and seen["start"][2] != seen["slider"][2]
    assert (seen["button"], seen["asked"], seen["wide"]) == ("Play", [], False)
    assert "CONSOLE" not in ran.stderr


def test_the_page_cannot_be_broken_out_of_by_labels(table):
    from saddlesynth.games.query_class import QueryClass
    from saddlesynth.games.toys import Toy
    from saddlesynth.oracles.domain import Domain

    domain = Domain(("</script>",), (2,))
    records = np.array([[0], [1]])
    workload = QueryClass.of(domain, [(0,)])
    labels = (("<b>", "&"),)
    evil = Toy("</script><b>", "<img src=x>", domain, labels, records, workload, 0.0)
    page = lesson_page(Playthrough(evil, rounds=2, samples=2).run())
    assert "<b>" not in page and "<img" not in page
    assert page.count("</script>") == 2


def test_a_page_is_not_overwritten_without_force(tmp_path):
    play = _play().run(1)
    write_lesson(play, tmp_path / "page.html")
    with pytest.raises(InputError, match="force"):
        write_lesson(play, tmp_path / "page.html")
    write_lesson(play, tmp_path / "page.html", force=True)


# ---------------------------------------------------------------------- data and command
def test_a_public_file_can_be_played_on(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,age\n" + "F,3\nM,7\n" * 30)
    schema = {
        "columns": {
            "sex": {"type": "categorical", "values": ["F", "M"]},
            "age": {"type": "integer", "min": 0, "max": 9, "bins": 10},
        }
    }
    table = public_table(path, schema, "all:2")
    play = Playthrough(table, rounds=40, epsilon=50.0).run()
    assert play.exact[-1].mean_error < play.exact[0].mean_error


def _run(*arguments):
    from click.testing import CliRunner

    from saddlesynth.synthesis.cli.play import play

    return CliRunner().invoke(play, [str(a) for a in arguments])


def test_the_command_prints_matrix_rounds_and_a_summary(tmp_path):
    ran = _run("coin", "--rounds", 3, "--html", tmp_path / "a.html", "--trace", tmp_path / "t.csv")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == ""
    assert "value 0.0000" in ran.stderr and "not (face=heads)" in ran.stderr
    assert len(re.findall(r"^ +\d+ +[+-]0\.\d", ran.stderr, re.MULTILINE)) == 3
    assert "after 3 rounds" in ran.stderr
    assert (tmp_path / "a.html").exists() and "exact" not in (tmp_path / "t.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess",), "neither a file nor a toy"),
        ((__file__,), "--public"),
        ((__file__, "--public"), "--schema"),
        (("coin", "--game", "privsyn"), "game is 'privsyn'"),
        (("coin", "--rounds", "0"), "rounds is 0"),
        (("coin", "--epsilon", "0"), "epsilon"),
    ],
)
def test_what_cannot_be_played_is_refused(arguments, said):
    ran = _run(*arguments)
    assert isinstance(ran.exception, InputError)
    assert said in str(ran.exception)
