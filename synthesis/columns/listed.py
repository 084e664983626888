"""Columns whose values are listed: categorical and boolean."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from saddlesynth.synthesis.columns.base import MISFIT, Codes, ColumnCodec, Raw, Source
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.schema_columns import Boolean, Categorical, Scalar, spell

if TYPE_CHECKING:
    import pyarrow as pa


class ListedCodec(ColumnCodec):
    """Values looked up in a list; code i is the i-th value."""

    def __init__(self, source: Source, listed: list[Scalar], stored: pa.Array) -> None:
        """``stored`` are the values as they stand in the column."""
        super().__init__(source, stored.type, len(listed))
        self._listed, self._stored = listed, stored
        self._other = MISFIT

    def _codes(self, cells: pa.Array) -> Raw:
        known = self._stored if self._stored.type == cells.type else self._stored.cast(cells.type)
        places = _places(cells, known).fill_null(self._other)
        return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int32)

    def _cells(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        import pyarrow as pa

        return self._stored.take(pa.array(codes))

    def decode(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        import pyarrow as pa

        if not pa.types.is_dictionary(self.kind):
            return super().decode(codes, generator)
        missing = codes == self.values if self.source.nullable else None
        places = pa.array(codes.astype(np.int32), mask=missing)
        return pa.DictionaryArray.from_arrays(places, self._stored).cast(self.kind)

    def _spell(self, cells: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.array(self._spellings()).take(_places(cells, self._stored))

    def _spellings(self) -> list[str]:
        return [spell(value) for value in self._listed]

    def value_labels(self) -> list[Any]:
        return list(self._listed)

    def codes_of(self, value: Any) -> list[int]:
        if isinstance(value, list):
            return [code for one in value for code in self.codes_of(one)]
        if value is None and self.source.nullable:
            return [self.values]
        spelled = [spell(one) for one in self._listed]
        if spell(value) not in spelled:
            raise SchemaError(
                f"impossible: {value!r} is not a value of column {self.source.name!r}"
            )
        return [spelled.index(spell(value))]


class CategoricalCodec(ListedCodec):
    """A categorical column; what is not listed goes to ``other``, if there is one."""

    misfit = 'not among the values of the schema; list them, or name a bucket with "other"'

    def __init__(self, source: Source, column: Categorical) -> None:
        listed = column.all_values
        super().__init__(source, listed, _stored(source, listed))
        self.ordered = column.ordered
        if _is_dictionary(source.kind):
            self.kind = _dictionary(self._stored.type, source.kind)
        if column.other is not None:
            self._other = [spell(value) for value in listed].index(spell(column.other))

    @property
    def fallback(self) -> int:
        return super().fallback if self.source.nullable else max(self._other, 0)


class BooleanCodec(ListedCodec):
    """False is code 0, True is code 1; in columns of numbers they are 0 and 1."""

    def __init__(self, source: Source, column: Boolean) -> None:
        import pyarrow as pa

        kind = source.values
        if source.holds_text:
            stored = pa.array([column.false, column.true], type=kind)
        elif pa.types.is_boolean(kind):
            stored = pa.array([False, True])
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            stored = pa.array([0, 1]).cast(kind)
        else:
            raise source.refuse("a boolean")
        super().__init__(source, [False, True], stored)
        self.misfit = f"neither {stored[0]} nor {stored[1]}"
        if source.text:
            self.misfit += '; the schema\'s "true" and "false" give the spelling'
        self._spelled = [column.false, column.true]

    def _spellings(self) -> list[str]:
        return self._spelled


def _places(cells: pa.Array, known: pa.Array) -> pa.Array:
    """The position of each cell among the known values, which have its type; null if it is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(cells.type):  # -0.0 is 0; half floats cannot be looked up
        cells, known = (pc.add(each.cast(pa.float64()), 0.0) for each in (cells, known))
    return pc.index_in(cells, value_set=known)


def _is_dictionary(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind))


def _dictionary(values: pa.DataType, like: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), values, ordered=like.ordered)


def _stored(source: Source, listed: list[Scalar]) -> pa.Array:
    """The listed values as they stand in the column; ``SchemaError`` if they cannot."""
    import pyarrow as pa

    kind = source.values
    if source.holds_text:
        return pa.array([spell(value) for value in listed], type=kind)
    if pa.types.is_boolean(kind):
        if not all(isinstance(value, bool) for value in listed):
            raise source.refuse("other values than true and false")
        return pa.array(listed)
    whole = pa.types.is_integer(kind)
    if not (whole or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise source.refuse('a categorical column (for dates use "type": "datetime")')
    if any(isinstance(value, str) for value in listed):
        raise SchemaError(
            f"column {source.name!r} was read as numbers ({kind}), but the schema lists text; "
            "leading zeros may have been lost: read the column as text, or list numbers"
        )
    if any(isinstance(value, bool) or (whole and isinstance(value, float)) for value in listed):
        raise source.refuse("values of another type")
    return _numbers(source, listed)


def _numbers(source: Source, listed: list[Any]) -> pa.Array:
    import pyarrow as pa

    kind = source.values
    try:
        exact = [Decimal(spell(v)) for v in listed] if pa.types.is_decimal(kind) else listed
        stored = pa.array(exact, type=kind)
        if any(kept != value for kept, value in zip(stored.to_pylist(), exact, strict=True)):
            raise OverflowError
    except (pa.ArrowException, OverflowError, TypeError):
        raise SchemaError(
            f"column {source.name!r}: the schema's values cannot all be stored exactly as {kind}"
        ) from None
    return stored
