"""DenseMarg: greedy and exact selection against brute force and cutting planes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.convex.budget import allocate
from saddlesynth.oracles.convex.selection import select_exact, select_greedy
from saddlesynth.oracles.convex.selection_mip import select_cvxpy

# Few different values, so that ties and dominated candidates are common.
ITEMS = st.lists(
    st.tuples(
        st.sampled_from([-50.0, 0.0, 40.0, 100.0, 400.0]) | st.floats(-1e3, 5e3),
        st.sampled_from([4, 6, 50]) | st.integers(2, 5000),
    ),
    max_size=9,
)
RHOS = st.sampled_from([1e-4, 1e-3, 1e-2, 1.0])


def objective(
    chosen: tuple[int, ...], errors: list[float], cells: list[int], rho: float, sensitivity: float
) -> float:
    """The two sums of the definition, with shares from the allocation: no closed form."""
    left = sum(e for i, e in enumerate(errors) if i not in chosen)
    if not chosen:
        return left
    shares = allocate([cells[i] for i in chosen], rho).shares
    noise = [sensitivity * cells[i] / math.sqrt(math.pi * r) for i, r in zip(chosen, shares)]  # noqa: B905
    return left + sum(noise)


def brute_force(errors: list[float], cells: list[int], rho: float, sensitivity: float) -> float:
    sets = itertools.chain.from_iterable(
        itertools.combinations(range(len(errors)), size) for size in range(len(errors) + 1)
    )
    return min(objective(chosen, errors, cells, rho, sensitivity) for chosen in sets)


@settings(max_examples=60)
@given(ITEMS, RHOS, st.sampled_from([1.0, math.sqrt(2)]))
def test_exact_selection_is_optimal(
    items: list[tuple[float, int]], rho: float, sensitivity: float
) -> None:
    errors, cells = [e for e, _ in items], [c for _, c in items]
    best = select_exact(errors, cells, rho, sensitivity=sensitivity)
    scale = sum(map(abs, errors)) + 1
    assert best.optimal
    assert abs(best.objective - brute_force(errors, cells, rho, sensitivity)) <= 1e-9 * scale
    recomputed = objective(best.chosen, errors, cells, rho, sensitivity)
    assert abs(best.objective - recomputed) <= 1e-9 * scale


@given(ITEMS, RHOS)
def test_greedy_is_never_better_than_exact_nor_than_its_bound(
    items: list[tuple[float, int]], rho: float
) -> None:
    errors, cells = [e for e, _ in items], [c for _, c in items]
    greedy, exact = select_greedy(errors, cells, rho), select_exact(errors, cells, rho)
    scale = sum(map(abs, errors)) + 1
    assert exact.objective <= greedy.objective
    assert greedy.bound <= exact.objective + 1e-9 * scale


def published_greedy(errors: list[float], cells: list[int], rho: float) -> set[int]:
    """Algorithm 1 as written, every sum recomputed."""
    chosen: set[int] = set()
    value = sum(errors)
    while len(chosen) < len(errors):
        values = {
            i: objective(tuple(sorted(chosen | {i})), errors, cells, rho, 1.0)
            for i in range(len(errors))
            if i not in chosen
        }
        best = min(values, key=lambda i: values[i])
        if values[best] >= value:
            break
        chosen.add(best)
        value = values[best]
    return chosen


def test_incremental_greedy_is_the_published_one() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        errors = rng.exponential(2000, 15).tolist()
        cells = rng.integers(4, 4000, 15).tolist()
        assert set(select_greedy(errors, cells, 0.01).chosen) == published_greedy(
            errors, cells, 0.01
        )


@pytest.mark.parametrize("candidates", [20, 91])
def test_cutting_planes_agree_with_branch_and_bound(candidates: int) -> None:
    rng = np.random.default_rng(candidates)
    for rho in (1e-4, 1e-2):
        errors = rng.exponential(2000, candidates) + rng.normal(0, 500, candidates)
        cells = np.exp(rng.uniform(math.log(4), math.log(8000), candidates)).round()
        exact, judge = select_exact(errors, cells, rho), select_cvxpy(errors, cells, rho)
        assert exact.objective == pytest.approx(judge.objective, rel=1e-8)


@pytest.mark.parametrize("kind", ["spread", "equal", "few kinds"])
def test_a_hundred_attributes_are_proven_in_a_few_nodes(kind: str) -> None:
    rng = np.random.default_rng(3)
    cells, errors = np.full(4950, 100.0), np.full(4950, 1000.0)
    if kind == "spread":
        cells = np.exp(rng.uniform(math.log(4), math.log(8000), 4950)).round()
        errors = rng.exponential(2000, 4950) + rng.normal(0, 500, 4950)
    elif kind == "few kinds":
        cells, errors = rng.choice([4.0, 7.0, 64.0], 4950), rng.choice([100.0, 577.0, 900.0], 4950)
    for rho in (1e-4, 1e-2, 1.0):
        best = select_exact(errors, cells, rho)
        assert best.optimal
        assert best.nodes < 100


def test_a_cut_off_tree_says_so_and_bounds_what_is_lost() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        errors, cells = rng.exponential(2000, 30), rng.integers(4, 4000, 30)
        cut, full = (select_exact(errors, cells, 0.01, max_nodes=n) for n in (1, 10_000))
        assert cut.bound <= full.objective <= cut.objective
        if full.nodes > 1 and not cut.optimal:
            return
    pytest.fail("no instance needed more than one node")


def test_scores_that_are_not_positive_are_never_chosen() -> None:
    assert select_exact([0.0, -5.0], [2, 2], 100.0).chosen == ()
    assert select_greedy([0.0, -5.0], [2, 2], 100.0).chosen == ()


def test_threshold_stops_the_greedy_early_or_late() -> None:
    errors, cells = [900.0, 300.0, 5.0], [4, 4, 4]
    sizes = [
        len(select_greedy(errors, cells, 0.01, threshold=t).chosen) for t in (-1e6, 0.0, 500.0)
    ]
    assert sizes == [3, 2, 1]


def test_a_larger_sensitivity_selects_less() -> None:
    rng = np.random.default_rng(2)
    errors, cells = rng.exponential(1000, 50), rng.integers(4, 500, 50)
    few = select_exact(errors, cells, 0.001, sensitivity=6.0)
    many = select_exact(errors, cells, 0.001)
    assert len(few.chosen) < len(many.chosen)


@pytest.mark.parametrize(
    ("errors", "cells", "rho", "message"),
    [
        ([1.0], [2, 3], 1.0, "one length"),
        ([np.inf], [2], 1.0, "finite"),
        ([1.0], [0], 1.0, "cells must be positive"),
        ([1.0], [2], 0.0, "rho must be positive"),
    ],
)
def test_bad_input_is_refused(
    errors: list[float], cells: list[int], rho: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        select_exact(errors, cells, rho)
