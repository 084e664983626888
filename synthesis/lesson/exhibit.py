"""What a lesson is about: a public table, its queries, and names for its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from saddlesynth.games.equilibrium import Equilibrium, solve
from saddlesynth.games.payoff import Answers, PayoffMatrix, all_records, payoff_matrix
from saddlesynth.games.privacy.curator import PrivateRecords
from saddlesynth.games.query_class import QueryClass
from saddlesynth.games.toys import TOYS, toy
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown

SMALL = 50_000  # entries of a payoff matrix that a lesson writes out and solves


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table that everybody may see, ready to be played on.

    ``labels[a]`` are the names of attribute a's values; ``rows`` is the number of records in
    ``table``; ``impossible`` are combinations {attribute position: code} that may not be played.
    """

    name: str
    story: str
    domain: Domain
    labels: tuple[tuple[str, ...], ...]
    table: PrivateRecords
    rows: int
    workload: QueryClass
    impossible: tuple[Mapping[int, int], ...] = ()

    @cached_property
    def truth(self) -> Answers:
        """The data's answers, as fractions."""
        counts = self.workload.answers(self.table.count(self.workload.marginals))
        return [table / max(1, self.rows) for table in counts]

    @cached_property
    def matrix(self) -> PayoffMatrix | None:
        """The whole game, if it is small; else None."""
        if math.prod(self.domain.sizes) * self.workload.candidates > SMALL:
            return None
        records = all_records(self.domain, self.impossible)
        return payoff_matrix(self.workload, self.truth, records, self.labels)

    @cached_property
    def equilibrium(self) -> Equilibrium | None:
        """Exact value and optimal mixes, if the game is small; else None."""
        return None if self.matrix is None else solve(self.matrix.values)

    @property
    def value(self) -> float | None:
        """The value of the game where it is known.

        It is 0 where every record may be played: then the data player can play the data.
        """
        if self.equilibrium is not None:
            return self.equilibrium.value
        return None if self.impossible else 0.0


def from_toy(name: str, copies: int = 1) -> Exhibit:
    """A toy with each of its records ``copies`` times: the same game, more people to hide in.

    >>> from_toy("coin", copies=100).rows
    400

    Raises ``InputError`` on an unknown name, or copies below 1.
    """
    if name not in TOYS:
        raise InputError(unknown("toy", name, list(TOYS)))
    if copies < 1:
        raise InputError(f"copies is {copies}; it must be at least 1")
    made = toy(name)
    records = np.repeat(made.records, copies, axis=0)
    return Exhibit(
        made.name,
        made.story,
        made.domain,
        made.labels,
        replace(made, records=records),
        len(records),
        made.workload,
        made.impossible,
    )


def from_table(
    data: Any, schema: Any = None, workload: Any = None, *, public: bool, name: str | None = None
) -> Exhibit:
    """A table of your own.

    Parameters
    ----------
    data, schema
        As for ``fit``; without a schema values are read off the table.
    workload
        As for the games' ``workload``.  Default: all pairs of columns.
    public
        That everybody may see every row of it.

    *Privacy.*  None: a lesson shows exact numbers.

    Raises
    ------
    InputError
        ``public`` is not True, or data, schema or workload are not what they should be.
    """
    name = str(data) if name is None else name
    if public is not True:
        raise InputError(
            f"{name}: a lesson shows exact numbers of the table, so nothing about it stays "
            "private; if everybody may see every row, say so with --public (public=True)"
        )
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.engines.local import LocalRecords
    from saddlesynth.synthesis.prepare import as_schema
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.schema_draft import draft
    from saddlesynth.synthesis.workload import parse_workload

    table = open_table(data)
    codec = Codec(as_schema(draft(table) if schema is None else schema), table.schema)
    domain, records = codec.domain, LocalRecords(table, codec)
    rows = int(records.count([()])[0])
    if not rows:
        raise InputError(f"{name} has no rows; there is nothing to play for")
    queries = parse_workload(f"all:{min(2, len(domain))}" if workload is None else workload, domain)
    return Exhibit(
        name,
        f"{rows:,} rows, {len(domain)} columns; declared public.",
        domain,
        tuple(tuple(map(str, codec.labels(column))) for column in domain.names),
        records,
        rows,
        queries,
        tuple(codec.impossible),
    )
