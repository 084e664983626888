"""How to split a privacy budget over marginals.

Marginal i has c_i cells and gets a share rho_i; Gaussian noise then adds an expected L1 error

    psi_i(rho_i) = noise_constant * c_i / sqrt(rho_i),    noise_constant = sensitivity / sqrt(pi),

because the noise on each of its cells has standard deviation sensitivity / sqrt(2 rho_i) and the
mean absolute value of a normal variable is sqrt(2 / pi) of that.  With weights w_i we solve

    mean:     minimise  sum_i w_i psi_i(rho_i)
    minimax:  minimise  max_i w_i psi_i(rho_i)
    subject to  sum_i rho_i = total,   minimum_i <= rho_i <= maximum_i.

Both objectives have one Lagrange multiplier, so both optima have the form

    rho_i = clip(level * b_i, minimum_i, maximum_i),
    b_i = (w_i c_i)^(2/3) for the mean,   b_i = (w_i c_i)^2 for minimax,

with the level that spends the total.  Without bounds this is the published rule: shares in
proportion to c_i^(2/3).  With bounds, the amount spent is a non-decreasing, piecewise linear
function of the level, and sorting its break points gives the level exactly.

``allocate`` does that.  ``allocate_cvxpy`` states the same convex program for a conic solver: it
judges the closed form and takes further linear constraints (for instance a floor for a group of
marginals).  A conic solver finds the *objective* to eight digits but, the optimum being flat, the
shares to only one to three; so the closed form is the default wherever it applies.

*Privacy.* Public inputs only: the shares depend on domain sizes, never on data.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", section 4.2.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.convex.reference import LinearConstraints, cvxpy, solve

Objective = Literal["mean", "minimax"]
NOISE_CONSTANT = 1 / math.sqrt(math.pi)  # of marginals with L2 sensitivity 1


@dataclass(frozen=True)
class Allocation:
    """A split of a budget.

    shares : (m,) float, in rho; their exact sum is at most the total that was asked for
    errors : (m,) float, expected L1 error of each marginal in counts, unweighted
    value : the objective at these shares, recomputed from them
    """

    shares: NDArray[np.float64]
    errors: NDArray[np.float64]
    value: float


@dataclass(frozen=True)
class _Problem:
    """The checked inputs: amounts ``a_i = w_i c_i``, bounds as arrays."""

    cells: NDArray[np.float64]
    weights: NDArray[np.float64]
    total: float
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    objective: Objective
    noise_constant: float

    def finish(self, shares: NDArray[np.float64]) -> Allocation:
        shares = _spend_at_most(
            np.clip(shares, self.minimum, self.maximum), self.total, self.minimum
        )
        errors = self.noise_constant * self.cells / np.sqrt(shares)
        weighted = self.weights * errors
        value = weighted.sum() if self.objective == "mean" else weighted.max()
        return Allocation(shares, errors, float(value))


def allocate(
    cells: ArrayLike,
    total: float,
    *,
    objective: Objective = "mean",
    weights: ArrayLike | None = None,
    minimum: ArrayLike | None = None,
    maximum: ArrayLike | None = None,
    noise_constant: float = NOISE_CONSTANT,
) -> Allocation:
    """Optimal shares of a budget, by the closed form.

    cells : (m,) number of cells of each marginal
    total : rho to divide
    weights : (m,) positive, default 1: how much an error in each marginal matters
    minimum, maximum : float or (m,), bounds of the shares in rho; default none
    noise_constant : sensitivity / sqrt(pi); it scales the errors and never changes the shares

    Returns an ``Allocation``.  All of ``total`` is spent (up to rounding down), or less where the
    maxima do not reach it.

    >>> allocate([8, 27], 0.13).shares.round(6)
    array([0.04, 0.09])
    >>> allocate([8, 27], 0.13, minimum=0.05).shares.round(6)
    array([0.05, 0.08])

    Raises
    ------
    ValueError
        No marginals, an input that is not positive, lengths that differ, or minima above the total.
    """
    problem = _problem(cells, total, objective, weights, minimum, maximum, noise_constant)
    return problem.finish(_closed_form(problem))


def allocate_cvxpy(
    cells: ArrayLike,
    total: float,
    *,
    objective: Objective = "mean",
    weights: ArrayLike | None = None,
    minimum: ArrayLike | None = None,
    maximum: ArrayLike | None = None,
    noise_constant: float = NOISE_CONSTANT,
    constraints: LinearConstraints | None = None,
    solver: str = "CLARABEL",
) -> Allocation:
    """The same program for a conic solver, with linear constraints on the shares (in rho).

    Arguments and result as ``allocate``.  The value agrees with the closed form to about 1e-6
    relative; the shares are less sharp, and side constraints hold to the solver's tolerance.

    Raises
    ------
    ValueError
        As ``allocate``.
    ConvexSolverError
        The constraints leave no point, or the solver stopped early.
    """
    cp = cvxpy()

    problem = _problem(cells, total, objective, weights, minimum, maximum, noise_constant)
    # In units of the shares without bounds all numbers are near 1, which solvers like.
    base = _base(problem)
    unit = np.maximum(base / base.sum(), problem.minimum / total)
    relative = cp.Variable(len(unit))
    share = cp.multiply(unit, relative)
    errors = problem.weights * problem.cells / np.sqrt(unit)
    if objective == "mean":
        goal = cp.Minimize((errors / errors.sum()) @ cp.power(relative, -0.5))
        rows = []
    else:  # the largest error is proportional to 1 / accuracy
        accuracy = cp.Variable()
        goal = cp.Maximize(accuracy)
        rows = [cp.square(errors / errors.max() * accuracy) <= relative]
    capped = np.isfinite(problem.maximum)
    rows += [cp.sum(share) <= 1, share >= problem.minimum / total]
    if capped.any():
        rows.append(share[capped] <= problem.maximum[capped] / total)
    if constraints is not None:
        rows += LinearConstraints(
            constraints.matrix, constraints.lower / total, constraints.upper / total
        ).on(share)
    solve(cp.Problem(goal, rows), solver)
    return problem.finish(np.asarray(share.value, dtype=np.float64) * total)


def _base(problem: _Problem) -> NDArray[np.float64]:
    """The b of the closed form; its scale is arbitrary, and is chosen to keep powers in range."""
    amount = problem.weights * problem.cells
    return np.asarray((amount / amount.max()) ** (2 / 3 if problem.objective == "mean" else 2))


def _closed_form(problem: _Problem) -> NDArray[np.float64]:
    """clip(level * b, minimum, maximum) with the level that spends the total."""
    base = _base(problem)
    if problem.maximum.sum() <= problem.total:
        return problem.maximum.copy()
    bounds = np.concatenate([problem.minimum / base, problem.maximum / base])
    levels: list[float] = np.unique(bounds[np.isfinite(bounds)]).tolist()

    def spent(level: float) -> float:
        return float(np.clip(level * base, problem.minimum, problem.maximum).sum())

    level = levels[max(bisect_right(levels, problem.total, key=spent) - 1, 0)]
    # Between two break points, only these shares move, and they move in proportion to b.
    moving = (problem.minimum / base <= level) & (level < problem.maximum / base)
    fixed = np.clip(level * base, problem.minimum, problem.maximum)[~moving].sum()
    if moving.any():
        level = float((problem.total - fixed) / base[moving].sum())
    return np.clip(level * base, problem.minimum, problem.maximum)


def _spend_at_most(
    shares: NDArray[np.float64], total: float, minimum: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take what rounding, or a solver's tolerance, overspent from what lies above the minima."""
    room = shares - minimum
    for power in range(-52, 1):
        over = sum(map(Fraction, shares.tolist()), -Fraction(total))
        if over <= 0:
            break
        shares = minimum + room * (1 - max(2.0**power, min(1.0, float(over) / room.sum())))
    return shares  # at power 0 these are the minima, which do not overspend


