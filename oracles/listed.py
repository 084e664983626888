"""Tiny domains: every record, under all perturbations of a round at once.

Where the whole domain has a few thousand records, the queries' part of a record's value is computed
once a round for all records, and a perturbation is one row of a matrix product.  That is a hundred
times cheaper than solving perturbation by perturbation, and it proves every answer.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.oracle import BestResponse, NoValidRecord, Oracle, Prepared, Status
from saddlesynth.oracles.problem import Problem

RECORDS = 4_096


@dataclass(frozen=True)
class Listed:
    """Lists all records if the domain has at most ``records``; else asks ``otherwise``.

    *Privacy.* Public inputs only.
    """

    otherwise: Oracle
    records: int = RECORDS

    @property
    def name(self) -> str:
        return f"listed, else {self.otherwise.name}"

    def prepare(self, problem: Problem) -> Prepared:
        """The values of all records without their costs, or the other oracle's preparation.

        Raises ``NoValidRecord`` if the impossible combinations leave none.
        """
        if math.prod(problem.domain.sizes) > self.records:
            return self.otherwise.prepare(problem)
        every = np.array(list(itertools.product(*map(range, problem.domain.sizes))), dtype=np.intp)
        allowed = every[problem.allowed(every)]
        if not len(allowed):
            raise NoValidRecord("every record contains an impossible combination")
        free = np.zeros(problem.domain.width)
        return PreparedList(problem, allowed, problem.value(allowed, free))


@dataclass(frozen=True, eq=False)
class PreparedList:
    """All allowed records (N, d) and what the queries give each of them (N,)."""

    problem: Problem
    records: NDArray[np.intp]
    gains: NDArray[np.float64]

    def best_response(
        self, perturbation: ArrayLike, *, generator: np.random.Generator | None = None
    ) -> BestResponse:
        """The best record under one perturbation, (width,)."""
        return self.best_responses(np.asarray(perturbation)[None], generator=generator)[0]

    def best_responses(
        self,
        perturbations: ArrayLike,
        n_jobs: int | None = 1,
        *,
        generator: np.random.Generator | None = None,
    ) -> Sequence[BestResponse]:
        """The best record under each row of ``perturbations`` (s, width); ties as elsewhere."""
        start = time.perf_counter()
        costs = self.problem.check_perturbations(perturbations)
        values = np.tile(self.gains, (len(costs), 1))
        for a, offset in enumerate(self.problem.domain.offsets[:-1]):
            values -= costs[:, offset + self.records[:, a]]
        tolerance = 1e-12 * (np.abs(self.problem.weights).sum() + np.abs(costs).sum(axis=1))
        best = values.max(axis=1)
        if generator is None:
            chosen = values.argmax(axis=1)
        else:
            tied = values >= (best - tolerance)[:, None]
            chosen = np.where(tied, generator.random(values.shape), -1.0).argmax(axis=1)
        seconds = (time.perf_counter() - start) / max(1, len(costs))
        return [
            BestResponse(
                self.records[i],
                float(values[j, i]),
                float(best[j]),
                Status.OPTIMAL,
                "all records compared",
                seconds,
                None,
                "listed",
                "",
                float(tolerance[j]),
            )
            for j, i in enumerate(chosen)
        ]
