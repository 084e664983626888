"""The query player's strategies: all queries of a workload, held as marginal tables.

A *query* asks what fraction of the records has, on each of a few attributes, a code in a closed
interval; *negated*, what fraction has not.  A *block* is all such queries of one kind on the same
attributes, so that its answers are one table made from one marginal:

* ``cell``    one query a code:  low = high          -- the cells of the marginal
* ``prefix``  one query a code v:  0 <= code <= v     -- cumulative sums (ordered attributes)
* ``range``   one query a pair v <= w:  v <= code <= w

A query class is closed under negation by definition: negations are never stored, since the answer
of a negated query is one minus the answer of the query.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.queries import cell_index

Scalar = TypeVar("Scalar", np.int64, np.float64)


class Kind(StrEnum):
    """What the queries of a block ask of one attribute."""

    CELL = "cell"
    PREFIX = "prefix"
    RANGE = "range"


@dataclass(frozen=True)
class Query:
    """One query: attribute ``attributes[i]`` has a code in ``[low[i], high[i]]``, for every i.

    ``weight`` in (0, 1] is its importance: what an error on it counts.

    >>> query = Query((0, 2), (1, 0), (1, 3), negated=True)
    >>> query.evaluate(np.array([[1, 9, 2], [0, 9, 2]]))
    array([False,  True])
    >>> query.describe(("age", "sex", "pay"))
    'not (age=1 & 0<=pay<=3)'
    """

    attributes: Attributes
    low: tuple[int, ...]
    high: tuple[int, ...]
    negated: bool = False
    weight: float = 1.0

    @property
    def is_cell(self) -> bool:
        """Whether it is a conjunction of single values."""
        return self.low == self.high

    def evaluate(self, records: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Truth on each record, (r,)."""
        codes = records[:, list(self.attributes)]
        inside = (codes >= np.asarray(self.low)) & (codes <= np.asarray(self.high))
        return np.asarray(inside.all(axis=1) ^ self.negated)

    def count(self, table: NDArray[Scalar]) -> float:
        """How much of its attributes' marginal (axes in their order) satisfies it.

        >>> Query((0,), (0,), (1,), negated=True).count(np.array([3, 2, 4]))
        4.0
        """
        box = tuple(slice(lo, hi + 1) for lo, hi in zip(self.low, self.high, strict=True))
        inside = float(table[box].sum())
        return float(table.sum()) - inside if self.negated else inside

    def describe(self, names: Sequence[str], labels: Sequence[Sequence[str]] | None = None) -> str:
        """In words; ``labels[a]`` are the names of the values of attribute ``a``."""
        parts = []
        for a, low, high in zip(self.attributes, self.low, self.high, strict=True):
            first, last = (str(v) if labels is None else labels[a][v] for v in (low, high))
            parts.append(f"{names[a]}={first}" if low == high else f"{first}<={names[a]}<={last}")
        text = " & ".join(parts)
        return f"not ({text})" if self.negated else text


