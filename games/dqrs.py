"""DQRS: DualQuery that keeps most of its sampled queries, by rejection sampling.

    input: as DualQuery, a slack gamma_t > 0, a public number N of records, a cap c <= 1
    1  Q_1 uniform;  S_1 = s independent draws from Q_1
    2  for t = 1 .. T:
    3      x_t = argmax_x sum_{q in S_t} q(x)                                         oracle
    4      Q_{t+1}(q) proportional to Q_t(q) exp(eta (q(D) - q(x_t)))
    5      keep each q of S_t with probability
               exp(-gamma_t) min(1, exp(eta (q(D) - q(x_t) - c)))                     private
    6      add f_t independent draws from Q_{t+1}                                     private
    7      S_{t+1} = these, at random no more than s of them
    8  return x_1 .. x_T

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
T, s, eta          as in ``dual_query``
gamma_t            slack(t)              slack / t^(2/3)
N                  rows                  public or noisy; c N records is where "keep" is certain
c                  cap                   1 as published; less keeps more queries (below)
f_t                fresh(t)              fresh draws, fixed in advance
=================  ====================  ==========================================

**Why line 5.**  Rejection sampling turns a draw of Q_t into one of Q_{t+1} if it keeps q with
probability proportional to Q_{t+1}(q) / Q_t(q), that is to exp(eta (q(D) - q(x_t))), which is at
most exp(eta c) as long as no query is off by more than c.  The unnormalised ratio is used, so no
private normaliser occurs.  The slack keeps "dropped" from being a rare event, whose probability
could change by an unbounded factor.  (x_t was computed from S_t, so kept queries are not
independent of it: the identity of laws holds for a fixed x_t only.  Privacy does not use it.)

**Privacy.**  Everything released is S_1, S_2, ...: a kept or dropped query is one coin of
``Curator.keep_queries``, a fresh one a draw of DualQuery.  With r_t the range of a coin (proved in
docs/games.md), rho = sum_{t < T} [ s r_t^2 / 8 + f_t (rate t)^2 / 8 ].  S_t may hold fewer than s
queries; s coins are charged all the same, so that the ledger is fixed in advance.

Reference: Vietri, Tian, Bun, Steinke, Wu (2020), Algorithm 3.

Differs from the paper: the published probability holds the private normaliser Z_t, this does not;
f_t is what a coin of probability exp(-eta c - gamma) is expected to drop, rather than a constant
times that; the cap; bounded range and the tight conversion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from saddlesynth.games.dual_query import Answered, best_response, draw
from saddlesynth.games.play import FREE, SPENT, Allowance, Game, Price, Round, solver_facts
from saddlesynth.games.privacy.calibrate import selection_rho
from saddlesynth.games.privacy.query_mechanisms import coin_range


@dataclass(frozen=True)
class DQRS:
    """Parameters of one play.

    Parameters
    ----------
    rounds, samples, rate
        T, s, and the epsilon of one draw, a round played, as in ``DualQuery``.
    rows
        Public or noisy number of records, N.
    rows_per_unit
        k.
    slack
        gamma_1; later rounds have slack / t^(2/3).
    cap
        c in (0, 1].
    """

    rounds: int
    samples: int
    rate: float
    rows: float
    rows_per_unit: int = 1
    slack: float = 0.5
    cap: float = 1.0

    def __post_init__(self) -> None:
        for name in ("rounds", "samples", "rows_per_unit"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("rate", "rows", "slack"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive")
        if not 0 < self.cap <= 1:
            raise ValueError(f"cap is {self.cap}; it must be above 0 and at most 1")

    def gamma(self, number: int) -> float:
        """Slack of a round's coins."""
        return self.slack / math.pow(number, 2 / 3)

    @property
    def rate_per_count(self) -> float:
        """eta / n."""
        return self.rate / (2 * self.rows_per_unit)

    def fresh(self, number: int) -> int:
        """f_t: how many of s coins of probability exp(-eta c - gamma) are expected to drop."""
        eta = self.rate_per_count * self.rows
        return math.ceil(-math.expm1(-eta * self.cap - self.gamma(number)) * self.samples)

    def coin_price(self, number: int) -> Price:
        """One coin of a round."""
        keep, drop = coin_range(self.rate_per_count * self.rows_per_unit, self.gamma(number))
        return Price(selection_rho(keep + drop), max(keep, drop))

    def draw_price(self, number: int) -> Price:
        """The fresh draws that end a round."""
        epsilon = self.rate * number
        return Price(selection_rho(epsilon), epsilon) * self.fresh(number)

    def privacy_cost(self) -> Price:
        """The sum over rounds."""
        total = FREE
        for number in range(1, self.rounds):
            total = total + self.coin_price(number) * self.samples + self.draw_price(number)
        return total


def play(game: Game, parameters: DQRS, generator: np.random.Generator) -> Iterator[Round]:
    """Play DQRS, a round at a time; ``facts`` count kept and fresh queries.

    Privacy.  ``parameters.privacy_cost()``, two lines a round, charged before each draw.
    """
    workload, answered = game.workload, Answered(game.workload)
    held, price = draw(game, answered, 1, 0.0, parameters.samples, generator)  # line 1
    facts = {"kept": 0.0, "fresh": float(len(held))}
    for number in range(1, parameters.rounds + 1):  # line 2
        asked = tuple(workload.query(position) for position in held)
        answer = best_response(game, asked, generator)  # line 3
        answered.add(answer.records)  # line 4
        yield Round(number, answer.records, asked, price, {**facts, **solver_facts(answer.answers)})
        if number == parameters.rounds:
            return
        keep = game.curator.keep_queries(  # line 5
            f"round {number}: keep",
            workload,
            held,
            workload.answers_on(answer.records),
            parameters.rate_per_count,
            parameters.gamma(number),
            parameters.cap * parameters.rows,
            charged=parameters.samples,
        )
        kept = [position for position, stays in zip(held, keep, strict=True) if stays]
        price = parameters.coin_price(number) * parameters.samples + parameters.draw_price(number)
        fresh, _ = draw(  # line 6
            game,
            answered,
            number,
            parameters.rate * number,
            parameters.fresh(number),
            generator,
        )
        facts = {"kept": float(len(kept)), "fresh": float(len(fresh))}
        held = kept + fresh
        if len(held) > parameters.samples:  # line 7
            held = generator.permutation(held)[: parameters.samples].tolist()


def calibrated_rate(allowance: Allowance, shape: DQRS) -> float:
    """The largest rate with which a play of this shape spends no more than the allowance.

    The cost grows with the rate, so bisection finds it.

    >>> rate = calibrated_rate(Allowance(0.01), DQRS(40, 30, 1.0, 5000.0))
    >>> 0.0099 < DQRS(40, 30, rate, 5000.0).privacy_cost().rho <= 0.01
    True
    """
    inside = Allowance(
        allowance.rho * SPENT, None if allowance.epsilon is None else allowance.epsilon * SPENT
    )
    low, high = 0.0, 1.0
    while inside.fits(replace(shape, rate=high).privacy_cost()):
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if inside.fits(replace(shape, rate=middle).privacy_cost()):
            low = middle
        else:
            high = middle
    return low
