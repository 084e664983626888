"""What happens in a game, in plain words: for the terminal and for the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.games.payoff import PayoffMatrix
from saddlesynth.games.query_class import Query
from saddlesynth.synthesis.lesson.exhibit import Exhibit
from saddlesynth.synthesis.lesson.lesson import NOT_PRIVATE, Lesson, Seen

FEW = 4  # different things of a kind that a sentence lists
WIDE = 6  # values of a record that a sentence shows
COLUMNS = 12  # records or queries of a matrix that a terminal shows


@dataclass(frozen=True)
class Moves:
    """What each player did in a round, and why."""

    data: str
    data_why: str
    query: str
    query_why: str


def record_words(exhibit: Exhibit, record: Sequence[int]) -> str:
    """A record by the names of its values.

    >>> from saddlesynth.synthesis.lesson.exhibit import from_toy
    >>> record_words(from_toy("coin"), [1]), record_words(from_toy("forbidden"), [0, 0])
    ('tails', '(child, no)')
    """
    named = [exhibit.labels[a][code] for a, code in enumerate(record)]
    if len(named) == 1:
        return named[0]
    return f"({', '.join(named[:WIDE])}{', …' if len(named) > WIDE else ''})"


def query_words(exhibit: Exhibit, query: Query) -> str:
    """A query by the names of its values; of a table with one column, without the column."""
    text = query.describe(exhibit.domain.names, exhibit.labels)
    if len(exhibit.domain) > 1:
        return text
    text = text.replace(f"{exhibit.domain.names[0]}=", "")
    return text.replace("(", "").replace(")", "") if query.is_cell else text


def listing(names: Iterable[str]) -> str:
    """Names with how often they occur, most frequent first.

    >>> listing(["a", "b", "a"]), listing("abcdefg")
    ('2 × a, b', 'a, b, c, d and 3 more')
    """
    counts = Counter(names).most_common()
    shown = [f"{times} × {name}" if times > 1 else name for name, times in counts[:FEW]]
    rest = len(counts) - FEW
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def moves(lesson: Lesson, seen: Seen) -> Moves:
    """Both players' moves in a round."""
    data, data_why = _data_move(lesson, seen)
    query, query_why = _query_move(lesson, seen)
    return Moves(data, data_why, query, query_why)


def second_mover(lesson: Lesson) -> str:
    """Whose move is made with the other's in sight, and so gains: "data" or "query".

    MWEM's queries are played against the mix that was there before.
    """
    moves_on = any(seen.after is not None for seen in lesson.seen)
    return "data" if lesson.rules.query_first and not moves_on else "query"


# ---------------------------------------------------------------------- the data player
def _data_move(lesson: Lesson, seen: Seen) -> tuple[str, str]:
    exhibit = lesson.exhibit
    if seen.after is not None:
        heavy = np.argsort(-seen.after, kind="stable")[:FEW]
        mix = ", ".join(
            f"{record_words(exhibit, seen.records[i].tolist())} {seen.after[i]:.0%}" for i in heavy
        )
        return f"shifts its mix to {mix}", _measurement(lesson, seen, seen.after)
    played = listing(record_words(exhibit, record) for record in seen.records.tolist())
    if lesson.rules.query_first:
        satisfied = sum(int(q.evaluate(seen.records)[0]) for q in seen.round.queries)
        why = f"it satisfies {satisfied} of the {len(seen.round.queries)} queries, as many as any"
        return f"answers with {played}", why
    asked = sum(len(past.round.queries) for past in lesson.seen[: seen.round.number - 1])
    if not asked:
        return f"plays {played}", "nothing was asked yet: the random costs decide alone"
    queries = "1 query was" if asked == 1 else f"{asked} queries were"
    return f"plays {played}", f"{queries} asked so far; random costs make the records differ"


def _measurement(lesson: Lesson, seen: Seen, after: NDArray[np.float64]) -> str:
    facts, rows = seen.round.facts, lesson.exhibit.rows
    noise = f" (noise of ±{facts['noise']:.1f})" if lesson.noise else ""
    (query,) = seen.round.queries
    answer = rows * float(after @ query.evaluate(seen.records))
    return (
        f"the answer was measured as {_count(facts['measured'])} of {rows:,}{noise}; "
        f"the new mix gives {_count(answer)}"
    )


# ---------------------------------------------------------------------- the query player
def _query_move(lesson: Lesson, seen: Seen) -> tuple[str, str]:
    asked = listing(query_words(lesson.exhibit, query) for query in seen.round.queries)
    kept = int(seen.round.facts.get("kept", 0))
    if kept:
        fresh = len(seen.round.queries) - kept
        move = f"keeps {kept}, draws {max(0, fresh)} afresh: {asked}"
    else:
        move = f"{'asks' if len(seen.round.queries) == 1 else 'draws'} {asked}"
    return move, _why_asked(lesson, seen)


