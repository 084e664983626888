"""The players: how each side answers what the other has played so far.

Data player (looks for a record that satisfies the queries that were asked):

* :class:`PerturbedLeader` — follow the perturbed leader (FTPL), non-convex: the oracle's best
  record against all past queries, minus random costs on attribute values; s fresh perturbations
  give s records, which stand for a mixed strategy.  Exponential costs (Suggala and Netrapalli
  2020) make FEM; Laplace costs on the separator queries "attribute = value" (Syrgkanis et al.
  2016) make sepFEM.  Scale 0 is the best response.
* :class:`MultiplicativeWeights` — a whole distribution on a listed set of strategies, in log space.

Query player (looks for a query on which the play is wrong): the exponential mechanism of
``Curator.select_query``, which is also multiplicative weights on queries if its rate is tied to
the sum of past payoffs.  Only the query player sees private data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.games.intervals import leader
from saddlesynth.games.query_class import Query
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.oracle import BestResponse, Oracle


class Perturbation(StrEnum):
    """The law of the random cost of each attribute value."""

    EXPONENTIAL = "exponential"
    LAPLACE = "laplace"


@dataclass(frozen=True, eq=False)
class Play:
    """What the data player answers: ``records`` (s, d), each with weight 1/s, and how found."""

    records: NDArray[np.intp]
    answers: Sequence[BestResponse]


@dataclass(frozen=True, eq=False)
class PerturbedLeader:
    """Follow the perturbed leader.

    Parameters
    ----------
    domain, oracle, impossible
        What the records are and who finds the best one.
    samples
        s, how many perturbations and hence records a round has.
    perturbation
        The law of the costs.
    start : (width,) float, optional
        Costs are divided by these numbers, one per attribute value.  With the fractions p(v) times
        the attribute's size, and exponential costs, the play before any query is a sample of the
        product of the p: the smallest of exponentials of rates p(v) is v with probability p(v).
        Default: all one, the uniform distribution.
    n_jobs
        Threads over the perturbations.

    *Privacy.* Public inputs only: the queries were released.
    """

    domain: Domain
    oracle: Oracle
    samples: int
    perturbation: Perturbation = Perturbation.EXPONENTIAL
    impossible: tuple[Mapping[int, int], ...] = ()
    start: NDArray[np.float64] | None = None
    n_jobs: int = 1

    def respond(
        self, asked: Mapping[Query, float], scale: float, generator: np.random.Generator
    ) -> Play:
        """s records, each best against the weighted past queries minus its own random costs."""
        costs = scale * self._draw(generator)
        if self.start is not None:
            costs = costs / self.start
        made = leader(self.domain, asked, self.impossible)
        prepared = self.oracle.prepare(made.problem)
        answers = prepared.best_responses(made.costs(costs), self.n_jobs, generator=generator)
        records = np.stack([answer.record for answer in answers])
        return Play(made.lift(records, costs), answers)

    def _draw(self, generator: np.random.Generator) -> NDArray[np.float64]:
        shape = (self.samples, self.domain.width)
        if self.perturbation is Perturbation.LAPLACE:
            return generator.laplace(0.0, 1.0, shape)
        return generator.exponential(1.0, shape)


class MultiplicativeWeights:
    """A distribution that shifts towards what pays: weight *= exp(rate * payoff), normalised.

    Logarithms are kept, shifted so that the largest is 0: no weight under- or overflows.

    >>> player = MultiplicativeWeights(3)
    >>> player.update([1.0, 0.0, -1.0], rate=math.log(2))
    >>> player.mix.round(3)
    array([0.571, 0.286, 0.143])
    """

    def __init__(self, strategies: int) -> None:
        self._log = np.zeros(strategies)

    def update(self, payoffs: ArrayLike, rate: float) -> None:
        """Shift by the payoffs of one round, (strategies,)."""
        self._log += rate * np.asarray(payoffs, dtype=np.float64)
        self._log -= self._log.max()

    @property
    def mix(self) -> NDArray[np.float64]:
        """The distribution now."""
        weights = np.exp(self._log)
        return np.asarray(weights / weights.sum())


def rate_of(rounds: int, strategies: int) -> float:
    """The rate at which multiplicative weights' regret over ``rounds`` is smallest.

    sqrt(8 ln N / T) for payoffs in an interval of length 1; the regret is then at most
    sqrt(ln N / (2 T)) a round.
    """
    return math.sqrt(8 * math.log(strategies) / rounds)