@dataclass(frozen=True)
class Block:
    """All queries of one kind on some attributes; ``weight`` in (0, 1] is their importance.

    With a weight the query player's payoff is weight times the error: an error on a query of
    weight 1/2 counts half.

    >>> Block((0, 1), (Kind.CELL, Kind.RANGE)).shape(Domain(("a", "b"), (2, 3)))
    (2, 6)
    """

    attributes: Attributes
    kinds: tuple[Kind, ...] = ()
    weight: float = 1.0

    def __post_init__(self) -> None:
        kinds = self.kinds or (Kind.CELL,) * len(self.attributes)
        object.__setattr__(self, "kinds", tuple(Kind(kind) for kind in kinds))
        if len(self.kinds) != len(self.attributes):
            raise ValueError(f"{len(self.kinds)} kinds for {len(self.attributes)} attributes")
        if len(set(self.attributes)) != len(self.attributes):
            raise ValueError("a block may name each attribute only once")
        if not 0 < self.weight <= 1:
            raise ValueError(f"weight is {self.weight}; it must be above 0 and at most 1")

    @property
    def is_marginal(self) -> bool:
        """Whether its queries are the cells of a marginal."""
        return all(kind is Kind.CELL for kind in self.kinds)

    def shape(self, domain: Domain) -> tuple[int, ...]:
        """Shape of the table of answers."""
        return tuple(
            size * (size + 1) // 2 if kind is Kind.RANGE else size
            for size, kind in zip(domain.shape(self.attributes), self.kinds, strict=True)
        )

    def answers(self, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """Answers of all queries from the marginal's table, in the table's units.

        >>> Block((0,), (Kind.RANGE,)).answers(np.array([1, 2, 4]))
        array([1, 3, 7, 2, 6, 4])
        """
        for axis, kind in enumerate(self.kinds):
            if kind is Kind.PREFIX:
                table = np.cumsum(table, axis=axis)
            elif kind is Kind.RANGE:
                low, high = np.triu_indices(table.shape[axis])
                total = np.cumsum(table, axis=axis)
                before = np.take(total, low, axis=axis) - np.take(table, low, axis=axis)
                table = np.take(total, high, axis=axis) - before
        return table

    def query(self, domain: Domain, cell: int, negated: bool = False) -> Query:
        """The query at a flat position of the table of answers."""
        index = np.unravel_index(cell, self.shape(domain)) if self.attributes else ()
        low, high = [], []
        for i, kind, size in zip(index, self.kinds, domain.shape(self.attributes), strict=True):
            if kind is Kind.RANGE:
                pairs = np.triu_indices(size)
                low.append(int(pairs[0][i]))
                high.append(int(pairs[1][i]))
            else:
                low.append(0 if kind is Kind.PREFIX else int(i))
                high.append(int(i))
        return Query(self.attributes, tuple(low), tuple(high), negated, self.weight)


@dataclass(frozen=True, eq=False)
class QueryClass:
    """A workload: blocks of queries over one domain, and their negations.

    >>> workload = QueryClass.of(Domain(("a", "b"), (2, 3)), [(0,), (0, 1)])
    >>> workload.size, workload.candidates
    (8, 16)
    >>> [table.tolist() for table in workload.answers_on(np.array([[0, 2], [1, 2]]))]
    [[0.5, 0.5], [[0.0, 0.0, 0.5], [0.0, 0.0, 0.5]]]

    Raises
    ------
    ValueError
        No blocks, or an attribute that the domain lacks.
    """

    domain: Domain
    blocks: tuple[Block, ...]
    shapes: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        if not self.blocks:
            raise ValueError("a workload needs at least one block of queries")
        for block in self.blocks:
            if any(not 0 <= a < len(self.domain) for a in block.attributes):
                raise ValueError(
                    f"attributes {block.attributes} do not fit a domain of {len(self.domain)}"
                )
        object.__setattr__(self, "shapes", tuple(b.shape(self.domain) for b in self.blocks))

    @classmethod
    def of(cls, domain: Domain, marginals: Iterable[Attributes]) -> QueryClass:
        """The cells of some marginals, all of weight one."""
        return cls(domain, tuple(Block(tuple(m)) for m in marginals))

    @property
    def marginals(self) -> list[Attributes]:
        """The marginal that each block is made from."""
        return [block.attributes for block in self.blocks]

    @property
    def size(self) -> int:
        """Number of queries, negations not counted."""
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def candidates(self) -> int:
        """Number of strategies of the query player: queries and negations."""
        return 2 * self.size

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First position of each block in a flat list of all queries, and the total; (b+1,)."""
        sizes = [math.prod(shape) for shape in self.shapes]
        return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])

    def query(self, position: int) -> Query:
        """The query at a position of the flat list; from ``size`` on, the negations."""
        negated, flat = divmod(position, self.size)
        block = int(np.searchsorted(self.starts, flat, side="right")) - 1
        cell = flat - int(self.starts[block])
        return self.blocks[block].query(self.domain, cell, bool(negated))

    def answers(self, tables: Iterable[NDArray[Scalar]]) -> list[NDArray[Scalar]]:
        """Answers of every block from its marginal's table, in the tables' units."""
        return [b.answers(table) for b, table in zip(self.blocks, tables, strict=True)]

    def answers_on(
        self, records: NDArray[np.integer], weights: NDArray[np.float64] | None = None
    ) -> list[NDArray[np.float64]]:
        """Fractions of (public) records that satisfy each query, one table a block."""
        total = len(records) if weights is None else float(weights.sum())
        tables = []
        for marginal in self.marginals:
            index = cell_index(self.domain, marginal, records)
            counts = np.bincount(index, weights, minlength=self.domain.cells(marginal))
            tables.append((counts / total).reshape(self.domain.shape(marginal)))
        return self.answers(tables)
