"""Equilibrium of matrix games: known values, and the laws the theorem rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from saddlesynth.games.equilibrium import duality_gap, regret, solve

KNOWN = [
    ([[1, -1], [-1, 1]], 0.0, [1 / 2, 1 / 2]),  # matching pennies
    ([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], 0.0, [1 / 3, 1 / 3, 1 / 3]),  # rock, paper, scissors
    ([[3, -1], [-2, 1]], 1 / 7, [3 / 7, 4 / 7]),  # a hand-worked 2 x 2 game
    ([[4, 2], [3, 1]], 3.0, [0, 1]),  # a saddle point in pure strategies
]

matrices = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(-2, 2, width=16)
)


@pytest.mark.parametrize(("matrix", "value", "data_mix"), KNOWN)
def test_known_games_have_their_known_value(matrix, value, data_mix):
    game = solve(matrix)
    assert game.value == pytest.approx(value, abs=1e-9)
    assert game.gap < 1e-9
    np.testing.assert_allclose(game.data_mix, data_mix, atol=1e-9)


@given(matrices)
@settings(max_examples=40, deadline=None)
def test_exchanging_the_players_negates_the_value(matrix):
    assert solve(matrix).value == pytest.approx(-solve(-matrix.T).value, abs=1e-7)


@given(matrices, st.integers(1, 30), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_regrets_add_up_to_the_gap_and_bound_the_worst_query(matrix, rounds, seed):
    generator = np.random.default_rng(seed)
    data = generator.dirichlet(np.ones(matrix.shape[0]), rounds)
    query = generator.dirichlet(np.ones(matrix.shape[1]), rounds)
    play = regret(matrix, data, query)
    gap = duality_gap(matrix, data.mean(axis=0), query.mean(axis=0))
    assert play.gap == pytest.approx(gap, abs=1e-9)
    assert gap > -1e-9
    worst = (data.mean(axis=0) @ matrix).max()
    assert worst <= play.error_bound(solve(matrix).value) + 1e-7


@pytest.mark.parametrize("bad", [[], [[]], [1.0, 2.0], [[np.nan]], [[np.inf, 1]]])
def test_what_is_no_matrix_is_refused(bad):
    with pytest.raises(ValueError, match="payoff matrix"):
        solve(bad)


def test_plays_must_fit_the_game():
    with pytest.raises(ValueError, match="the game is"):
        regret([[1, 2]], [[1.0]], [[1.0]])
