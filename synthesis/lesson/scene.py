"""A lesson as plain values: what its page draws, and what ``--json`` prints.

In each round of a game, ``released`` is what the game released, ``exact`` what was computed from
exact answers because the table is public.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saddlesynth.games.payoff import PayoffMatrix
from saddlesynth.games.query_class import Query
from saddlesynth.synthesis.lesson import polytope, words
from saddlesynth.synthesis.lesson.exhibit import Exhibit
from saddlesynth.synthesis.lesson.lesson import Lesson, Seen
from saddlesynth.synthesis.lesson.polytope import TwoBits
from saddlesynth.synthesis.lesson.transcript import STATUSES
from saddlesynth.synthesis.noisy import rows_estimate

BOARD = 12  # records, and queries, of a matrix that is drawn whole
TOP = 10  # queries listed with their chances, where the matrix is not drawn
BLOCKS = 30  # marginals whose errors are drawn


# ---------------------------------------------------------------------- a game
def game_scene(lesson: Lesson) -> dict[str, Any]:
    """Everything about a game that was played; the same seed gives the same values."""
    exhibit, rules = lesson.exhibit, lesson.rules
    return {
        "kind": "game",
        "table": exhibit.name,
        "story": exhibit.story,
        "rows": exhibit.rows,
        "queries": exhibit.workload.size,
        "game": {
            "name": rules.name,
            "title": rules.title,
            "query_first": rules.query_first,
            "second_mover": words.second_mover(lesson),
            "data_player": rules.data_player,
            "query_player": rules.query_player,
        },
        "noise": lesson.noise,
        "asked": {"epsilon": lesson.epsilon, "delta": lesson.delta, "rounds": lesson.rounds},
        "value": exhibit.value if exhibit.value is None else _short(exhibit.value),
        "board": _board(exhibit),
        "marginals": _marginal_names(exhibit),
        "rounds": _rounds(lesson),
    }


def drawn_whole(exhibit: Exhibit) -> PayoffMatrix | None:
    """The matrix, if it is small enough to be drawn."""
    matrix = exhibit.matrix
    if matrix is None or max(len(matrix.records), exhibit.workload.size) > BOARD:
        return None
    return matrix


def _board(exhibit: Exhibit) -> dict[str, Any] | None:
    """The payoff matrix with its names, the data's answers, and an equilibrium."""
    matrix, game = drawn_whole(exhibit), exhibit.equilibrium
    if matrix is None or game is None:
        return None
    size = exhibit.workload.size
    return {
        "records": [words.record_words(exhibit, r) for r in matrix.records.tolist()],
        "queries": [_cell_words(exhibit, query) for query in matrix.queries[:size]],
        "payoffs": [_shorts(row) for row in matrix.values],
        "truth": _shorts(np.concatenate([table.ravel() for table in exhibit.truth])),
        "data_mix": _shorts(game.data_mix),
        "query_mix": _shorts(game.query_mix),
    }


def _cell_words(exhibit: Exhibit, query: Query) -> str:
    """A query of a board in as few words as can be."""
    if not query.is_cell or len(query.attributes) < len(exhibit.domain):
        return words.query_words(exhibit, query)
    return words.record_words(exhibit, query.low)


def _marginal_names(exhibit: Exhibit) -> list[str]:
    names = exhibit.domain.names
    return [" × ".join(names[a] for a in block) for block in exhibit.workload.marginals][:BLOCKS]


def _rounds(lesson: Lesson) -> list[dict[str, Any]]:
    board = drawn_whole(lesson.exhibit) is not None
    data = lesson.data_play() if board else None
    query = lesson.query_play() if board else None
    rows = []
    for t, seen in enumerate(lesson.seen):
        exact = {
            "payoff": _short(seen.exact.payoff),
            "mean_payoff": _short(seen.exact.mean_payoff),
            "data_regret": _short(seen.exact.data_regret),
            "query_regret": _short(seen.exact.query_regret),
            "gap": _short(seen.exact.gap),
            "error": _short(seen.error),
            "errors": _shorts(seen.errors[:BLOCKS]),
            "candidates": _candidates(lesson, seen, board),
        }
        moves = asdict(words.moves(lesson, seen))
        released = {
            "words": moves,
            "epsilon": _short(seen.epsilon),
            "rho": _short(seen.rho),
            "costs": _costs(lesson.exhibit, seen) if board else None,
            "data": None if data is None else _shorts(data[t]),
            "query": None if query is None else _shorts(query[t]),
            "after": None if seen.after is None or not board else _shorts(seen.after),
            "solver": {s: int(seen.round.facts[s]) for s in STATUSES if s in seen.round.facts},
        }
        rows.append({"round": seen.round.number, "released": released, "exact": exact})
    return rows


