"""A distribution over the whole domain, held by its potentials, and records drawn from it.

    p(x) proportional to p0(x) exp( sum over marginals i of theta_i[cell of x in i] )

where p0 has independent attributes.  Its normaliser would need every record of the domain, so
records are drawn by *Gibbs sampling*: one attribute at a time is drawn from its exact conditional
given the others, for all records at once.  In the words of column generation this prices new
records: each is drawn with the probability that the current potentials give it.

Privacy: public inputs only (noisy marginals and what follows from them).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.projection.pool import Cells, Floats

ROWS = 8_192  # records per block, so that a block's conditionals stay in the cache
FLOOR = 1e-6  # smallest probability of a value under p0


def independent_records(
    shares: Sequence[Floats], rows: int, generator: np.random.Generator
) -> NDArray[np.integer]:
    """Records with independent attributes and exactly these 1-way marginals, up to rounding."""
    largest = max(len(share) for share in shares)
    records = np.empty((rows, len(shares)), dtype=np.min_scalar_type(largest - 1))
    for a, share in enumerate(shares):
        points = (generator.permutation(rows) + generator.random()) / rows
        records[:, a] = np.searchsorted(np.cumsum(share)[:-1], points * share.sum(), side="right")
    return records


@dataclass(frozen=True, eq=False)
class Field:
    """Shares (one vector an attribute) and potentials of the cells; ``prior`` are those of p0.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> cells = Cells(domain, ((0, 1),))
    >>> equal = Field(cells, (np.full(2, 0.5),) * 2, np.array([3.0, 0.0, 0.0, 3.0]))
    >>> start = independent_records(equal.shares, 2000, np.random.default_rng(0))
    >>> drawn = equal.resample(start, 3, np.random.default_rng(1))
    >>> bool((drawn[:, 0] == drawn[:, 1]).mean() > 0.9)
    True
    """

    cells: Cells
    shares: tuple[Floats, ...]
    potentials: Floats
    impossible: tuple[Mapping[int, int], ...] = ()
    prior: Floats | float = 0.0

    def resample(
        self, records: NDArray[np.integer], sweeps: int, generator: np.random.Generator
    ) -> NDArray[np.integer]:
        """New records after ``sweeps`` passes over the attributes, started from ``records``."""
        records = records.copy()
        conditionals = [self._conditional(a) for a in range(len(self.shares))]
        for _ in range(sweeps):
            order = generator.permutation(len(self.shares))
            for start in range(0, len(records), ROWS):
                block = records[start : start + ROWS]
                columns = [np.ascontiguousarray(block[:, a]) for a in range(block.shape[1])]
                for a in order:
                    columns[a] = conditionals[a].draw(columns, generator)
                block[:] = np.stack(columns, axis=1)
        return records

    def _conditional(self, attribute: int) -> _Conditional:
        domain, tables = self.cells.domain, []
        for attributes, table in zip(
            self.cells.marginals, self.cells.split(self.potentials), strict=True
        ):
            if attribute in attributes:
                axis = attributes.index(attribute)
                others = tuple(a for a in attributes if a != attribute)
                last = np.moveaxis(table, axis, -1).reshape(-1, domain.sizes[attribute])
                tables.append((others, np.ascontiguousarray(last, dtype=np.float32)))
        base = np.log(np.maximum(self.shares[attribute], FLOOR)).astype(np.float32)
        rules = tuple(rule for rule in self.impossible if attribute in rule)
        return _Conditional(domain, attribute, base, tables, rules)


@dataclass(frozen=True, eq=False)
class _Conditional:
    """One attribute given all others: tables (cells of the others, size) of potentials."""

    domain: Domain
    attribute: int
    base: NDArray[np.float32]
    tables: list[tuple[tuple[int, ...], NDArray[np.float32]]]
    rules: tuple[Mapping[int, int], ...]

    def draw(
        self, columns: list[NDArray[np.integer]], generator: np.random.Generator
    ) -> NDArray[np.integer]:
        rows = len(columns[0])
        logits = np.tile(self.base, (rows, 1))
        for others, table in self.tables:
            logits += table[self._positions(others, columns)]
        for code, where in self._forbidden(columns):
            logits[where, code] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        mass = np.cumsum(np.exp(logits, out=logits), axis=1, out=logits)
        points = generator.random(rows, dtype=np.float32) * mass[:, -1]
        drawn = (mass <= points[:, None]).sum(axis=1)
        kept: NDArray[np.integer] = np.minimum(drawn, len(self.base) - 1)
        return kept.astype(columns[self.attribute].dtype)

    def _positions(
        self, others: Sequence[int], columns: list[NDArray[np.integer]]
    ) -> NDArray[np.intp]:
        position = np.zeros(len(columns[0]), dtype=np.intp)
        for a in others:
            position = position * self.domain.sizes[a] + columns[a]
        return position

    def _forbidden(
        self, columns: list[NDArray[np.integer]]
    ) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Codes of this attribute that would complete an impossible combination, and where."""
        for rule in self.rules:
            where = np.ones(len(columns[0]), dtype=np.bool_)
            for a, code in rule.items():
                if a != self.attribute:
                    where &= columns[a] == code
            yield rule[self.attribute], where
