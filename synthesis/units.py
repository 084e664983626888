"""Units of several rows: at most so many rows of each unit are used, before anything is counted.

The rows of a unit that are kept are drawn at random, all equally likely, and independently of
other units.  So adding a unit adds at most that many rows and changes no others: the sensitivities
of one row, times the cap, hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.read import Table

if TYPE_CHECKING:
    import pyarrow as pa


def truncate(table: Table, unit: str, most: int, generator: np.random.Generator) -> Table:
    """The table with at most ``most`` rows of each value of column ``unit``.

    Raises
    ------
    InputError
        There is no such column, or a row has no value in it.
    """
    if unit not in table.names:
        raise InputError(f"unit is {unit!r}, but the data have no such column: {table.names}")
    units = _units(table, unit)
    kept = first_of_each(units, generator.permutation(len(units)), most)
    return TruncatedTable(table.schema, table, kept)


def first_of_each(
    units: NDArray[np.integer], order: NDArray[np.integer], most: int
) -> NDArray[np.bool_]:
    """Which rows are among the first ``most`` of their unit, in the given order of rows.

    >>> first_of_each(np.array([0, 0, 1, 0]), np.array([3, 2, 1, 0]), 2)
    array([False,  True,  True,  True])
    """
    arranged = order[np.argsort(units[order], kind="stable")]  # unit by unit, each in order
    sorted_units = units[arranged]
    starts = np.flatnonzero(np.diff(sorted_units, prepend=-1))
    place = np.arange(len(units)) - np.repeat(starts, np.diff(starts, append=len(units)))
    kept = np.zeros(len(units), dtype=bool)
    kept[arranged[place < most]] = True
    return kept


def _units(table: Table, unit: str) -> NDArray[np.integer]:
    """A number for each row that tells units apart."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pa.chunked_array([_plain(batch.column(0)) for batch in table.batches([unit])])
    missing = pc.is_null(values, nan_is_null=True)
    if table.text:
        missing = pc.or_(missing, pc.equal(values, ""))
    if pc.any(missing).as_py():
        raise InputError(
            f"column {unit!r} names the unit, but some rows have no value in it; drop them or "
            "fill them in"
        )
    return np.asarray(values.combine_chunks().dictionary_encode().indices)


def _plain(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


@dataclass(frozen=True)
class TruncatedTable(Table):
    """Some rows of another table."""

    table: Table
    kept: NDArray[np.bool_]

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.table.kind

    @property
    def dtypes(self) -> tuple[str, ...]:
        return getattr(self.table, "dtypes", ())

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        start = 0
        for batch in self.table.batches(columns):
            mask: Any = pa.array(self.kept[start : start + batch.num_rows])
            start += batch.num_rows
            yield batch.filter(mask)
