"""Raw columns of a table on this machine, for discovery: ``PrivateColumns`` over a ``Table``.

*Privacy.* Everything here is exact: for ``ColumnCurator`` alone.  A row adds to one cell of each
table at most, chosen by its own content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.formats import (
    DATE_FORMATS,
    DECIMALS,
    FORMATS,
    format_counts,
    formats_of,
    is_text,
)
from saddlesynth.synthesis.read import Table

if TYPE_CHECKING:
    import pyarrow as pa

NUMERIC = [FORMATS.index(name) for name in ("integer", *DECIMALS, "number")]


class LocalColumns:
    """The columns of a table, streamed in one pass for each question."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def classes(self, columns: Sequence[str]) -> list[NDArray[np.int64]]:
        """How many cells of each column have which of ``FORMATS``."""
        counts = [np.zeros(len(FORMATS), dtype=np.int64) for _ in columns]
        for batch in self._table.batches(list(columns)):
            for total, cells in zip(counts, batch.columns, strict=True):
                total += format_counts(cells, self._table.text)
        return counts

    def histograms(self, edges: Mapping[str, NDArray[np.float64]]) -> list[NDArray[np.int64]]:
        """How many ``numbers`` of each column are in which [edges[i], edges[i+1])."""
        counts = [np.zeros(len(e) - 1, dtype=np.int64) for e in edges.values()]
        for batch in self._table.batches(list(edges)):
            for total, own, cells in zip(counts, edges.values(), batch.columns, strict=True):
                places = np.searchsorted(own, numbers(cells), side="right") - 1
                inside = places[(places >= 0) & (places < len(total))]
                total += np.bincount(inside, minlength=len(total))
        return counts

    def value_counts(self, columns: Sequence[str]) -> list[Mapping[str, int]]:
        """How often each value occurs, as text; missing and empty cells are left out."""
        counts: list[Counter[str]] = [Counter() for _ in columns]
        for batch in self._table.batches(list(columns)):
            for total, cells in zip(counts, batch.columns, strict=True):
                total.update(_value_counts(cells))
        for total in counts:
            if self._table.text:
                total.pop("", None)
        return list(counts)


def numbers(cells: pa.Array) -> NDArray[np.float64]:
    """The numbers among the cells, and dates as seconds since 1970; others are left out.

    What a cell counts as depends on that cell alone.

    >>> import pyarrow as pa
    >>> numbers(pa.array(["7", "x", "1970-01-02", "0x1F", None])).tolist()
    [7.0, 86400.0]
    """
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        values = _values(cells.dictionary)
        places = cells.indices.drop_null().to_numpy(zero_copy_only=False)
        found = values[places]
    else:
        found = _values(cells.drop_null())
    return np.asarray(found[np.isfinite(found)], dtype=np.float64)


def _values(cells: pa.Array) -> NDArray[np.float64]:
    """A number for each cell, NaN where it is none; the cells have no nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
        if pa.types.is_timestamp(cells.type) and cells.type.tz:
            cells = pc.local_timestamp(cells)
        return _seconds(cells.cast(pa.timestamp("s"), safe=False))
    if not is_text(cells.type):
        return np.asarray(cells.cast(pa.float64(), safe=False), dtype=np.float64)
    found = np.full(len(cells), np.nan)
    formats = formats_of(cells)
    numeric = np.isin(formats, NUMERIC)
    found[numeric] = np.asarray(cells.filter(pa.array(numeric)).cast(pa.float64()))
    for name, pattern in DATE_FORMATS.items():
        dated = formats == FORMATS.index(name)
        moments = pc.strptime(cells.filter(pa.array(dated)), pattern, "s", error_is_null=True)
        found[dated] = _seconds(moments)
    return found


def _seconds(moments: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa

    return np.asarray(moments.cast(pa.int64()).cast(pa.float64(), safe=False).fill_null(np.nan))


def _value_counts(cells: pa.Array) -> dict[str, int]:
    """How often each value occurs, as text; nulls are left out."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        places = cells.indices.drop_null().to_numpy(zero_copy_only=False)
        times = np.bincount(places, minlength=len(cells.dictionary))
        texts = cells.dictionary.cast(pa.string()).to_pylist()
        counts: Counter[str] = Counter()
        for text, count in zip(texts, times.tolist(), strict=True):
            if count:  # a dictionary may list a value twice
                counts[text] += count
        return counts
    pairs = cells.drop_null().value_counts()
    texts = pairs.field("values").cast(pa.string()).to_pylist()
    return dict(zip(texts, pairs.field("counts").to_pylist(), strict=True))
