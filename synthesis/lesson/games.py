"""The games that can be shown: one row of ``GAMES`` a game, with its rules in words.

All play the same matrix; what differs is what each player does.  They are played as the methods of
the same names play them, calibrated to the budget in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.histogram import Histogram
from saddlesynth.games.payoff import all_records
from saddlesynth.games.play import Allowance, Game, Mixture, Round, Strategy
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import make, unknown
from saddlesynth.synthesis.query_release.method import GameMethod

LISTED = 20_000  # records that a distribution may have in a lesson


@dataclass(frozen=True)
class GameOnShow:
    """One game.

    ``name`` is its method's; ``query_first`` tells who moves first in a round; ``length`` and
    ``width`` are the method's parameters for rounds and samples, ``settings`` other ones that make
    it easier to follow.
    """

    name: str
    title: str
    query_first: bool
    data_player: str
    query_player: str
    length: str = "rounds"
    width: str | None = "samples"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def method(self, rounds: int, samples: int, **parameters: Any) -> GameMethod:
        """The method, checked.  Raises ``InputError`` on a parameter that is none."""
        size = {} if self.width is None else {self.width: samples}
        made = make(
            self.name, **{self.length: rounds, **size, "start": "uniform"}, **self.settings,
            **parameters,
        )  # fmt: skip
        assert isinstance(made, GameMethod)
        made.check_parameters()
        return made


_LEADER = "follows the perturbed leader: the records that satisfy most past queries, minus "
_WORST = "asks a query on which this round's records are far off, by the exponential mechanism"
_WEIGHTS = "keeps a weight for every record and shifts it towards the measured answers"

GAMES: dict[str, GameOnShow] = {
    game.name: game
    for game in (
        GameOnShow(
            "fem",
            "FEM",
            False,
            _LEADER + "a random cost on every value",
            _WORST,
            settings={"recent": 1},
        ),
        GameOnShow(
            "sepfem",
            "sepFEM",
            False,
            _LEADER + "a random cost or bonus on every value",
            _WORST,
            settings={"recent": 1},
        ),
        GameOnShow(
            "dualquery",
            "DualQuery",
            True,
            "answers with one record that satisfies as many of the drawn queries as any",
            "draws queries from a mix that leans to those on which all records so far are off",
        ),
        GameOnShow(
            "dqrs",
            "DQRS",
            True,
            "answers with one record that satisfies as many of the held queries as any",
            "keeps most of the queries it drew before, each by a coin, and draws a few afresh",
        ),
        GameOnShow(
            "mwem",
            "MWEM",
            True,
            _WEIGHTS,
            "asks a query on which the mix is far off, and measures it with noise",
            width=None,
            settings={"measure": "query", "projecting": False, "sweeps": 20},
        ),
        GameOnShow(
            "pmw",
            "PMW",
            True,
            _WEIGHTS,
            "goes through the queries, stops where a noisy test finds one far off, and measures it",
            length="updates",
            width=None,
        ),
    )
}


def game_on_show(name: str) -> GameOnShow:
    """A game by name; hyphens do not matter.

    >>> game_on_show("dual-query").title
    'DualQuery'

    Raises ``InputError`` on any other name.
    """
    plain = name.replace("-", "")
    if plain == "smalldb":
        raise InputError("smalldb draws one table and is done; there are no rounds to step through")
    if plain not in GAMES:
        raise InputError(unknown("game", name, list(GAMES)))
    return GAMES[plain]


@dataclass(frozen=True, eq=False)
class Played:
    """A round, and the data player's mix that its queries were played against.

    ``weights`` belong to ``records``.  ``after`` is the mix after the round, for a game that hands
    out its last mix and not the average of all.
    """

    round: Round
    strategy: Strategy
    records: NDArray[np.intp]
    weights: NDArray[np.float64]
    after: NDArray[np.float64] | None = None


def play(
    method: GameMethod, game: Game, allowance: Allowance, rows: int, generator: np.random.Generator
) -> Iterator[Played]:
    """The method's game, a round at a time.

    Raises ``InputError`` if its distribution is too large to list.
    """
    walk = method.walk(game, allowance, float(rows), generator)
    before = walk.before
    records = None if before is None else _every_record(method.name, game)
    for made, after in walk.steps:
        if records is None:
            size = len(made.records)
            yield Played(made, Mixture(made.records), made.records, np.full(size, 1 / size))
            continue
        assert isinstance(before, Histogram) and isinstance(after, Histogram)
        yield Played(made, before, records, _weights(before, records), _weights(after, records))
        before = after.copy()  # the game changes its own


def _every_record(name: str, game: Game) -> NDArray[np.intp]:
    try:
        return all_records(game.workload.domain, game.impossible, LISTED)
    except ValueError as error:
        raise InputError(f"{name} keeps a weight for every record, but {error}; try fem") from error


def _weights(histogram: Histogram, records: NDArray[np.intp]) -> NDArray[np.float64]:
    held = histogram.marginal(tuple(range(records.shape[1])))[tuple(records.T)]
    return np.asarray(held / held.sum())
