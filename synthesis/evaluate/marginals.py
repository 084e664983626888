"""Errors of all k-way marginals of two tables, or of a random part of them where there are many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.evaluate.metrics import (
    MAX_CELLS,
    Codes,
    MarginalError,
    NotComputable,
    marginal_errors,
)
from saddlesynth.synthesis.evaluate.result import Group, KWay, NamedError

WORST = 10


def k_way(
    real: Codes,
    synthetic: Codes,
    domain: Domain,
    k: int,
    *,
    measured: Sequence[Attributes] | None = None,
    limit: int = 1000,
    seed: int = 0,
) -> KWay:
    """Errors of the k-way marginals; ``NotComputable`` where there is none.

    measured : what a release measured; a marginal is *inside* if one of these contains it.
    limit : more marginals than this are drawn at random, without replacement.
    """
    chosen, notes = choose(domain, k, limit, seed)
    found = [
        _named(error, domain, measured)
        for error in marginal_errors(real, synthetic, domain, chosen)
    ]
    distances = np.array([error.tvd for error in found])
    worst = sorted(found, key=lambda error: -error.tvd)[:WORST]
    return KWay(
        k=k,
        total=math.comb(len(domain), k),
        computed=len(found),
        mean=float(distances.mean()),
        quantile95=float(np.quantile(distances, 0.95)),
        max=float(distances.max()),
        max_error=max(error.max_error for error in found),
        worst=tuple(worst),
        inside=_group([error for error in found if error.measured]),
        outside=_group([error for error in found if error.measured is False]),
        errors=tuple(found),
        notes=notes,
    )


def choose(
    domain: Domain, k: int, limit: int, seed: int
) -> tuple[list[Attributes], tuple[str, ...]]:
    """The k-way marginals to compute, in order, and notes on those left out.

    >>> choose(Domain(("a", "b", "c"), (2, 2, 2)), 2, 100, 0)
    ([(0, 1), (0, 2), (1, 2)], ())
    """
    width = len(domain)
    total = math.comb(width, k)
    if not total:
        raise NotComputable(f"the table has {width} columns, fewer than {k}")
    notes = []
    chosen: list[Attributes]
    if total <= limit:
        chosen = list(combinations(range(width), k))
    else:
        generator = np.random.default_rng(seed)
        drawn: set[Attributes] = set()
        while len(drawn) < limit:
            drawn.add(tuple(sorted(generator.choice(width, k, replace=False).tolist())))
        chosen = sorted(drawn)
        notes.append(f"{limit:,} of {total:,} {k}-way marginals, chosen at random")
    small = [m for m in chosen if domain.cells(m) <= MAX_CELLS]
    left_out = len(chosen) - len(small)
    if left_out:
        notes.append(f"{left_out:,} {k}-way marginals of more than {MAX_CELLS:,} cells left out")
    if not small:
        raise NotComputable(f"every {k}-way marginal has more than {MAX_CELLS:,} cells")
    return small, tuple(notes)


def _named(
    error: MarginalError, domain: Domain, measured: Sequence[Attributes] | None
) -> NamedError:
    own = set(error.attributes)
    return NamedError(
        tuple(domain.names[a] for a in error.attributes),
        error.cells,
        error.tvd,
        error.max_error,
        None if measured is None else any(own <= set(m) for m in measured),
    )


def _group(errors: list[NamedError]) -> Group | None:
    if not errors:
        return None
    distances = [error.tvd for error in errors]
    return Group(len(errors), float(np.mean(distances)), max(distances))