def _why_asked(lesson: Lesson, seen: Seen) -> str:
    selection = seen.selection
    if "threshold" in seen.round.facts:
        return "a noisy test found it further off than the threshold"
    if selection is None:
        return "nothing was played yet: every query is as likely as any other"
    drawn = selection.drawn[0]
    off = selection.scores[drawn]
    size = (
        f"{_count(abs(off))} of {lesson.exhibit.rows:,} records too {'few' if off >= 0 else 'many'}"
    )
    if math.isinf(selection.epsilon):
        return f"no query is further off: {size}"
    if len(seen.round.queries) == 1:
        return f"{size}; its chance was {selection.chances[drawn]:.0%}"
    worst = float(selection.chances.max() / selection.chances.min())
    return f"the query that is furthest off was {worst:.3g} times as likely as the opposite one"


# ---------------------------------------------------------------------- whole texts
def opening(lesson: Lesson) -> str:
    """What is on show, before the first round."""
    exhibit, rules = lesson.exhibit, lesson.rules
    lines = [
        f"{exhibit.name}: {exhibit.story}",
        f"n = {exhibit.rows:,} records, {exhibit.workload.size:,} queries and their negations.",
        "",
        f"{rules.title}, {lesson.rounds} rounds",
        f"  data player   {rules.data_player}",
        f"  query player  {rules.query_player}",
    ]
    if not lesson.noise:
        lines += ["", NOT_PRIVATE + "; the query player plays best responses."]
    lines += ["", "payoff A(record, query) = q(data) - q(record): the data player pays it"]
    return "\n".join(lines + _matrix_lines(exhibit))


def _matrix_lines(exhibit: Exhibit) -> list[str]:
    matrix, game = exhibit.matrix, exhibit.equilibrium
    size = exhibit.workload.size
    if matrix is None or game is None or max(len(matrix.records), size) > COLUMNS:
        return ["(the matrix is too large to print)"]
    queries = replace(matrix, values=matrix.values[:, :size], queries=matrix.queries[:size])
    return [
        str(queries),
        "(a negated query pays the opposite)",
        f"exact value {game.value:.6f}, by linear programming; an optimal mix of records is "
        f"{mix_words(matrix, game.data_mix)}",
    ]


def mix_words(matrix: PayoffMatrix, mix: ArrayLike) -> str:
    """A mix of records, with shares in percent."""
    shares = zip(matrix.record_names(), np.asarray(mix).tolist(), strict=True)
    return ", ".join(f"{name} {share:.1%}" for name, share in shares)


def round_words(lesson: Lesson, seen: Seen) -> str:
    """One round."""
    made, number = moves(lesson, seen), seen.round.number
    data = f"  data player   {made.data}\n                {made.data_why}"
    query = f"  query player  {made.query}\n                {made.query_why}"
    first, second = (query, data) if lesson.rules.query_first else (data, query)
    figures = (
        f"  payoff        {_signed(seen.exact.payoff)}    mean so far "
        f"{_signed(seen.exact.mean_payoff)}    gap {seen.exact.gap:.3f}    "
        f"largest error {seen.error:.3f}"
    )
    return f"round {number} of {lesson.rounds}{_spent(lesson, seen)}\n{first}\n{second}\n{figures}"


def _count(records: float) -> str:
    """A number of records in four digits, never as a power of ten.

    >>> _count(34370.2), _count(6.6666)
    ('34,370', '6.667')
    """
    return f"{records:,.0f}" if abs(records) >= 1000 else f"{records:.4g}"


def _signed(number: float) -> str:
    """With a sign, and without a negative zero.

    >>> _signed(-1e-9), _signed(0.25)
    ('+0.000', '+0.250')
    """
    return f"{round(number, 3) + 0.0:+.3f}"


def _spent(lesson: Lesson, seen: Seen) -> str:
    if not lesson.noise:
        return "    (not private)"
    return f"    epsilon {seen.epsilon:.3f} of {lesson.epsilon:g}"


def closing(lesson: Lesson) -> str:
    """What came out, and what the theorem says about it."""
    exhibit, last = lesson.exhibit, lesson.seen[-1]
    now, rows, matrix = last.exact, exhibit.rows, exhibit.matrix
    lines = [f"After {len(lesson.seen)} rounds"]
    if exhibit.value is not None:
        lines.append(f"  value of the game          {_signed(exhibit.value)}")
    if matrix is not None:
        data, query = lesson.data_play().mean(axis=0), lesson.query_play().mean(axis=0)
        average = float(data @ matrix.values @ query)
        lines.append(f"  average mixes pay          {_signed(average)}   off by at most the gap")
    lines += [
        f"  mean payoff of the rounds  {_signed(now.mean_payoff)}   "
        f"({second_mover(lesson)} player moves second, and gains)",
        f"  regrets                    data player {_signed(now.data_regret)}, query player "
        f"{_signed(now.query_regret)}",
        f"  duality gap                {_signed(now.gap)}   their sum",
    ]
    if exhibit.value is not None:
        lines.append(
            f"  error of the average mix    {now.mean_error:.3f}   at most value + gap = "
            f"{exhibit.value + now.gap:.3f}"
        )
    lines.append(
        f"  error of the outcome        {last.error:.3f}   {_count(last.error * rows)} of {rows:,} "
        "records"
    )
    if lesson.noise:
        lines.append(
            f"  spent                      epsilon {last.epsilon:.6g} of {lesson.epsilon:g}, "
            f"delta {lesson.delta:g}"
        )
    else:
        lines.append(f"  {NOT_PRIVATE}")
    return "\n".join(lines)
