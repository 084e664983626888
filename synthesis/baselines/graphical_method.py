"""What the methods on graphical models share: parameters, the last fit, selection by distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.privacy.distance import MarginalDistance
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.baselines.graphical import (
    ITERATIONS,
    MAX_MODEL_SIZE,
    fit_graphical,
    fitted_measurements,
    require_mbi,
    tree_size,
)
from saddlesynth.synthesis.baselines.propagation import Propagated, propagate
from saddlesynth.synthesis.baselines.rows import Wanted, pool_size
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.noisy import SECONDS_A_DRAW, expected_distance, rows_estimate
from saddlesynth.synthesis.parameters import check_count, check_number

SECONDS_AT_THE_END = 10.0  # mbi's fit, mostly compiling, on a machine of 2026
SECONDS_BETWEEN = 0.5
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # of a normal variable, in standard deviations


class GraphicalMethod(Synthesizer):
    """Base of the methods that fit a graphical model with ``mbi``.

    Parameters
    ----------
    max_model_size
        MiB of the junction tree at most.
    iterations
        Steps of mirror descent in the last fit.
    records
        Size of the pool of records that the model keeps.  Default: the (noisy or public) number of
        rows, at least 1,000, at most 500,000.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        max_model_size: float = MAX_MODEL_SIZE,
        iterations: int = ITERATIONS,
        records: int | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.max_model_size = max_model_size
        self.iterations = iterations
        self.records = records

    def _between(
        self,
        domain: Domain,
        measured: Sequence[Measurement],
        rows: float,
        before: Propagated | None = None,
    ) -> Propagated:
        """The model between two rounds, fitted from the one before; see ``propagation.py``."""
        return propagate(domain, measured, rows, before, limit=self.max_model_size)

    def _rows(self, session: Session, measured: Sequence[Measurement]) -> float:
        public = session.public_rows
        return rows_estimate(measured) if public is None else float(max(1, public))

    def _finished(
        self,
        session: Session,
        measured: Sequence[Measurement],
        rows: float,
        facts: dict[str, Any],
    ) -> Fit:
        """Fit everything that was measured, and draw the pool."""
        fitted = fit_graphical(
            session.domain, measured, rows, limit=self.max_model_size, iterations=self.iterations
        )
        session.progress("estimate", 1.0)
        wanted = Wanted(session.domain, measured, rows, session.impossible, self.records)
        records = fitted.records(pool_size(wanted), session.generator)
        size = tree_size(session.domain, [m.attributes for m in measured])
        return Fit(
            RecordModel(session.domain, records),
            rows,
            fitted_measurements(fitted, wanted),
            {**facts, "nodes": len(fitted.nodes), "model_mib": round(size, 4)},
        )

    def _graphical_plan(
        self,
        domain: Domain,
        rows: int,
        rho: float,
        steps: Sequence[dict[str, Any]],
        rounds: int = 0,
        notes: Sequence[str] = (),
    ) -> Plan:
        """A plan: ``steps`` have marginals, cells, rho and sigma, and say what is measured."""
        measured = [step for step in steps if step["sigma"] is not None]
        errors = [
            expected_distance(step["cells"] // step["marginals"], step["sigma"], rows)
            for step in measured
        ]
        queries = sum(int(step["cells"]) for step in steps)
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=queries,
            memory=int(2**29 + 4 * self.max_model_size * 2**20),
            seconds=SECONDS_AT_THE_END + SECONDS_BETWEEN * rounds + SECONDS_A_DRAW * queries,
            expected_error=float(np.mean(errors)),
            steps=tuple(steps),
            notes=(*notes, "memory is mostly JAX's own"),
            smaller="marginals of fewer columns, fewer bins, or a smaller max_model_size",
        )

    def _check(self) -> None:
        require_mbi()
        check_number("max_model_size", self.max_model_size)
        if self.max_model_size <= 0:
            raise InputError(f"max_model_size is {self.max_model_size!r}; it must be above 0 MiB")
        check_count("iterations", self.iterations)
        if self.records is not None:
            check_count("records", self.records)


def plan_step(
    step: str, marginals: int, cells: int, rho: float, sigma: float | None
) -> dict[str, Any]:
    """A line of a plan; ``sigma`` is ``None`` for a choice, which measures nothing."""
    return {"step": step, "marginals": marginals, "cells": cells, "rho": rho, "sigma": sigma}


def selection_epsilon(rho: float) -> float:
    """The epsilon of an exponential mechanism that costs at most ``rho``: epsilon^2 / 8."""
    return math.sqrt(8 * rho) * (1 - 1e-12)


def select_far(
    curator: Curator,
    step: str,
    candidates: Sequence[Attributes],
    expected: Sequence[NDArray[np.float64]],
    rho: float,
    weights: NDArray[np.float64] | None = None,
    penalties: NDArray[np.float64] | None = None,
) -> int:
    """Position of a candidate that is far from what is expected of it.

    expected : counts, one table a candidate;  weights : any positive numbers;  penalties : counts

    Privacy.  ``rho``-zCDP, by the curator's exponential mechanism.
    """
    relative = None if weights is None else weights / weights.max()
    score = MarginalDistance(candidates, expected, relative, penalties)
    return curator.select(step, score, selection_epsilon(rho))
