"""The selection problem of ``selection.py`` as mixed-integer linear programs: an outside judge.

f(X) = K A^(3/2) + sum_{i not in X} phi_i is convex in A = sum_{i in X} a_i, so K A^(3/2) is the
largest of its tangents.  Outer approximation (Kelley's cutting planes):

1. minimise t + sum_i phi_i (1 - x_i) over binary x, where t is above the tangents so far;
2. its value bounds f from below, f at its x from above;
3. stop if they meet; else add the tangent at that A, and repeat.

(As one second-order cone program it would need a mixed-integer conic solver; this way HiGHS does.)

*Privacy.* Public inputs only.

Reference: Kelley (1960); Duran and Grossmann (1986), for convex mixed-integer programs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from saddlesynth.oracles.convex.reference import ConvexSolverError, cvxpy, solve
from saddlesynth.oracles.convex.selection import Selection

GAP = 1e-9  # relative difference between the bounds at which they are said to meet


def select_cvxpy(
    errors: ArrayLike,
    cells: ArrayLike,
    rho: float,
    *,
    sensitivity: float = 1.0,
    max_cuts: int = 100,
) -> Selection:
    """An optimal selection, by cutting planes; for tests and small instances.

    Arguments as ``selection.select_exact``; ``max_cuts`` caps the programs solved.

    Returns a ``Selection`` whose ``nodes`` is the number of programs solved.

    >>> select_cvxpy([900.0, 10.0, -3.0], [4, 6, 4], rho=0.01).chosen
    (0,)

    Raises
    ------
    ConvexSolverError
        A program was not solved to optimality, or the bounds do not meet after ``max_cuts``.
    """
    cp = cvxpy()
    phi = np.asarray(errors, dtype=np.float64)
    a = np.asarray(cells, dtype=np.float64) ** (2 / 3)
    k = sensitivity / math.sqrt(math.pi * rho)
    scale = float(np.abs(phi).sum()) or 1.0
    take = cp.Variable(len(phi), boolean=True)
    noise = cp.Variable(nonneg=True)  # in units of scale
    goal = cp.Minimize(noise + (phi / scale) @ (1 - take))
    tangents: list[object] = []
    best, value = np.zeros(len(phi), dtype=bool), float(phi.sum())
    for cuts in range(1, max_cuts + 1):
        bound = solve(cp.Problem(goal, tangents), "HIGHS", mip_rel_gap=0.0) * scale
        chosen = take.value > 0.5
        size = float(a[chosen].sum())
        found = k * size**1.5 + float(phi[~chosen].sum())
        if found < value:
            best, value = chosen, found
        if value - bound <= GAP * scale:
            picked = tuple(int(i) for i in np.flatnonzero(best))
            return Selection(picked, value, min(bound, value), cuts)
        slope = 1.5 * k * math.sqrt(size)
        tangents.append(noise * scale >= k * size**1.5 + slope * (a @ take - size))
    raise ConvexSolverError(f"{max_cuts} cuts leave a gap of {value - bound:.3g}")
