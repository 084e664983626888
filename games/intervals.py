"""From played queries to the oracle's problem, also where queries ask about intervals.

The oracle knows conjunctions "attribute = value".  Cells of marginals are conjunctions already.
A query with longer intervals is turned into them exactly:

1. cut each attribute's codes wherever some query's interval begins or ends (and around every
   impossible code), so that inside a *segment* all codes are alike to all queries;
2. a segment becomes one value of a coarser domain; its cost is that of its cheapest code;
3. an interval query is a union of disjoint coarse cells, so it is the *sum* of their conjunctions
   (negated: one minus that sum), and queries on the same attributes add up in one table.

A best record of the coarse problem, each segment replaced by its cheapest code, is a best record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.query_class import Query
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions


@dataclass(frozen=True, eq=False)
class Leader:
    """The oracle's problem and the way back to records; ``cuts`` is None if nothing was merged.

    ``cuts`` are the first codes of all segments as positions in a one-hot record.
    """

    domain: Domain
    problem: Problem
    cuts: NDArray[np.int64] | None = None

    def costs(self, perturbations: NDArray[np.float64]) -> NDArray[np.float64]:
        """(s, width) costs of codes as costs of the problem's values."""
        if self.cuts is None:
            return perturbations
        return np.asarray(np.minimum.reduceat(perturbations, self.cuts, axis=1))

    def lift(
        self, records: NDArray[np.intp], perturbations: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Records of the problem, one per perturbation, as records of the domain."""
        if self.cuts is None:
            return records
        ends = np.append(self.cuts[1:], self.domain.width)
        chosen = self.problem.domain.offsets[:-1] + records
        lifted = np.empty_like(records)
        for i, row in enumerate(chosen):
            for a, segment in enumerate(row):
                start, stop = int(self.cuts[segment]), int(ends[segment])
                cheapest = start + int(np.argmin(perturbations[i, start:stop]))
                lifted[i, a] = cheapest - int(self.domain.offsets[a])
        return lifted


def leader(
    domain: Domain,
    weights: Mapping[Query, float],
    impossible: Sequence[Mapping[int, int]] = (),
) -> Leader:
    """The problem "maximise the sum of weights of true queries minus the perturbation's cost".

    >>> at_most_one = Query((0,), (0,), (1,))
    >>> made = leader(Domain(("age",), (5,)), {at_most_one: 2.0})
    >>> made.problem.domain.sizes
    (2,)
    >>> made.lift(np.array([[0]]), np.array([[3.0, 1.0, 0, 0, 0]]))
    array([[1]])
    """
    if all(query.is_cell for query in weights):
        literals = [dict(zip(q.attributes, q.low, strict=True)) for q in weights]
        queries = Conjunctions.of(literals, [q.negated for q in weights])
        return Leader(domain, Problem(domain, queries, list(weights.values()), tuple(impossible)))
    first = _first_codes(domain, weights, impossible)
    coarse = Domain(domain.names, tuple(len(codes) for codes in first))
    parts, values = _sum_of_cells(coarse, first, weights)
    forbidden = [
        {a: int(np.searchsorted(first[a], code)) for a, code in row.items()} for row in impossible
    ]
    problem = Problem(coarse, Conjunctions.concatenate(parts), values, tuple(forbidden))
    cuts = np.concatenate([domain.offsets[a] + codes for a, codes in enumerate(first)])
    return Leader(domain, problem, cuts)


def _first_codes(
    domain: Domain, queries: Mapping[Query, float], impossible: Sequence[Mapping[int, int]]
) -> list[NDArray[np.int64]]:
    """First code of every segment of every attribute."""
    cuts: list[set[int]] = [{0} for _ in domain.sizes]
    for query in queries:
        for a, low, high in zip(query.attributes, query.low, query.high, strict=True):
            cuts[a] |= {low, high + 1}
    for row in impossible:
        for a, code in row.items():
            cuts[a] |= {code, code + 1}
    return [
        np.array(sorted(c for c in codes if c < size), dtype=np.int64)
        for codes, size in zip(cuts, domain.sizes, strict=True)
    ]


def _sum_of_cells(
    coarse: Domain, first: Sequence[NDArray[np.int64]], weights: Mapping[Query, float]
) -> tuple[list[Conjunctions], NDArray[np.float64]]:
    """All queries as weighted cells of coarse marginals (constants of negations dropped)."""
    tables: dict[Attributes, NDArray[np.float64]] = {}
    for query, weight in weights.items():
        shape = coarse.shape(query.attributes)
        table = tables.setdefault(query.attributes, np.zeros(shape))
        box = tuple(
            slice(int(np.searchsorted(first[a], low)), int(np.searchsorted(first[a], high + 1)))
            for a, low, high in zip(query.attributes, query.low, query.high, strict=True)
        )
        table[box] += -weight if query.negated else weight
    parts, values = [], []
    for attributes, table in tables.items():
        cells = np.flatnonzero(table)
        parts.append(Conjunctions.cells(coarse, attributes, cells))
        values.append(table.ravel()[cells])
    return parts, np.concatenate(values)
