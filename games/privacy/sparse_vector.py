"""AboveThreshold: many questions "is this query far off?", paid only up to the first yes.

    1  shift = Lap(2 k / epsilon)                            once
    2  for each query q with its public threshold t(q):
           answer "above" if |N(q) - e(q)| + Lap(4 k / epsilon) >= t(q) + shift,
           and stop for good; else "below"

e(q) is a public expected count, rounded to a whole number; k rows of a unit change |N(q) - e(q)| by
at most k.  Thresholds are public and may change from question to question.  Everything is whole
numbers, so discrete Laplace noise has the ratios of densities that the proof needs, and no float
enters a comparison.

**Privacy.**  epsilon-DP however many queries are answered "below" (Dwork and Roth 2014, Theorem
3.23; Lyu, Su, Li 2017, Algorithm 1 with c = 1), hence epsilon^2/2 in zCDP.  What makes broken
versions broken is excluded: the shift is fresh for each object, every query has its
own noise, an object that has said "above" answers no more, and the noisy value is never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Laplace = Callable[[NDArray[np.int64], float], NDArray[np.int64]]
BATCH = 10_000


class SparseVector:
    """One run of AboveThreshold; only ``Curator.above_threshold`` makes it, after the charge."""

    def __init__(
        self,
        counts: Callable[[NDArray[np.int64]], NDArray[np.int64]],
        scales: tuple[float, float],
        laplace: Laplace,
    ) -> None:
        self._counts, self._laplace, self._scale = counts, laplace, scales[1]
        self._shift = int(laplace(np.zeros(1, dtype=np.int64), scales[0])[0])
        self.open = True

    def first_above(
        self,
        positions: Sequence[int] | NDArray[np.int64],
        expected: NDArray[np.float64],
        threshold: int,
    ) -> int | None:
        """Index of the first query that is found above the threshold (in records), or None.

        positions, expected : (m,) — queries of the workload and their expected counts, in the
        order in which they are asked.

        Raises ``RuntimeError`` once a query was above: that answer used the run up.
        """
        if not self.open:
            raise RuntimeError("this run has said 'above' once; begin a new one, at a new charge")
        asked = np.asarray(positions, dtype=np.int64)
        rounded = np.rint(expected).astype(np.int64)
        for start in range(0, len(asked), BATCH):
            part = slice(start, start + BATCH)
            errors = np.abs(self._counts(asked[part]) - rounded[part])
            noisy = self._laplace(errors, self._scale)
            above = np.flatnonzero(noisy >= threshold + self._shift)
            if len(above):
                self.open = False
                return start + int(above[0])
        return None
