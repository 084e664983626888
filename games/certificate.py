"""How far off a play can be: an error bound from its released history, which costs nothing.

By the theorem of ``equilibrium.py`` the mixture of the data player's records is off by at most
value + r_D + r_Q on every query.  All three are known without looking at the data again:

* the value is 0 if the data could be played (no record contains an impossible combination);
* the data player's average regret is a function of released things, for q_t(D) cancels:

      r_D = max_x mean_t w_t q_t(x) - mean_t w_t q_t(D_t),           one call of the oracle;

* the query player's regret is the shortfall of the exponential mechanism.  In each round, whatever
  happened before, the score (weight times error times n) is within (2 k / eps0) (ln |Q| + E) of the
  best, where E is at most a unit exponential variable in distribution and k the rows of a unit
  (McSherry and Talwar 2007, utility).  So the mean of T shortfalls is, with probability at least
  ``confidence``, at most

      r_Q = 2 k / (eps0 n) (ln |Q| + G / T),     G the confidence-quantile of a Gamma(T) variable.

*Privacy.*  Public inputs only: released rounds, and a public or noisy n.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from saddlesynth.games.intervals import leader
from saddlesynth.games.play import Game, Round
from saddlesynth.games.query_class import Query


@dataclass(frozen=True)
class Certificate:
    """Bounds on both players' average regret, as fractions of the records."""

    data_regret: float
    query_regret: float
    confidence: float

    @property
    def error_bound(self) -> float:
        """No query of the workload is off by more, with probability at least ``confidence``.

        Provided that no private record contains an impossible combination; at most 1.
        """
        return min(1.0, self.data_regret + self.query_regret)


def certify(
    game: Game,
    rounds: Sequence[Round],
    selection_epsilon: float,
    rows: float,
    confidence: float = 0.95,
) -> Certificate:
    """The certificate of the mixture of these rounds (all of a play, or its last ones).

    rows : a public or noisy number of records.
    """
    from scipy.special import gammaincinv

    excess = float(gammaincinv(len(rounds), confidence)) / len(rounds)
    spread = math.log(game.workload.candidates) + excess
    scale = 2 * game.curator.ledger.rows_per_unit / (selection_epsilon * max(1.0, rows))
    return Certificate(data_regret(game, rounds), scale * spread, confidence)


def data_regret(game: Game, rounds: Sequence[Round]) -> float:
    """How much better the best single record would have done, on average; an upper bound.

    Public: the data's own answers cancel.
    """
    asked: Counter[Query] = Counter(query for r in rounds for query in r.queries)
    earned = sum(q.weight * q.evaluate(r.records).mean() for r in rounds for q in r.queries)
    return max(0.0, (hindsight(game, asked) - float(earned)) / sum(asked.values()))


def hindsight(game: Game, asked: Mapping[Query, float]) -> float:
    """The most that a single record could have satisfied of these queries; an upper bound."""
    weights = {query: times * query.weight for query, times in asked.items()}
    made = leader(game.workload.domain, weights, game.impossible)
    free = np.zeros((1, game.workload.domain.width))
    (answer,) = game.oracle.prepare(made.problem).best_responses(made.costs(free))
    best = made.lift(answer.record[None], free)
    return sum(w * float(q.evaluate(best)[0]) for q, w in weights.items()) + answer.gap
