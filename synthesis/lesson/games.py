"""The games that can be shown: how each is calibrated to a budget, and who moves when.

One row of ``GAMES`` a game.  All play the same matrix; what differs is what each player does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games import dqrs, dual_query, fem, mwem, sep_fem
from saddlesynth.games.histogram import Histogram
from saddlesynth.games.payoff import all_records
from saddlesynth.games.play import Allowance, Game, Round
from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.synthesis.errors import InputError

LISTED = 20_000  # records that MWEM's distribution may have in a lesson


@dataclass(frozen=True)
class Setting:
    """What a player of the lesson chose; ``rows`` is public here."""

    rounds: int
    samples: int
    rows: int
    allowance: Allowance


@dataclass(frozen=True, eq=False)
class Played:
    """A round and the data player's mix that its queries were played against.

    ``weights`` belong to ``records``.  ``after`` is the mix after the round, for a game that hands
    out its last mix and not the average of all.
    """

    round: Round
    records: NDArray[np.intp]
    weights: NDArray[np.float64]
    after: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Weighted:
    """Records (N, d) with weights (N,) that sum to 1, as a strategy."""

    records: NDArray[np.intp]
    weights: NDArray[np.float64]

    def answers(self, workload: QueryClass) -> list[NDArray[np.float64]]:
        """Answers to a whole workload, one table a block."""
        return workload.answers_on(self.records, self.weights)

    def answer(self, query: Query) -> float:
        """The fraction that satisfies one query."""
        return float(self.weights @ query.evaluate(self.records))


Start = Callable[[Game, Setting, np.random.Generator], Iterator[Played]]


@dataclass(frozen=True)
class GameOnShow:
    """One game: its rules in a sentence for each player, and how it starts.

    ``query_first`` tells who moves first in a round.
    """

    name: str
    title: str
    query_first: bool
    data_player: str
    query_player: str
    start: Start


def _equal(rounds: Iterator[Round]) -> Iterator[Played]:
    """Rounds whose records have equal weights."""
    for played in rounds:
        size = len(played.records)
        yield Played(played, played.records, np.full(size, 1 / size))


def _fem(game: Game, setting: Setting, generator: np.random.Generator) -> Iterator[Played]:
    rate = fem.calibrate(setting.allowance, setting.rounds)
    return _equal(fem.play(game, fem.FEM(setting.rounds, rate, setting.samples), generator))


def _sep_fem(game: Game, setting: Setting, generator: np.random.Generator) -> Iterator[Played]:
    rate = fem.calibrate(setting.allowance, setting.rounds)
    parameters = sep_fem.SepFEM(setting.rounds, rate, setting.samples)
    return _equal(sep_fem.play(game, parameters, generator))


def _dual_query(game: Game, setting: Setting, generator: np.random.Generator) -> Iterator[Played]:
    rate = dual_query.calibrated_rate(setting.allowance, setting.rounds, setting.samples)
    parameters = dual_query.DualQuery(setting.rounds, setting.samples, rate)
    return _equal(dual_query.play(game, parameters, generator))


def _dqrs(game: Game, setting: Setting, generator: np.random.Generator) -> Iterator[Played]:
    shape = dqrs.DQRS(setting.rounds, setting.samples, 1.0, setting.rows)
    rate = dqrs.calibrated_rate(setting.allowance, shape)
    parameters = dqrs.DQRS(setting.rounds, setting.samples, rate, setting.rows)
    return _equal(dqrs.play(game, parameters, generator))


def _mwem(game: Game, setting: Setting, generator: np.random.Generator) -> Iterator[Played]:
    domain = game.workload.domain
    try:
        records = all_records(domain, game.impossible, LISTED)
    except ValueError as error:
        raise InputError(f"mwem keeps a weight for every record, but {error}; try fem") from error
    epsilon, measurement = mwem.calibrated_prices(setting.allowance, setting.rounds)
    pure = setting.allowance.epsilon is not None
    parameters = mwem.MWEM(setting.rounds, setting.rows, epsilon, measurement, pure)

    def weights(histogram: Histogram) -> NDArray[np.float64]:
        held = histogram.marginal(tuple(range(len(domain))))[tuple(records.T)]
        return np.asarray(held / held.sum())

    before = weights(Histogram(domain, impossible=game.impossible))
    for played, histogram in mwem.play(game, parameters):
        after = weights(histogram)
        yield Played(played, records, before, after)
        before = after


GAMES: dict[str, GameOnShow] = {
    game.name: game
    for game in (
        GameOnShow(
            "fem",
            "FEM",
            False,
            "follows the perturbed leader: the records that satisfy most of the queries asked so "
            "far, minus a random cost on every value",
            "asks a query on which this round's records are far off, by the exponential mechanism",
            _fem,
        ),
        GameOnShow(
            "sep-fem",
            "sepFEM",
            False,
            "follows the perturbed leader: the records that satisfy most of the queries asked so "
            "far, minus a random cost or bonus on every value (Laplace noise)",
            "asks a query on which this round's records are far off, by the exponential mechanism",
            _sep_fem,
        ),
        GameOnShow(
            "dual-query",
            "DualQuery",
            True,
            "answers with one record that satisfies as many of the drawn queries as any",
            "draws queries from a mix that leans to those on which all records so far are off",
            _dual_query,
        ),
        GameOnShow(
            "dqrs",
            "DQRS",
            True,
            "answers with one record that satisfies as many of the held queries as any",
            "keeps most of the queries it drew before, each by a coin, and draws a few afresh",
            _dqrs,
        ),
        GameOnShow(
            "mwem",
            "MWEM",
            True,
            "keeps a weight for every record and shifts it until the mix gives the measured answers",
            "asks a query on which the mix is far off, and measures it with noise",
            _mwem,
        ),
    )
}
