"""What HDMM and residual planning share: unbiased answers to a workload of marginals.

 1  measure    (the method's own) every residual the workload needs, as well as the plan says
 2  assemble   the marginals of the workload and all their subsets, each with its standard error
 3  rows       from these answers by a builder (``rows.py``)

Answers may be negative and above the number of rows: that is what makes them unbiased.  ``clip``
cuts them off; rows are always made from the uncut ones.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.baselines.lattice import assemble, shrinkage_matrix
from saddlesynth.synthesis.baselines.rows import Via, Wanted, build_rows, check_via
from saddlesynth.synthesis.baselines.strategy import Objective, Workload
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.noisy import SECONDS_A_DRAW, expected_distance
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.workload import check_workload, parse_workload

NO_NOISE = 1e-6  # variance that stands for none, where a count follows from public ones


@dataclass(frozen=True)
class Draws:
    """What line 1 asks: tables (cells), shares of the budget, noise at a given rho.

    ``sigmas`` are of the tables' cells; ``variances`` of the residuals in ``Workload.parts``.
    """

    marginals: tuple[Attributes, ...]
    sigmas: tuple[float, ...]
    variances: NDArray[np.float64]


class AnswerMethod(Synthesizer):
    """Base of the methods that answer a workload.

    Parameters
    ----------
    workload
        The marginals: ``all:K``, ``random:COUNT:K:SEED``, a JSON file, or what it would hold; see
        ``workload.py``.  Weights count squared errors.
    max_cells
        Leave marginals of more cells out of ``all`` and ``random``.  Default: the number of rows
        where it is public, else no bound.
    objective
        ``"total"`` (least expected squared error of all queries, as published) or ``"max"`` (least
        variance of the worst query).
    clip
        Cut the answers off at 0 and at the number of rows.
    via
        How rows are made: see ``rows.py``.
    records
        Records in the model's pool; default: the builder's own.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        workload: Any = "all:2",
        max_cells: int | None = None,
        objective: Objective = "total",
        clip: bool = False,
        via: Via = "projection",
        records: int | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.workload = workload
        self.max_cells = max_cells
        self.objective = objective
        self.clip = clip
        self.via = via
        self.records = records

    # ------------------------------------------------------------------ what a method says
    @abstractmethod
    def _measure(
        self, session: Session, workload: Workload
    ) -> tuple[dict[Attributes, NDArray[np.float64]], NDArray[np.float64]]:
        """Line 1: every residual of ``workload.parts``, and the variance of a cell's noise."""

    @abstractmethod
    def _draws(self, workload: Workload, rho: float) -> Draws:
        """What ``_measure`` would ask."""

    # ------------------------------------------------------------------ the method
    def _fit(self, session: Session) -> Fit:
        workload = self._workload_of(session.domain, session.public_rows)
        residuals, variances = self._measure(session, workload)
        session.progress("measure", 1.0)
        if session.public_rows is not None:
            residuals[()] = np.asarray(float(session.public_rows))
        rows = max(1.0, float(residuals[()]))
        answers = _answers(workload, residuals, variances)
        wanted = Wanted(
            session.domain, answers, rows, session.impossible, self.records, with_errors=False
        )
        built = build_rows(self.via, wanted, session.generator, session.progress)
        told = [
            self._told(m, rows, Constraints(session.domain, session.impossible)) for m in answers
        ]
        facts = {"answers": len(answers), "parts": len(workload.parts), **built.facts}
        return Fit(built.model, rows, tuple(told), facts)

    def _told(self, answer: Measurement, rows: float, rules: Constraints) -> Measurement:
        """The answer as it is released: known zeros are zero, and clipped if asked."""
        counts = np.where(rules.forbidden_cells(answer.attributes), 0.0, answer.counts)
        if self.clip:
            counts = np.clip(counts, 0.0, rows)
        return Measurement(answer.attributes, counts, answer.sigma, answer.rho, independent=False)

    def _workload_of(self, domain: Domain, public_rows: int | None) -> Workload:
        limit = public_rows if self.max_cells is None else self.max_cells
        asked: dict[Attributes, float] = {}
        for block in parse_workload(self.workload, domain, limit).blocks:
            marginal = tuple(sorted(block.attributes))
            asked[marginal] = asked.get(marginal, 0.0) + block.weight
        return Workload(domain, tuple(asked), tuple(asked.values()), self._rows_are_public)

    @property
    def _rows_are_public(self) -> bool:
        return self.unit is None and self.relation == Relation.REPLACE_ONE

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._workload_of(domain, rows if self._rows_are_public else None)
        draws = self._draws(workload, rho)
        variance = shrinkage_matrix(workload.marginals, workload.parts, domain) @ draws.variances
        cells = [domain.cells(m) for m in workload.marginals]
        errors = [
            expected_distance(c, math.sqrt(v), rows) for c, v in zip(cells, variance, strict=True)
        ]
        queries = sum(domain.cells(m) for m in draws.marginals)
        step = {
            "step": "measure",
            "marginals": len(draws.marginals),
            "cells": queries,
            "rho": rho,
            "sigma": float(np.median(draws.sigmas)),
        }
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=queries,
            memory=32 * (queries + sum(cells)) + 2**20 * 64,
            seconds=1 + SECONDS_A_DRAW * queries,
            expected_error=float(np.mean(errors)),
            steps=(step,),
            notes=(f"answers {len(cells)} marginals; rows are made from them by {self.via!r}",),
            smaller="a workload of fewer or smaller marginals, max_cells, or fewer bins",
        )

    def _check(self) -> None:
        check_workload(self.workload)
        if self.max_cells is not None:
            check_count("max_cells", self.max_cells)
        if self.objective not in get_args(Objective):
            raise InputError(unknown("objective", self.objective, list(get_args(Objective))))
        if not isinstance(self.clip, bool):
            raise InputError(f"clip is {self.clip!r}; it must be True or False")
        check_via(self.via, self.records)


def _answers(
    workload: Workload,
    residuals: dict[Attributes, NDArray[np.float64]],
    variances: NDArray[np.float64],
) -> list[Measurement]:
    """Line 2: the workload's marginals and their subsets, small ones first."""
    domain = workload.domain
    wanted = sorted({*workload.marginals, *workload.parts}, key=lambda t: (len(t), t))
    by_cell = shrinkage_matrix(wanted, workload.parts, domain) @ variances
    by_cell = np.maximum(by_cell, NO_NOISE)
    return [
        Measurement(m, assemble(residuals, m, domain), math.sqrt(v), 1 / (2 * v), independent=False)
        for m, v in zip(wanted, by_cell, strict=True)
    ]
