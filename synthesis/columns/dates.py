"""Columns of dates and times, binned over whole days (or seconds, if the format has hours)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
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
ISO = {"%Y-%m-%d": 10, "%Y-%m-%d %H:%M:%S": 19}  # formats with the length of their texts
UNITS = {"D": timedelta(days=1), "s": timedelta(seconds=1), "us": timedelta(microseconds=1)}


def parse_iso(parse: Callable[[str], datetime], length: int, text: str) -> datetime:
    """``parse(text)`` for a format in ``ISO``, but fast for what is written as it should be."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse(text)
    as_written = len(text) == length and moment.isoformat(" ")[:length] == text
    return moment if as_written else parse(text)


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

        self._format, self._unit = column.format, unit_of(column.format)
        length = ISO.get(column.format)
        self._parse = partial(parse_iso, column.parse, length) if length else column.parse
        kind = source.values
        if not (source.holds_text or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise source.refuse("dates")
        self.misfit = f"not dates in the format {column.format!r}"
        self._bins = self._make_bins(source, column)
        if kind == pa.timestamp("ns", getattr(kind, "tz", None)):
            self._check_nanoseconds(source)
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

    def _check_nanoseconds(self, source: Source) -> None:
        ends = [self._moment(int(n)) for n in (self._bins.first[0], self._bins.last[-1])]
        if max(abs(end - EPOCH) for end in ends) >= timedelta(microseconds=2**63 // 1000):
            raise SchemaError(
                f"column {source.name!r} is stored in nanoseconds, which end in 1677 and 2262; "
                "choose min and max between them, or store it in microseconds"
            )

    def _end(self, source: Source, text: str | None) -> int:
        if text is None:
            raise SchemaError(
                f"column {source.name!r} has no min and max; give them in the schema, from what "
                "is publicly known and not from the data"
            )
        return self._number(text)

    def _by_months(self, low: int, high: int, count: int | None) -> IntegerBins | None:
        """Bins of equally many calendar months, if the range is whole months and they divide."""
        try:
            start, stop = self._moment(low), self._moment(high + 1)
        except OverflowError:  # the end of all dates
            return None
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
            known = [self._number_or_none(text) for text in coded.dictionary.to_pylist()]
            wrong = np.array([number is None for number in known] + [True])
            raw = self._bins.encode(np.array([n or 0 for n in known] + [0], dtype=np.int64))
            raw[wrong] = MISFIT
            places = coded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
            return np.asarray(raw[places])
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

        if self._format in ISO:  # as Arrow writes them
            moments = pa.array(numbers.astype(f"datetime64[{self._unit}]"))
            return moments.cast(pa.string())
        distinct, places = np.unique(numbers, return_inverse=True)
        return pa.array([self._text(int(n)) for n in distinct]).take(pa.array(places))

    def _spell(self, cells: pa.Array) -> pa.Array:
        if self.source.holds_text:
            return cells
        return where_valid(cells, self._texts(self._numbers(cells)))

    def _number_or_none(self, text: str) -> int | None:
        try:
            return self._number(text)
        except ValueError:
            return None

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
