"""What is common to all games: who plays, what a round leaves behind, what may be spent.

A game is a generator of :class:`Round` s.  Everything in a round is released (or follows from what
is released) and may be shown; exact payoffs are not in it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger
from saddlesynth.games.privacy.calibrate import selection_rho
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.oracles.oracle import BestResponse, Oracle

SPENT = 1 - 1e-9  # share of an allowance that calibration hands out


@dataclass(frozen=True, eq=False)
class Game:
    """The table, the queries, and the data player's solver.

    ``curator`` is the only way to private records.  ``impossible`` are combinations
    {attribute position: code} that no record may have.  ``n_jobs`` are threads of one round.
    """

    curator: Curator
    workload: QueryClass
    oracle: Oracle
    impossible: tuple[Mapping[int, int], ...] = ()
    n_jobs: int = 1


@dataclass(frozen=True)
class Price:
    """What a play costs: ``rho`` in zCDP, ``epsilon`` in pure differential privacy.

    ``epsilon`` is None where a step is not pure.  Costs add and multiply.

    >>> selection_price(0.5) * 4
    Price(rho=0.125, epsilon=2.0)
    """

    rho: float
    epsilon: float | None

    def __add__(self, other: Price) -> Price:
        if self.epsilon is None or other.epsilon is None:
            return Price(self.rho + other.rho, None)
        return Price(self.rho + other.rho, self.epsilon + other.epsilon)

    def __mul__(self, times: int) -> Price:
        return Price(self.rho * times, None if self.epsilon is None else self.epsilon * times)


FREE = Price(0.0, 0.0)


def selection_price(epsilon: float) -> Price:
    """Price of one exponential mechanism: epsilon-bounded range, hence epsilon^2 / 8 in zCDP."""
    return Price(selection_rho(epsilon), epsilon)


@dataclass(frozen=True)
class Allowance:
    """What a game may spend: ``rho``, or ``epsilon`` if the budget is pure (delta 0).

    A billionth is left over, so that rounding in a sum of many charges can never overspend.

    >>> round(Allowance(rho=0.02).selection(draws=100), 6)
    0.04
    >>> round(Allowance(rho=0.5, epsilon=1.0).selection(draws=10), 6)
    0.1
    """

    rho: float
    epsilon: float | None = None

    @classmethod
    def of(cls, ledger: Ledger) -> Allowance:
        """What a ledger has left."""
        if ledger.pure:
            return cls(ledger.remaining_epsilon**2 / 2, ledger.remaining_epsilon)
        return cls(ledger.remaining_rho)

    def fits(self, price: Price) -> bool:
        """Whether a play of this price may be made."""
        room = 1 - 1e-12
        if self.epsilon is not None:
            return price.epsilon is not None and price.epsilon <= self.epsilon * room
        return price.rho <= self.rho * room

    def selection(self, draws: float) -> float:
        """The epsilon of each of ``draws`` exponential mechanisms that share the allowance."""
        if self.epsilon is not None:
            return SPENT * self.epsilon / draws
        return math.sqrt(8 * SPENT * self.rho / draws)

    def times(self, price: Price) -> int:
        """How often a play of this price fits.

        >>> Allowance(rho=0.02).times(selection_price(0.04))
        99
        """
        if self.epsilon is None:
            return math.floor(SPENT * self.rho / price.rho)
        return 0 if price.epsilon is None else math.floor(SPENT * self.epsilon / price.epsilon)

    def part(self, share: float) -> Allowance:
        """A share of it."""
        return Allowance(self.rho * share, None if self.epsilon is None else self.epsilon * share)

    def require(self, price: Price, settings: str) -> None:
        """``BudgetExceeded`` with both sides of the comparison, if the price does not fit."""
        if self.fits(price):
            return
        if self.epsilon is not None:
            need = "no finite epsilon" if price.epsilon is None else f"epsilon {price.epsilon:.6g}"
            raise BudgetExceeded(f"{settings} needs {need}; the budget has {self.epsilon:.6g}")
        raise BudgetExceeded(
            f"{settings} needs rho {price.rho:.6g}; the budget has {self.rho:.6g}: "
            "fewer rounds, a smaller rate, or a larger epsilon"
        )


@dataclass(frozen=True, eq=False)
class Round:
    """What one round leaves behind; all of it is released.

    Parameters
    ----------
    number
        From 1.
    records : (s, d) int
        What the data player played: each of these with weight 1/s.  Empty where it plays a whole
        distribution.
    queries
        What the query player answered with.
    price
        What the round was charged.
    facts
        Figures of this algorithm's round (solver statuses, seconds, fresh draws, ...).
    tables
        Noisy marginals that the round measured.
    """

    number: int
    records: NDArray[np.intp]
    queries: tuple[Query, ...]
    price: Price
    facts: Mapping[str, float] = field(default_factory=dict)
    tables: tuple[Measurement, ...] = ()


class Strategy(Protocol):
    """What a data player plays: anything that answers queries."""

    def answers(self, workload: QueryClass) -> list[NDArray[np.float64]]:
        """Answers to a whole workload, one table a block."""
        ...

    def answer(self, query: Query) -> float:
        """The fraction that satisfies one query."""
        ...


@dataclass(frozen=True, eq=False)
class Mixture:
    """Records (N, d), each with weight 1/N, as a strategy."""

    records: NDArray[np.intp]

    def answers(self, workload: QueryClass) -> list[NDArray[np.float64]]:
        return workload.answers_on(self.records)

    def answer(self, query: Query) -> float:
        return float(query.evaluate(self.records).mean())


def mixture(rounds: Sequence[Round], tail: float = 1.0) -> NDArray[np.intp]:
    """The data player's average strategy: all records of the last ``tail`` share of the rounds."""
    return np.concatenate([r.records for r in last(rounds, tail)])


def last(rounds: Sequence[Round], tail: float) -> Sequence[Round]:
    """The last ``tail`` share of the rounds, at least one."""
    return rounds[-max(1, math.ceil(tail * len(rounds))) :]


def played(rounds: Sequence[Round], recent: int) -> Iterator[NDArray[np.intp]]:
    """What each round's queries were asked of: the records of the last ``recent`` rounds."""
    for number in range(1, len(rounds) + 1):
        yield mixture(rounds[max(0, number - recent) : number])


def solver_facts(answers: Iterable[BestResponse]) -> dict[str, float]:
    """How many answers had which status, and the seconds they took."""
    listed = list(answers)
    counts = Counter(answer.status for answer in listed)
    facts: dict[str, float] = {str(status): counts[status] for status in counts}
    return facts | {"seconds": sum(answer.seconds for answer in listed)}
