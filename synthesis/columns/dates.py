"""Columns of dates and times, binned over whole days (or seconds, if the format has hours)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.bins import DEFAULT_BINS, IntegerBins
from saddlesynth.synthesis.columns.base import (
    MISFIT,
    Codes,
    ColumnCodec,
    Raw,
    Source,
    where_valid,
)
from saddlesynth.synthesis.columns.numbers import as_range, full_edges, whole_bins
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.schema import Datetime

if TYPE_CHECKING:
    import pyarrow as pa

EPOCH = datetime(1970, 1, 1)
FEW_MONTHS = 60  # whole months up to this many get one bin each by default
UNITS = {"D": timedelta(days=1), "s": timedelta(seconds=1), "us": timedelta(microseconds=1)}


def unit_of(format: str) -> str:
    """The smallest step that a format can write: day, second or microsecond.

    >>> unit_of("%d.%m.%Y"), unit_of("%Y-%m-%d %H:%M")
    ('D', 's')
    """
    codes = format.replace("%%", "")
    if "%f" in codes:
        return "us"
    return "s" if any(f"%{c}" in codes for c in "HIMS") else "D"


class DatetimeCodec(ColumnCodec):
    """Dates as whole numbers of units since 1970; a moment without a zone, or in the column's."""

    def __init__(self, source: Source, column: Datetime) -> None:
        import pyarrow as pa

        self._format, self._parse, self._unit = column.format, column.parse, unit_of(column.format)
        kind = source.values
        if not (source.holds_text or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise source.refuse("dates")
        self.misfit = f"not dates in the format {column.format!r}"
        self._bins = self._make_bins(source, column)
        super().__init__(source, kind, len(self._bins))

    # ------------------------------------------------------------------ bins, from the schema alone
    def _make_bins(self, source: Source, column: Datetime) -> IntegerBins:
        edges = [self._number(e) for e in column.bins] if isinstance(column.bins, list) else []
        low = edges[0] if column.min is None and edges else self._end(source, column.min)
        high = edges[-1] if column.max is None and edges else self._end(source, column.max)
        if edges:
            return IntegerBins.from_edges(full_edges(low, high, edges))
        count = column.bins if isinstance(column.bins, int) else None
        return self._by_months(low, high, count) or IntegerBins.equal(low, high, count)

    def _end(self, source: Source, text: str | None) -> int:
        if text is None:
            raise SchemaError(
                f"column {source.name!r} has no min and max; give them in the schema, from what "
                "is publicly known and not from the data"
            )
        return self._number(text)

    def _by_months(self, low: int, high: int, count: int | None) -> IntegerBins | None:
        """Bins of equally many calendar months, if the range is whole months and they divide."""
        start, stop = self._moment(low), self._moment(high + 1)
        if start != _month(start, 0) or stop != _month(stop, 0):
            return None
        months = 12 * (stop.year - start.year) + stop.month - start.month
        if count is None:
            count = months if months <= FEW_MONTHS else DEFAULT_BINS
        if months % count:
            return None
        starts = [_month(start, i * months // count) for i in range(count)]
        return IntegerBins.from_edges([*map(self._since, starts), high])

    # ------------------------------------------------------------------ moments and numbers
    def _since(self, moment: datetime) -> int:
        return (moment - EPOCH) // UNITS[self._unit]

    def _number(self, text: str) -> int:
        return self._since(self._parse(text))

    def _moment(self, number: int) -> datetime:
        return EPOCH + number * UNITS[self._unit]

    def _text(self, number: int) -> str:
        return self._moment(number).strftime(self._format)

    # ------------------------------------------------------------------ cells
    def _codes(self, cells: pa.Array) -> Raw:

        if self.source.holds_text:
            coded = cells.dictionary_encode()
            known = [self._code_of_text(text) for text in coded.dictionary.to_pylist()]
            places = coded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
            return np.asarray(np.array([*known, MISFIT], dtype=np.int32)[places])
        return self._bins.encode(self._numbers(cells))

    def _numbers(self, cells: pa.Array) -> NDArray[np.int64]:
        """Stored dates as whole units, local where they have a zone; anything where null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_timestamp(cells.type) and cells.type.tz:
            cells = pc.local_timestamp(cells)
        moments = cells.to_numpy(zero_copy_only=False).astype(f"datetime64[{self._unit}]")
        numbers: NDArray[np.int64] = moments.astype(np.int64)
        numbers[np.isnat(moments)] = self._bins.first[0]
        return numbers

    def _texts(self, numbers: NDArray[np.int64]) -> pa.Array:
        import pyarrow as pa

        distinct, places = np.unique(numbers, return_inverse=True)
        return pa.array([self._text(int(n)) for n in distinct]).take(pa.array(places))

    def _spell(self, cells: pa.Array) -> pa.Array:
        if self.source.holds_text:
            return cells
        return where_valid(cells, self._texts(self._numbers(cells)))

    def _code_of_text(self, text: str) -> int:
        try:
            return int(self._bins.encode(np.array([self._number(text)]))[0])
        except ValueError:
            return MISFIT

    def _cells(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = self._bins.decode(codes, generator)
        if self.source.holds_text:
            return self._texts(numbers).cast(self.kind)
        moments = pa.array(numbers.astype(f"datetime64[{self._unit}]"))
        if pa.types.is_timestamp(self.kind) and self.kind.tz:
            local = moments.cast(pa.timestamp(self.kind.unit), safe=False)
            return pc.assume_timezone(
                local, self.kind.tz, ambiguous="earliest", nonexistent="latest"
            )
        return moments.cast(self.kind, safe=False)

    # ------------------------------------------------------------------ for people
    def value_labels(self) -> list[Any]:
        pairs = zip(self._bins.first.tolist(), self._bins.last.tolist(), strict=True)
        texts = ((self._text(low), self._text(high)) for low, high in pairs)
        return [low if low == high else f"{low} to {high}" for low, high in texts]

    def edges(self) -> list[Any]:
        return [self._text(n) for n in [*self._bins.first.tolist(), int(self._bins.last[-1])]]

    def codes_of(self, value: Any) -> list[int]:
        ends = as_range(self.source.name, value, str)
        try:
            low, high = (self._number(text) for text in ends)
        except ValueError as error:
            raise SchemaError(f"impossible: column {self.source.name!r}: {error}") from None
        return whole_bins(
            self.source.name, low, high, self._bins.first.tolist(), self._bins.last.tolist()
        )


def _month(moment: datetime, later: int) -> datetime:
    """The first moment of the month that is ``later`` months after the one of ``moment``."""
    month = moment.month - 1 + later
    return datetime(moment.year + month // 12, month % 12 + 1, 1)
