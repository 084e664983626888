"""Rows kept of each unit, where a unit (a person) may have several rows.

Sensitivities are stated for units with at most k rows, so of each unit k rows are kept, drawn
uniformly and independently of all other units: adding or removing one unit changes no choice made
for another, in distribution, which is what bounds the effect of one unit by k rows.

Rows without an identifier could all be one person's, and count as one unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.errors import InputError, SchemaError
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Id, Schema

if TYPE_CHECKING:
    import pyarrow as pa


def check_unit(schema: Schema, unit: str) -> None:
    """Refuse a unit that is no identifier of the schema: it would be modelled and could leave."""
    if unit not in schema.columns:
        raise SchemaError(f"unit is {unit!r}, which is not a column of the schema")
    if not isinstance(schema.columns[unit], Id):
        raise SchemaError(
            f'unit {unit!r} must be an identifier, which is left out of the output: "{unit}": '
            '{"type": "id"}'
        )


def rows_to_keep(
    table: Table, unit: str, rows_per_unit: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Which rows to keep, (n,) bool: of each value of ``unit`` at most ``rows_per_unit``.

    Reads the one column; needs memory for it and about 20 bytes a row.

    *Privacy.* The result is private; ``generator`` must not be the source of privacy noise.

    >>> import pandas as pd
    >>> from saddlesynth.synthesis.read import open_table
    >>> visits = open_table(pd.DataFrame({"person": ["a", "b", "a", "a"]}))
    >>> int(rows_to_keep(visits, "person", 2, np.random.default_rng(0)).sum())
    3
    """
    units = _unit_numbers(table, unit)
    order = np.lexsort((generator.random(len(units)), units))
    sorted_units = units[order]
    starts = np.flatnonzero(np.r_[True, sorted_units[1:] != sorted_units[:-1]])
    lengths = np.diff(np.r_[starts, len(units)])
    place = np.arange(len(units)) - np.repeat(starts, lengths)  # within the unit, random order
    keep = np.zeros(len(units), dtype=bool)
    keep[order[place < rows_per_unit]] = True
    return keep


def _unit_numbers(table: Table, unit: str) -> NDArray[np.int32]:
    """A number for each row's unit, exact (no hashing that could merge two units)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = table.schema.field(unit).type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    cells = [batch.column(0).cast(plain) for batch in table.batches([unit])]
    column = pa.chunked_array(cells, type=plain)
    if table.text:
        column = pc.if_else(pc.equal(column, ""), None, column)
    coded = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)


@dataclass(frozen=True)
class TruncatedTable(Table):
    """The kept rows of a table, for whoever looks at raw columns."""

    table: Table
    keep: NDArray[np.bool_]

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        start = 0
        for batch in self.table.batches(columns):
            stop = start + batch.num_rows
            yield batch.filter(pa.array(self.keep[start:stop]))
            start = stop


def truncated(
    table: Table, unit: str, rows_per_unit: int, generator: np.random.Generator
) -> TruncatedTable:
    """The table with at most so many rows of each unit; ``InputError`` if it has no such column."""
    if unit not in table.names:
        raise InputError(f"unit is {unit!r}, which is not a column of the data: {table.names}")
    return TruncatedTable(table.schema, table, rows_to_keep(table, unit, rows_per_unit, generator))
