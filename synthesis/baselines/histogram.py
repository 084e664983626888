"""The histogram of the whole domain: noise on every cell, the empty ones included.

 1  measure   one table with a cell for every possible record; discrete Laplace noise (``delta=0``)
              or discrete Gaussian noise
 2  distribute   make it a distribution, by L2 projection or by normalisation
 3  draw      records by their probabilities

Noise on the occupied cells alone would be cheaper and not private: which cells are occupied is what
has to be hidden.  So the domain has to be small; larger ones are refused before data are read.

Privacy.  One measurement by the curator; the rest is post-processing.

Reference: Dwork, McSherry, Nissim, Smith (2006); Li, Wang, Cheng (2023), "Statistical Theory of
Differentially Private Marginal-based Data Synthesis Algorithms", for both ways of line 2.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.noisy import (
    SECONDS_A_DRAW,
    expected_distance,
    fractions,
    normalised,
    rows_estimate,
)
from saddlesynth.synthesis.parameters import check_count

Distribute = Literal["projection", "normalise"]
TOLD_WHOLE = 500_000  # cells: larger histograms are told in pairs of attributes


class Histogram(Synthesizer):
    """Noise on every cell of the domain.

    Parameters
    ----------
    distribute
        ``"projection"`` (nearest distribution) or ``"normalise"`` (negatives become 0, the rest is
        scaled): the first is better where noise is small, the second where it swamps the counts.
    max_cells
        Refuse domains of more cells.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    name = "histogram"
    summary = "noise on every cell of the whole domain; small domains only (baseline)"
    accepts_pure = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        distribute: Distribute = "projection",
        max_cells: int = 10_000_000,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.distribute = distribute
        self.max_cells = max_cells

    def _fit(self, session: Session) -> Fit:
        domain, ledger = session.domain, session.curator.ledger
        self._check_domain(domain)
        every = tuple(range(len(domain)))
        if ledger.pure:  # line 1
            budget = [ledger.remaining_epsilon]
            (measured,) = session.curator.measure_laplace("histogram", [every], budget)
        else:
            budget = [ledger.remaining_rho]
            (measured,) = session.curator.measure("histogram", [every], budget)
        session.progress("measure", 1.0)
        public = session.public_rows
        rows = rows_estimate([measured]) if public is None else float(max(1, public))
        possible = ~Constraints(domain, session.impossible).forbidden_cells(every)
        shares = np.zeros(domain.shape(every))
        shares[possible] = self._distribution(measured.counts[possible], rows)  # line 2
        cells = np.flatnonzero(shares)
        model = RecordModel(domain, _records(cells, domain), shares.ravel()[cells])  # line 3
        whole = Measurement(every, rows * shares, measured.sigma, measured.rho)
        facts = {"cells": shares.size, "occupied": len(cells)}
        return Fit(model, rows, tuple(_told(whole, domain)), facts)

    def _distribution(self, counts: NDArray[np.float64], rows: float) -> NDArray[np.float64]:
        if self.distribute == "normalise":
            return normalised(counts)
        return fractions(counts, total=rows)

    def _check_domain(self, domain: Domain) -> None:
        cells = domain.cells(range(len(domain)))
        if cells > self.max_cells:
            raise SizeError(
                f"the whole domain has {cells:,} cells; histogram takes at most max_cells = "
                f"{self.max_cells:,}. Smaller: fewer columns, values or bins, or another method"
            )

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        self._check_domain(domain)
        cells = domain.cells(range(len(domain)))
        sigma = math.sqrt(2) * self.count_sensitivity / float(self.epsilon)
        if self.delta > 0:
            sigma = self.sensitivity / math.sqrt(2 * rho)
        step = {"step": "histogram", "marginals": 1, "cells": cells, "rho": rho, "sigma": sigma}
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=cells,
            memory=cells * (40 + len(domain)),
            seconds=1 + SECONDS_A_DRAW * cells,
            expected_error=expected_distance(cells, sigma, rows),
            steps=(step,),
        )

    def _check(self) -> None:
        check_count("max_cells", self.max_cells)
        if self.distribute not in get_args(Distribute):
            raise InputError(unknown("distribute", self.distribute, list(get_args(Distribute))))


def _records(cells: NDArray[np.intp], domain: Domain) -> NDArray[np.integer]:
    """The record of each cell; (cells, d), one attribute at a time to spare memory."""
    records = np.empty((len(cells), len(domain)), np.min_scalar_type(max(domain.sizes) - 1))
    left = cells
    for attribute in reversed(range(len(domain))):
        left, records[:, attribute] = np.divmod(left, domain.sizes[attribute])
    return records


def _told(whole: Measurement, domain: Domain) -> list[Measurement]:
    """The histogram as it is released: itself, or its sums on all pairs if it is very large.

    Its cells have independent noise, so that of a sum has the sum of the variances.
    """
    if whole.counts.size <= TOLD_WHOLE:
        return [whole]
    pairs: list[Attributes] = list(itertools.combinations(range(len(domain)), 2))
    told = []
    for pair in pairs or [(0,)]:
        summed = whole.counts.size // domain.cells(pair)
        others = tuple(a for a in range(len(domain)) if a not in pair)
        told.append(
            Measurement(
                pair,
                whole.counts.sum(axis=others),
                whole.sigma * math.sqrt(summed),
                whole.rho / summed,
            )
        )
    return told
