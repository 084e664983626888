"""What a cell looks like: a public list of formats, and a look at each cell alone.

The formats of a text cell are told apart by patterns; cells with a storage type have the format of
their type.  Nothing here depends on more than one cell, so a table of how many cells have which
format moves by one when one row does.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = 6  # decimals that are told apart

# Tried in this order; the first that matches is the cell's format.  A number with leading zeros is
# a code, hence text.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("empty", r"^$"),
    ("integer", r"^-?(0|[1-9][0-9]{0,17})$"),
    *((f"decimal {d}", rf"^-?(0|[1-9][0-9]*)\.[0-9]{{{d}}}$") for d in range(1, DIGITS + 1)),
    ("number", r"^-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"),
    ("date", r"^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"),
    (
        "datetime",
        r"^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) "
        r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$",
    ),
    ("True False", r"^(True|False)$"),
    ("true false", r"^(true|false)$"),
    ("TRUE FALSE", r"^(TRUE|FALSE)$"),
)
FORMATS: tuple[str, ...] = (*(name for name, _ in PATTERNS), "text")
DATE_FORMATS = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%d %H:%M:%S"}
BOOLEANS = tuple(name for name in FORMATS if name.lower() == "true false")
DECIMALS = tuple(name for name in FORMATS if name.startswith("decimal"))


def kind_of(found: Set[str]) -> str:
    """What a column with cells of these formats is: boolean, datetime, number or text.

    >>> kind_of({"integer", "decimal 2"}), kind_of({"integer", "date"}), kind_of({"true false"})
    ('number', 'text', 'boolean')
    """
    if len(found) == 1 and found <= set(BOOLEANS):
        return "boolean"
    if len(found) == 1 and found <= set(DATE_FORMATS):
        return "datetime"
    return "number" if found and found <= {"integer", "number", *DECIMALS} else "text"


def boolean(found: Set[str]) -> dict[str, str]:
    """The schema of a boolean column whose cells have this format."""
    true, false = next(iter(found)).split()
    spelling = {} if true == "True" else {"true": true, "false": false}
    return {"type": "boolean", **spelling}


def format_counts(cells: pa.Array, text: bool) -> NDArray[np.int64]:
    """How many cells are of each format; ``text`` says that any format may occur (CSV).

    >>> import pyarrow as pa
    >>> counts = format_counts(pa.array(["7", "007", "2.50", "", None]), text=True)
    >>> {name: int(n) for name, n in zip(FORMATS, counts) if n}
    {'empty': 2, 'integer': 1, 'decimal 2': 1, 'text': 1}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = np.zeros(len(FORMATS), dtype=np.int64)
    if pa.types.is_dictionary(cells.type):
        return _by_value(cells, text)
    missing = pc.is_null(cells, nan_is_null=pa.types.is_floating(cells.type))
    counts[0] = pc.sum(missing, min_count=0).as_py()
    present = cells.filter(pc.invert(missing))
    if text:
        np.add.at(counts, formats_of(present), 1)
    elif pa.types.is_floating(cells.type):
        np.add.at(counts, _float_formats(present.cast(pa.float64()).to_numpy()), 1)
    else:
        counts[FORMATS.index(storage_format(cells.type))] += len(present)
    return counts


def storage_format(kind: pa.DataType) -> str:
    """The format of all cells of a storage type; decimals and floats vary: "number".

    Raises
    ------
    TypeError
        Lists, structs, binary and other types that no schema can describe.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return storage_format(kind.value_type)
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_boolean(kind):
        return "True False"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "datetime"
    if is_text(kind) or types.is_null(kind):
        return "text"
    raise TypeError(name_of(kind))


def name_of(kind: pa.DataType) -> str:
    """What to call a storage type; the fields of nested ones may be content, keys of dicts."""
    import pyarrow as pa

    return str(kind).partition("<")[0] if pa.types.is_nested(kind) else str(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type hold text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _by_value(cells: pa.DictionaryArray, text: bool) -> NDArray[np.int64]:
    """Look at each distinct value once."""
    values = cells.dictionary
    places = cells.indices.drop_null().to_numpy(zero_copy_only=False)
    times = np.bincount(places, minlength=len(values))
    if text:
        formats = formats_of(values)
    else:
        formats = np.full(len(values), FORMATS.index(storage_format(values.type)))
    counts = np.zeros(len(FORMATS), dtype=np.int64)
    np.add.at(counts, formats, times)
    counts[0] += cells.null_count
    return counts


def formats_of(texts: pa.Array) -> NDArray[np.int64]:
    """The format of each text."""
    import pyarrow.compute as pc

    found = np.full(len(texts), len(PATTERNS), dtype=np.int64)
    for i, (_, pattern) in reversed(list(enumerate(PATTERNS))):
        matches = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
        found[matches.astype(bool)] = i
    return found


def _float_formats(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The format with the fewest decimals that writes each number; "number" beyond 64 bits."""
    found = np.full(len(numbers), FORMATS.index("number"), dtype=np.int64)
    plain = np.abs(numbers) < 2.0**63
    for d in range(DIGITS, -1, -1):
        name = f"decimal {d}" if d else "integer"
        found[plain & (numbers == np.round(numbers, d))] = FORMATS.index(name)
    return found
