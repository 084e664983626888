"""From a table to a session: open it, give the columns meaning, put a curator in front of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Noise, noise_source, streams
from saddlesynth.synthesis.base import Plan, Session, Synthesizer, silent
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.methods import engine_class
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.read import Table, open_table
from saddlesynth.synthesis.schema import Schema
from saddlesynth.synthesis.tables import Layout
from saddlesynth.synthesis.truncate import truncated

BYTES_AT_REST = 170 * 2**20  # the interpreter and its libraries


@dataclass(frozen=True)
class Prepared:
    """What ``fit`` works with; ``sampling`` is the stream for rows drawn after fitting."""

    session: Session
    codec: Codec
    schema: Schema
    discovered: bool
    layout: Layout
    seeded: bool
    sampling: np.random.Generator | None


def prepare(method: Synthesizer, data: Any, schema: Any, ledger: Ledger) -> Prepared:
    """Open the data and build the session of a fit.

    Privacy.  Without a schema it is discovered at a charge; nothing else is released here.  The
    number of rows is read only where it is public: one row is one unit and is replaced, not added.
    """
    table = open_table(data)
    noise = noise_source(method.random_state)
    finding, fitting, sampling = streams(method.random_state)[1].spawn(3)
    if schema is None:
        meaning = _discover(method, table, ledger, noise, finding)
    else:
        meaning = as_schema(schema)
    codec = Codec(meaning, table.schema)
    impossible = tuple(codec.impossible)
    Constraints(codec.domain, impossible).check()
    planned = _whole(method._plan(codec.domain, 10_000, ledger.remaining_rho), codec)
    check_size(planned, method.max_queries)
    records = engine_class(method.engine)(
        table,
        codec,
        unit=method.unit,
        max_rows_per_unit=method.max_rows_per_unit,
        generator=fitting,
        n_jobs=method.n_jobs,
    )
    # The first pass checks every cell: a table that does not fit is refused, nothing charged.
    rows = records.count([()])[0]
    public = method.unit is None and ledger.relation is Relation.REPLACE_ONE
    session = Session(
        curator=Curator(records, ledger, noise),
        domain=codec.domain,
        generator=fitting,
        impossible=impossible,
        public_rows=int(rows) if public else None,
        progress=method.progress or silent,
        n_jobs=method.n_jobs,
    )
    seeded = method.random_state is not None
    return Prepared(
        session, codec, meaning, schema is None, Layout.of(table, codec.columns),
        seeded, sampling if seeded else None,
    )  # fmt: skip


def _discover(
    method: Synthesizer, table: Table, ledger: Ledger, noise: Noise, generator: np.random.Generator
) -> Schema:
    """The schema of a table that has none, at a charge; few rows of each unit are looked at."""
    from saddlesynth.synthesis.discover import discover

    looked_at = table
    if method.unit is not None:
        looked_at = truncated(table, method.unit, method.max_rows_per_unit, generator)
    return discover(looked_at, ledger, noise, unit=method.unit)


def plan(method: Synthesizer, schema: Any, n_rows: int) -> Plan:
    """The plan of a method for a schema; no data."""
    method.check_parameters()
    check_count("n_rows", n_rows)
    if schema is None:
        raise InputError("plan needs a schema: it reads no data; give schema")
    codec = Codec(as_schema(schema), None)
    return _whole(method._plan(codec.domain, n_rows, method._new_ledger().rho), codec)


def _whole(plan: Plan, codec: Codec) -> Plan:
    """The plan with the memory of the whole process: libraries and kept codes are added."""
    from saddlesynth.synthesis.engines.local import CACHE_BYTES

    kept = min(CACHE_BYTES, plan.rows * len(codec.domain))
    return replace(plan, memory=BYTES_AT_REST + kept + plan.memory)


def as_schema(schema: Any) -> Schema:
    """A ``Schema`` from a Schema, a mapping or a path."""
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | Path):
        return Schema.load(schema)
    return Schema.parse(schema)


def check_size(plan: Plan, max_queries: int | None) -> None:
    """Refuse, before any work, a run that asks for too many noisy numbers."""
    if max_queries is not None and plan.queries > max_queries:
        raise SizeError(
            f"{plan.method} would ask {plan.queries:,} queries and need about "
            f"{plan.memory / 2**20:,.0f} MiB; the limit is {max_queries:,}. Smaller: "
            f"{plan.smaller}. To go on all the same: max_queries=None (--yes)"
        )
