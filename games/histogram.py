"""An explicit distribution on records, kept as a product of independent parts.

MWEM and PMW change the probability of every record that satisfies a query.  The whole domain is too
large to list, but attributes that no query has linked yet are independent; so the distribution is
a product of tables, one a group of attributes, and a query that spans several groups multiplies
their tables out first.  With one group this is the plain histogram.

Reference for the factoring: Hardt, Ligett, McSherry (2012), section 4.2.

*Privacy.* Public inputs only.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.oracles.domain import Attributes, Domain

LIMIT = 10_000_000  # cells of one part: 80 MB


class TooLarge(ValueError):
    """What a game would have to list does not fit; the message says how large it is."""


@dataclass(frozen=True, eq=False)
class Part:
    """A distribution on some attributes, axes in the order of ``attributes``; sums to 1."""

    attributes: Attributes
    table: NDArray[np.float64]

    def marginal(self, attributes: Sequence[int]) -> NDArray[np.float64]:
        """On a subset of its attributes, axes in the order given."""
        axes = [self.attributes.index(a) for a in attributes]
        others = tuple(i for i in range(len(self.attributes)) if i not in axes)
        left = np.transpose(self.table, (*axes, *others))
        return np.asarray(left.sum(axis=tuple(range(len(axes), left.ndim))))


def marginal_of(parts: Sequence[Part], attributes: Sequence[int]) -> NDArray[np.float64]:
    """A marginal of a product of parts, axes in the order given."""
    table, order = np.ones(()), []
    for part in parts:
        own = [a for a in attributes if a in part.attributes]
        if own:
            table = np.multiply.outer(table, part.marginal(own))
            order += own
    return np.asarray(np.transpose(table, [order.index(a) for a in attributes]))


class Histogram:
    """A distribution on a domain, as independent parts of at most ``limit`` cells each.

    Starts uniform, or as the product of given 1-way fractions.  Attributes of a combination in
    ``impossible`` are put in one part from the start, where they fit: it gets probability 0.

    >>> histogram = Histogram(Domain(("a", "b"), (2, 2)))
    >>> histogram.multiply(Query((0, 1), (0, 0), (0, 0)), math.log(3))
    >>> histogram.marginal((0, 1))
    array([[0.5       , 0.16666667],
           [0.16666667, 0.16666667]])
    """

    def __init__(
        self,
        domain: Domain,
        start: Sequence[NDArray[np.float64]] | None = None,
        impossible: Sequence[Mapping[int, int]] = (),
        limit: int = LIMIT,
    ) -> None:
        self.domain, self.limit = domain, limit
        self._impossible = [dict(row) for row in impossible]
        ones = start or [np.full(size, 1 / size) for size in domain.sizes]
        self.parts = [
            self._allowed(Part((a,), np.asarray(p, dtype=np.float64))) for a, p in enumerate(ones)
        ]
        for row in self._impossible:
            if self.fits(tuple(row)):
                linked = self._link(tuple(row))
                self.parts.append(linked)

    def copy(self) -> Histogram:
        """As it is now; later changes of this one do not reach it."""
        same = copy.copy(self)
        same.parts = list(self.parts)
        return same

    # ------------------------------------------------------------------ asking
    def fits(self, attributes: Sequence[int]) -> bool:
        """Whether these attributes can be in one part."""
        linked = [a for part in self._touched(attributes) for a in part.attributes]
        return self.domain.cells(linked) <= self.limit

    def marginal(self, attributes: Sequence[int]) -> NDArray[np.float64]:
        """Probabilities of some attributes' values, axes in the order given."""
        return marginal_of(self.parts, attributes)

    def answers(self, workload: QueryClass) -> list[NDArray[np.float64]]:
        """Answers to a whole workload, one table a block."""
        return workload.answers([self.marginal(m) for m in workload.marginals])

    def answer(self, query: Query) -> float:
        """The fraction that satisfies one query."""
        return query.count(self.marginal(query.attributes))

    # ------------------------------------------------------------------ changing
    def multiply(self, query: Query, exponent: float) -> None:
        """Multiply the probability of records that satisfy the query by e^exponent; normalise."""
        sign = -1.0 if query.negated else 1.0  # a common factor does not matter
        factors = np.ones(self.domain.shape(query.attributes))
        factors[_box(query)] = math.exp(sign * exponent)
        self.multiply_table(query.attributes, factors)

    def project(self, query: Query, fraction: float, least: float) -> None:
        """Change as little as possible (in relative entropy) so that the query has this answer.

        That multiplies by the ratio of the odds.  ``least`` keeps the answer away from 0 and 1, so
        that noise cannot rule a record out.

        >>> histogram = Histogram(Domain(("a",), (4,)))
        >>> histogram.project(Query((0,), (0,), (1,)), 0.8, 0.01)
        >>> histogram.marginal((0,))
        array([0.4, 0.4, 0.1, 0.1])
        """
        now = min(1 - 1e-12, max(1e-12, self.answer(query)))
        wanted = min(1 - least, max(least, fraction))
        self.multiply(query, math.log(wanted / (1 - wanted)) - math.log(now / (1 - now)))

    def multiply_table(self, attributes: Attributes, factors: NDArray[np.float64]) -> None:
        """Multiply by one factor a cell of a marginal, and normalise.

        Raises ``TooLarge`` if the attributes do not fit into one part.
        """
        part = self._link(attributes)
        axes = [part.attributes.index(a) for a in attributes]
        shape = [1] * len(part.attributes)
        for axis, a in zip(axes, attributes, strict=True):
            shape[axis] = self.domain.sizes[a]
        ordered = np.transpose(factors, np.argsort(axes)).reshape(shape)
        table = part.table * ordered
        self.parts.append(Part(part.attributes, table / table.sum()))

    # ------------------------------------------------------------------ parts
    def _touched(self, attributes: Sequence[int]) -> list[Part]:
        return [p for p in self.parts if set(p.attributes) & set(attributes)]

    def _link(self, attributes: Sequence[int]) -> Part:
        """Take out the part that holds all these attributes, multiplied out if need be."""
        touched = self._touched(attributes)
        linked = tuple(a for part in touched for a in part.attributes)
        if self.domain.cells(linked) > self.limit:
            raise TooLarge(
                f"a part of {self.domain.cells(linked):,} cells would be needed; the limit is "
                f"{self.limit:,}"
            )
        self.parts = [p for p in self.parts if not any(p is t for t in touched)]
        if len(touched) == 1:
            return touched[0]
        table = np.ones(())
        for part in touched:
            table = np.multiply.outer(table, part.table)
        return self._allowed(Part(linked, table))

    def _allowed(self, part: Part) -> Part:
        """With probability 0 for impossible combinations of its attributes."""
        table = part.table
        for row in self._impossible:
            if set(row) <= set(part.attributes):
                where = tuple(row.get(a, slice(None)) for a in part.attributes)
                table = table.copy()
                table[where] = 0.0
        if not table.sum() > 0:
            raise ValueError("the impossible combinations leave no record")
        return Part(part.attributes, table / table.sum())


def _box(query: Query) -> tuple[slice, ...]:
    return tuple(slice(lo, hi + 1) for lo, hi in zip(query.low, query.high, strict=True))
