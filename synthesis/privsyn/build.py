"""From consistent marginals to a pool of records: initialise, update (GUM), append.

Privacy.  Post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.synthesis.estimates import sum_onto
from saddlesynth.synthesis.privsyn.append import Core, append, components, strip
from saddlesynth.synthesis.privsyn.gum import Pool, Target, Updating, distance, gum
from saddlesynth.synthesis.privsyn.initialise import independent_columns, whole_counts


@dataclass(frozen=True)
class Built:
    """A pool of records and how it came about.

    error : mean L1 distance between the pool's marginals and the wanted ones, as a fraction
    sweeps : of the component that took most
    """

    pool: Pool
    error: float
    sweeps: int
    components: int
    appended: int


def build_pool(
    one_way: Sequence[Measurement],
    marginals: Sequence[Measurement],
    records: int,
    updating: Updating,
    generator: np.random.Generator,
    *,
    append_attributes: bool = True,
    separate_and_join: bool = True,
    progress: Callable[[float], None] = lambda done: None,
) -> Built:
    """Records whose marginals are near the given ones.

    one_way : consistent, non-negative, one for each attribute, in order
    marginals : likewise, of two attributes or more
    """
    pool = independent_columns([m.counts for m in one_way], records, generator)
    attributes = [m.attributes for m in marginals]
    core = strip(attributes) if append_attributes else Core(tuple(enumerate(attributes)), ())
    targets = [
        Target(left, whole_counts(sum_onto(marginals[i], left), records))
        for i, left in core.marginals
    ]
    parts = components(t.attributes for t in targets)
    if not separate_and_join and parts:
        parts = [set().union(*parts)]
    sweeps = 0
    for done, part in enumerate(parts):
        inside = [t for t in targets if part.issuperset(t.attributes)]

        def within(share: float, done: int = done) -> None:
            progress((done + share) / len(parts))

        taken = _update_part(pool, sorted(part), inside, updating, generator, within)
        sweeps = max(sweeps, taken)
    for step in reversed(core.stripped):
        table = sum_onto(marginals[step.marginal], (*step.given, step.attribute))
        append(pool, step, table, generator)
    return Built(pool, _error(pool, marginals, records), sweeps, len(parts), len(core.stripped))


def _update_part(
    pool: Pool,
    part: list[int],
    targets: Sequence[Target],
    updating: Updating,
    generator: np.random.Generator,
    progress: Callable[[float], None],
) -> int:
    """Run GUM on some columns alone and join them, in random order, to the rest; in place."""
    place = {a: i for i, a in enumerate(part)}
    renamed = [Target(tuple(place[a] for a in t.attributes), t.counts) for t in targets]
    updated = gum([pool[a] for a in part], renamed, updating, generator, progress)
    order = generator.permutation(len(pool[0]))
    for a, column in zip(part, updated.pool, strict=True):
        pool[a] = column[order]
    return updated.sweeps


def _error(pool: Pool, marginals: Sequence[Measurement], records: int) -> float:
    wanted = [Target(m.attributes, whole_counts(m.counts, records)) for m in marginals]
    return float(np.mean([distance(pool, t) for t in wanted])) / records if wanted else 0.0
