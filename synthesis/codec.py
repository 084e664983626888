"""The codec of a table: rows to integer codes, and codes to rows in the input's shape.

Columns of the model become attributes of the domain, in the data's order.  Identifiers are left
out, or made afresh.  Everything the codec knows comes from the schema and the storage types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.columns import ColumnCodec, Encoded, column_codec
from saddlesynth.synthesis.errors import SchemaError, SizeError
from saddlesynth.synthesis.read import is_text
from saddlesynth.synthesis.schema import Id, Schema
from saddlesynth.synthesis.schema_errors import nearest

if TYPE_CHECKING:
    import pyarrow as pa

MAX_RULES = 100_000  # impossible combinations after ranges are spelt out

Misfits = Counter[tuple[str, str]]  # (column, reason) -> cells


class Codec:
    """Encodes rows of one kind of table under one schema.

    Parameters
    ----------
    schema
        Public meaning of the columns.
    table_schema
        Arrow schema of the table; ``None`` for a text table with the schema's columns.

    >>> import pyarrow as pa
    >>> schema = Schema.parse({"columns": {"sex": {"type": "categorical", "values": ["F", "M"]}}})
    >>> codec = Codec(schema, None)
    >>> codec.encode(pa.record_batch({"sex": ["M", "F"]}))[0].tolist()
    [1, 0]
    >>> codec.decode(np.array([[1], [0]]), np.random.default_rng(0)).to_pydict()
    {'sex': ['M', 'F']}

    Raises
    ------
    SchemaError
        Columns of table and schema differ, or a column's type does not suit its schema.
    """

    def __init__(self, schema: Schema, table_schema: pa.Schema | None = None) -> None:
        import pyarrow as pa

        if table_schema is None:
            table_schema = pa.schema([(name, pa.string()) for name in schema.columns])
            text = True
        else:
            text = is_text(table_schema)
        _check_names(schema, table_schema.names)
        self.schema, self.table_schema, self.text = schema, table_schema, text
        self.columns: dict[str, ColumnCodec] = {
            field.name: column_codec(field.name, schema, field.type, text)
            for field in table_schema
            if not isinstance(schema.columns[field.name], Id)
        }
        if not self.columns:
            raise SchemaError("the schema has identifiers only; there is nothing to model")
        sizes = tuple(column.size for column in self.columns.values())
        self.domain = Domain(tuple(self.columns), sizes)

    # ------------------------------------------------------------------ rows in
    def encode(self, batch: pa.RecordBatch) -> list[NDArray[np.integer]]:
        """One array of codes a modelled column, each in the smallest unsigned type.

        Under a lenient schema every cell fits.

        Raises
        ------
        SchemaError
            Cells do not fit; the message has the column and the number of cells in this batch.
        """
        misfits: Misfits = Counter()
        codes = self.encode_leniently(batch, misfits)
        if misfits:
            raise misfit_error(misfits)
        return codes

    def encode_leniently(
        self, batch: pa.RecordBatch, misfits: Misfits
    ) -> list[NDArray[np.integer]]:
        """The same, but misfits are added to ``misfits`` and get code 0."""
        return [encoded.codes for encoded in self._encoded(batch, misfits)]

    def encode_marked(self, batch: pa.RecordBatch, misfits: Misfits) -> list[NDArray[np.integer]]:
        """The same, but a cell that does not fit gets the code ``size`` of its attribute."""
        marked = []
        for size, encoded in zip(self.domain.sizes, self._encoded(batch, misfits), strict=True):
            codes = encoded.codes
            if encoded.wrong is not None:
                codes = codes.astype(np.min_scalar_type(size))
                codes[encoded.wrong] = size
            marked.append(codes)
        return marked

    def _encoded(self, batch: pa.RecordBatch, misfits: Misfits) -> Iterator[Encoded]:
        for name, column in self.columns.items():
            encoded = self._encode(column, batch.column(name))
            for reason, cells in encoded.misfits.items():
                misfits[name, reason] += cells
            yield encoded

    def _encode(self, column: ColumnCodec, cells: pa.Array) -> Encoded:
        return column.encode_any(cells) if self.schema.lenient else column.encode(cells)

    # ------------------------------------------------------------------ rows out
    @cached_property
    def output_schema(self) -> pa.Schema:
        """Arrow schema of decoded rows: the input's, without identifiers that are left out."""
        import pyarrow as pa

        fields = []
        for field in self.table_schema:
            if field.name in self.columns:
                fields.append(pa.field(field.name, self.columns[field.name].kind))
            elif self._regenerates(field.name):
                fields.append(pa.field(field.name, fresh_kind(field.type)))
        return pa.schema(fields)

    def _regenerates(self, name: str) -> bool:
        column = self.schema.columns[name]
        return isinstance(column, Id) and column.regenerate

    def decode(
        self,
        codes: NDArray[np.integer],
        generator: np.random.Generator,
        first_row: int = 0,
    ) -> pa.RecordBatch:
        """Rows with ``output_schema`` for codes (n, d); numbers are drawn within their bins.

        ``first_row`` is the number of rows made before, from which fresh identifiers count on.
        *Privacy.* Public inputs only.
        """
        import pyarrow as pa

        arrays = []
        place = {name: i for i, name in enumerate(self.columns)}
        for field in self.output_schema:
            if field.name in place:
                own = np.ascontiguousarray(codes[:, place[field.name]])
                arrays.append(self.columns[field.name].decode(own, generator))
            else:
                numbers = np.arange(first_row + 1, first_row + 1 + len(codes))
                arrays.append(pa.array(numbers).cast(field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.output_schema)

    def spelled(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Decoded rows as a CSV file has them: dates in their format, decimals kept, null tokens.

        A table of text with the same schema reads them back.
        """
        import pyarrow as pa

        if self.text:
            return batch
        arrays = [
            self.columns[name].spell(cells) if name in self.columns else cells.cast(pa.string())
            for name, cells in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

    # ------------------------------------------------------------------ meaning of codes
    def labels(self, column: str) -> list[Any]:
        """What each code of a column means: values, bins as text, ``"(missing)"`` last."""
        return self.columns[column].labels()

    def edges(self, column: str) -> list[Any] | None:
        """The edges of a column's bins, from the schema alone; None where values are listed."""
        return self.columns[column].edges()

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Which attributes have values in an order, so that ranges of codes mean something.

        The code for "missing", the last of a nullable column, lies outside that order.
        """
        return tuple(column.ordered for column in self.columns.values())

    @cached_property
    def impossible(self) -> list[Mapping[int, int]]:
        """Combinations {attribute position: code} that no row can have; ranges are spelt out."""
        rules: list[Mapping[int, int]] = []
        for rule in self.schema.impossible:
            positions = [self.domain.names.index(name) for name in rule]
            choices = [self.columns[name].codes_of(value) for name, value in rule.items()]
            for codes in product(*choices):
                rules.append(dict(zip(positions, codes, strict=True)))
                if len(rules) > MAX_RULES:
                    raise SizeError(
                        f"impossible: more than {MAX_RULES:,} combinations; use fewer bins"
                    )
        return rules


def fresh_kind(kind: pa.DataType) -> pa.DataType:
    """The type of fresh identifiers: the input's where it can hold whole numbers, else text."""
    import pyarrow as pa

    return kind if pa.types.is_integer(kind) else pa.string()


def misfit_error(misfits: Misfits) -> SchemaError:
    """One line on the first column with misfits, and how many columns more have some."""
    (name, reason), cells = next(iter(misfits.items()))
    more = len({column for column, _ in misfits}) - 1
    also = f" ({more} more column{'s' * (more > 1)} with misfits)" if more else ""
    return SchemaError(misfit_line(name, reason, cells) + also)


def misfit_line(column: str, reason: str, cells: int) -> str:
    """What to say of cells that do not fit.

    >>> misfit_line("age", "not whole numbers", 3)
    "column 'age': 3 cells are not whole numbers"
    """
    return f"column {column!r}: {cells:,} {'cells are' if cells > 1 else 'cell is'} {reason}"


def _check_names(schema: Schema, names: list[str]) -> None:
    for name in names:
        if name not in schema.columns:
            raise SchemaError(not_described(name))
    for name in schema.columns:
        if name not in names:
            raise SchemaError(not_found(name, names))


def not_described(name: str) -> str:
    """What to say of a column of the data that the schema does not name."""
    return (
        f"column {name!r} of the data is not in the schema; describe it, or leave it out with "
        f'"{name}": {{"type": "id"}}'
    )


def not_found(name: str, names: list[str]) -> str:
    """What to say of a column of the schema that the data do not have."""
    return f"column {name!r} of the schema is not in the data{nearest(name, names)}"
