"""FEM: the data player follows the perturbed leader, the query player the exponential mechanism.

    input: private D (n records), queries Q closed under negation, rounds T, rate eps0,
           s samples, perturbation scale, w
    1  S = {}                                                     queries asked so far
    2  for t = 1 .. T:
    3      for j = 1 .. s:  sigma ~ Exp(scale), one cost an attribute value
    4                       x_tj = argmax_x sum_{q in S} q(x) - <sigma, x>         oracle
    5      D_t = {x_t1, ..., x_ts};  P_t = mean of D_{t-w+1}, ..., D_t
    6      q_t = q with probability proportional to exp(eps0 n (q(D) - q(P_t)) / 2)    private
    7      S = S + {q_t}
    8  return the uniform mixture of D_1 .. D_T

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
T                  rounds
eps0               selection_epsilon     epsilon of one exponential mechanism
s                  samples               records a round
eta, scale         multiple * sqrt(T)    mean of the random costs
D_t                Round.records
w                  recent                1 in the paper, where P_t = D_t
q_t                Round.queries[0]
=================  ====================  ==========================================

**Privacy.**  Only line 6 looks at D; T selections cost T eps0^2 / 8 in zCDP.  Line 4 sees queries
that are released and fresh public noise, so a solver that fails or lies changes accuracy only.

**Accuracy.**  ``certificate.py`` bounds the largest error after the play, at no cost.

Reference: Vietri, Tian, Bun, Steinke, Wu (2020), "New oracle-efficient algorithms for private
synthetic data release", Algorithm 1.

Differs from the paper: eps0^2/8 (bounded range) and the tight conversion in place of eps0^2/2 and
the simple one, hence 2 to 6 times the rounds; the published program ran one round too many; scores
are in counts, so n may be private.  Options that are ours, off by default here: queries asked of
the last w plays together (``recent``), since s records alone are so far from their own law that
most queries would only point at that; a start from noisy 1-way marginals; the average over the
last rounds only (``tail``); costs that grow with t (``growing``).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.play import Allowance, Game, Price, Round, selection_price, solver_facts
from saddlesynth.games.players import Perturbation, PerturbedLeader
from saddlesynth.games.query_class import Query


@dataclass(frozen=True, eq=False)
class FEM:
    """Parameters of one play.

    Parameters
    ----------
    rounds, selection_epsilon
        T and eps0.
    samples
        s, records a round.
    multiple
        The mean of the random costs is ``multiple * sqrt(rounds)``.
    growing
        Let it be ``multiple * sqrt(t)`` in round t instead.
    recent
        w, how many plays the query player sees together.
    start : (width,) float, optional
        Where the data player starts; see ``PerturbedLeader``.
    """

    rounds: int
    selection_epsilon: float
    samples: int = 50
    multiple: float = 0.16
    growing: bool = False
    recent: int = 1
    start: NDArray[np.float64] | None = field(default=None, repr=False)

    perturbation = Perturbation.EXPONENTIAL

    def __post_init__(self) -> None:
        for name in ("rounds", "samples", "recent"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not self.selection_epsilon > 0:
            raise ValueError(f"selection_epsilon is {self.selection_epsilon}; it must be positive")
        if not self.multiple >= 0:
            raise ValueError(f"multiple is {self.multiple}; it must not be negative")

    def privacy_cost(self) -> Price:
        """T exponential mechanisms."""
        return selection_price(self.selection_epsilon) * self.rounds

    def scale(self, number: int) -> float:
        """Mean of the random costs in a round."""
        return self.multiple * math.sqrt(number if self.growing else self.rounds)


def play(game: Game, parameters: FEM, generator: np.random.Generator) -> Iterator[Round]:
    """Play FEM (or sepFEM, if the parameters say so), a round at a time.

    Privacy.  ``parameters.privacy_cost()``, a line a round, charged before each draw.
    """
    workload = game.workload
    player = PerturbedLeader(
        workload.domain,
        game.oracle,
        parameters.samples,
        parameters.perturbation,
        game.impossible,
        parameters.start,
        game.n_jobs,
    )
    asked: Counter[Query] = Counter()  # line 1
    recent: deque[NDArray[np.intp]] = deque(maxlen=parameters.recent)
    for number in range(1, parameters.rounds + 1):  # line 2
        weights = {query: times * query.weight for query, times in asked.items()}
        answer = player.respond(weights, parameters.scale(number), generator)  # lines 3, 4
        recent.append(answer.records)  # line 5
        (position,) = game.curator.select_query(  # line 6
            f"round {number}: select",
            workload,
            workload.answers_on(np.concatenate(recent)),
            parameters.selection_epsilon,
        )
        query = workload.query(position)
        asked[query] += 1  # line 7
        price = selection_price(parameters.selection_epsilon)
        yield Round(number, answer.records, (query,), price, solver_facts(answer.answers))


def calibrate(allowance: Allowance, rounds: int) -> float:
    """The rate eps0 with which ``rounds`` rounds spend the allowance."""
    return allowance.selection(rounds)
