"""A first schema to edit, read off a table.  Not private: values and ranges are the data's own.

It is stamped as a draft, and a release made with it says that it is not private.  Replace what was
read off by what is publicly known, then remove the stamp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saddlesynth.synthesis.formats import DATE_FORMATS, DECIMALS, FORMATS, boolean, kind_of
from saddlesynth.synthesis.raw_columns import LocalColumns
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import DRAFT

FEW_VALUES = 10  # whole numbers with no more different values are listed
MANY_VALUES = 1000  # texts with more different values are taken for names
NAMES = 20  # this many texts or more, all different, are taken for names of rows


def draft(table: Table) -> dict[str, Any]:
    """The mapping of a schema that every cell of the table fits.

    *Privacy.* None: values, ranges and missing cells are read off the data.

    >>> import pandas as pd
    >>> from saddlesynth.synthesis.read import open_table
    >>> draft(open_table(pd.DataFrame({"sex": ["M", "F", None]})))["columns"]["sex"]
    {'type': 'categorical', 'values': ['F', 'M'], 'nullable': True}
    """
    columns = LocalColumns(table)
    described = {}
    for name, counts in zip(table.names, columns.classes(table.names), strict=True):
        found = {kind for kind, cells in zip(FORMATS, counts.tolist(), strict=True) if cells}
        values = columns.value_counts([name])[0]
        meaning = _meaning(sorted(values), found - {"empty"}, max(values.values(), default=0))
        missing = "empty" in found and meaning["type"] != "id"
        described[name] = {**meaning, "nullable": True} if missing else meaning
    return {"draft": DRAFT, "columns": described}


def _meaning(values: list[str], found: set[str], most: int) -> dict[str, Any]:
    """A column's meaning from its distinct values as text, their formats, and the largest count."""
    kind = kind_of(found)
    if kind == "boolean":
        return boolean(found)
    if kind == "datetime":
        return _dates(values)
    if kind == "number" and not found & set(DECIMALS) and all(map(_is_whole, values)):
        return _whole(sorted(map(int, values)))
    if kind == "number":
        return _real(values, found)
    if len(values) > MANY_VALUES or (len(values) >= NAMES and most == 1):
        return {"type": "id"}
    return {"type": "categorical", "values": values or [""]}


def _dates(values: list[str]) -> dict[str, Any]:
    """Dates, or moments to the second, in ISO's order of parts; midnights alone are dates."""
    moments = [value[:19] for value in values]  # stored moments may show fractions
    days = all(moment[10:] in ("", " 00:00:00") for moment in moments)
    low, high = (end[:10] if days else end for end in (moments[0], moments[-1]))
    format = DATE_FORMATS["date" if days else "datetime"]
    return {"type": "datetime", "format": format, "min": low, "max": high}


def _is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text
    except ValueError:
        return False


def _whole(numbers: list[int]) -> dict[str, Any]:
    if len(numbers) <= FEW_VALUES or max(-numbers[0], numbers[-1]) >= 2**63:
        return {"type": "categorical", "values": numbers, "ordered": True}
    return {"type": "integer", "min": numbers[0], "max": numbers[-1]}


def _real(values: list[str], found: set[str]) -> dict[str, Any]:
    numbers = [float(value) for value in values]
    low, high = min(numbers), max(numbers)
    if low == high:  # a constant needs a range around it
        high = float(np.nextafter(high, np.inf))
    digits = [int(kind.split()[-1]) for kind in found & set(DECIMALS)]
    exact = {"decimals": max(digits)} if digits and "number" not in found and low < high else {}
    return {"type": "float", "min": low, "max": high, **exact}
