"""A game on show: walked through round by round, with everything that there is to see.

lesson = Lesson(from_toy("colors", copies=100), game="fem", rounds=40, seed=1)
lesson.step()            # one round
lesson.run(until=20)     # up to round 20
lesson.run()             # to the end
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import payoffs
from saddlesynth.games.play import Allowance, Game, Round, Strategy
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.mechanisms import noise_source, streams
from saddlesynth.games.query_class import Query
from saddlesynth.games.transcript import Exact, exact
from saddlesynth.synthesis.lesson.exhibit import Exhibit
from saddlesynth.synthesis.lesson.games import GameOnShow, Played, game_on_show, play
from saddlesynth.synthesis.lesson.transcript import Transcript
from saddlesynth.synthesis.lesson.watch import (
    Answered,
    Selection,
    Watched,
    WatchedNoiseless,
    WatchedOracle,
)
from saddlesynth.synthesis.parameters import RandomState
from saddlesynth.synthesis.query_release.method import DEFAULT_SOLVER

NOT_PRIVATE = "not private: this game is played without noise"


@dataclass(frozen=True, eq=False)
class Seen:
    """One round, as a watcher sees it.

    ``records`` with ``weights`` are what the data player played against ``round.queries``;
    ``after`` is its next mix, for games that hand out the last mix.  ``rho`` and ``epsilon`` are
    spent so far.  The rest is exact, and exists because the table is public: the query player's
    selection (None where there was none), the oracle's work (None for MWEM and PMW), payoffs and
    regrets, and the largest error of what would be handed out now, by block of queries.
    """

    round: Round
    records: NDArray[np.intp]
    weights: NDArray[np.float64]
    after: NDArray[np.float64] | None
    rho: float
    epsilon: float
    selection: Selection | None
    answered: Answered | None
    exact: Exact
    errors: NDArray[np.float64]

    @property
    def error(self) -> float:
        """The largest error of all queries."""
        return float(self.errors.max())


class Lesson:
    """A game on a public table.

    Parameters
    ----------
    exhibit
        The table; see ``from_toy`` and ``from_table``.
    game
        A name of ``GAMES``.
    rounds, samples
        T; and records (FEM, sepFEM) or queries (DualQuery, DQRS) a round.
    epsilon, delta
        The budget that all rounds share.
    seed
        Repeats the game, its noise included.
    noise
        False plays without privacy noise: the query player plays best responses.
    solver
        The data player's solver by name; "local" shows what a proof buys.

    *Privacy.*  None: the table is public.  The ledger is kept all the same, to be looked at.
    """

    def __init__(
        self,
        exhibit: Exhibit,
        game: str = "fem",
        *,
        rounds: int = 30,
        samples: int = 5,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        seed: RandomState = None,
        noise: bool = True,
        solver: str = DEFAULT_SOLVER,
    ) -> None:
        self.exhibit = exhibit
        self.rules: GameOnShow = game_on_show(game)
        method = self.rules.method(rounds, samples, epsilon=epsilon, delta=delta, solver=solver)
        self.rounds, self.samples = rounds, samples
        self.epsilon, self.delta, self.noise = epsilon, delta, noise
        self.seen: list[Seen] = []
        ledger = Ledger(epsilon, delta)
        self._oracle = WatchedOracle(method.make_oracle())
        self._curator = (
            Watched(exhibit.table, ledger, noise_source(seed))
            if noise
            else WatchedNoiseless(exhibit.table)
        )
        on = Game(self._curator, exhibit.workload, self._oracle, exhibit.impossible)
        allowance, generator = Allowance.of(ledger), streams(seed)[1]
        self._play = play(method, on, allowance, exhibit.rows, generator)
        self._figures = exact(on, self._steps())
        self._over = False
        self._now: tuple[Played, Selection | None, Answered | None]

    # ------------------------------------------------------------------ walking
    @property
    def over(self) -> bool:
        """Whether there is no further round."""
        return self._over or len(self.seen) >= self.rounds

    def step(self) -> Seen | None:
        """Play one round; None if there is no further one (a game may end early)."""
        figures = None if self.over else next(self._figures, None)
        if figures is None:
            self._over = True
            return None
        played, selection, answered = self._now
        ledger = self._curator.ledger
        self.seen.append(
            Seen(
                played.round,
                played.records,
                played.weights,
                played.after,
                ledger.spent_rho,
                ledger.spent_epsilon,
                selection,
                answered,
                figures,
                figures.by_block if played.after is None else self._errors(played),
            )
        )
        return self.seen[-1]

    def run(self, until: int | None = None) -> Self:
        """Play on, to round ``until`` or to the end."""
        while until is None or len(self.seen) < until:
            if self.step() is None:
                break
        return self

    def _steps(self) -> Iterator[tuple[Round, Strategy]]:
        """Every round with what its queries were asked of; notes what was seen meanwhile."""
        for played in self._play:
            self._now = (
                played,
                self._curator.selections[-1] if self._curator.selections else None,
                self._oracle.answered[-1] if self._oracle.answered else None,
            )
            yield played.round, played.strategy
            self._curator.selections.clear()
            self._oracle.answered.clear()

    def _errors(self, played: Played) -> NDArray[np.float64]:
        """The largest error in each block of the mix after the round."""
        workload = self.exhibit.workload
        answers = workload.answers_on(played.records, played.after)
        tables = payoffs(workload, self.exhibit.truth, answers)
        return np.array([np.abs(table).max() for table in tables])

    # ------------------------------------------------------------------ looking back
    @cached_property
    def _positions(self) -> dict[Query, int]:
        matrix = self.exhibit.matrix
        return {} if matrix is None else {q: j for j, q in enumerate(matrix.queries)}

    @cached_property
    def _places(self) -> dict[tuple[int, ...], int]:
        matrix = self.exhibit.matrix
        rows = [] if matrix is None else matrix.records.tolist()
        return {tuple(record): i for i, record in enumerate(rows)}

    def data_play(self) -> NDArray[np.float64]:
        """What the data player played, a mix of the matrix's records a round; (T, records)."""
        play = np.zeros((len(self.seen), len(self._places)))
        for t, seen in enumerate(self.seen):
            rows = [self._places[tuple(record)] for record in seen.records.tolist()]
            np.add.at(play[t], rows, seen.weights)
        return play

    def query_play(self) -> NDArray[np.float64]:
        """What the query player played, a mix of the matrix's queries a round; (T, queries)."""
        play = np.zeros((len(self.seen), len(self._positions)))
        for t, seen in enumerate(self.seen):
            asked = [self._positions[query] for query in seen.round.queries]
            np.add.at(play[t], asked, 1 / len(asked))
        return play

    def transcript(self) -> Transcript:
        """The rounds so far as a table; what is exact stands apart."""
        return Transcript.of(self)
