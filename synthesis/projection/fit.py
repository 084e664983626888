"""From any noisy marginals to the smoothest distribution that explains them, as weighted records.

 1  target   all measurements end to end, as fractions of the rows
 2  choose   the temperature, by thinning the measurements (``entropic.choose``), unless given
 3  settle   the distribution on the whole domain at that temperature (``entropic.settle``)
 4  errors   of its marginals, by a parametric bootstrap (``errors.standard_errors``)

Privacy.  Post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.model import RecordModel
from saddlesynth.synthesis.projection.entropic import (
    Effort,
    Target,
    choose,
    reachable,
    settle,
    start,
)
from saddlesynth.synthesis.projection.errors import standard_errors
from saddlesynth.synthesis.projection.pool import Cells, Floats
from saddlesynth.synthesis.projection.tree import tree_start

INCIDENCES = 30_000_000  # records times marginals of a pool at most; 12 bytes each


@dataclass(frozen=True, eq=False)
class Found:
    """Weighted records, their marginals end to end, and what to say of the search.

    ``errors`` are the marginals' standard errors, where they are known.
    """

    records: NDArray[np.integer]
    weights: Floats
    marginals: Floats
    facts: dict[str, Any]
    errors: Floats | None = None


def effort_for(marginals: int, pool: int, sweeps: int, iterations: int) -> Effort:
    """The effort, with a pool that so many marginals leave memory for."""
    return Effort(int(np.clip(INCIDENCES // marginals, 2_000, pool)), sweeps, iterations)


def target_of(domain: Domain, measured: Sequence[Measurement], rows: float) -> Target:
    """Line 1."""
    return Target(
        Cells(domain, tuple(m.attributes for m in measured)),
        np.concatenate([m.counts.ravel() for m in measured]) / rows,
        np.concatenate([np.full(m.counts.size, m.sigma) for m in measured]) / rows,
    )


def smoothest(
    target: Target,
    shares: tuple[Floats, ...],
    effort: Effort,
    generator: np.random.Generator,
    *,
    temperature: float | None = None,
    impossible: tuple[Mapping[int, int], ...] = (),
    with_errors: bool = True,
    progress: Callable[[str, float], None] = lambda step, done: None,
) -> Found:
    """Lines 2 to 4.

    shares : the 1-way distributions of the independent start, one an attribute
    temperature : ``None`` chooses it from the target itself
    with_errors : line 4 takes about as long as line 3
    """
    stage = start(target.cells, shares, effort.size, generator, impossible)
    first = reachable(stage, target, effort.iterations)
    if first > target.hottest:  # dependence is too strong to be reached from independence
        stage = tree_start(stage, target, generator)
        first = reachable(stage, target, effort.iterations)
    searched = 0
    if temperature is None:
        quick = Effort(effort.size // 2, effort.sweeps, 2 * effort.iterations // 3)
        stage, curve = choose(
            stage, target, quick, generator, first, progress=partial(progress, "temperature")
        )
        temperature = math.sqrt(2) * stage.temperature  # thinning had sqrt(2) times the noise
        searched = len(curve)
    told = partial(progress, "settle")
    stage, stages = settle(stage, target, temperature, effort, generator, progress=told)
    errors = None
    if with_errors:
        told = partial(progress, "standard errors")
        errors = standard_errors(stage, target, temperature, generator, told)
    facts = {
        "temperature": float(f"{temperature:.4g}"),
        "stages": searched + stages,
        "pool": len(stage.weights),
        "effective_pool": round(stage.effective_size),
    }
    return Found(stage.pool.records, stage.weights, stage.marginals, facts, errors)


def pool_model(domain: Domain, records: NDArray[np.integer], weights: Floats) -> RecordModel:
    """The pool, ordered so that systematic sampling by weight keeps neighbours together."""
    kept = np.flatnonzero(weights > 0)
    order = kept[np.lexsort(records[kept].T)]
    return RecordModel(domain, records[order], weights[order])


def projected(
    measured: Sequence[Measurement], cells: Cells, found: Found, rows: float
) -> list[Measurement]:
    """The measured marginals as the distribution has them, in counts."""
    tables = cells.split(rows * found.marginals)
    errors: list[Floats] | list[None] = [None] * len(tables)
    if found.errors is not None:
        errors = cells.split(rows * found.errors)
    return [
        replace(m, counts=table, errors=error)
        for m, table, error in zip(measured, tables, errors, strict=True)
    ]
