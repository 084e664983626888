"""Budget allocation: the closed form against a conic solver, a grid, and its own optimality."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.convex.budget import Objective, allocate, allocate_cvxpy
from saddlesynth.oracles.convex.reference import LinearConstraints

OBJECTIVES: tuple[Objective, ...] = ("mean", "minimax")


@st.composite
def problems(draw: st.DrawFn, bounded: bool) -> dict[str, Any]:
    m = draw(st.integers(1, 8))
    total = draw(st.floats(1e-6, 10.0))
    numbers = st.lists(st.floats(0.1, 10.0), min_size=m, max_size=m)
    problem: dict[str, Any] = {
        "cells": draw(st.lists(st.integers(1, 5000), min_size=m, max_size=m)),
        "total": total,
        "objective": draw(st.sampled_from(OBJECTIVES)),
        "weights": draw(numbers),
    }
    if bounded:
        floors = np.array(draw(st.lists(st.floats(0, 0.9), min_size=m, max_size=m))) * total / m
        problem["minimum"] = floors
        problem["maximum"] = floors + np.array(draw(numbers)) * total / m
    return problem


def test_plain_shares_are_proportional_to_cells_to_two_thirds() -> None:
    cells = np.array([4, 100, 2500])
    result = allocate(cells, 0.5)
    np.testing.assert_allclose(result.shares, 0.5 * cells ** (2 / 3) / (cells ** (2 / 3)).sum())
    expected = (cells ** (2 / 3)).sum() ** 1.5 / math.sqrt(math.pi * 0.5)
    assert result.value == pytest.approx(expected, rel=1e-12)


def test_minimax_makes_all_weighted_errors_equal() -> None:
    weights = np.array([1.0, 2.0, 0.5])
    result = allocate([4, 100, 2500], 0.5, objective="minimax", weights=weights)
    np.testing.assert_allclose(weights * result.errors, result.value, rtol=1e-12)


@given(problems(bounded=True))
def test_shares_never_add_up_to_more_than_the_total(problem: dict[str, Any]) -> None:
    shares = allocate(**problem).shares
    assert sum(map(Fraction, shares.tolist())) <= Fraction(problem["total"])
    assert (shares >= problem["minimum"]).all()
    assert (shares <= problem["maximum"]).all()
    reachable = min(problem["total"], problem["maximum"].sum())
    assert shares.sum() >= reachable * (1 - 1e-12)


@settings(max_examples=60)
@given(st.booleans().flatmap(lambda bounded: problems(bounded=bounded)))
def test_conic_solver_agrees_in_objective(problem: dict[str, Any]) -> None:
    ours, theirs = allocate(**problem), allocate_cvxpy(**problem)
    assert ours.value == pytest.approx(theirs.value, rel=1e-5)
    assert ours.value <= theirs.value * (1 + 1e-9)  # theirs is feasible, so it cannot be better
    assert sum(map(Fraction, theirs.shares.tolist())) <= Fraction(problem["total"])


@given(problems(bounded=True), st.integers(0, 2**32 - 1))
def test_no_feasible_split_is_better(problem: dict[str, Any], seed: int) -> None:
    best = allocate(**problem)
    rng = np.random.default_rng(seed)
    low, high = problem["minimum"], problem["maximum"]
    other = np.clip(best.shares * rng.lognormal(0, 0.3, len(low)), low, high)
    spare = problem["total"] - low.sum()
    other = low + (other - low) * min(1.0, spare / max((other - low).sum(), 1e-300))
    with np.errstate(divide="ignore"):
        errors = problem["weights"] * np.array(problem["cells"]) / np.sqrt(math.pi * other)
    value = errors.sum() if problem["objective"] == "mean" else errors.max()
    assert best.value <= value * (1 + 1e-9)


def test_extra_constraints_hold_in_the_conic_model() -> None:
    cells = [4, 4, 2500]
    first_two_get_half = LinearConstraints(
        np.array([[1.0, 1.0, 0.0]]), np.array([0.5]), np.array([np.inf])
    )
    result = allocate_cvxpy(cells, 1.0, constraints=first_two_get_half)
    assert result.shares[:2].sum() >= 0.5 - 1e-6
    assert allocate(cells, 1.0).shares[:2].sum() < 0.1
    assert result.value > allocate(cells, 1.0).value


def test_noise_constant_scales_errors_and_leaves_shares() -> None:
    one, two = allocate([4, 9], 1.0), allocate([4, 9], 1.0, noise_constant=2 / math.sqrt(math.pi))
    np.testing.assert_array_equal(one.shares, two.shares)
    np.testing.assert_allclose(two.errors, 2 * one.errors)


def test_errors_are_the_expected_l1_norm_of_the_noise() -> None:
    # 400 x 200 absolute normals: relative standard error 0.27 %, so 1.5 % fails with odds 3e-8.
    result = allocate([200], 0.02)
    noise = np.random.default_rng(0).normal(0, 1 / math.sqrt(2 * 0.02), (400, 200))
    assert np.abs(noise).sum(axis=1).mean() == pytest.approx(result.errors[0], rel=0.015)


def test_minima_that_use_everything_are_given_out_exactly() -> None:
    np.testing.assert_array_equal(allocate([4, 9], 0.75, minimum=[0.25, 0.5]).shares, [0.25, 0.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": []}, "one number for each"),
        ({"cells": [0, 1]}, "cells must be positive"),
        ({"cells": [1, 2], "total": 0.0}, "total must be positive"),
        ({"cells": [1, 2], "weights": [1.0]}, "weights has shape"),
        ({"cells": [1, 2], "weights": [1.0, -1.0]}, "weights must be positive"),
        ({"cells": [1, 2], "minimum": 0.6}, "above the total"),
        ({"cells": [1, 2], "minimum": [1.0, 0.0]}, "would get nothing"),
        ({"cells": [1, 2], "minimum": 0.4, "maximum": 0.3}, "minimum <= maximum"),
        ({"cells": [1, 2], "objective": "median"}, "'mean' or 'minimax'"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        allocate(**{"total": 1.0, **arguments})
