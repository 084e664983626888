"""Rows from any noisy marginals: one door to all builders.

===============  ===================================================================================
``projection``   the smoothest distribution that explains the marginals (``projection/fit.py``)
``gum``          consistent tables, then records updated until they fit (PrivSyn's GUM)
``mcf``          the same by minimum-cost flow, the plainer update that GUM is measured against
``pgm``          a graphical model, by the package ``mbi`` (extra ``pgm``)
``independent``  columns drawn independently from the 1-way marginals
===============  ===================================================================================

Privacy.  Post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.estimates import best_measured, sum_onto
from saddlesynth.synthesis.independent import IndependentModel
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Model, RecordModel
from saddlesynth.synthesis.noisy import fractions
from saddlesynth.synthesis.parameters import check_count

Via = Literal["projection", "gum", "mcf", "pgm", "independent"]
Progress = Callable[[str, float], None]
SMALLEST_POOL, LARGEST_POOL = 1_000, 500_000  # as PrivSyn's
PROJECTION_POOL = 60_000


@dataclass(frozen=True)
class Wanted:
    """What rows are to be made from.

    ``measured`` are noisy marginals; ``rows`` is the (noisy or public) number of rows, at least 1;
    ``records`` the size of the pool to make, or ``None`` for the builder's own.  ``with_errors``:
    whether standard errors of the marginals that are built are asked, where that takes time.
    """

    domain: Domain
    measured: Sequence[Measurement]
    rows: float
    impossible: tuple[Mapping[int, int], ...] = ()
    records: int | None = None
    with_errors: bool = True


@dataclass(frozen=True)
class Built:
    """The model, the marginals as the builder made them agree, and short figures about it."""

    model: Model
    measured: tuple[Measurement, ...]
    facts: dict[str, Any] = field(default_factory=dict)


def check_via(via: Any, records: Any) -> None:
    """Refuse an unknown builder, one whose package is missing, and a pool of no records."""
    if via not in get_args(Via):
        raise InputError(unknown("via", via, list(get_args(Via))))
    if records is not None:
        check_count("records", records)
    if via == "pgm":
        from saddlesynth.synthesis.baselines.graphical import require_mbi

        require_mbi()


def build_rows(
    via: Via,
    wanted: Wanted,
    generator: np.random.Generator,
    progress: Progress = lambda step, done: None,
) -> Built:
    """Make a model of records whose marginals are near the wanted ones.

    Attributes that no marginal speaks about are uniform.
    """
    if via == "projection":
        return _projected(wanted, generator, progress)
    if via == "pgm":
        from saddlesynth.synthesis.baselines.graphical import fit_pool

        return fit_pool(wanted, generator, progress)
    if via == "independent":
        model = IndependentModel(wanted.domain, one_way_shares(wanted))
        return Built(model, tuple(wanted.measured))
    return _updated(via, wanted, generator, progress)


def one_way_shares(wanted: Wanted) -> tuple[NDArray[np.float64], ...]:
    """The distribution of each attribute, from the marginal that tells most about it."""
    shares = []
    for attribute, size in enumerate(wanted.domain.sizes):
        best = best_measured(wanted.measured, (attribute,), wanted.domain)
        if best is None:
            shares.append(np.full(size, 1 / size))
        else:
            shares.append(fractions(sum_onto(best, (attribute,)), total=wanted.rows))
    return tuple(shares)


def maximal(measured: Sequence[Measurement]) -> list[Measurement]:
    """Measurements of marginals that no other one contains; of equals the first."""
    sets = [frozenset(m.attributes) for m in measured]
    return [
        m
        for i, m in enumerate(measured)
        if not any(sets[i] < other for other in sets) and sets[i] not in sets[:i]
    ]


def pool_size(wanted: Wanted) -> int:
    """Records of a pool in which all weigh the same."""
    return wanted.records or int(np.clip(round(wanted.rows), SMALLEST_POOL, LARGEST_POOL))


def _projected(wanted: Wanted, generator: np.random.Generator, progress: Progress) -> Built:
    from saddlesynth.synthesis.projection.fit import (
        effort_for,
        pool_model,
        projected,
        smoothest,
        target_of,
    )

    told = [m for m in wanted.measured if m.attributes]
    target = target_of(wanted.domain, told, wanted.rows)
    found = smoothest(
        target,
        one_way_shares(wanted),
        effort_for(len(told), wanted.records or PROJECTION_POOL, sweeps=2, iterations=30),
        generator,
        impossible=wanted.impossible,
        with_errors=wanted.with_errors,
        progress=progress,
    )
    return Built(
        pool_model(wanted.domain, found.records, found.weights),
        tuple(projected(told, target.cells, found, wanted.rows)),
        {"misfit": round(target.misfit(found.marginals), 4), **found.facts},
    )


def _updated(
    strategy: Literal["gum", "mcf"],
    wanted: Wanted,
    generator: np.random.Generator,
    progress: Progress,
) -> Built:
    from saddlesynth.synthesis.privsyn.build import build_pool
    from saddlesynth.synthesis.privsyn.consistency import make_consistent
    from saddlesynth.synthesis.privsyn.gum import Updating

    rules = Constraints(wanted.domain, wanted.impossible)
    told = [m for m in wanted.measured if m.attributes]
    zeros = [rules.forbidden_cells(m.attributes) for m in told] if wanted.impossible else None
    agreed, _ = make_consistent(told, wanted.domain, total=wanted.rows, zeros=zeros)
    consistent = Wanted(wanted.domain, agreed, wanted.rows)
    one_way = [
        Measurement((a,), wanted.rows * share, 1.0, 1.0)
        for a, share in enumerate(one_way_shares(consistent))
    ]
    built = build_pool(
        one_way,
        [m for m in maximal(agreed) if len(m.attributes) > 1],
        pool_size(wanted),
        Updating(strategy),
        generator,
        progress=lambda done: progress("update", done),
    )
    facts = {
        "pool": len(built.pool[0]),
        "sweeps": built.sweeps,
        "update_error": round(built.error, 6),
    }
    return Built(RecordModel(wanted.domain, np.array(built.pool).T), tuple(agreed), facts)
