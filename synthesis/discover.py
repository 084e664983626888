"""Find the schema of a table privately: what kind of column, which values, which range, which bins.

    1  count formats: how many cells of each column look like a number, a date, a text ...
    2  decide the kind of each column from the noisy counts
    3  texts and integers: find the values that occur often (partition selection)
    4  numbers and dates: a histogram over public, growing buckets tells the range
    5  a second histogram, finer where there are many rows, tells bins that share the rows out
    privacy: lines 1, 3, 4, 5 are mechanisms of ``ColumnCurator``, each charged; the rest is
    post-processing.  By default a tenth of rho and the ledger's reserved delta are used.

Column names, their order and their storage types count as public.  A column in which nothing is
found beyond noise (an identifier, free text, too few rows) is refused: its meaning has to be given.
Whether it is refused depends on noisy counts alone.

The schema is *lenient* (``Schema``): values that were not found go to ``other``, numbers beyond the
range to its ends, cells of another kind count as missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from saddlesynth.games.privacy.budget import Ledger, split
from saddlesynth.games.privacy.calibrate import gaussian_sigma
from saddlesynth.games.privacy.columns import ColumnCurator, NoisyCounts
from saddlesynth.games.privacy.mechanisms import Noise
from saddlesynth.games.privacy.sensitivity import squared_l2
from saddlesynth.synthesis.errors import BudgetError, InputError, SchemaError
from saddlesynth.synthesis.find_columns import Finder, decide
from saddlesynth.synthesis.formats import storage_format
from saddlesynth.synthesis.raw_columns import LocalColumns
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Schema

SHARE = 0.1  # of rho
FORMAT_SHARE = 0.1  # of that, for line 1
# How lines 3, 4 and 5 share the rest: a text asks one question, an integer three.
WEIGHTS = {"text": 4.0, "integer": 1.0, "range": 1.0, "bins": 1.0}


def discover(
    table: Table,
    ledger: Ledger,
    noise: Noise,
    *,
    share: float = SHARE,
    bins: int = 32,
    unit: str | None = None,
) -> Schema:
    """A schema for a table, found at a charge.

    Parameters
    ----------
    ledger
        Charged with at most ``share`` of its rho, and with its reserved delta.
    bins
        About how many bins a column of numbers gets.
    unit
        The column that names the units of privacy: an identifier, and never looked at.

    Privacy.  See the top of this file.

    Raises
    ------
    SchemaError
        In a column nothing was found, or its storage type has no place in a schema.
    BudgetError
        The ledger has no delta set aside, without which values cannot be found.
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share!r}; it must lie strictly between 0 and 1")
    if not ledger.remaining_delta:
        raise BudgetError(
            "without a schema values are found privately, which needs a delta above 0; "
            "give a schema, or a small delta such as 1e-9"
        )
    names = [name for name in table.names if name != unit]
    _refuse_unknown_types(table, names)
    curator = ColumnCurator(LocalColumns(table), ledger, noise)
    total = split(ledger.rho, [share, 1 - share])[0]
    first, rest = split(total, [FORMAT_SHARE, 1 - FORMAT_SHARE])
    each = dict(zip(names, split(first, [1.0] * len(names)), strict=True))
    formats = curator.classes("format", each)  # line 1
    columns = _finders(table, formats, bins)  # line 2
    _find(curator, [column for column in columns if isinstance(column, Finder)], rest)
    return _schema(table, columns, unit)


def _refuse_unknown_types(table: Table, names: Sequence[str]) -> None:
    for name in names:
        try:
            storage_format(table.schema.field(name).type)
        except TypeError as error:
            raise SchemaError(
                f"column {name!r} holds {error}, which has no place in a table of values; leave "
                f'it out with a schema that says "{name}": {{"type": "id"}}'
            ) from None


def _finders(table: Table, formats: Mapping[str, NoisyCounts], bins: int) -> list[Finder | None]:
    """What is to be found in each column; None where the formats are all noise.

    Every column's formats add up to the number of rows, up to noise, so their mean does too.
    """
    tables = list(formats.values())
    rows = sum(float(noisy.counts.sum()) for noisy in tables) / len(tables)
    variance = sum(noisy.counts.size * noisy.sigma**2 for noisy in tables) / len(tables) ** 2
    finders: list[Finder | None] = []
    for name, noisy in formats.items():
        storage = table.schema.field(name).type
        kind = decide(noisy, storage)
        present = rows - (float(noisy.counts[0]) if kind and kind.nullable else 0.0)
        sigma = math.sqrt(variance + noisy.sigma**2)
        found = None if kind is None else Finder(name, kind, storage, bins, present, sigma)
        finders.append(found)
    return finders


def _find(curator: ColumnCurator, columns: Sequence[Finder], rho: float) -> None:
    """Lines 3 to 5; each column takes what is released about it."""
    listed = [column for column in columns if column.kind.listed]
    ordered = [column for column in columns if column.kind.ordered]
    weights = [WEIGHTS[c.kind.name] for c in listed] + [WEIGHTS["range"], WEIGHTS["bins"]] * len(
        ordered
    )
    if not weights:
        return
    rhos = split(rho, weights)
    if listed:  # line 3
        deltas = split(curator.ledger.remaining_delta, [1.0] * len(listed))
        values = curator.values(
            "values",
            {c.name: r for c, r in zip(listed, rhos, strict=False)},
            {c.name: d for c, d in zip(listed, deltas, strict=True)},
        )
        for column in listed:
            column.values = values[column.name]
    if not ordered:
        return
    rhos = rhos[len(listed) :]
    for_range = {c.name: r for c, r in zip(ordered, rhos[0::2], strict=True)}
    for_bins = {c.name: r for c, r in zip(ordered, rhos[1::2], strict=True)}
    edges = {c.name: c.as_numbers(c.coarse_edges()) for c in ordered}
    coarse = curator.histogram("range", edges, for_range)  # line 4
    for column in ordered:
        sigma = gaussian_sigma(squared_l2(curator.ledger), for_bins[column.name])
        column.take_coarse(coarse[column.name], sigma)
    ranged = [column for column in ordered if column.cells]
    if ranged:  # line 5
        fine = curator.histogram("bins", {c.name: c.as_numbers(c.cells) for c in ranged}, for_bins)
        for column in ranged:
            column.fine = fine[column.name]


def _schema(table: Table, columns: Sequence[Finder | None], unit: str | None) -> Schema:
    names = [name for name in table.names if name != unit]
    found: dict[str, Any] = {} if unit is None else {unit: {"type": "id"}}
    for name, column in zip(names, columns, strict=True):
        specification = None if column is None else column.specification()
        if specification is not None:
            found[name] = specification
    missing = [name for name in names if name not in found]
    if missing:
        more = f" (nor in {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise SchemaError(
            f"column {missing[0]!r}: no values or range stood out from the privacy noise{more}; it "
            f'may be an identifier, free text, or have too few rows: mark it {{"type": "id"}} in a '
            "schema, or describe it there (saddlesynth schema draft)"
        )
    return Schema.parse(
        {
            "columns": {name: found[name] for name in table.names},
            "lenient": True,
            "description": "found privately in the data; the cost is in the ledger",
        }
    )
