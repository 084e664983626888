"""The game without its noise: every mechanism is exact, nothing is charged."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games import dqrs
from saddlesynth.games.noiseless import Noiseless, exact_scores
from saddlesynth.games.play import Game
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Secure
from saddlesynth.games.toys import toy
from saddlesynth.oracles.exact import Exact

COLORS = toy("colors")
EQUAL = [np.full(3, 1 / 3)]  # red 1/2 is 1 of 6 records too rare, blue 1/6 as much too frequent


@pytest.fixture
def curator():
    return Noiseless(COLORS, public=True)


def test_the_worst_query_is_chosen(curator):
    chosen = curator.select_query("pick", COLORS.workload, EQUAL, 1e-9, draws=2)
    assert [COLORS.workload.query(i).describe(("color",), COLORS.labels) for i in chosen] == [
        "color=red"
    ] * 2


def test_scores_are_errors_in_counts(curator):
    np.testing.assert_allclose(
        exact_scores(curator, COLORS.workload, EQUAL), [1, 0, -1, -1, 0, 1], atol=1e-12
    )


def test_measurements_are_exact_whatever_the_budget(curator):
    (one,) = curator.measure("count", [(0,)], [1e-9])
    (two,) = curator.measure_laplace("count", [(0,)], [1e-9])
    assert one.counts.tolist() == two.counts.tolist() == [3, 2, 1]
    assert curator.measure_query("count", COLORS.workload, 3, 1e-9, None)[0] == 3  # not red


def test_rejection_coins_are_tossed_all_the_same(curator):
    """They are part of an algorithm: at rate 10 only an error that reaches the reference stays."""
    keep = curator.keep_queries("keep", COLORS.workload, [0, 1] * 200, EQUAL, 10.0, 0.5, 0.9)
    assert 0.5 < sum(keep[0::2]) / 200 < 0.7  # exp(-0.5) is 0.61
    assert sum(keep[1::2]) == 0


def test_the_best_table_is_chosen(curator):
    tables = np.array([[1, 0, 0], [1 / 2, 1 / 3, 1 / 6], [1 / 3, 1 / 3, 1 / 3]])
    assert curator.select_table("pick", COLORS.workload, [tables[:1], tables[1:]], 1e-9) == 1


def test_a_threshold_is_sharp(curator):
    run = curator.above_threshold("test", COLORS.workload, 1e-9)
    assert run.first_above([2, 1, 0], np.array([0.0, 1.0, 1.0]), 2) == 2


def test_nothing_is_charged(curator):
    curator.measure("count", [(0,)], [1e9])
    game = Game(curator, COLORS.workload, Exact())
    list(dqrs.play(game, dqrs.DQRS(5, 3, 1e6, 6), np.random.default_rng(0)))
    assert curator.ledger.lines == []


def test_exact_scores_of_private_records_are_refused():
    private = Curator(COLORS, Ledger(1.0, 1e-9), Secure())
    with pytest.raises(PermissionError, match="public=True"):
        exact_scores(private, COLORS.workload, EQUAL)
