"""Minimum-cost moves between tables against the plain linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from saddlesynth.oracles.convex import transport as module
from saddlesynth.oracles.convex.transport import Moves, hamming, least_cost_cvxpy, transport

Table = NDArray[np.int64]
SHAPES = st.sampled_from([(1,), (5,), (3, 4), (4, 4), (2, 3, 2), (2, 2, 2, 2), (6, 1)])


@st.composite
def pairs_of_tables(draw: st.DrawFn) -> tuple[Table, Table]:
    shape = draw(SHAPES)
    cells = int(np.prod(shape))
    total = draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first, second = (rng.multinomial(total, rng.dirichlet(np.full(cells, 0.4))) for _ in range(2))
    return first.reshape(shape), second.reshape(shape)


def moved(current: Table, moves: Moves) -> Table:
    result = current.ravel().copy()
    np.subtract.at(result, moves.source, moves.records)
    np.add.at(result, moves.destination, moves.records)
    return result.reshape(current.shape)


@settings(max_examples=60)
@given(pairs_of_tables())
def test_moves_reach_the_target_at_the_least_cost(tables: tuple[Table, Table]) -> None:
    current, target = tables
    moves = transport(current, target)
    np.testing.assert_array_equal(moved(current, moves), target)
    distances = hamming(moves.source, moves.destination, current.shape)
    assert moves.cost == int(distances @ moves.records)
    assert moves.cost == pytest.approx(least_cost_cvxpy(current, target), abs=1e-6)


@given(pairs_of_tables())
def test_only_the_excess_moves(tables: tuple[Table, Table]) -> None:
    current, target = tables
    moves = transport(current, target)
    sent = np.bincount(moves.source, weights=moves.records, minlength=current.size)
    np.testing.assert_array_equal(sent, np.maximum(current - target, 0).ravel())
    assert (moves.records > 0).all()
    assert (np.diff(moves.source) >= 0).all()


@given(pairs_of_tables())
def test_hubs_and_pairs_cost_the_same(tables: tuple[Table, Table]) -> None:
    excess = np.maximum(tables[0] - tables[1], 0).ravel()
    deficit = np.maximum(tables[1] - tables[0], 0).ravel()
    sources, sinks = np.flatnonzero(excess), np.flatnonzero(deficit)
    if not len(sources):
        return
    shape = tables[0].shape
    costs = []
    for route in (module._by_hubs, module._by_pairs):
        source, destination, records = route(shape, sources, sinks, excess[sources], deficit[sinks])
        costs.append(int(hamming(source, destination, shape) @ records))
    assert costs[0] == costs[1]


def test_large_tables_use_hubs_and_stay_exact() -> None:
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(10_000, 0.2))
    current, target = (rng.multinomial(45_000, share).reshape(100, 100) for _ in range(2))
    moves = transport(current, target)
    np.testing.assert_array_equal(moved(current, moves), target)
    # Each record that moves changes one or two values.
    assert moves.records.sum() <= moves.cost <= 2 * moves.records.sum()


def test_many_axes_use_pairs() -> None:
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(2**10, 0.05))
    current, target = (rng.multinomial(300, share).reshape((2,) * 10) for _ in range(2))
    np.testing.assert_array_equal(moved(current, transport(current, target)), target)


@pytest.mark.parametrize(
    ("current", "target", "message"),
    [
        ([1, 2], [1, 1, 1], "shapes"),
        ([1, 2], [1, 1], "adds up"),
        ([-1, 4], [1, 2], "non-negative"),
        ([1.0, 2.0], [2, 1], "integers"),
    ],
)
def test_bad_input_is_refused(current: list[float], target: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        transport(np.array(current), np.array(target))