def _problem(
    cells: ArrayLike,
    total: float,
    objective: Objective,
    weights: ArrayLike | None,
    minimum: ArrayLike | None,
    maximum: ArrayLike | None,
    noise_constant: float,
) -> _Problem:
    c = np.asarray(cells, dtype=np.float64)
    if c.ndim != 1 or not len(c):
        raise ValueError(f"cells have shape {c.shape}; expected one number for each marginal")
    if objective not in ("mean", "minimax"):
        raise ValueError(f"objective is {objective!r}; it must be 'mean' or 'minimax'")
    w = _vector("weights", 1.0 if weights is None else weights, c.shape)
    low = _vector("minimum", 0.0 if minimum is None else minimum, c.shape)
    high = _vector("maximum", math.inf if maximum is None else maximum, c.shape)
    for name, values in (("cells", c), ("weights", w), ("total", np.asarray(total)),
                         ("noise_constant", np.asarray(noise_constant))):  # fmt: skip
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise ValueError(f"{name} must be positive and finite; got {values.min()}")
    if (low < 0).any() or (low > high).any() or (high <= 0).any():
        raise ValueError("bounds must satisfy 0 <= minimum <= maximum and 0 < maximum")
    if sum(map(Fraction, low.tolist()), Fraction(0)) > Fraction(total):
        raise ValueError(f"the minima add up to {low.sum():.6g}, above the total {total:.6g}")
    if low.sum() >= total and low.min() == 0:
        raise ValueError("the minima use up the total; marginals with minimum 0 would get nothing")
    return _Problem(c, w, float(total), low, high, objective, float(noise_constant))


def _vector(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((), shape) or np.isnan(array).any():
        raise ValueError(f"{name} has shape {array.shape}; expected a number or {shape[0]} numbers")
    return np.broadcast_to(array, shape)
