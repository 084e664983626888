"""Residuals: what a marginal says that no smaller one does, measured with exact noise.

For a table M on attributes A of sizes n_a let C = I - J/n_a on every axis (J is all ones: subtract
the mean over the axis).  Then R_A = C M is the part of M that sums to zero along every axis, and a
marginal is put together again from the residuals of all its subsets T:

    M_A = sum over T of R_T / (product of n_a for a in A but not in T),  spread over the other axes.

So noise on residuals can be divided better than noise on marginals, and it costs less: a residual
moves less than its marginal.

**Sensitivity.**  With p = product over A of (n_a - 1)/n_a, a unit of at most k rows:

* add/remove: the unit adds C u with u >= 0, sum u <= k.  |C u| is largest at u = k e_i, and the
  columns of C have squared norm prod of ((1 - 1/n)^2 + (n - 1)/n^2) = p.  So D^2 = k^2 p.
* replace-one: C (v - u) with u and v as above.  The square is convex, so it is largest where both
  are 0 or k times a cell: k^2 |C (e_i - e_j)|^2 = 2 k^2 (p - <C e_i, C e_j>), and the inner product
  is prod of (1 - 1/n_a) where i and j agree on a and of -1/n_a where not: least if they differ in
  one attribute alone, the one with fewest values, n: -p/(n - 1).  So D^2 = 2 k^2 p n/(n - 1).
* the empty set, whose residual is the number of rows: D^2 = k^2 either way.

With N = prod of n_a the table N R is whole, and N^2 D^2 is a whole number: discrete Gaussian noise
on whole numbers, divided by N afterwards.

Reference: Xiao, He, Zhang, Kifer (2023), "An Optimal and Scalable Matrix Mechanism for Noisy
Marginals under Convex Loss Functions" (ResidualPlanner).  Differs: noise is drawn for every cell of
N R, of which the projection C keeps what the paper draws; replace-one and units of several rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Cost, Ledger, Relation
from saddlesynth.games.privacy.calibrate import gaussian_sigma
from saddlesynth.games.privacy.mechanisms import Noise, draw_together
from saddlesynth.oracles.domain import Attributes, Domain

Scalar = TypeVar("Scalar", np.int64, np.float64)


@dataclass(frozen=True)
class Residual:
    """A noisy residual: counts, and the standard deviation of the noise on each cell."""

    attributes: Attributes
    counts: NDArray[np.float64]
    sigma: float
    rho: float


def scaled_residual(table: NDArray[Scalar]) -> NDArray[Scalar]:
    """The residual of a table, times its number of cells; whole for whole numbers.

    >>> scaled_residual(np.array([[3, 1], [0, 0]]))
    array([[ 2, -2],
           [-2,  2]])
    """
    for axis, size in enumerate(table.shape):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


def squared_sensitivity(shape: Sequence[int], ledger: Ledger) -> int:
    """N^2 D^2 of a residual of this shape; every size must be above 1 (else it is always 0).

    >>> squared_sensitivity((2, 3), Ledger(1.0, 1e-9))
    12
    """
    k = ledger.rows_per_unit
    moved = k * k * math.prod(n * (n - 1) for n in shape)
    if ledger.relation is Relation.ADD_REMOVE or not shape:
        return moved
    least = min(shape)
    return 2 * moved * least // (least - 1)


class ResidualMechanisms:
    """Part of ``Curator``: residuals of marginals."""

    ledger: Ledger
    domain: Domain
    _noise: Noise

    def _exact_tables(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        raise NotImplementedError

    def _label(self, step: str, attributes: Attributes) -> str:
        raise NotImplementedError

    def measure_residuals(
        self, step: str, marginals: Sequence[Attributes], rhos: Sequence[float]
    ) -> list[Residual]:
        """Noisy residuals of marginals, by the discrete Gaussian mechanism.

        marginals : of attributes with at least two values each, or the empty one (number of rows)

        Privacy.  Residual i is ``rhos[i]``-zCDP: standard deviation D / sqrt(2 rho) for the
        sensitivity D above.  One ledger line a residual.
        """
        shapes = [self.domain.shape(m) for m in marginals]
        squares = [squared_sensitivity(shape, self.ledger) for shape in shapes]
        sigmas = [gaussian_sigma(s, rho) for s, rho in zip(squares, rhos, strict=True)]
        cells = [math.prod(shape) for shape in shapes]
        self.ledger.charge_all(
            [
                Cost(self._label(step, m), "discrete Gaussian", math.sqrt(s) / n, sigma / n, rho)
                for m, s, n, sigma, rho in zip(marginals, squares, cells, sigmas, rhos, strict=True)
            ]
        )
        exact = [scaled_residual(table) for table in self._exact_tables(marginals)]
        drawn = draw_together(self._noise.discrete_gaussian, exact, sigmas)
        return [
            Residual(m, table / n, sigma / n, rho)
            for m, table, n, sigma, rho in zip(marginals, drawn, cells, sigmas, rhos, strict=True)
        ]
