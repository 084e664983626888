"""How far off a play can be: an error bound from its released history, which costs nothing.

By the theorem of ``equilibrium.py`` the mean of the data player's plays P_t (what the queries were
asked of: a round's records, or those of a few recent rounds) is off by at most value + r_D + r_Q on
every query.  All three are known without looking at the data again:

* the value is 0 if the data could be played (no record contains an impossible combination);
* the data player's average regret is a function of released things, for q_t(D) cancels:

      r_D = max_x mean_t w_t q_t(x) - mean_t w_t q_t(P_t),           one call of the oracle;

* the query player's regret is the shortfall of the exponential mechanism.  In each round, whatever
  happened before, the score (weight times error times n) is within (2 k / eps0) (ln |Q| + E) of the
  best, where E is at most a unit exponential variable in distribution and k the rows of a unit
  (McSherry and Talwar 2007, utility).  So the mean of T shortfalls is, with probability at least
  ``confidence``, at most

      r_Q = 2 k / (eps0 n) (ln |Q| + G / T),     G the confidence-quantile of a Gamma(T) variable.

What is handed out is the mixture of the rounds' own records.  It differs a little from the mean of
the P_t where these overlap several rounds; the largest difference, ``drift``, is added.

*Privacy.*  Public inputs only: released rounds, and a public or noisy n.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.intervals import leader
from saddlesynth.games.payoff import max_error
from saddlesynth.games.play import Game, Round, last, mixture, played
from saddlesynth.games.query_class import Query


@dataclass(frozen=True)
class Certificate:
    """Bounds on both players' average regret, and the drift, as fractions of the records."""

    data_regret: float
    query_regret: float
    drift: float
    confidence: float

    @property
    def error_bound(self) -> float:
        """No query of the workload is off by more, with probability at least ``confidence``.

        Provided that no private record contains an impossible combination; at most 1.
        """
        return min(1.0, self.data_regret + self.query_regret + self.drift)


def certify(
    game: Game,
    rounds: Sequence[Round],
    selection_epsilon: float,
    rows: float,
    confidence: float = 0.95,
    recent: int = 1,
    tail: float = 1.0,
) -> Certificate:
    """The certificate of the mixture of a play's records, or of the last ``tail`` share of it.

    rounds : the whole play.  rows : a public or noisy number of records.  recent : as in the play.
    """
    from scipy.special import gammaincinv

    kept = last(rounds, tail)
    plays = list(played(rounds, recent))[-len(kept) :]
    excess = float(gammaincinv(len(kept), confidence)) / len(kept)
    spread = math.log(game.workload.candidates) + excess
    scale = 2 * game.curator.ledger.rows_per_unit / (selection_epsilon * max(1.0, rows))
    regret = data_regret(game, kept, plays)
    return Certificate(regret, scale * spread, _drift(game, kept, plays), confidence)


def data_regret(game: Game, rounds: Sequence[Round], plays: Sequence[NDArray[np.intp]]) -> float:
    """How much better the best single record would have done, on average; an upper bound.

    Public: the data's own answers cancel.
    """
    asked: Counter[Query] = Counter(query for r in rounds for query in r.queries)
    pairs = [(q, play) for r, play in zip(rounds, plays, strict=True) for q in r.queries]
    earned = sum(q.weight * q.evaluate(play).mean() for q, play in pairs)
    return max(0.0, (hindsight(game, asked) - float(earned)) / sum(asked.values()))


def _drift(game: Game, rounds: Sequence[Round], plays: Sequence[NDArray[np.intp]]) -> float:
    """The largest difference that any query sees between the mean play and what is handed out."""
    workload = game.workload
    weights = np.concatenate([np.full(len(play), 1 / len(play)) for play in plays])
    mean = workload.answers_on(np.concatenate(plays), weights)
    return max_error(workload, mean, workload.answers_on(mixture(rounds)))


def hindsight(game: Game, asked: Mapping[Query, float]) -> float:
    """The most that a single record could have satisfied of these queries; an upper bound."""
    weights = {query: times * query.weight for query, times in asked.items()}
    made = leader(game.workload.domain, weights, game.impossible)
    free = np.zeros((1, game.workload.domain.width))
    (answer,) = game.oracle.prepare(made.problem).best_responses(made.costs(free))
    best = made.lift(answer.record[None], free)
    return sum(w * float(q.evaluate(best)[0]) for q, w in weights.items()) + answer.gap
