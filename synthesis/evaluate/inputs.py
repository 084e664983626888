"""From two tables and a schema to codes: what fits, what does not, in one pass over each table.

Cells of the real table follow the schema's rules for input (numbers beyond the range count as its
ends).  The synthetic table is output, so a number beyond the range is invalid there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.codec import Codec, Misfits
from saddlesynth.synthesis.columns.base import MISSING_MISFIT
from saddlesynth.synthesis.columns.dates import UNITS, unit_of
from saddlesynth.synthesis.columns.parse import as_floats
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.evaluate.metrics import Columns
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Datetime, Float, Integer, Schema

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Coded:
    """A table as codes in the order of ``domain``; invalid cells have the code ``size``.

    ``nulls`` and ``outside`` count invalid cells by column: missing where nothing may be missing,
    and all others.
    """

    codec: Codec
    domain: Domain
    columns: Columns
    nulls: Counter[str]
    outside: Counter[str]

    @property
    def rows(self) -> int:
        return len(self.columns[0])

    @property
    def invalid_cells(self) -> dict[str, int]:
        """Invalid cells by column, where there are any."""
        return dict(self.nulls + self.outside)


def code_real(table: Table, schema: Schema, whose: str = "real") -> Coded:
    """The real table; all columns of the schema that are no identifiers must be there."""
    for name in schema.modelled:
        if name not in table.names:
            raise SchemaError(f"the {whose} table has no column {name!r}, but the schema has")
    codec = _codec(table, schema, whose)
    return _read(table, codec, codec.domain, lambda name, cells: None)


def code_synthetic(table: Table, schema: Schema, domain: Domain) -> Coded:
    """The synthetic table on the real one's domain; a column it lacks is invalid in every row."""
    codec = _codec(table, schema, "synthetic")
    rules = {name: schema.columns[name] for name in codec.domain.names}
    return _read(table, codec, domain, lambda name, cells: beyond(cells, rules[name]))


def _codec(table: Table, schema: Schema, whose: str) -> Codec:
    """The codec of the columns that table and schema share; it marks misfits, come what may."""
    import pyarrow as pa

    shared = [name for name in table.names if name in schema.modelled]
    if not shared:
        raise SchemaError(f"the {whose} table has none of the schema's columns {schema.modelled}")
    part = schema.model_copy(
        update={
            "columns": {name: schema.columns[name] for name in shared},
            "lenient": False,
            "impossible": [rule for rule in schema.impossible if set(rule) <= set(shared)],
        }
    )
    fields = pa.schema([table.schema.field(name) for name in shared], table.schema.metadata)
    try:
        return Codec(part, fields)
    except SchemaError as error:
        raise SchemaError(f"the {whose} table: {error}") from None


def _read(
    table: Table,
    codec: Codec,
    domain: Domain,
    refused: Callable[[str, pa.Array], Mask | None],
) -> Coded:
    """Codes of a whole table; ``refused`` may find more cells invalid than the codec does."""
    misfits: Misfits = Counter()
    names = codec.domain.names
    parts: list[Columns] = []
    for batch in table.batches(list(names)):
        codes = codec.encode_marked(batch, misfits)
        for i, name in enumerate(names):
            more = refused(name, batch.column(name))
            if more is not None and more.any():
                codes[i] = _mark(codec, name, codes[i], more, misfits)
        parts.append(codes)
    found = {name: np.concatenate([part[i] for part in parts]) for i, name in enumerate(names)}
    rows = len(found[names[0]])
    nulls: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for (name, reason), cells in misfits.items():
        (nulls if reason == MISSING_MISFIT else outside)[name] += cells
    columns = [
        found[name] if name in found else np.full(rows, size)
        for name, size in zip(domain.names, domain.sizes, strict=True)
    ]
    return Coded(codec, domain, columns, nulls, outside)


def _mark(
    codec: Codec, name: str, codes: NDArray[np.integer], more: Mask, misfits: Misfits
) -> NDArray[np.integer]:
    """Mark cells as invalid, unless they are missing or marked already."""
    column = codec.columns[name]
    more &= codes < column.values
    misfits[name, "beyond the range"] += int(more.sum())
    return np.where(more, column.size, codes).astype(np.min_scalar_type(column.size))


# ---------------------------------------------------------------------- ranges
def beyond(cells: pa.Array, column: Any) -> Mask | None:
    """Which numbers or dates lie outside the range of the schema; None for other columns.

    >>> import pyarrow as pa
    >>> beyond(pa.array(["3", "12", ""]), Integer(type="integer", min=0, max=9)).tolist()
    [False, True, False]
    """
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if isinstance(column, Datetime):
        return _dates_beyond(cells, column)
    if not isinstance(column, Integer | Float):
        return None
    low, high = _ends(column)
    found, wrong = as_floats(cells)
    mask = (found < low) | (found > high)
    if wrong is not None:
        mask &= ~wrong
    return np.asarray(mask & cells.is_valid().to_numpy(zero_copy_only=False))


def _ends(column: Integer | Float | Datetime) -> tuple[Any, Any]:
    """The ends of the range: ``min`` and ``max``, else the outer edges."""
    edges: list[Any] = column.bins if isinstance(column.bins, list) else [None]
    low = edges[0] if column.min is None else column.min
    high = edges[-1] if column.max is None else column.max
    return low, high


def _dates_beyond(cells: pa.Array, column: Datetime) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    low, high = (column.parse(end) for end in _ends(column))
    end = high + UNITS[unit_of(column.format)]  # the last day counts as a whole
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        coded = cells.dictionary_encode()
        wrong = [_text_beyond(text, column, low, end) for text in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(wrong)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*wrong, False])[places])
    if pa.types.is_timestamp(cells.type) and cells.type.tz:
        cells = pc.local_timestamp(cells)
    moments = cells.cast(pa.timestamp("us"), safe=False)
    early = pc.less(moments, pa.scalar(low, pa.timestamp("us")))
    late = pc.greater_equal(moments, pa.scalar(end, pa.timestamp("us")))
    mask = pc.or_(early, late).fill_null(False)
    return np.asarray(mask.to_numpy(zero_copy_only=False))


def _text_beyond(text: str, column: Datetime, low: Any, end: Any) -> bool:
    try:
        return not low <= column.parse(text) < end
    except ValueError:
        return False  # the codec has marked it already
