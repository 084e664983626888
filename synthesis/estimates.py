"""Marginals with standard errors, from what was measured where that suffices, else from the model.

A noisy marginal on attributes M answers every marginal on a subset S of M: summing cells gives a
standard error of sigma * sqrt(cells(M) / cells(S)).  Among the measured marginals that contain S
the one with the smallest error is used.  Everything here is post-processing.

Where a method knows the errors after its own processing it says so, cell by cell.  All others are
those of the noise before consistency and non-negativity, which only reduce it on average.  A
marginal that nothing measured contains comes from the model, and then its error is not known: it
depends on how the data look.  Games bound it for the marginals they were asked about.
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

    It is one number for all cells, or an array of the counts' shape.  ``source`` says where the
    numbers come from, in words.
    """

    attributes: Attributes
    counts: NDArray[np.float64]
    standard_error: float | NDArray[np.float64] | None
    source: str


def estimate(fit: Fit, attributes: Attributes) -> Estimate:
    """The best available estimate of one marginal, in counts."""
    domain = fit.model.domain
    best = best_measured(fit.measured, attributes, domain)
    if best is None:
        counts = fit.rows * fit.model.marginal(attributes)
        return Estimate(attributes, counts, None, _from_model(fit, attributes))
    names = " x ".join(domain.names[a] for a in best.attributes)
    counts = sum_onto(best, attributes)
    if len(best.attributes) > len(attributes):
        error = _error_on(best, attributes, domain)
        return Estimate(attributes, counts, error, f"summed from {names}")
    if best.errors is None:
        return Estimate(attributes, counts, best.sigma, "measured")
    order = [best.attributes.index(a) for a in attributes]
    return Estimate(attributes, counts, best.errors.transpose(order), "measured, then projected")


def _from_model(fit: Fit, attributes: Attributes) -> str:
    """What is known of a marginal that was not measured: a game bounds those of its workload.

    The fact ``error_bound`` says how far any cell of a marginal in the fact ``workload`` can be
    off, as a fraction of the rows; a cell of a smaller marginal is a sum of such cells.
    """
    domain, bound = fit.model.domain, fit.facts.get("error_bound")
    asked = [domain.positions(names) for names in fit.facts.get("workload", [])]
    cells = [domain.cells(m) for m in asked if set(attributes) <= set(m)]
    if bound is None or not cells:
        return "model: no measured marginal contains it"
    off = min(1.0, bound["bound"] * min(cells) / domain.cells(attributes)) * fit.rows
    return f"model: each is off by at most {off:,.0f}, with {bound['confidence']:.0%} confidence"


def best_measured(
    measured: Sequence[Measurement], attributes: Attributes, domain: Domain
) -> Measurement | None:
    """The measurement that tells most about a marginal; ``None`` if nothing contains it.

    One whose errors are known cell by cell speaks for itself.  Where cells have correlated noise
    the error of a sum is unknown, so only the marginal itself is told.
    """
    containing = [
        m
        for m in measured
        if set(attributes) <= set(m.attributes)
        and (m.independent or len(m.attributes) == len(attributes))
    ]
    exact = [m for m in containing if m.errors is not None and len(m.attributes) == len(attributes)]
    return min(exact or containing, key=lambda m: _error_on(m, attributes, domain), default=None)


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
