"""A game on a public table, a round at a time: for teaching, and to see what a method does.

    >>> play = Playthrough("coin", rounds=3, random_state=0)
    >>> play.step().number
    1
    >>> len(play.run().trace())
    3

Nothing here is private: exact payoffs and errors are shown beside what a game releases, in columns
that are marked (``PRIVATE``) and left out of everything that is saved for release.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.equilibrium import Equilibrium, solve
from saddlesynth.games.histogram import Histogram
from saddlesynth.games.noiseless import Noiseless
from saddlesynth.games.payoff import PayoffMatrix
from saddlesynth.games.play import Allowance, Game, Mixture, Round, Strategy
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source, streams
from saddlesynth.games.query_class import Query
from saddlesynth.games.toys import Toy, toy
from saddlesynth.games.transcript import Exact, exact, spent
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.query_release.method import GameMethod

if TYPE_CHECKING:
    import pandas

PRIVATE = "exact_"  # columns that begin so are computed from exact answers: do not release
SHOWN = 200  # strategies of each player up to which the whole matrix is shown


class Playthrough:
    """A game that is played step by step on a public table.

    Parameters
    ----------
    table
        The name of a toy, or a table that was declared public (``public_table``).
    game
        The name of a game: fem, sepfem, dualquery, dqrs, mwem, pmw, smalldb.
    noise
        False plays the same game without privacy noise: the query player's best responses, exact
        measurements.
    epsilon, delta, random_state
        As everywhere.
    **settings
        Of the method, such as ``rounds`` and ``samples``.
    """

    def __init__(
        self,
        table: str | Toy,
        game: str = "fem",
        *,
        noise: bool = True,
        epsilon: float = 5.0,
        delta: float = 1e-6,
        random_state: int | None = 0,
        **settings: Any,
    ) -> None:
        self.table = toy(table) if isinstance(table, str) else table
        method = game_class(game)(epsilon=epsilon, delta=delta, **{"start": "uniform"} | settings)
        method.check_parameters()
        self.method, self.noise = method, noise
        ledger = Ledger(epsilon, delta)
        curator = (
            Curator(self.table, ledger, noise_source(random_state), public=True)
            if noise
            else Noiseless(self.table, public=True, seed=random_state or 0)
        )
        workload = self.table.workload
        self.game = Game(curator, workload, method._oracle(), self.table.impossible)
        recipe = method._recipe(Allowance.of(ledger), workload, float(len(self.table.records)))
        self.recipe = recipe
        self.rounds: list[Round] = []
        self.plays: list[Strategy] = []  # what each round's queries answered to
        self.after: list[Strategy] = []  # the data player's strategy after each round
        self.exact: list[Exact] = []
        generator = streams(random_state)[1]
        self._figures = exact(self.game, self._record(method._play(self.game, recipe, generator)))

    def _record(self, steps: Iterator[tuple[Round, Strategy]]) -> Iterator[tuple[Round, Strategy]]:
        """Keep each round with the strategy that its queries answered to."""
        before = self.method._before(self.game, self.recipe)
        for made, after in steps:
            snapshot = after.copy() if isinstance(after, Histogram) else after
            self.rounds.append(made)
            self.plays.append(after if before is None else before)
            self.after.append(snapshot)
            yield made, self.plays[-1]
            before = None if before is None else snapshot

    # ------------------------------------------------------------------ playing
    def step(self) -> Round | None:
        """One more round; None when the game is over."""
        figures = next(self._figures, None)
        if figures is None:
            return None
        self.exact.append(figures)
        return self.rounds[-1]

    def run(self, rounds: int | None = None) -> Self:
        """Play on until so many rounds are played, or to the end."""
        while rounds is None or len(self.rounds) < rounds:
            if self.step() is None:
                break
        return self

    # ------------------------------------------------------------------ looking
    def matrix(self) -> PayoffMatrix | None:
        """The whole game, if it is small enough to look at."""
        sizes = np.prod([float(s) for s in self.table.domain.sizes])
        if sizes > SHOWN or self.table.workload.candidates > SHOWN:
            return None
        return self.table.matrix()

    def equilibrium(self) -> Equilibrium | None:
        """Its exact solution, if the matrix is small enough."""
        matrix = self.matrix()
        return None if matrix is None else solve(matrix.values)

    @property
    def spent(self) -> list[float]:
        """Epsilon spent after each round; zeros without noise."""
        if not self.noise:
            return [0.0] * len(self.rounds)
        return spent(self.rounds, self.game.curator.ledger)

    @property
    def spent_now(self) -> float:
        """Epsilon spent so far."""
        return self.game.curator.ledger.spent_epsilon

    def mix(self, number: int, average: bool = False) -> NDArray[np.float64]:
        """The data player's strategy after a round, as probabilities of the matrix's rows."""
        matrix = self.matrix()
        if matrix is None:
            raise ValueError("this game is too large to list its records")
        every = tuple(range(len(self.table.domain)))
        mixes = []
        for strategy in self.after[0 if average else number - 1 : number]:
            if isinstance(strategy, Histogram):
                mixes.append(strategy.marginal(every)[tuple(matrix.records.T)])
            elif isinstance(strategy, Mixture):
                same = (strategy.records[:, None] == matrix.records).all(axis=2)
                mixes.append(same.mean(axis=0))
        return np.asarray(np.mean(mixes, axis=0))

    def trace(self, private: bool = True) -> pandas.DataFrame:
        """One row a round.  Columns that begin with ``exact_`` are private: do not release.

        ``private=False`` leaves them out.
        """
        frame = released_trace(self.rounds, self.table.domain.names, self.table.labels)
        frame["epsilon"] = self.spent
        if private:
            for name in Exact.__dataclass_fields__:
                if name != "by_block":
                    frame[PRIVATE + name] = [getattr(figures, name) for figures in self.exact]
            frame[PRIVATE + "gap"] = [figures.gap for figures in self.exact]
        frame.attrs["private"] = [c for c in frame.columns if c.startswith(PRIVATE)]
        return frame

    def save(self, path: str | Path) -> Path:
        """Write the releasable columns of the trace as CSV."""
        path = Path(path)
        self.trace(private=False).to_csv(path, index=False)
        return path


def game_class(name: str) -> type[GameMethod]:
    """The method of a game by name; ``InputError`` if it is no game."""
    from saddlesynth.synthesis.methods import METHODS, method

    games = [key for key, place in METHODS.items() if ".query_release." in place]
    if name not in games:
        raise InputError(f"game is {name!r}; there are: {', '.join(games)}")
    found = method(name)
    assert issubclass(found, GameMethod)
    return found


def released_trace(
    rounds: Sequence[Round],
    names: Sequence[str],
    labels: Sequence[Sequence[str]] | None = None,
) -> pandas.DataFrame:
    """What a play releases, one row a round.

    Columns: ``round``; ``queries`` in words; ``records``, the codes that the data player played
    (from which ``replay`` makes the synthetic table again); ``rho`` of the round; solver figures.
    """
    import pandas as pd

    facts = list(dict.fromkeys(name for made in rounds for name in made.facts))
    return pd.DataFrame(
        {
            "round": [made.number for made in rounds],
            "queries": [in_words(made.queries, names, labels) for made in rounds],
            "records": [json.dumps(made.records.tolist()) for made in rounds],
            "rho": [made.price.rho for made in rounds],
            **{name: [made.facts.get(name, 0.0) for made in rounds] for name in facts},
        }
    )


def in_words(
    queries: Sequence[Query],
    names: Sequence[str],
    labels: Sequence[Sequence[str]] | None = None,
) -> str:
    """Queries as text, equal ones counted.

    >>> in_words([Query((0,), (1,), (1,))] * 2, ["sex"], [["F", "M"]])
    'sex=M (2 times)'
    """
    counted = Counter(query.describe(names, labels) for query in queries)
    return "; ".join(
        text if times == 1 else f"{text} ({times} times)" for text, times in counted.most_common()
    )


def replay(trace: pandas.DataFrame) -> NDArray[np.intp]:
    """The synthetic records of a play, from its trace alone."""
    return np.concatenate([np.array(json.loads(text), dtype=np.intp) for text in trace["records"]])


def public_table(data: Any, schema: Any, workload: Any, max_cells: int | None = None) -> Toy:
    """A table from a file or frame as something to play on; the caller says that it is public."""
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.prepare import as_schema
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.workload import parse_workload

    opened = open_table(data)
    codec = Codec(as_schema(schema), opened.schema)
    blocks = [np.stack(codec.encode(batch), axis=1).astype(np.intp) for batch in opened.batches()]
    records = np.concatenate(blocks) if blocks else np.empty((0, len(codec.domain)), dtype=np.intp)
    labels = tuple(tuple(str(v) for v in codec.labels(name)) for name in codec.domain.names)
    return Toy(
        Path(str(data)).stem if isinstance(data, str | Path) else "table",
        f"{len(records):,} records of a table that was declared public.",
        codec.domain,
        labels,
        records,
        parse_workload(workload, codec.domain, max_cells),
        0.0,
        tuple(codec.impossible),
    )