def _candidates(lesson: Lesson, seen: Seen, board: bool) -> list[dict[str, Any]]:
    """Queries with score and chance: all of a board, else the likeliest, and those drawn."""
    exhibit, selection = lesson.exhibit, seen.selection
    size = exhibit.workload.candidates
    asked: dict[str, int] = {}
    for query in seen.round.queries:
        name = words.query_words(exhibit, query)
        asked[name] = asked.get(name, 0) + 1
    if selection is None and seen.after is not None:
        return []  # a threshold test, without chances
    if selection is None:
        shown = list(range(size)) if board else []
        scores, chances = np.zeros(size), np.full(size, 1 / size)
    else:
        scores, chances = selection.scores, selection.chances
        likeliest = np.argsort(-chances, kind="stable")[:TOP].tolist()
        shown = (
            list(range(size)) if board else list(dict.fromkeys([*selection.drawn[:2], *likeliest]))
        )
    listed = []
    for position in shown:
        name = words.query_words(exhibit, exhibit.workload.query(int(position)))
        listed.append(
            {
                "query": name,
                "score": _short(scores[position]),
                "chance": _short(chances[position]),
                "asked": asked.get(name, 0),
            }
        )
    return listed


def _costs(exhibit: Exhibit, seen: Seen) -> dict[str, Any] | None:
    """What the oracle compared: gain of every record of the board, and its cost in each sample."""
    answered, matrix = seen.answered, drawn_whole(exhibit)
    if answered is None or matrix is None or answered.problem.domain.sizes != exhibit.domain.sizes:
        return None
    free = np.zeros(exhibit.domain.width)
    gains = answered.problem.value(matrix.records, free)
    positions = exhibit.domain.offsets[:-1] + matrix.records
    costs = answered.costs[:, positions].sum(axis=2)
    places = {tuple(record): i for i, record in enumerate(matrix.records.tolist())}
    chosen = [places[tuple(answer.record.tolist())] for answer in answered.answers]
    return {
        "gains": _shorts(gains),
        "costs": [_shorts(row) for row in costs] if answered.costs.any() else None,
        "chosen": chosen,
    }


# ---------------------------------------------------------------------- two bits
def polytope_scene(lesson: TwoBits) -> dict[str, Any]:
    """The projection of two noisy bits, step by step."""
    return {
        "kind": "polytope",
        "table": "two-bits",
        "rows": lesson.rows,
        "noise": lesson.noise,
        "asked": {"epsilon": lesson.epsilon, "delta": lesson.delta},
        "spent": _short(lesson.spent),
        "sigma": _short(lesson.measured[0].sigma),
        "records": [polytope.record_name(i) for i in range(len(polytope.RECORDS))],
        "corners": [_shorts(polytope.point(row)) for row in np.eye(len(polytope.RECORDS))],
        "data": {
            "weights": _shorts(lesson.shares),
            "point": _shorts(polytope.point(lesson.shares)),
        },
        "free": {"weights": _shorts(lesson.free), "point": _shorts(polytope.point(lesson.free))},
        "measured": [_shorts(m.counts.ravel()) for m in lesson.measured],
        "total": _short(rows_estimate(lesson.measured)),
        "rounds": [
            {
                "words": polytope.step_words(lesson, number),
                "weights": _shorts(step.weights),
                "point": _shorts(polytope.point(step.weights)),
                "objective": _short(step.objective),
                "gap": _short(step.gap),
                "prices": _shorts(step.prices),
                "entering": step.entering,
            }
            for number, step in enumerate(lesson.steps, start=1)
        ],
    }


# ---------------------------------------------------------------------- numbers
def _short(number: float) -> float:
    """Six digits; a page needs no more."""
    value = float(f"{float(number):.6g}")
    return value if math.isfinite(value) and abs(value) > 1e-12 else 0.0


def _shorts(numbers: ArrayLike) -> list[float]:
    return [_short(number) for number in np.asarray(numbers, dtype=np.float64)]
