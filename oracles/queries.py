"""Conjunction queries as arrays, and whole workloads as marginals.

A *conjunction* is true on a record when each of its literals "attribute a has value v" is; a
negated one is true when at least one literal is not.  m queries of at most k literals are two
(m, k) arrays, never m objects, so that a round of a game evaluates all of them at once.  The
answers of a *complete* marginal need no queries: :func:`marginal_counts` is one ``bincount``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.domain import Domain

ABSENT = -1  # fills unused literals of shorter conjunctions


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """m conjunctions of up to k literals each.

    Parameters
    ----------
    attributes : (m, k) intp
        Positions in the domain; ``ABSENT`` (-1) where a query has fewer than k literals.
    values : (m, k) intp
        The code that the attribute must have; ignored where absent.
    negated : (m,) bool
        True for "not all literals hold".

    A query without literals is always true (negated: always false).

    *Privacy.* Public inputs only.

    Raises
    ------
    ValueError
        Shapes differ, an entry is out of range, or a query names one attribute twice.

    >>> queries = Conjunctions.of([{0: 1, 2: 0}, {1: 1}], negated=[False, True])
    >>> queries.evaluate(np.array([[1, 0, 0], [0, 1, 0]]))
    array([[ True,  True],
           [False, False]])
    """

    attributes: NDArray[np.intp]
    values: NDArray[np.intp]
    negated: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.attributes.ndim != 2 or self.attributes.shape != self.values.shape:
            raise ValueError(
                f"attributes {self.attributes.shape} and values {self.values.shape} "
                "must be two arrays of one shape (queries, literals)"
            )
        if self.negated.shape != (len(self.attributes),):
            raise ValueError(
                f"negated has shape {self.negated.shape}; expected ({len(self.attributes)},)"
            )
        if self.attributes.size == 0:
            return
        if self.attributes.min() < ABSENT or self.values[self.attributes >= 0].min(initial=0) < 0:
            raise ValueError("attributes and values must be non-negative (-1 marks no attribute)")
        ordered = np.sort(self.attributes, axis=1)
        if np.any((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)):
            raise ValueError("a conjunction may name each attribute only once")

    def __len__(self) -> int:
        return len(self.attributes)

    @classmethod
    def of(
        cls, literals: Iterable[Mapping[int, int]], negated: ArrayLike | None = None
    ) -> Conjunctions:
        """From {attribute position: code} mappings; ``negated`` defaults to none of them."""
        rows = [dict(row) for row in literals]
        k = max((len(row) for row in rows), default=0)
        attributes = np.full((len(rows), k), ABSENT, dtype=np.intp)
        values = np.zeros((len(rows), k), dtype=np.intp)
        for i, row in enumerate(rows):
            attributes[i, : len(row)] = list(row.keys())
            values[i, : len(row)] = list(row.values())
        return cls(attributes, values, _flags(negated, len(rows)))

    @classmethod
    def cells(
        cls,
        domain: Domain,
        attributes: Sequence[int],
        cells: ArrayLike | None = None,
        negated: ArrayLike | None = None,
    ) -> Conjunctions:
        """Cells of one marginal, given by flat index in C order; all of them by default.

        >>> Conjunctions.cells(Domain(("a", "b"), (2, 3)), (0, 1), [4]).values
        array([[1, 1]])
        """
        total = domain.cells(attributes)
        index = np.arange(total) if cells is None else np.asarray(cells, dtype=np.int64).reshape(-1)
        if index.size and (index.min() < 0 or index.max() >= total):
            raise ValueError(f"cells of this marginal are 0 to {total - 1}; got others")
        shape = domain.shape(attributes)
        codes = np.unravel_index(index, shape) if shape else ()
        values = np.zeros((len(index), len(attributes)), dtype=np.intp)
        for j, code in enumerate(codes):
            values[:, j] = code
        rows = np.broadcast_to(np.asarray(attributes, dtype=np.intp), values.shape).copy()
        return cls(rows, values, _flags(negated, len(index)))

    @classmethod
    def concatenate(cls, parts: Sequence[Conjunctions]) -> Conjunctions:
        """All queries of the parts, in order."""
        k = max((part.attributes.shape[1] for part in parts), default=0)
        m = sum(len(part) for part in parts)
        attributes = np.full((m, k), ABSENT, dtype=np.intp)
        values = np.zeros((m, k), dtype=np.intp)
        start = 0
        for part in parts:
            rows, columns = part.attributes.shape
            attributes[start : start + rows, :columns] = part.attributes
            values[start : start + rows, :columns] = part.values
            start += rows
        flags = [part.negated for part in parts] or [np.zeros(0, dtype=bool)]
        return cls(attributes, values, np.concatenate(flags))

    def take(self, index: ArrayLike) -> Conjunctions:
        """The queries at these positions (repeats allowed) or where a mask is true."""
        rows = np.asarray(index)
        if rows.size == 0:
            rows = rows.astype(np.intp)
        return Conjunctions(self.attributes[rows], self.values[rows], self.negated[rows])

    def negate(self) -> Conjunctions:
        """The complement of every query."""
        return Conjunctions(self.attributes, self.values, ~self.negated)

    def literals(self, domain: Domain) -> NDArray[np.intp]:
        """(m, k) positions in a one-hot record; ``domain.width`` where there is no literal."""
        flat = domain.offsets[:-1][self.attributes] + self.values if self.attributes.size else 0
        present = self.attributes >= 0
        return np.where(present, flat, domain.width).astype(np.intp)

    def evaluate(self, records: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Truth of every query on every record, (r, m), one pass per literal."""
        records = np.atleast_2d(records)
        true = np.ones((len(records), len(self)), dtype=bool)
        for j in range(self.attributes.shape[1]):
            absent = self.attributes[:, j] < 0
            true &= (records[:, self.attributes[:, j]] == self.values[:, j]) | absent
        return true ^ self.negated

    def check(self, domain: Domain) -> None:
        """``ValueError`` if a literal names an attribute or value that the domain lacks."""
        if self.attributes.size == 0:
            return
        if self.attributes.max() >= len(domain):
            raise ValueError(
                f"a query names attribute {self.attributes.max()}; "
                f"the domain has positions 0 to {len(domain) - 1}"
            )
        sizes = np.asarray(domain.sizes)[self.attributes]
        wrong = (self.attributes >= 0) & (self.values >= sizes)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            name = domain.names[self.attributes[i, j]]
            raise ValueError(
                f"query {i} asks for code {self.values[i, j]} of attribute {name!r}, "
                f"which has codes 0 to {sizes[i, j] - 1}"
            )


def _flags(negated: ArrayLike | None, m: int) -> NDArray[np.bool_]:
    """``negated`` as an (m,) array; one value stands for all."""
    return np.array(np.broadcast_to(False if negated is None else negated, (m,)), dtype=bool)


def cell_index(
    domain: Domain, attributes: Sequence[int], records: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Flat C-order cell of a marginal in which each record falls, (r,)."""
    index = np.zeros(len(records), dtype=np.int64)
    for a in attributes:
        index = index * domain.sizes[a] + records[:, a]
    return index


def marginal_counts(
    domain: Domain, marginals: Sequence[Sequence[int]], records: NDArray[np.integer]
) -> list[NDArray[np.int64]]:
    """How many of these (public) records fall in each cell; one table a marginal, in its shape.

    Answers all queries of a workload of complete marginals at once: 64 marginals with 459,000
    cells cost 64 ``bincount`` calls.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> marginal_counts(domain, [(0,), (1, 0)], np.array([[1, 0], [1, 1]]))
    [array([0, 2]), array([[0, 1],
           [0, 1]])]
    """
    return [
        np.bincount(cell_index(domain, m, records), minlength=domain.cells(m)).reshape(
            domain.shape(m)
        )
        for m in marginals
    ]
