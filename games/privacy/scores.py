"""Scores of all queries of a workload against a play, ready for the exponential mechanism.

The score of a query is its error in counts, weight * (N(q) - n a(q)), where N(q) of the n private
records satisfy it and the play answers the fraction a(q); a negation's score is the negative.
Most of a workload's cells are touched by no record of the play: there a(q) = 0, the score is
weight * N(q), and the same few thousand values occur again and again.  They are grouped once; a
round only looks at the touched queries one by one.

Everything here is private; only ``Curator`` may hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.exponential import Below, Exponential
from saddlesynth.games.query_class import QueryClass

ROUNDING = 2.0**-48  # relative to coefficient * n: bound on the error of a score's floats


class Scores:
    """Exact counts of every query of a workload, grouped by weight and count."""

    def __init__(
        self, workload: QueryClass, tables: Sequence[NDArray[np.int64]], rows: int
    ) -> None:
        self.rows = rows
        self.workload = workload
        self._counts = np.concatenate([t.ravel() for t in workload.answers(tables)])
        weights = [block.weight for block in workload.blocks]
        self._weights = np.repeat(weights, np.diff(workload.starts))
        # ``order`` lists the queries group by group; a group is a slice of it.
        self._order = np.lexsort((self._counts, self._weights))
        counts, sizes = self._counts[self._order], self._weights[self._order]
        new = np.append(True, (np.diff(counts) != 0) | (np.diff(sizes) != 0))
        self._starts = np.flatnonzero(new)
        self._sizes = np.diff(np.append(self._starts, len(self._order)))
        self._group_counts, self._group_weights = counts[self._starts], sizes[self._starts]
        self._group = np.empty(len(self._order), dtype=np.int64)
        self._group[self._order] = np.cumsum(new) - 1

    def sampler(
        self, answers: Sequence[NDArray[np.float64]], coefficient: float, below: Below
    ) -> Callable[[], int]:
        """Draws positions with probability proportional to exp(coefficient * score).

        Positions are those of ``QueryClass.query``: queries, then negations.
        """
        played = np.clip(np.concatenate([a.ravel() for a in answers]), 0.0, 1.0)
        touched = np.flatnonzero(played)
        played = played[touched]
        group_sizes = self._sizes - np.bincount(self._group[touched], minlength=len(self._sizes))
        score = np.concatenate(
            [
                self._group_weights * self._group_counts,
                self._weights[touched] * (self._counts[touched] - self.rows * played),
            ]
        )
        multiplicity = np.concatenate([group_sizes, np.ones(len(touched), dtype=np.int64)])
        groups, half = len(group_sizes), len(score)

        def exact(candidate: int) -> Fraction:
            negated, i = divmod(candidate, half)
            if i < groups:
                weight, error = self._group_weights[i], Fraction(int(self._group_counts[i]))
            else:
                weight = self._weights[touched[i - groups]]
                expected = self.rows * Fraction(float(played[i - groups]))
                error = int(self._counts[touched[i - groups]]) - expected
            value = Fraction(coefficient) * Fraction(float(weight)) * error
            return -value if negated else value

        mechanism = Exponential(
            coefficient * np.concatenate([score, -score]),
            exact,
            np.concatenate([multiplicity, multiplicity]),
            below,
            error=coefficient * max(1, self.rows) * ROUNDING,
        )
        hidden = np.zeros(self.workload.size, dtype=bool)
        hidden[touched] = True

        def draw() -> int:
            candidate = mechanism.draw()
            negated, i = divmod(candidate, half)
            if i >= groups:
                return int(touched[i - groups]) + negated * self.workload.size
            return self._member(i, hidden, below) + negated * self.workload.size

        return draw

    def _member(self, group: int, hidden: NDArray[np.bool_], below: Below) -> int:
        """A uniformly drawn query of a group that the play does not touch."""
        while True:
            place = int(self._starts[group]) + below(int(self._sizes[group]))
            position = int(self._order[place])
            if not hidden[position]:
                return position

    # ------------------------------------------------------------------ single queries and tables
    def counts_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records satisfy each of these queries (or negations)."""
        negated, flat = np.divmod(positions, self.workload.size)
        return np.where(negated, self.rows - self._counts[flat], self._counts[flat])

    def errors(
        self, positions: Sequence[int], answers: Sequence[NDArray[np.float64]]
    ) -> list[Fraction]:
        """Exact scores of single queries."""
        played = np.clip(np.concatenate([a.ravel() for a in answers]), 0.0, 1.0)
        found = []
        for position in positions:
            negated, flat = divmod(position, self.workload.size)
            expected = self.rows * Fraction(float(played[flat]))
            error = Fraction(float(self._weights[flat])) * (int(self._counts[flat]) - expected)
            found.append(-error if negated else error)
        return found

    def best_table(self, answers: Iterable[NDArray[np.float64]], rate: float, below: Below) -> int:
        """Draws a table with probability proportional to exp(-rate * its largest error)."""
        kept = list(answers)
        scores = np.concatenate(
            [
                np.max(self._weights * np.abs(self._counts - self.rows * block), axis=1)
                for block in kept
            ]
        )
        starts = np.cumsum([0] + [len(block) for block in kept])

        def exact(table: int) -> Fraction:
            block = int(np.searchsorted(starts, table, side="right")) - 1
            row = kept[block][table - int(starts[block])]
            return -Fraction(rate) * max(
                Fraction(float(w)) * abs(int(c) - self.rows * Fraction(float(a)))
                for w, c, a in zip(self._weights, self._counts, row, strict=True)
            )

        ones = np.ones(len(scores), dtype=np.int64)
        error = rate * max(1, self.rows) * ROUNDING
        return Exponential(-rate * scores, exact, ones, below, error).draw()
