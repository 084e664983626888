"""What noisy tables tell, for every method: how many rows, which distribution, which error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.convex.simplex import project_to_simplex

SECONDS_A_DRAW = 1e-5  # exact noise on one count, by OpenDP, on a machine of 2026


def rows_estimate(measured: Sequence[Measurement]) -> float:
    """Number of rows from noisy marginals: their totals, weighted by inverse variance; at least 1.

    A marginal of c cells with noise sigma has a total of variance c sigma^2.

    >>> rows_estimate([Measurement((0,), np.array([4.0, 6.0]), 1.0, 0.5)])
    10.0
    """
    variances = np.array([m.counts.size * m.sigma**2 for m in measured])
    weights = 1 / np.maximum(variances, 1e-9)  # a vast budget leaves no noise at all
    totals = np.array([m.counts.sum() for m in measured])
    return max(1.0, float(weights @ totals / weights.sum()))


def fractions(counts: NDArray[np.float64], total: float | None = None) -> NDArray[np.float64]:
    """The nearest distribution to a noisy table: its projection onto {p >= 0, sum p = 1}.

    The table is first divided by ``total``, an estimate of the rows; default: the table's own sum
    (at least 1), negative cells included.  The sum of the positive cells alone would count the
    noise of rare cells as rows, and all of it would stay.  A table of zeros gives the uniform
    distribution.

    >>> fractions(np.array([6.0, 5.0, -1.0]))
    array([0.55, 0.45, 0.  ])
    >>> fractions(np.array([6.0, 5.0, -1.0]), total=11.0)
    array([0.54545455, 0.45454545, 0.        ])
    """
    if total is None:
        total = max(1.0, float(counts.sum()))
    projected = project_to_simplex(counts.ravel() / total)
    return np.asarray(projected / projected.sum()).reshape(counts.shape)


def normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The other way to a distribution: negatives become 0, the rest is divided by its sum.

    A table without positive cells gives the uniform distribution.

    >>> normalised(np.array([6.0, 5.0, -1.0]))
    array([0.54545455, 0.45454545, 0.        ])
    """
    positive = np.maximum(counts, 0.0)
    total = positive.sum()
    return np.asarray(positive / total if total > 0 else np.full(counts.shape, 1 / counts.size))


def expected_distance(cells: int, sigma: float, rows: float) -> float:
    """Total variation distance that noise of this sigma adds to a marginal of this many cells.

    Half the L1 norm of the noise, as a fraction of the rows: cells sigma sqrt(2/pi) / (2 rows); at
    most 1.
    """
    return min(1.0, cells * sigma * math.sqrt(2 / math.pi) / (2 * rows))
