"""An empirical check of (epsilon, delta) for any method: can two neighbours be told apart too well?

Run the method many times on each of two neighbouring tables, reduce each result to one number, and
count how often it lies above each of a few thresholds that were fixed beforehand.  If a claim of
(epsilon, delta) holds, P1(event) <= e^epsilon P2(event) + delta for every event.  It is refuted if
the lower confidence bound on one side exceeds that of the upper bound on the other.

False alarms: each comparison errs with probability at most 2 (1 - confidence); with T thresholds
there are 4 T comparisons.  An audit refutes claims; it never proves one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta


def clopper_pearson(
    hits: NDArray[np.int64], trials: int, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exact one-sided lower and upper bounds on a probability, each right with ``confidence``."""
    low = beta.ppf(1 - confidence, hits, trials - hits + 1)
    high = beta.ppf(confidence, hits + 1, trials - hits)
    return np.where(hits == 0, 0.0, low), np.where(hits == trials, 1.0, high)


@dataclass(frozen=True)
class Verdict:
    """``excess``: by how much the clearest event breaks the claim; ``refuted`` if above 0.

    ``epsilon``: the largest epsilon that these runs refute, at the same delta (0 if none).
    """

    excess: float
    epsilon: float

    @property
    def refuted(self) -> bool:
        return self.excess > 0


def audit(
    first: Sequence[float],
    second: Sequence[float],
    thresholds: Sequence[float],
    epsilon: float,
    delta: float,
    confidence: float = 0.999,
) -> Verdict:
    """Compare a statistic's values on two neighbouring tables, as many runs on each.

    thresholds : events are "above" and "at most" each of these; fix them before looking.
    """
    one, two = np.asarray(first)[:, None], np.asarray(second)[:, None]
    if len(one) != len(two):
        raise ValueError(f"{len(one)} and {len(two)} runs; make as many on each table")
    excess, found = -1.0, 0.0
    for above in (True, False):
        hits = [((s > np.asarray(thresholds)) == above).sum(axis=0) for s in (one, two)]
        bounds = [clopper_pearson(h, len(one), confidence) for h in hits]
        for (low, _), (_, high) in (bounds, bounds[::-1]):
            excess = max(excess, float((low - math.exp(epsilon) * high - delta).max()))
            ratio = float((np.maximum(low - delta, 0) / high).max())
            found = max(found, math.log(ratio) if ratio > 1 else 0.0)
    return Verdict(excess, found)
