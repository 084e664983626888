"""A schema read off the two tables themselves, where none is given.

That is fine here and nowhere else: an evaluation uses the real data anyway.  The result is marked
as a draft, and no release can be made from it without being stamped as not private.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.formats import DATE_FORMATS, FORMATS, boolean, kind_of
from saddlesynth.synthesis.raw_columns import LocalColumns, numbers
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import DRAFT, Schema

MANY_VALUES = 1000  # a text column with more is left out
ONE_BY_ONE = 100  # numbers, up to so many different ones, get a bin each
BINS = 32
LARGEST = 2**63 - 1
EXACT = 2**53  # whole numbers below this are exact as floats
LEFT_OUT = {"type": "id", "regenerate": True}  # not compared, but expected in the output


def read_off(tables: Sequence[Table]) -> tuple[Schema, list[str]]:
    """A schema that holds every value of every table, and notes on how it was made.

    Listed values are those of all tables; numbers are binned by the quantiles of the first table.
    """
    names = [name for name in tables[0].names if all(name in t.names for t in tables)]
    if not names:
        raise InputError(f"the tables share no column; the first has {tables[0].names}")
    formats = np.sum([LocalColumns(t).classes(names) for t in tables], axis=0)
    columns = {name: _column(tables, name, own) for name, own in zip(names, formats, strict=True)}
    left_out = [name for name, column in columns.items() if column["type"] == "id"]
    notes = ["no schema was given: values and bins were read off the two tables"]
    if left_out:
        notes.append(f"left out, more than {MANY_VALUES:,} different texts: {', '.join(left_out)}")
    if len(left_out) == len(names):
        raise InputError("no column has few enough values to be compared; give a schema")
    everything = dict.fromkeys(name for t in tables for name in t.names)
    others = {name: dict(LEFT_OUT) for name in everything if name not in columns}
    return Schema.parse({"columns": {**columns, **others}, "draft": DRAFT}), notes


def _column(tables: Sequence[Table], name: str, counts: NDArray[np.int64]) -> dict[str, Any]:
    """The schema of one column, from the formats of its cells."""
    found = {kind for kind, cells in zip(FORMATS, counts, strict=True) if cells} - {"empty"}
    column = _meaning(tables, name, found)
    return {**column, "nullable": True} if counts[0] and column["type"] != "id" else column


def _meaning(tables: Sequence[Table], name: str, found: set[str]) -> dict[str, Any]:
    kind = kind_of(found)
    if kind == "boolean":
        return boolean(found)
    if kind == "datetime":
        return _dates(tables, name, DATE_FORMATS[next(iter(found))])
    if kind == "number":
        return _numbers(tables, name, whole=found == {"integer"})
    return _texts(tables, name)


def _numbers(tables: Sequence[Table], name: str, whole: bool) -> dict[str, Any]:
    """A value or a bin for each number where they are few, else quantiles of the first table.

    Bins reach over the numbers of all tables.
    """
    found = [np.concatenate([numbers(b.column(0)) for b in t.batches([name])]) for t in tables]
    every = np.unique(np.concatenate(found))
    few = len(every) <= ONE_BY_ONE and np.abs(every).max() < EXACT
    ends = every[[0, -1]]
    shares = np.linspace(0, 1, BINS + 1)
    quantiles = every if few else np.quantile(found[0], shares, method="lower")
    edges = [float(edge) for edge in np.unique(np.concatenate([quantiles, ends]))]
    if not whole:
        edges.append(float(np.nextafter(edges[-1], np.inf)))  # the largest has a bin of its own
        return {"type": "float", "min": edges[0], "max": edges[-1], "bins": edges}
    rounded = sorted({max(-LARGEST, min(int(edge), LARGEST)) for edge in edges})
    if few:
        return {"type": "categorical", "values": rounded, "ordered": True}
    return {"type": "integer", "min": rounded[0], "max": rounded[-1], "bins": rounded}


def _dates(tables: Sequence[Table], name: str, format: str) -> dict[str, Any]:
    found = [numbers(batch.column(0)) for t in tables for batch in t.batches([name])]
    start = datetime(1970, 1, 1, tzinfo=UTC)
    ends = [start + timedelta(seconds=f(f(own) for own in found if len(own))) for f in (min, max)]
    low, high = (end.strftime(format) for end in ends)
    return {"type": "datetime", "format": format, "min": low, "max": high}


def _texts(tables: Sequence[Table], name: str) -> dict[str, Any]:
    values: set[str] = set()
    for table in tables:
        values.update(LocalColumns(table).value_counts([name])[0])
    if len(values) > MANY_VALUES:
        return dict(LEFT_OUT)
    return {"type": "categorical", "values": sorted(values) or [""]}
