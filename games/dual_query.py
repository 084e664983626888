"""DualQuery: the query player keeps multiplicative weights, the data player answers samples of it.

    input: private D (n records), queries Q closed under negation, rounds T, samples s, rate eta
    1  Q_1 = uniform distribution on Q
    2  for t = 1 .. T:
    3      S_t = s independent draws from Q_t                                         private
    4      x_t = argmax_x sum_{q in S_t} q(x)                                         oracle
    5      Q_{t+1}(q) proportional to Q_t(q) exp(eta (q(D) - q(x_t)))
    6  return x_1 .. x_T

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
T                  rounds
s                  samples               queries a round
eta                rate n / (2 k)        ``rate`` is epsilon of one draw, a round played
S_t                Round.queries
x_t                Round.records         one record a round
=================  ====================  ==========================================

Line 3 is an exponential mechanism: Q_t(q) is proportional to exp(eta sum_{i<t} (q(D) - q(x_i))), in
counts exp(eta/n (t-1) n (q(D) - mean_{i<t} q(x_i))), whose score has sensitivity k (rows of a
unit) whatever n is.  So the distribution on millions of queries is never stored: the mean of the
records' answers is, and the curator draws.

**Privacy.**  A draw of round t has epsilon_t = rate (t-1); the first round is free.  T rounds cost
s sum_t epsilon_t^2 / 8 = s rate^2 T (T-1) (2T-1) / 48 in zCDP, s rate T (T-1) / 2 in pure DP.

Reference: Gaboardi, Gallego Arias, Hsu, Roth, Wu (2014), "Dual Query: practical private query
release for high dimensional data".

Differs from the paper: bounded range and tight conversion, about twice the rounds at epsilon 0.2;
eta is tied to counts, so n may be private; equal best records are chosen among at random, since a
solver's own choice would put all rows on one value of attributes that no query mentions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.play import FREE, SPENT, Allowance, Game, Price, Round, solver_facts
from saddlesynth.games.players import Perturbation, PerturbedLeader, Play
from saddlesynth.games.query_class import Query, QueryClass


@dataclass(frozen=True)
class DualQuery:
    """Parameters of one play: T, s, and the rate (see the table above)."""

    rounds: int
    samples: int
    rate: float

    def __post_init__(self) -> None:
        for name in ("rounds", "samples"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not self.rate > 0:
            raise ValueError(f"rate is {self.rate}; it must be positive")

    def epsilon(self, number: int) -> float:
        """Epsilon of one draw in a round."""
        return self.rate * (number - 1)

    def privacy_cost(self) -> Price:
        """The sum over rounds, in closed form."""
        t, s = self.rounds, self.samples
        squares = Fraction(t * (t - 1) * (2 * t - 1), 6)  # sum of (number - 1)^2
        return Price(
            float(s * Fraction(self.rate) ** 2 * squares / 8),
            float(s * Fraction(self.rate) * t * (t - 1) / 2),
        )


def calibrated_rate(allowance: Allowance, rounds: int, samples: int) -> float:
    """The rate with which T rounds of s draws spend the allowance.

    >>> rate = calibrated_rate(Allowance(0.01), 50, 40)
    >>> round(DualQuery(50, 40, rate).privacy_cost().rho, 6)
    0.01
    """
    unit = DualQuery(max(2, rounds), samples, 1.0).privacy_cost()
    if allowance.epsilon is not None and unit.epsilon is not None:
        return SPENT * allowance.epsilon / unit.epsilon
    return math.sqrt(SPENT * allowance.rho / unit.rho)


def play(game: Game, parameters: DualQuery, generator: np.random.Generator) -> Iterator[Round]:
    """Play DualQuery, a round at a time.

    Privacy.  ``parameters.privacy_cost()``, a line a round, charged before each draw.
    """
    workload = game.workload
    answered = Answered(workload)
    for number in range(1, parameters.rounds + 1):  # line 2
        epsilon = parameters.epsilon(number)
        drawn, price = draw(game, answered, number, epsilon, parameters.samples, generator)
        asked = tuple(workload.query(position) for position in drawn)  # line 3
        answer = best_response(game, asked, generator)  # line 4
        answered.add(answer.records)  # line 5
        yield Round(number, answer.records, asked, price, solver_facts(answer.answers))


class Answered:
    """The mean of what the records played so far answer: all that Q_t needs."""

    def __init__(self, workload: QueryClass) -> None:
        self._workload = workload
        self.records: list[NDArray[np.intp]] = []

    def add(self, records: NDArray[np.intp]) -> None:
        """One more play."""
        self.records.append(records)

    def mean(self) -> list[NDArray[np.float64]]:
        """Answers of the uniform mixture of all plays, one table a block."""
        return self._workload.answers_on(np.concatenate(self.records))


def draw(
    game: Game,
    answered: Answered,
    number: int,
    epsilon: float,
    draws: int,
    generator: np.random.Generator,
) -> tuple[list[int], Price]:
    """Line 3: positions drawn from Q_t, and their price; uniform and free before the first play."""
    if not answered.records:
        return generator.integers(game.workload.candidates, size=draws).tolist(), FREE
    drawn = game.curator.select_query(
        f"round {number}: draw", game.workload, answered.mean(), epsilon, draws
    )
    return drawn, Price(draws * epsilon**2 / 8, draws * epsilon)


def best_response(game: Game, asked: Sequence[Query], generator: np.random.Generator) -> Play:
    """Line 4: a record that satisfies as many of the drawn queries as any."""
    weights: Counter[Query] = Counter(asked)
    player = PerturbedLeader(
        game.workload.domain, game.oracle, 1, Perturbation.EXPONENTIAL, game.impossible
    )
    weighted = {query: times * query.weight for query, times in weights.items()}
    return player.respond(weighted, 0.0, generator)
