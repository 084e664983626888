"""Integer programs for a reduced problem, as plain arrays that every MIP back-end reads.

Columns: one 0/1 variable x per candidate value, then one variable c per query.  Rows common to all
forms: exactly one candidate of each attribute; for an impossible combination of k candidates,
sum x <= k - 1; for a query of *negative* weight with k candidates, c >= sum x - (k - 1): the
maximisation pulls c down, so c is 1 exactly if all hold, and needs no integrality.

For queries of *positive* weight (c is pulled up) the forms differ, and are right because:

* ``AGGREGATED`` (the FEM paper's): k c <= sum of its x.  If one x is 0 then c < 1, so c is 0 as it
  is an integer.  One row a query, but a weak relaxation.
* ``DISAGGREGATED``: c <= x for each of its candidates.  c is at most the smallest x, which an
  optimum attains; with integer x it is the truth value, so c may be continuous.
* ``EXCLUSIVE``: queries on the same attributes exclude each other (they differ in a value).  So for
  each value of each set of attributes, the sum of the c of queries with it is <= x.  This implies
  the rows of ``DISAGGREGATED``, with fewer rows and a tighter relaxation; c may be continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.reduce import Bools, Floats, Ints, Reduced, distinct

if TYPE_CHECKING:
    import scipy.sparse


class Form(StrEnum):
    """Which rows say that a rewarded query is true."""

    AGGREGATED = "aggregated"
    DISAGGREGATED = "disaggregated"
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True, eq=False)
class Program:
    """Maximise ``constant + objective @ z`` over 0 <= z <= upper, lower row <= A z <= upper row.

    A is kept by rows: entries ``data[start[i]:start[i+1]]`` in columns ``index[...]``.  ``integer``
    marks the columns that must be whole.  The first ``columns`` variables are the x.
    """

    objective: Floats
    upper: Floats
    integer: Bools
    start: NDArray[np.int32]
    index: NDArray[np.int32]
    data: Floats
    row_lower: Floats
    row_upper: Floats
    constant: float
    columns: int
    step: float = 0.0  # if positive, objective values differ by whole multiples of about this

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and variables."""
        return len(self.row_upper), len(self.objective)

    def matrix(self) -> scipy.sparse.csr_array[Any]:
        """A as a SciPy sparse array."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.index, self.start), shape=self.shape)

    def rows(self) -> list[tuple[list[int], list[float], float, float]]:
        """(columns, entries, lower, upper) of each row, for modelling layers that take lists."""
        bounds = zip(self.row_lower.tolist(), self.row_upper.tolist(), strict=True)
        index, data, start = self.index.tolist(), self.data.tolist(), self.start.tolist()
        return [
            (index[a:b], data[a:b], low, high)
            for a, b, (low, high) in zip(start[:-1], start[1:], bounds, strict=True)
        ]

    def unit(self) -> float:
        """The largest objective coefficient, rounded up to a power of two (1 if all are 0).

        Back-ends divide the objective by it: their tolerances are absolute.
        """
        largest = float(np.abs(self.objective).max(initial=0.0))
        return float(2.0 ** np.ceil(np.log2(largest))) if largest > 0 else 1.0


class RowBuilder:
    """Collects blocks of rows as coordinate triples."""

    def __init__(self) -> None:
        self.count = 0
        self._row: list[Ints] = []
        self._column: list[Ints] = []
        self._entry: list[Floats] = []
        self._lower: list[Floats] = []
        self._upper: list[Floats] = []

    def add(
        self,
        count: int,
        row: Ints,
        column: Ints,
        entry: Floats | float,
        *,
        lower: Floats | float = -np.inf,
        upper: Floats | float = np.inf,
    ) -> int:
        """Append ``count`` rows with these entries; returns the number of the first of them."""
        first = self.count
        self.count += count
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), (count,)))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), (count,)))
        self.extend(row + first, column, entry)
        return first

    def extend(self, row: Ints, column: Ints, entry: Floats | float) -> None:
        """More entries of rows that exist."""
        self._row.append(row)
        self._column.append(column)
        self._entry.append(np.broadcast_to(np.asarray(entry, dtype=np.float64), row.shape))

    def program(
        self,
        objective: Floats,
        upper: Floats,
        integer: Bools,
        constant: float,
        columns: int,
        step: float = 0.0,
    ) -> Program:
        """All rows, sorted, with these columns."""
        row = np.concatenate(self._row)
        column = np.concatenate(self._column)
        order = np.lexsort((column, row))
        counts = np.bincount(row, minlength=self.count)
        return Program(
            objective=objective,
            upper=upper,
            integer=integer,
            start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            index=column[order].astype(np.int32),
            data=np.concatenate(self._entry)[order],
            row_lower=np.concatenate(self._lower),
            row_upper=np.concatenate(self._upper),
            constant=constant,
            columns=columns,
            step=step,
        )


def formulate(task: Reduced, form: Form = Form.EXCLUSIVE, *, all_integer: bool = False) -> Program:
    """The integer program of a reduced problem in one of the forms above.

    ``all_integer`` also marks the c that may be continuous, for back-ends without continuous
    variables.  *Privacy.* Public inputs only.
    """
    n, m = task.columns, len(task.weights)
    rows = RowBuilder()
    one_value_each(rows, task)
    _at_most_all_but_one(rows, task.forbidden, n, None)
    positive = np.flatnonzero(task.weights > 0)
    negative = np.flatnonzero(task.weights < 0)
    _at_most_all_but_one(rows, task.literals[negative], n, n + negative)
    {
        Form.AGGREGATED: _aggregated,
        Form.DISAGGREGATED: _disaggregated,
        Form.EXCLUSIVE: _exclusive,
    }[form](rows, task, positive)
    integer = np.ones(n + m, dtype=bool)
    integer[n:] = all_integer
    integer[n + positive] |= form is Form.AGGREGATED
    objective = np.concatenate([-task.cost, task.weights])
    return rows.program(objective, np.ones(n + m), integer, task.constant, n, task.step)


def one_value_each(rows: RowBuilder, task: Reduced) -> None:
    """sum of an attribute's x = 1."""
    axes = len(task.free)
    axis_of = np.repeat(np.arange(axes), task.shape)
    rows.add(axes, axis_of, np.arange(task.columns), 1.0, lower=1.0, upper=1.0)


