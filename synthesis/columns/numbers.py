"""Columns of numbers: binned, and drawn again uniformly within the bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.bins import FloatBins, IntegerBins
from saddlesynth.synthesis.columns.base import (
    MISFIT,
    Codes,
    ColumnCodec,
    Raw,
    Source,
    where_valid,
)
from saddlesynth.synthesis.columns.parse import as_floats, as_integers
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.schema import Float, Integer

if TYPE_CHECKING:
    import pyarrow as pa


def bounds(source: Source, column: Integer | Float) -> tuple[Any, Any]:
    """The ends of the range: ``min`` and ``max``, else the outer edges."""
    edges = column.bins if isinstance(column.bins, list) else [None]
    low = column.min if column.min is not None else edges[0]
    high = column.max if column.max is not None else edges[-1]
    if low is None or high is None:
        raise SchemaError(
            f"column {source.name!r} has no min and max; give them in the schema, from what is "
            "publicly known and not from the data"
        )
    return low, high


def full_edges(low: Any, high: Any, edges: list[Any]) -> list[Any]:
    """Edges that reach from ``low`` to ``high``."""
    return [low] * (low < edges[0]) + edges + [high] * (high > edges[-1])


class IntegerCodec(ColumnCodec):
    """Whole numbers."""

    misfit = "not whole numbers"

    def __init__(self, source: Source, column: Integer) -> None:
        low, high = bounds(source, column)
        if isinstance(column.bins, list):
            self._bins = IntegerBins.from_edges(full_edges(low, high, list(column.bins)))
        else:
            self._bins = IntegerBins.equal(low, high, column.bins)
        super().__init__(source, _integer_kind(source, low, high), len(self._bins))

    def _codes(self, cells: pa.Array) -> Raw:
        found, wrong = as_integers(cells, int(self._bins.first[0]), int(self._bins.last[-1]))
        raw = self._bins.encode(found)
        if wrong is not None:
            raw[wrong] = MISFIT
        return raw

    def _cells(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        import pyarrow as pa

        return pa.array(self._bins.decode(codes, generator)).cast(self.kind)

    def value_labels(self) -> list[Any]:
        pairs = zip(self._bins.first.tolist(), self._bins.last.tolist(), strict=True)
        return [low if low == high else f"{low} to {high}" for low, high in pairs]

    def edges(self) -> list[Any]:
        return [*self._bins.first.tolist(), int(self._bins.last[-1])]

    def codes_of(self, value: Any) -> list[int]:
        low, high = as_range(self.source.name, value, int)
        return whole_bins(
            self.source.name, low, high, self._bins.first.tolist(), self._bins.last.tolist()
        )


class FloatCodec(ColumnCodec):
    """Real numbers; in columns stored as whole numbers, those."""

    misfit = "not numbers"

    def __init__(self, source: Source, column: Float) -> None:
        import pyarrow as pa

        low, high = bounds(source, column)
        self._decimals = _decimals(source, column)
        try:
            if isinstance(column.bins, list):
                edges = np.array(full_edges(low, high, list(column.bins)), dtype=np.float64)
                self._bins = FloatBins(edges, self._decimals)
            else:
                self._bins = FloatBins.equal(low, high, column.bins, self._decimals)
        except ValueError as error:
            raise SchemaError(f"column {source.name!r}: {error}") from None
        kind = source.values
        if pa.types.is_integer(kind):
            kind = _integer_kind(source, low, high)
        elif not (source.holds_text or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise source.refuse("a number")
        super().__init__(source, kind, len(self._bins))

    def _codes(self, cells: pa.Array) -> Raw:
        found, wrong = as_floats(cells)
        raw = self._bins.encode(found)
        if wrong is not None:
            raw[wrong] = MISFIT
        return raw

    def _cells(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        import pyarrow as pa

        if self._decimals is not None and not pa.types.is_floating(self.kind):
            multiples = self._bins.decode_multiples(codes, generator)
            return as_decimals(multiples, self._decimals).cast(self.kind)
        drawn = self._bins.decode(codes, generator)
        if self.kind == pa.float32():
            return pa.array(self._narrow(drawn, codes))
        return pa.array(drawn).cast(self.kind)

    def _spell(self, cells: pa.Array) -> pa.Array:
        import pyarrow as pa

        if self._decimals is None or not pa.types.is_floating(cells.type):
            return cells.cast(pa.string())
        scaled = np.rint(cells.fill_null(0).cast(pa.float64()).to_numpy() * 10.0**self._decimals)
        text = as_decimals(scaled.astype(np.int64), self._decimals).cast(pa.string())
        return where_valid(cells, text)

    def _narrow(self, drawn: NDArray[np.float64], codes: Codes) -> NDArray[np.float32]:
        """Single precision, without leaving the bin by rounding."""
        low, high = self._bins.edges[codes], self._bins.edges[codes + 1]
        small = drawn.astype(np.float32)
        small = np.where(small < low, np.nextafter(small, np.float32(np.inf)), small)
        over = (small >= high) & (codes < self.values - 1) | (small > high)
        return np.where(over, np.nextafter(small, np.float32(-np.inf)), small)

    def value_labels(self) -> list[Any]:
        edges = [f"{edge:g}" for edge in self._bins.edges]
        close = [")"] * (self.values - 1) + ["]"]
        pairs = zip(edges[:-1], edges[1:], close, strict=True)
        return [f"[{low}, {high}{end}" for low, high, end in pairs]

    def edges(self) -> list[Any]:
        return list(map(float, self._bins.edges))

    def codes_of(self, value: Any) -> list[int]:
        low, high = as_range(self.source.name, value, (int, float))
        edges = self.edges()
        return whole_bins(self.source.name, low, high, edges[:-1], edges[1:])


def as_range(name: str, value: Any, kinds: Any) -> tuple[Any, Any]:
    """``[from, to]``, or one value as both."""
    ends = value if isinstance(value, list) else [value, value]
    if len(ends) != 2 or not all(isinstance(v, kinds) and not isinstance(v, bool) for v in ends):
        raise SchemaError(
            f"impossible: column {name!r} needs a value, or a range as [from, to], not {value!r}"
        )
    return ends[0], ends[1]


def whole_bins(name: str, low: Any, high: Any, first: list[Any], last: list[Any]) -> list[int]:
    """The bins that make up [low, high]; ``SchemaError`` if the range cuts one."""
    inside = [i for i in range(len(first)) if first[i] >= low and last[i] <= high]
    starts = bool(inside) and (first[inside[0]] == low or inside[0] == 0)
    ends = bool(inside) and (last[inside[-1]] == high or inside[-1] == len(first) - 1)
    if high < first[0] or low > last[-1]:
        raise SchemaError(
            f"impossible: {low} to {high} lies outside column {name!r}, {first[0]} to {last[-1]}"
        )
    if not (starts and ends):
        point = high if starts else low
        cut = max((i for i in range(len(first)) if first[i] <= point), default=0)
        raise SchemaError(
            f"impossible: {low} to {high} cuts the bin {first[cut]} to {last[cut]} of column "
            f'{name!r}; name whole bins, or choose its "bins" so that one ends there'
        )
    return inside


def as_decimals(multiples: NDArray[np.int64], decimals: int) -> pa.Array:
    """``multiples`` of 10**-decimals as exact decimal numbers."""
    import pyarrow as pa

    wide = np.empty((len(multiples), 2), dtype="<i8")  # 128 bits, little-endian
    wide[:, 0], wide[:, 1] = multiples, multiples >> 63
    kind = pa.decimal128(19, decimals)
    return pa.Array.from_buffers(kind, len(wide), [None, pa.py_buffer(wide)])


def _integer_kind(source: Source, low: float, high: float) -> pa.DataType:
    """The type in which whole numbers come back; refused if the range does not fit it."""
    import pyarrow as pa

    kind = source.values
    if pa.types.is_integer(kind):
        info = np.iinfo(kind.to_pandas_dtype())
        if low < info.min or high > info.max:
            raise SchemaError(
                f"column {source.name!r}: min {low} and max {high} do not fit its type {kind}"
            )
    elif not (source.holds_text or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise source.refuse("a number")
    return kind


def _decimals(source: Source, column: Float) -> int | None:
    """How many digits after the point the column can and should have."""
    import pyarrow as pa

    if pa.types.is_integer(source.values):
        return 0
    if pa.types.is_decimal(source.values):
        scale: int = max(0, source.values.scale)
        return scale if column.decimals is None else min(scale, column.decimals)
    return column.decimals
