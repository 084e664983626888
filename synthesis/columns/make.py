"""The codec that suits a column of the schema and its storage type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saddlesynth.synthesis import schema as sc
from saddlesynth.synthesis.columns.base import ColumnCodec, Source
from saddlesynth.synthesis.columns.dates import DatetimeCodec
from saddlesynth.synthesis.columns.listed import BooleanCodec, CategoricalCodec
from saddlesynth.synthesis.columns.numbers import FloatCodec, IntegerCodec
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.schema_columns import spell

if TYPE_CHECKING:
    import pyarrow as pa


def column_codec(name: str, schema: sc.Schema, kind: pa.DataType, text: bool) -> ColumnCodec:
    """The codec of one modelled column.

    Parameters
    ----------
    kind
        Arrow type of the column in the data.
    text
        Whether the table is text (CSV), so that an empty cell means "missing".

    Raises
    ------
    SchemaError
        The column's type does not suit the schema, or the schema does not say enough.
    """
    import pyarrow as pa

    column = schema.columns[name]
    if pa.types.is_null(kind):  # a column without any value: as text
        kind = pa.string()
    source = Source(name, kind, text, column.nullable, _tokens(name, schema, text))
    if isinstance(column, sc.Categorical):
        return CategoricalCodec(source, column)
    if isinstance(column, sc.Boolean):
        return BooleanCodec(source, column)
    if isinstance(column, sc.Integer):
        return IntegerCodec(source, column)
    if isinstance(column, sc.Float):
        return FloatCodec(source, column)
    if isinstance(column, sc.Datetime):
        return DatetimeCodec(source, column)
    raise SchemaError(f"column {name!r} is an identifier; it takes no part in the model")


def _tokens(name: str, schema: sc.Schema, text: bool) -> tuple[str, ...]:
    """The cells that mean "missing": the column's, else the schema's, else the empty text cell.

    What the column lists as a value is never missing; to say both in one column is refused.
    """
    column = schema.columns[name]
    values: set[str] = set()
    if isinstance(column, sc.Categorical):
        values = {spell(value) for value in column.all_values}
    own = column.null_tokens
    if own is not None:
        both = values.intersection(own)
        if both:
            raise SchemaError(
                f"column {name!r}: {min(both)!r} is both a value and in null_tokens; choose one"
            )
        return tuple(own)
    shared = schema.null_tokens if schema.null_tokens is not None else [""] * text
    return tuple(token for token in shared if token not in values)