def _entries(literals: Ints, n: int) -> tuple[Ints, Ints]:
    """Row and column of every literal that is present."""
    row, slot = np.nonzero(literals < n)
    return row, literals[row, slot]


def _at_most_all_but_one(rows: RowBuilder, literals: Ints, n: int, excuse: Ints | None) -> None:
    """sum x <= k - 1, or, with a variable as excuse, sum x - c <= k - 1."""
    row, column = _entries(literals, n)
    k = np.bincount(row, minlength=len(literals)).astype(np.float64)
    first = rows.add(len(literals), row, column, 1.0, upper=k - 1)
    if excuse is not None:
        rows.extend(first + np.arange(len(literals)), excuse, -1.0)


def _aggregated(rows: RowBuilder, task: Reduced, positive: Ints) -> None:
    """k c - sum x <= 0."""
    row, column = _entries(task.literals[positive], task.columns)
    k = np.bincount(row, minlength=len(positive)).astype(np.float64)
    first = rows.add(len(positive), row, column, -1.0, upper=0.0)
    rows.extend(first + np.arange(len(positive)), task.columns + positive, k)


def _disaggregated(rows: RowBuilder, task: Reduced, positive: Ints) -> None:
    """c - x <= 0 for each literal."""
    row, column = _entries(task.literals[positive], task.columns)
    each = np.arange(len(row))
    first = rows.add(len(row), each, column, -1.0, upper=0.0)
    rows.extend(first + each, task.columns + positive[row], 1.0)


def _exclusive(rows: RowBuilder, task: Reduced, positive: Ints) -> None:
    """sum of the c of one set of attributes that contain a value, - x <= 0."""
    literals = task.literals[positive]
    axis_of = np.append(np.repeat(np.arange(len(task.free)), task.shape), len(task.free))
    _, marginal = distinct(axis_of[literals])  # rows are sorted, so equal sets are equal rows
    row, column = _entries(literals, task.columns)
    pairs, group = distinct(np.stack([marginal[row], column], axis=1))
    first = rows.add(len(pairs), np.arange(len(pairs)), pairs[:, 1], -1.0, upper=0.0)
    rows.extend(first + group, task.columns + positive[row], 1.0)
