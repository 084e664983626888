"""A game as a table, one row a round; what was computed from exact answers stands apart.

Every column of ``frame`` was released by the game or follows from what was.  Columns of ``private``
were computed from exact answers; they exist only for a table that was declared public, each carries
the mark in its name, and saving leaves them out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.play import Round
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.aside import file_aside
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import RecordModel

if TYPE_CHECKING:
    import pandas

    from saddlesynth.synthesis.lesson.lesson import Lesson, Seen

MARK = "private – do not release"
STATUSES = ("optimal", "feasible", "fallback")


def marked(name: str) -> str:
    """A column's name with the mark.

    >>> marked("payoff")
    'payoff (private – do not release)'
    """
    return f"{name} ({MARK})"


@dataclass(frozen=True, eq=False)
class Transcript:
    """The rounds of a game.

    ``frame`` may be released if the table's budget was meant (``noisy``).  ``exact`` holds what
    was computed from exact answers, without marks; None if the table is private.
    """

    frame: pandas.DataFrame
    exact: pandas.DataFrame | None = None
    noisy: bool = True

    @classmethod
    def of(cls, lesson: Lesson) -> Transcript:
        """Of a game on a public table."""
        import pandas as pd

        names, labels = lesson.exhibit.domain.names, lesson.exhibit.labels
        rows = [
            {
                **_moves(seen.round, seen.records, seen.weights),
                **({} if seen.after is None else {"weights_after": _json(seen.after)}),
                "queries": _json([q.describe(names, labels) for q in seen.round.queries]),
                **_costs(seen),
                "rho": seen.rho,
                "epsilon": seen.epsilon,
                **_figures(seen.round),
            }
            for seen in lesson.seen
        ]
        frame = pd.DataFrame([{"game": lesson.rules.name, **row} for row in rows])
        return cls(frame, pd.DataFrame(_exact(lesson)), lesson.noise)

    @property
    def private(self) -> pandas.DataFrame:
        """What was computed from exact answers, every column marked.

        ``PermissionError`` if the table was not declared public.
        """
        if self.exact is None:
            raise PermissionError(
                "payoffs, scores and errors are exact numbers of a private table; only a lesson "
                "on a table that was declared public shows them"
            )
        return self.exact.rename(columns=marked)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the releasable columns as CSV.

        Raises ``InputError`` if the game was played without noise: nothing of it is private.
        """
        if not self.noisy:
            raise InputError(
                "the game was played without noise, so nothing of it is private and no transcript "
                "is written as if it were; play with noise, or write a lesson page (.html)"
            )
        with file_aside(Path(path), force=force) as aside:
            self.frame.to_csv(aside, index=False, lineterminator="\n")
        return Path(path)


def released(
    game: str,
    rounds: Sequence[Round],
    names: Sequence[str],
    labels: Sequence[Sequence[str]] | None = None,
) -> pandas.DataFrame:
    """The releasable columns of rounds that were played on private records."""
    import pandas as pd

    return pd.DataFrame(
        {
            "game": game,
            **_moves(played, played.records, _equal(len(played.records))),
            "queries": _json([q.describe(names, labels) for q in played.queries]),
            "rho": rho,
            **_figures(played),
        }
        for played, rho in zip(rounds, np.cumsum([r.price.rho for r in rounds]), strict=True)
    )


def replay(frame: pandas.DataFrame, domain: Domain, tail: float = 1.0) -> RecordModel:
    """The synthetic table, made again from the rows of a transcript (also of a saved one).

    The average of what was played, or of the last ``tail`` share of the rounds (the method's
    parameter); or the last mix, for a game that hands that out.

    Raises ``InputError`` if the rows hold no records.
    """
    if "weights_after" in frame:
        last = frame.iloc[-1]
        return RecordModel(domain, _codes(last["records"], domain), _floats(last["weights_after"]))
    frame = frame.iloc[-max(1, math.ceil(tail * len(frame))) :]
    parts = [_codes(text, domain) for text in frame["records"]]
    if not sum(map(len, parts)):
        raise InputError("the transcript holds no records; there is nothing to replay")
    weights = np.concatenate([_floats(text) for text in frame["weights"]])
    equal = bool(np.allclose(weights, weights[0], rtol=1e-12))
    return RecordModel(domain, np.concatenate(parts), None if equal else weights / len(parts))


# ---------------------------------------------------------------------- columns
def _moves(
    played: Round, records: NDArray[np.intp], weights: NDArray[np.float64]
) -> dict[str, Any]:
    return {"round": played.number, "records": _json(records), "weights": _json(weights)}


def _costs(seen: Seen) -> Mapping[str, float]:
    """The random costs of a round: their mean and the largest."""
    costs = np.zeros(0) if seen.answered is None else seen.answered.costs
    if not costs.any():
        return {"cost_mean": math.nan, "cost_largest": math.nan}
    return {"cost_mean": float(costs.mean()), "cost_largest": float(costs.max())}


def _figures(played: Round) -> Mapping[str, float]:
    """Solver statuses and seconds, and the game's own facts."""
    whole = {status: int(played.facts.get(status, 0)) for status in STATUSES}
    rest = {name: value for name, value in played.facts.items() if name not in whole}
    return {**whole, "seconds": math.nan, **rest}


def _exact(lesson: Lesson) -> list[dict[str, Any]]:
    """Payoffs, regrets and errors, and the picks' scores and chances."""
    return [
        {
            "payoff": seen.exact.payoff,
            "average_payoff": seen.exact.mean_payoff,
            "score": _json(_of_drawn(seen, "scores")),
            "probability": _json(_of_drawn(seen, "chances")),
            "error": seen.error,
            "data_regret": seen.exact.data_regret,
            "query_regret": seen.exact.query_regret,
            "gap": seen.exact.gap,
        }
        for seen in lesson.seen
    ]


def _of_drawn(seen: Seen, what: str) -> list[float]:
    if seen.selection is None:
        return []
    values = getattr(seen.selection, what)
    return [float(values[position]) for position in seen.selection.drawn]


def _equal(size: int) -> NDArray[np.float64]:
    return np.full(size, 1 / max(1, size))


# ---------------------------------------------------------------------- cells
def _json(values: Any) -> str:
    return json.dumps(np.asarray(values).tolist(), ensure_ascii=False)


def _codes(text: str, domain: Domain) -> NDArray[np.intp]:
    return np.array(json.loads(text), dtype=np.intp).reshape(-1, len(domain))


def _floats(text: str) -> NDArray[np.float64]:
    return np.array(json.loads(text), dtype=np.float64)
