"""Noisy marginals made elsewhere, as a table with one line a cell.

==========================  =======================================================================
column                      content
==========================  =======================================================================
``columns``                 names of the marginal's columns: ``["age", "sex"]`` or ``age,sex``
``values``                  the cell's values, in the same order: ``["30", "F"]`` or ``30,F``; bins
                            and missing values by their labels, as ``marginals`` prints them
``estimate``                the noisy count
``standard_error``          standard deviation of its noise (also ``standard_deviation``)
==========================  =======================================================================

It is the form of ``marginals.csv`` in a release.  Every cell of a marginal must have a line: a cell
that was left out because its count was 0 has told that it was 0.

Privacy.  Public inputs only.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema_errors import nearest

NEEDED = ("columns", "values", "estimate")
DEVIATIONS = ("standard_error", "standard_deviation")
NAMES_SHOWN = 8


def read_noisy(source: Any, codec: Codec) -> list[Measurement]:
    """The marginals in a CSV or Parquet file, a DataFrame or an Arrow table.

    Where the standard deviation differs within a marginal, the root of its mean square is used.

    Raises
    ------
    InputError
        A column is missing, a name or value is unknown, a cell occurs twice or not at all, an
        estimate is not finite, or a standard deviation is not above 0.
    """
    tables: dict[tuple[str, ...], _Growing] = {}
    for names, values, estimate, deviation in _lines(source):
        if names not in tables:
            tables[names] = _Growing(names, codec)
        tables[names].add(values, estimate, deviation)
    return [growing.finished() for growing in tables.values()]


class _Growing:
    """One marginal while its lines are read."""

    def __init__(self, names: tuple[str, ...], codec: Codec) -> None:
        known = list(codec.domain.names)
        for name in names:
            if name not in known:
                raise InputError(f"column {name!r} is not in the schema{nearest(name, known)}")
        if len(set(names)) != len(names):
            raise InputError(f"the marginal on {list(names)} names a column twice")
        self.names = names
        self.attributes = codec.domain.positions(names)
        labels = [codec.labels(name) for name in names]
        self.codes = [{str(label): code for code, label in enumerate(own)} for own in labels]
        self.counts = np.full(codec.domain.shape(self.attributes), np.nan)
        self.squares = 0.0

    def add(self, values: tuple[str, ...], estimate: float, deviation: float) -> None:
        where = f"the marginal on {list(self.names)}, cell {list(values)}"
        if len(values) != len(self.names):
            raise InputError(f"{where}: {len(values)} values for {len(self.names)} columns")
        if not math.isfinite(estimate):
            raise InputError(f"{where}: the estimate is {estimate}; it must be finite")
        if not (math.isfinite(deviation) and deviation > 0):
            raise InputError(
                f"{where}: the standard deviation is {deviation}; it must be above 0 (noisy "
                "marginals are expected, not exact ones)"
            )
        cell = tuple(self._code(i, value) for i, value in enumerate(values))
        if not np.isnan(self.counts[cell]):
            raise InputError(f"{where} occurs twice")
        self.counts[cell] = estimate
        self.squares += deviation**2

    def _code(self, axis: int, value: str) -> int:
        known = self.codes[axis]
        if value not in known:
            some = ", ".join(map(repr, list(known)[:NAMES_SHOWN]))
            more = ", ..." if len(known) > NAMES_SHOWN else ""
            raise InputError(
                f"column {self.names[axis]!r} has no value {value!r}; it has {some}{more}"
            )
        return known[value]

    def finished(self) -> Measurement:
        missing = int(np.isnan(self.counts).sum())
        if missing:
            raise InputError(
                f"the marginal on {list(self.names)} lacks {missing:,} of its "
                f"{self.counts.size:,} cells; empty cells need noise and a line, too"
            )
        sigma = math.sqrt(self.squares / self.counts.size)
        return Measurement(self.attributes, self.counts, sigma, 1 / (2 * sigma**2))


def _lines(source: Any) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], float, float]]:
    table = open_table(source)
    for name in NEEDED:
        if name not in table.names:
            raise InputError(
                f"the noisy marginals have no column {name!r}; they need {', '.join(NEEDED)} and "
                f"{DEVIATIONS[0]}"
            )
    deviation = next((name for name in DEVIATIONS if name in table.names), None)
    if deviation is None:
        raise InputError(f"the noisy marginals have no column {' or '.join(DEVIATIONS)}")
    number = 1
    for batch in table.batches([*NEEDED, deviation]):
        for names, values, estimate, error in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            number += 1
            own = _texts(names)
            cell = _texts(values, single=len(own) == 1)
            yield own, cell, _number(estimate, number), _number(error, number)


def _texts(cell: Any, *, single: bool = False) -> tuple[str, ...]:
    """A cell that lists texts: a list, a JSON list, or texts separated by commas.

    ``single`` says that anything but a list is one text, commas included.

    >>> _texts('["age", "sex"]'), _texts("age,sex"), _texts("[0, 10)", single=True), _texts("[]")
    (('age', 'sex'), ('age', 'sex'), ('[0, 10)',), ())
    """
    if not isinstance(cell, str):
        parts = list(cell) if isinstance(cell, list | tuple) else [cell]
    elif (listed := _json_list(cell)) is not None:
        parts = listed
    else:
        parts = [cell] if single else next(csv.reader([cell]), [])
    return tuple(str(part) for part in parts)


def _json_list(text: str) -> list[Any] | None:
    try:
        found = json.loads(text) if text.startswith("[") else None
    except ValueError:  # an interval such as [0, 10) starts so, too
        return None
    return found if isinstance(found, list) else None


def _number(cell: Any, line: int) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise InputError(f"line {line} of the noisy marginals: {cell!r} is not a number") from None
