"""The payoff of the query-release game, and its matrix for games small enough to list.

The data player plays a record x, the query player a query q of a class closed under negation, and
the data player pays

    A(x, q) = weight(q) (q(D) - q(x)),        A(x, not q) = -A(x, q),

where q(D) is the fraction of the data that satisfies q.  Against a mix of records the payoff is
the (weighted) error of that mix on q; the query player looks for the worst one.

Public inputs only: a matrix of a private table is as private as the table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import Conjunctions

Answers = Sequence[NDArray[np.float64]]  # one table a block, as fractions
LIMIT = 1_000_000  # entries of a payoff matrix that is still listed


def payoffs(workload: QueryClass, truth: Answers, answers: Answers) -> list[NDArray[np.float64]]:
    """Payoff of every query against a play with these answers, one table a block.

    Negations are not listed: theirs is the negative.
    """
    blocks = zip(workload.blocks, truth, answers, strict=True)
    return [block.weight * (true - played) for block, true, played in blocks]


def candidate_payoffs(
    workload: QueryClass, truth: Answers, answers: Answers
) -> NDArray[np.float64]:
    """Payoff of every strategy of the query player in one row: the queries, then their negations.

    >>> coin = QueryClass.of(Domain(("face",), (2,)), [(0,)])
    >>> candidate_payoffs(coin, [np.array([0.75, 0.25])], [np.array([0.5, 0.5])])
    array([ 0.25, -0.25, -0.25,  0.25])
    """
    half = np.concatenate([table.ravel() for table in payoffs(workload, truth, answers)])
    return np.concatenate([half, -half])


def max_error(workload: QueryClass, truth: Answers, answers: Answers) -> float:
    """The largest (weighted) absolute error: what the best query earns."""
    return max(float(np.abs(table).max()) for table in payoffs(workload, truth, answers))


def all_records(
    domain: Domain, impossible: Sequence[Mapping[int, int]] = (), limit: int = LIMIT
) -> NDArray[np.intp]:
    """Every record of a small domain without the impossible combinations, (N, d).

    >>> all_records(Domain(("a", "b"), (2, 2)), [{0: 1, 1: 1}]).tolist()
    [[0, 0], [0, 1], [1, 0]]

    Raises ``ValueError`` when there are more than ``limit`` records.
    """
    total = math.prod(domain.sizes)
    if total > limit:
        raise ValueError(f"the domain has {total:.3g} records; at most {limit:,} can be listed")
    records = np.array(list(itertools.product(*map(range, domain.sizes))), dtype=np.intp)
    forbidden = Conjunctions.of(impossible).evaluate(records).any(axis=1)
    return np.asarray(records[~forbidden])


@dataclass(frozen=True, eq=False)
class PayoffMatrix:
    """All payoffs of a small game; prints as a table.

    values : (records, queries) — the queries first, then their negations.
    """

    values: NDArray[np.float64]
    records: NDArray[np.intp]
    queries: tuple[Query, ...]
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...] | None = None

    def record_names(self) -> list[str]:
        """Each record in words."""
        if self.labels is None:
            return [" ".join(map(str, record)) for record in self.records.tolist()]
        labels = self.labels
        return [
            " ".join(labels[a][v] for a, v in enumerate(record)) for record in self.records.tolist()
        ]

    def query_names(self) -> list[str]:
        """Each query in words."""
        return [query.describe(self.names, self.labels) for query in self.queries]

    def __str__(self) -> str:
        head, rows = self.query_names(), self.record_names()
        cells = [[f"{value:+.3f}" for value in row] for row in self.values + 0.0]
        wide = [max(len(name), 6) for name in head]
        first = max(map(len, rows), default=0)
        lines = [" " * first + "".join(f"  {n:>{w}}" for n, w in zip(head, wide, strict=True))]
        for name, row in zip(rows, cells, strict=True):
            text = "".join(f"  {cell:>{w}}" for cell, w in zip(row, wide, strict=True))
            lines.append(f"{name:<{first}}{text}")
        return "\n".join(lines)


def payoff_matrix(
    workload: QueryClass,
    truth: Answers,
    records: NDArray[np.intp],
    labels: tuple[tuple[str, ...], ...] | None = None,
) -> PayoffMatrix:
    """The matrix of a small game: ``truth`` are the data's answers, ``records`` what may be played.

    >>> coin = QueryClass.of(Domain(("face",), (2,)), [(0,)])
    >>> print(payoff_matrix(coin, [np.array([0.75, 0.25])], np.array([[0], [1]])))
       face=0  face=1  not (face=0)  not (face=1)
    0  -0.250  +0.250        +0.250        -0.250
    1  +0.750  -0.750        -0.750        +0.750

    Raises ``ValueError`` when the matrix would have more than a million entries.
    """
    if len(records) * workload.candidates > LIMIT:
        raise ValueError(
            f"{len(records):,} records by {workload.candidates:,} queries is too large to list; "
            f"at most {LIMIT:,} entries"
        )
    rows = [
        candidate_payoffs(workload, truth, workload.answers_on(record))
        for record in records[:, None, :]
    ]
    values = np.asarray(rows, dtype=np.float64).reshape(len(records), workload.candidates)
    queries = tuple(workload.query(i) for i in range(workload.candidates))
    return PayoffMatrix(values, records, queries, workload.domain.names, labels)
