"""SmallDB: choose among all small tables the one that answers every query best.  Toy sizes only.

    input: private D (n records), queries Q, m
    1  Y = all multisets of m records of the domain (of the attributes that Q asks about)
    2  draw y in Y with probability proportional to
           exp(-epsilon max_{q in Q} |N(q) - n q(y)| / 2)                             private
    3  return y

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
m                  size                  records of the small table; ln |Q| / alpha^2 in theory
Y                  ``multisets``         C(|X| + m - 1, m) tables: this is what stays small
=================  ====================  ==========================================

**Privacy.**  One exponential mechanism, its score of sensitivity k (rows of a unit): epsilon-DP.

**Accuracy.**  A table of ln |Q| / alpha^2 records sampled from D answers all queries within alpha,
so one in Y does, and the mechanism finds one within 2 / (epsilon n) ln (|Y| / beta) of the best.
With the best m the error is about (ln |X| ln |Q| / (epsilon n))^(1/3).

It is the strongest baseline that exists where it runs at all, hence a judge of the other games on
toys.  Domains are refused when there are too many tables to list.

Reference: Blum, Ligett, Roth (2008), "A learning theory approach to non-interactive database
privacy"; Dwork and Roth (2014), section 4.1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.histogram import TooLarge
from saddlesynth.games.payoff import all_records
from saddlesynth.games.play import Allowance, Game, Price, Round, selection_price
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain

LOOKUPS = 50_000_000  # answers of the records of all tables to all queries: seconds, 400 MB
BLOCK = 1_000


@dataclass(frozen=True)
class SmallDB:
    """Parameters: m, and the epsilon of the one selection."""

    size: int
    selection_epsilon: float

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size is {self.size}; it must be at least 1")
        if not self.selection_epsilon > 0:
            raise ValueError(f"selection_epsilon is {self.selection_epsilon}; it must be positive")

    def privacy_cost(self) -> Price:
        """One exponential mechanism."""
        return selection_price(self.selection_epsilon)


def tables(records: int, size: int) -> int:
    """|Y|: multisets of ``size`` out of ``records``.

    >>> tables(4, 2)
    10
    """
    return math.comb(records + size - 1, size)


def play(game: Game, parameters: SmallDB) -> Iterator[Round]:
    """The one round of SmallDB.

    Privacy.  ``parameters.privacy_cost()``, charged before the draw.

    Raises
    ------
    TooLarge
        There are too many tables to list; the message says how many.
    """
    workload = game.workload
    records = records_asked_about(game.workload, game.impossible)
    check_size(len(records), parameters.size, workload)
    by_record = np.stack(
        [np.concatenate([t.ravel() for t in workload.answers_on(r)]) for r in records[:, None, :]]
    )
    drawn = game.curator.select_table(  # line 2
        "select a table",
        workload,
        _answers(by_record, parameters.size),
        parameters.selection_epsilon,
    )
    chosen = next(itertools.islice(_multisets(len(records), parameters.size), drawn, None))
    facts = {"tables": float(tables(len(records), parameters.size))}
    yield Round(1, records[list(chosen)], (), parameters.privacy_cost(), facts)


def records_asked_about(
    workload: QueryClass, impossible: Sequence[Mapping[int, int]] = ()
) -> NDArray[np.intp]:
    """All records that differ in attributes of the workload; the others are 0."""
    used = {a for m in workload.marginals for a in m}
    domain = workload.domain
    sizes = tuple(size if a in used else 1 for a, size in enumerate(domain.sizes))
    rules = [row for row in impossible if set(row) <= used]
    total = math.prod(sizes)
    if total * workload.size > LOOKUPS:
        raise TooLarge(
            f"SmallDB would list tables of {total:.3g} different records: it is for toys"
        )
    return all_records(Domain(domain.names, sizes), rules)


def check_size(records: int, size: int, workload: QueryClass) -> None:
    """``TooLarge`` if it would take too long to work out all tables' answers."""
    if lookups(records, size, workload) > LOOKUPS:
        raise TooLarge(
            f"SmallDB would list {tables(records, size):.3g} tables of {size} records and their "
            f"answers to {workload.size:,} queries; at most {LOOKUPS:,} answers of records are "
            "looked up: it is for toys"
        )


def lookups(records: int, size: int, workload: QueryClass) -> int:
    """How many answers of single records all tables' answers are made of."""
    return tables(records, size) * size * workload.size


def calibrated(allowance: Allowance, records: int, workload: QueryClass, rows: float) -> SmallDB:
    """The size that minimises sampling error plus selection error, among those that can be listed.

    sqrt(ln |Q| / m) + 2 ln |Y(m)| / (epsilon n), with public or noisy n.
    """
    epsilon = allowance.selection(1)
    spread = math.log(workload.candidates)

    def error(size: int) -> float:
        noise = 2 * math.log(tables(records, size)) / (epsilon * max(1.0, rows))
        return math.sqrt(spread / size) + noise

    check_size(records, 1, workload)
    possible = itertools.takewhile(
        lambda size: lookups(records, size, workload) <= LOOKUPS, range(1, 201)
    )
    return SmallDB(min(possible, key=error), epsilon)


def _multisets(records: int, size: int) -> Iterator[tuple[int, ...]]:
    return itertools.combinations_with_replacement(range(records), size)


def _answers(by_record: NDArray[np.float64], size: int) -> Iterator[NDArray[np.float64]]:
    """Answers of all tables, in blocks of (tables, queries)."""
    every = _multisets(len(by_record), size)
    while block := list(itertools.islice(every, BLOCK)):
        yield by_record[np.array(block)].mean(axis=1)
