"""The nearest point with non-negative entries and a given sum.

    minimise  || x - v ||_2   subject to  x >= 0,  sum(x) = total.

Optimality says that every positive entry moves by one common amount: ``x = max(v - shift, 0)``.
With ``u`` = ``v`` sorted downwards, the number of positive entries is the last ``j`` with
``u_j >= (u_1 + ... + u_j - total) / j``, and that right side is the shift.  Sorting makes it
O(n log n) and exact up to rounding.

On noisy marginals this is the step known as norm-sub, or as the L2 projection.

*Privacy.* Public inputs only.

Reference: Held, Wolfe, Crowder (1974); Duchi, Shalev-Shwartz, Singer, Chandra (2008).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.convex.reference import LinearConstraints, cvxpy, solve


def project_to_simplex(values: ArrayLike, total: ArrayLike = 1.0) -> NDArray[np.float64]:
    """Project a vector, or each row of an array, on ``{x >= 0, sum(x) = total}``.

    values : (..., n) float, n >= 1
    total : float, or (...) one for each row; at least 0

    Returns an array of the shape of ``values``.

    >>> project_to_simplex([3.0, 1.0, -2.0], total=2.0)
    array([2., 0., 0.])
    >>> project_to_simplex([[1.0, 1.0], [5.0, 0.0]], total=[1.0, 5.0])
    array([[0.5, 0.5],
           [5. , 0. ]])

    Raises
    ------
    ValueError
        Values are not finite, a row is empty, or a total is negative.
    """
    v, totals = _checked(values, total)
    ordered = -np.sort(-v, axis=-1)
    shifts = (np.cumsum(ordered, axis=-1) - totals[..., None]) / np.arange(1, v.shape[-1] + 1)
    positive = np.count_nonzero(ordered >= shifts, axis=-1, keepdims=True)
    shift = np.take_along_axis(shifts, positive - 1, axis=-1)
    return np.maximum(v - shift, 0.0)


def project_to_simplex_cvxpy(
    values: ArrayLike,
    total: float = 1.0,
    constraints: LinearConstraints | None = None,
    solver: str = "CLARABEL",
) -> NDArray[np.float64]:
    """The same projection of one vector as a quadratic program, with linear side constraints.

    values : (n,) float

    Returns an (n,) array, accurate to the solver's tolerance (about 1e-6 of the largest entry).

    Raises
    ------
    ValueError
        As ``project_to_simplex``.
    ConvexSolverError
        The side constraints leave no point, or the solver stopped early.
    """
    cp = cvxpy()

    v, totals = _checked(values, total)
    if v.ndim != 1:
        raise ValueError(f"values have shape {v.shape}; expected one vector")
    scale = max(1.0, float(np.abs(v).max()), float(totals))  # solvers like numbers near 1
    x = cp.Variable(len(v))
    rows = [x >= 0, cp.sum(x) == totals / scale]
    if constraints is not None:
        scaled = LinearConstraints(
            constraints.matrix, constraints.lower / scale, constraints.upper / scale
        )
        rows += scaled.on(x)
    solve(cp.Problem(cp.Minimize(cp.sum_squares(x - v / scale)), rows), solver)
    return np.asarray(x.value, dtype=np.float64) * scale


def _checked(
    values: ArrayLike, total: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    v = np.asarray(values, dtype=np.float64)
    totals = np.asarray(total, dtype=np.float64)
    if v.ndim == 0 or v.shape[-1] == 0:
        raise ValueError(f"values have shape {v.shape}; expected rows of at least one entry")
    if not np.isfinite(v).all():
        raise ValueError("values must be finite; got infinity or not-a-number")
    if not (np.isfinite(totals).all() and (totals >= 0).all()):
        raise ValueError(f"total is {totals}; it must be finite and at least 0")
    return v, np.broadcast_to(totals, v.shape[:-1])
