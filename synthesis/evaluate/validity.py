"""Is the synthetic table what the schema promises: columns, types, values, combinations?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.count import BLOCK_ROWS
from saddlesynth.synthesis.evaluate.inputs import Coded
from saddlesynth.synthesis.evaluate.result import ColumnCheck, Validity
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Id, Schema


def validity(
    real_table: Table, synthetic_table: Table, schema: Schema, real: Coded, synthetic: Coded
) -> Validity:
    """Check the synthetic table; see ``Validity``."""
    fits = np.ones(synthetic.rows, dtype=bool)
    for codes, size in zip(synthetic.columns, synthetic.domain.sizes, strict=True):
        fits &= codes < size
    impossible = _impossible(real, synthetic) & fits
    expected = _expected(real_table, schema, synthetic_table)
    return Validity(
        valid_share=float(np.mean(fits & ~impossible)),
        columns=tuple(
            ColumnCheck(
                name,
                synthetic.nulls[name],
                synthetic.outside[name],
                _type(real_table, name),
                _type(synthetic_table, name) if name in synthetic_table.names else None,
            )
            for name in real.domain.names
        ),
        impossible_rows=int(impossible.sum()),
        missing_columns=tuple(n for n in expected if n not in synthetic_table.names),
        extra_columns=tuple(n for n in synthetic_table.names if n not in real_table.names),
        same_order=_same_order(real_table, synthetic_table),
        real_invalid=real.invalid_cells,
    )


def _expected(real: Table, schema: Schema, synthetic: Table) -> list[str]:
    """Columns that output should have: all but identifiers that are left out."""

    def left_out(name: str) -> bool:
        column = schema.columns.get(name)
        return isinstance(column, Id) and not column.regenerate

    return [name for name in real.names if not left_out(name)]


def _same_order(real: Table, synthetic: Table) -> bool:
    shared = set(real.names) & set(synthetic.names)
    return [n for n in real.names if n in shared] == [n for n in synthetic.names if n in shared]


def _type(table: Table, name: str) -> str:
    return "text" if table.text else str(table.schema.field(name).type)


def _impossible(real: Coded, synthetic: Coded) -> NDArray[np.bool_]:
    """Which synthetic rows have an impossible combination; rows with invalid cells may not tell."""
    rules = Constraints(real.domain, tuple(real.codec.impossible))
    found = np.zeros(synthetic.rows, dtype=bool)
    if not rules.rules:
        return found
    for start in range(0, synthetic.rows, BLOCK_ROWS):
        block = [column[start : start + BLOCK_ROWS] for column in synthetic.columns]
        found[start : start + BLOCK_ROWS] = rules.broken(np.column_stack(block))
    return found
