"""PrivBayes's score I: the mutual information of an attribute and its parents, in counts.

With f(c) = c log2(c) and counts c_xy, c_x, c_y of n records,

    n I = sum f(c_xy) - sum f(c_x) - sum f(c_y) + f(n)         (bits times records).

Private n.  How far one record moves n I grows with log(n), and I itself may move by a whole bit, so
neither can be scored where n is private.  Here f is continued as a straight line beyond a public
number N, which bounds every step.  For n <= N the score is n I; for more records it is another
score with the same sensitivity: a bad N costs accuracy, never privacy.

Sensitivity.  Let g(c) = f(c + 1) - f(c): non-negative, increasing, constant from N - 1 on, and
concave (of c log c, the steps grow ever more slowly).  Adding a record (x, y) moves the score by

    [g(n) - g(max(c_x, c_y))] - [g(min(c_x, c_y)) - g(c_xy)],

a difference of two numbers in [0, g(N-1)], because c_xy <= c_x, c_y <= n.  So

    add/remove                 g(N-1) = log2(N) + (N-1) log2(N/(N-1))                       (a)
    replace-one, N private     2 g(N-1): a removal and an addition.                         (b)

Replace-one with public n = N: on the m = n - 1 common records the two additions (x, y), (u, v) have
g(m) in common, and what is left is at most

    [g(c_xy) - g(c_x) - g(c_y)]  +  [g(c_u) + g(c_v) - g(c_uv)].

The first bracket is at most 0.  In the second, c_u + c_v - c_uv <= m; by concavity it is largest
for c_uv = 0 and c_u = c_v = m/2:

    replace-one, n public      2 g(m/2) = 2 log2((n+1)/2) + (n-1) log2((n+1)/(n-1)).        (c)

If X (or, in the same way, the parents) has two values only: for x = u the terms in c_x cancel, and
g(c_v) - g(c_uv) <= g(c_v - c_uv) <= g(m) by concavity.  For x != u, c_x + c_u = m and
c_v - c_uv <= c_x, so what is left is at most -g(c_x) + g(c_u) + g(c_x) <= g(m).  Hence

    the same, binary           g(n-1), as in (a).                                           (d)

Scores are rounded to multiples of 1/GRID; a rounded sensitivity is rounded up by one step and one
more, which covers floats up to 10^9 records (error about n log2(n) 2^-50 < 1/(2 GRID)).

Reference: Zhang et al. (2017), "PrivBayes", Lemma 4.1, which has (c) and (d) divided by n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.games.privacy.independence import GRID
from saddlesynth.oracles.domain import Attributes


@dataclass(frozen=True)
class InformationScore:
    """n I in bits, for each pair (attribute, parents); public.

    Parameters
    ----------
    candidates
        Pairs (attribute, parents).
    rows
        N, a public or noisy number of records, at least 1.
    public
        Whether N is the number of records and known to everybody (replace-one).
    binary
        Whether in every candidate the attribute, or its parents together, have two values only.

    >>> score = InformationScore((((0, (1,))),), rows=4)
    >>> score.scores([np.array([[2, 0], [0, 2]])])  # one bit, four records
    array([4.])
    """

    candidates: tuple[tuple[int, Attributes], ...]
    rows: int
    public: bool = False
    binary: bool = False
    name: str = "n I (bits)"

    @property
    def marginals(self) -> list[Attributes]:
        """The marginal that each candidate is scored on."""
        return [(attribute, *parents) for attribute, parents in self.candidates]

    def sensitivity(self, relation: Relation) -> float:
        """What one row can change, in bits times records."""
        n = max(1, self.rows)
        exact = math.log2(n) + (n - 1) * math.log1p(1 / (n - 1)) / math.log(2) if n > 1 else 0.0
        if relation is Relation.REPLACE_ONE and not self.public:
            exact *= 2
        elif relation is Relation.REPLACE_ONE and not self.binary and n > 1:
            exact = 2 * math.log2((n + 1) / 2) + (n - 1) * math.log2((n + 1) / (n - 1))
        return (math.ceil(exact * GRID) + 1) / GRID

    def scores(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Scores in bits times records, multiples of 1/GRID."""
        exact = np.array([self._information(t.reshape(len(t), -1)) for t in tables])
        return np.asarray(np.floor(exact * GRID + 0.5) / GRID)

    def _information(self, table: NDArray[np.int64]) -> float:
        parts = (table.ravel(), table.sum(axis=1), table.sum(axis=0), table.sum(keepdims=True))
        joint, first, second, whole = (float(self._f(part).sum()) for part in parts)
        return joint - first - second + whole

    def _f(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """c log2(c), continued as a straight line beyond N."""
        n = max(1, self.rows)
        inside = np.clip(counts, 1, n).astype(np.float64)
        slope = n * math.log2(n) - (n - 1) * math.log2(max(1, n - 1))
        return np.asarray(inside * np.log2(inside) + np.maximum(counts - n, 0) * slope)
