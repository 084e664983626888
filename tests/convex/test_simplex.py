"""The sort algorithm against its optimality conditions, bisection, and a quadratic program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from saddlesynth.oracles.convex.reference import ConvexSolverError, LinearConstraints
from saddlesynth.oracles.convex.simplex import project_to_simplex, project_to_simplex_cvxpy

Vector = NDArray[np.float64]
VECTORS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12).map(np.array)
TOTALS = st.floats(0, 1e6)


def by_bisection(values: Vector, total: float) -> Vector:
    """max(v - shift, 0) with the shift found by halving an interval."""
    low, high = values.min() - total, values.max()
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(values - middle, 0).sum() > total:
            low = middle
        else:
            high = middle
    return np.maximum(values - high, 0)


@given(VECTORS, TOTALS)
def test_projection_is_valid_and_lowers_all_positive_entries_alike(v: Vector, total: float) -> None:
    x = project_to_simplex(v, total)
    scale = max(1.0, np.abs(v).max(), total)
    assert (x >= 0).all()
    assert abs(x.sum() - total) <= 1e-12 * scale * len(v)
    if (x > 0).any():
        shift = (v - x)[x > 0]
        assert np.ptp(shift) <= 1e-12 * scale * len(v)
        assert (v[x == 0] <= shift.max() + 1e-12 * scale * len(v)).all()


@given(VECTORS, TOTALS)
def test_projection_agrees_with_bisection(v: Vector, total: float) -> None:
    scale = max(1.0, np.abs(v).max(), total)
    np.testing.assert_allclose(
        project_to_simplex(v, total), by_bisection(v, total), atol=1e-11 * scale
    )


@given(VECTORS, TOTALS)
def test_projecting_twice_changes_nothing(v: Vector, total: float) -> None:
    once = project_to_simplex(v, total)
    scale = max(1.0, np.abs(v).max(), total)
    np.testing.assert_allclose(project_to_simplex(once, total), once, atol=1e-11 * scale)


@settings(max_examples=25)
@given(VECTORS, st.floats(0.1, 1e3))
def test_quadratic_program_agrees_in_objective(v: Vector, total: float) -> None:
    ours = np.square(project_to_simplex(v, total) - v).sum()
    theirs = np.square(project_to_simplex_cvxpy(v, total) - v).sum()
    scale = max(1.0, np.abs(v).max(), total)
    assert abs(ours - theirs) <= 1e-5 * scale**2


def test_rows_are_projected_one_by_one() -> None:
    rng = np.random.default_rng(0)
    values, totals = rng.normal(0, 10, (3, 4, 7)), rng.uniform(0, 20, (3, 4))
    rows = project_to_simplex(values, totals)
    for i in np.ndindex(3, 4):
        np.testing.assert_allclose(rows[i], project_to_simplex(values[i], totals[i]), atol=1e-12)


def test_total_zero_gives_zeros() -> None:
    np.testing.assert_array_equal(project_to_simplex([3.0, -1.0], 0.0), [0.0, 0.0])


def test_side_constraints_hold() -> None:
    first_two_at_most_one = LinearConstraints(
        np.array([[1.0, 1.0, 0.0]]), np.array([-np.inf]), np.array([1.0])
    )
    x = project_to_simplex_cvxpy([4.0, 2.5, 0.0], 6.0, first_two_at_most_one)
    np.testing.assert_allclose(x, [1.0, 0.0, 5.0], atol=1e-4)


def test_constraints_without_a_point_are_reported() -> None:
    impossible = LinearConstraints(np.ones((1, 2)), np.array([5.0]), np.array([np.inf]))
    with pytest.raises(ConvexSolverError, match="infeasible"):
        project_to_simplex_cvxpy([1.0, 1.0], 2.0, impossible)


@pytest.mark.parametrize(
    ("values", "total", "message"),
    [
        ([], 1.0, "at least one"),
        ([np.nan, 1.0], 1.0, "finite"),
        ([1.0], -1.0, "at least 0"),
        ([1.0], np.inf, "finite"),
    ],
)
def test_bad_input_is_refused(values: list[float], total: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        project_to_simplex(values, total)
