"""Marginals with standard errors, from what was measured where that suffices, else from the model.

A noisy marginal on attributes M answers every marginal on a subset S of M: summing cells gives a
standard error of sigma * sqrt(cells(M) / cells(S)).  Among the measured marginals that contain S
the one with the smallest error is used.  Everything here is post-processing.

The errors are those of the noise before consistency and non-negativity, which only reduce it on
average.  A marginal that nothing measured contains comes from the model, and then its error is not
known: it depends on how the data look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.model import Fit


@dataclass(frozen=True)
class Estimate:
    """Estimated counts of a marginal; ``standard_error`` is None where only the model knows.

    ``source`` says where the numbers come from, in words.
    """

    attributes: Attributes
    counts: NDArray[np.float64]
    standard_error: float | None
    source: str


def estimate(fit: Fit, attributes: Attributes) -> Estimate:
    """The best available estimate of one marginal, in counts."""
    domain = fit.model.domain
    best = _best_measured(fit.measured, attributes, domain)
    if best is None:
        counts = fit.rows * fit.model.marginal(attributes)
        return Estimate(attributes, counts, None, "model: no measured marginal contains it")
    names = " x ".join(domain.names[a] for a in best.attributes)
    same = len(best.attributes) == len(attributes)
    return Estimate(
        attributes,
        sum_onto(best, attributes),
        _error_on(best, attributes, domain),
        "measured" if same else f"summed from {names}",
    )


def _best_measured(
    measured: Sequence[Measurement], attributes: Attributes, domain: Domain
) -> Measurement | None:
    containing = [m for m in measured if set(attributes) <= set(m.attributes)]
    return min(containing, key=lambda m: _error_on(m, attributes, domain), default=None)


def _error_on(measurement: Measurement, attributes: Attributes, domain: Domain) -> float:
    summed = domain.cells(measurement.attributes) // domain.cells(attributes)
    return measurement.sigma * math.sqrt(summed)


def sum_onto(measurement: Measurement, attributes: Attributes) -> NDArray[np.float64]:
    """A measured table summed onto some of its attributes, axes in the order given.

    >>> sum_onto(Measurement((4, 7), np.array([[1.0, 2.0], [3.0, 4.0]]), 1.0, 1.0), (7,))
    array([4., 6.])
    """
    axes = [measurement.attributes.index(a) for a in attributes]
    others = tuple(i for i in range(len(measurement.attributes)) if i not in axes)
    left = np.transpose(measurement.counts, (*axes, *others))
    return np.asarray(left.sum(axis=tuple(range(len(axes), left.ndim))))
