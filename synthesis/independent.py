"""Independent columns: noisy 1-way marginals and nothing else.  The simplest method.

    1  split the budget evenly over the d columns
    2  measure every 1-way marginal with discrete Gaussian (pure budgets: Laplace) noise
    3  estimate the number of rows: the totals, weighted by inverse variance
    4  project every marginal onto {p >= 0, sum p = 1}
    5  draw every column by itself

Correlations between columns are lost; the error of single columns is as small as the budget
allows.  Useful as a baseline, and to see what correlations a better method finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.model import Fit, block_sizes
from saddlesynth.synthesis.noisy import (
    SECONDS_A_DRAW,
    expected_distance,
    fractions,
    rows_estimate,
)


@dataclass(frozen=True)
class IndependentModel:
    """A product of 1-way distributions.

    >>> model = IndependentModel(Domain(("a",), (2,)), (np.array([0.0, 1.0]),))
    >>> next(model.sample(2, np.random.default_rng(0))).ravel()
    array([1, 1])
    """

    kind: ClassVar[str] = "independent"
    domain: Domain
    columns: tuple[NDArray[np.float64], ...]

    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        for size in block_sizes(rows):
            drawn = [generator.choice(len(p), size=size, p=p) for p in self.columns]
            yield np.stack(drawn, axis=1)

    def marginal(self, attributes: Attributes) -> NDArray[np.float64]:
        table = np.ones(())
        for attribute in attributes:
            table = np.multiply.outer(table, self.columns[attribute])
        return np.asarray(table, dtype=np.float64)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {f"column{i}": p for i, p in enumerate(self.columns)}

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self:
        return cls(domain, tuple(arrays[f"column{i}"] for i in range(len(domain))))


class Independent(Synthesizer):
    """Independent columns from noisy 1-way marginals.

    Privacy.  d measurements by the curator, of rho/d each (discrete Gaussian); with ``delta=0`` of
    epsilon/d each (discrete Laplace).  The rest is post-processing.
    """

    name = "independent"
    summary = "noisy 1-way marginals, columns drawn independently (baseline)"
    accepts_pure = True

    def _fit(self, session: Session) -> Fit:
        domain = session.domain
        measured = _measure(session.curator)  # lines 1, 2
        session.progress("measure", 1.0)
        public = session.public_rows  # line 3
        rows = rows_estimate(measured) if public is None else float(public)
        columns = tuple(fractions(m.counts) for m in measured)  # line 4
        consistent = tuple(
            replace(m, counts=rows * p) for m, p in zip(measured, columns, strict=True)
        )
        return Fit(IndependentModel(domain, columns), rows, consistent, {"marginals": len(domain)})

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        step = {
            "step": "1-way",
            "marginals": len(domain),
            "cells": domain.width,
            "rho": rho,
            "sigma": self._sigma(rho, len(domain)),
        }
        errors = [
            expected_distance(size, self._sigma(rho, len(domain)), rows) for size in domain.sizes
        ]
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=domain.width,
            memory=8 * domain.width,
            seconds=SECONDS_A_DRAW * domain.width,
            expected_error=float(np.mean(errors)),
            steps=(step,),
        )

    def _sigma(self, rho: float, columns: int) -> float:
        """Standard deviation of the noise on each count."""
        if self.delta > 0:
            return self.sensitivity * math.sqrt(columns / (2 * rho))
        return math.sqrt(2) * self.count_sensitivity * columns / float(self.epsilon)


def _measure(curator: Curator) -> list[Measurement]:
    """All 1-way marginals with what is left of the budget, in equal parts."""
    singles = [(attribute,) for attribute in range(len(curator.domain))]
    shares = [1.0] * len(singles)
    if curator.ledger.pure:
        epsilons = split(curator.ledger.remaining_epsilon, shares)
        return curator.measure_laplace("1-way", singles, epsilons)
    return curator.measure("1-way", singles, split(curator.ledger.remaining_rho, shares))
