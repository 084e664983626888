"""A play as a table: what is released, and, on public tables only, what is exact.

Two kinds of figures are kept apart.  *Released* ones follow from what the game publishes: number,
queries, records, cost, solver figures.  *Exact* ones use the data's own answers: payoffs, errors,
regrets.  They are made only for a curator built with ``public=True``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.certificate import hindsight
from saddlesynth.games.payoff import payoffs
from saddlesynth.games.play import Game, Round, Strategy
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.conversion import epsilon_from_rho
from saddlesynth.games.query_class import Query


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact figures after a round, as fractions of the records.

    ``payoff`` is what the query player got in this round, ``mean_payoff`` so far; ``error`` the
    largest error of this round's play, ``mean_error`` that of the average play so far;
    ``data_regret`` and ``query_regret`` the players' average regrets so far, whose sum plus the
    game's value bounds ``mean_error``.  ``by_block`` is the largest error of the average play in
    each block of the workload.
    """

    payoff: float
    mean_payoff: float
    error: float
    mean_error: float
    data_regret: float
    query_regret: float
    by_block: NDArray[np.float64]

    @property
    def gap(self) -> float:
        """Duality gap of the average strategies."""
        return self.data_regret + self.query_regret


def spent(rounds: Sequence[Round], ledger: Ledger, opening: float = 0.0) -> list[float]:
    """Epsilon spent after each round at the ledger's delta; ``opening`` was spent before.

    ``opening`` is in rho, or in epsilon if the ledger is pure.
    """
    if ledger.pure:
        return [float(e) for e in opening + np.cumsum([r.price.epsilon or 0.0 for r in rounds])]
    rhos = opening + np.cumsum([r.price.rho for r in rounds])
    return [epsilon_from_rho(float(rho), ledger.conversion_delta) for rho in rhos]


def exact(game: Game, steps: Iterable[tuple[Round, Strategy]]) -> Iterator[Exact]:
    """Exact figures after every round, as the rounds come; with each, what it was played against.

    Raises ``PermissionError`` if the curator's table was not declared public.
    """
    workload = game.workload
    tables = dict(zip(workload.marginals, game.curator.exact(workload.marginals), strict=True))
    rows = max(1, int(next(iter(tables.values())).sum()))
    truth = workload.answers([tables[m] / rows for m in workload.marginals])
    asked: dict[Query, float] = defaultdict(float)
    total = [np.zeros(shape) for shape in workload.shapes]
    earned = satisfied = 0.0
    for number, (made, play) in enumerate(steps, start=1):
        errors = payoffs(workload, truth, play.answers(workload))
        total = [so_far + new for so_far, new in zip(total, errors, strict=True)]
        share = 1 / max(1, len(made.queries))
        answered = sum(q.weight * play.answer(q) for q in made.queries) * share
        wanted = sum(q.weight * q.count(tables[q.attributes]) / rows for q in made.queries) * share
        for query in made.queries:
            asked[query] += share
        earned, satisfied = earned + wanted - answered, satisfied + answered
        by_block = np.array([np.abs(table).max() for table in total]) / number
        yield Exact(
            payoff=wanted - answered,
            mean_payoff=earned / number,
            error=max(float(np.abs(table).max()) for table in errors),
            mean_error=float(by_block.max()),
            data_regret=(hindsight(game, asked) - satisfied) / number,
            query_regret=float(by_block.max()) - earned / number,
            by_block=by_block,
        )
