"""Whether a table fits a schema: every misfit by column and number of cells, without content.

*Privacy.* Exact counts of cells: for whoever may see the data, not for a release.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from saddlesynth.synthesis.codec import Codec, misfit_line, not_described, not_found
from saddlesynth.synthesis.columns import ColumnCodec, column_codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Schema


@dataclass(frozen=True)
class Misfit:
    """What is wrong with one column; ``cells`` is None if it is wrong as a whole."""

    column: str
    problem: str
    cells: int | None = None

    def __str__(self) -> str:
        if self.cells is None:
            return self.problem
        return misfit_line(self.column, self.problem, self.cells)


def check(table: Table, schema: Schema) -> list[Misfit]:
    """All misfits, in the order of the table's columns; empty if the table fits.

    >>> import pandas as pd
    >>> from saddlesynth.synthesis.read import open_table
    >>> schema = Schema.parse({"columns": {"n": {"type": "integer", "min": 0, "max": 9}}})
    >>> [str(m) for m in check(open_table(pd.DataFrame({"n": ["3", "x"]})), schema)]
    ["column 'n': 1 cell is not whole numbers"]

    Warns
    -----
    DataWarning
        Rows have an impossible combination.
    """
    found, columns = _columns(table, schema)
    found += _cells(table, columns)
    if not found:
        try:
            LocalRecords(table, Codec(schema, table.schema)).count([])
        except SchemaError as error:  # about impossible combinations, or a column of names
            found.append(Misfit("", str(error)))
    return found


def _columns(table: Table, schema: Schema) -> tuple[list[Misfit], dict[str, ColumnCodec]]:
    """Misfits of whole columns, and the codecs of the others."""
    found: list[Misfit] = []
    columns: dict[str, ColumnCodec] = {}
    for field in table.schema:
        if field.name not in schema.columns:
            found.append(Misfit(field.name, not_described(field.name)))
        elif field.name in schema.modelled:
            try:
                columns[field.name] = column_codec(field.name, schema, field.type, table.text)
            except SchemaError as error:
                found.append(Misfit(field.name, str(error)))
    found += [Misfit(n, not_found(n, table.names)) for n in schema.columns if n not in table.names]
    return found, columns


def _cells(table: Table, columns: dict[str, ColumnCodec]) -> list[Misfit]:
    counts: Counter[tuple[str, str]] = Counter()
    for batch in table.batches(list(columns)) if columns else []:
        for name, column in columns.items():
            for reason, cells in column.encode(batch.column(name)).misfits.items():
                counts[name, reason] += cells
    return [Misfit(n, why, counts[n, why]) for n, why in sorted(counts, key=lambda k: k[0])]
