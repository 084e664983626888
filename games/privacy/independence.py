"""How far two groups of attributes are from independent, in counts and in exact arithmetic.

For a table M of n records with row sums r and column sums c,

    InDif = || M - r c^T / n ||_1 = (sum over cells of |n M - r c^T|) / n,    0 <= InDif < 2 n,

an integer divided by n.  PrivBayes's score R is InDif / (2 n).

Sensitivity.  Adding one record (i, j) changes E = M - r c^T / n by

    n/(n+1) e_i e_j^T - (e_i c^T + r e_j^T) / (n+1) + r c^T / (n (n+1)),

whose L1 norm is at most 4 n / (n+1) < 4; it is attained when all records are equal and the new one
differs in both.  Replacing one is a removal and an addition on n - 1 common records: at most
2 + (4 n - 2) / n = 6 - 2/n < 6.  k rows of one unit: k times that.

Rounding to multiples of 1/GRID, half upwards, is monotone and commutes with adding whole numbers,
so scores that differ by at most a whole number D still do: the grid costs nothing.

Reference: Zhang et al. (2021), "PrivSyn", and Zhang et al. (2017), "PrivBayes", for the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.oracles.domain import Attributes

GRID = 1024  # scores are rounded to multiples of 1/GRID before noise
PER_ROW = {Relation.ADD_REMOVE: 4, Relation.REPLACE_ONE: 6}  # sensitivity of InDif, in counts


def deviation(table: NDArray[np.int64]) -> int:
    """n times InDif of a table of shape (rows, columns): a whole number, exact for n < 2^31.

    >>> deviation(np.array([[2, 0], [0, 2]])) / 4
    4.0
    """
    total = int(table.sum())
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    return int(np.abs(total * table - product).sum())


def independence_difference(table: NDArray[np.int64]) -> int:
    """InDif of a table of shape (rows, columns), in multiples of 1/GRID; 0 of an empty table.

    >>> independence_difference(np.array([[2, 0], [0, 2]])) / GRID
    4.0
    """
    total = max(1, int(table.sum()))
    return (2 * GRID * deviation(table) + total) // (2 * total)


@dataclass(frozen=True)
class DependenceScore:
    """PrivBayes's score n R = InDif / 2 of an attribute and its possible parents.

    Parameters
    ----------
    candidates
        Pairs (attribute, parents); public.

    Sensitivity: half of InDif's, 2 under add/remove and 3 under replace-one, a row.
    """

    candidates: tuple[tuple[int, Attributes], ...]
    name: str = "n R"

    @property
    def marginals(self) -> list[Attributes]:
        """The marginal that each candidate is scored on."""
        return [(attribute, *parents) for attribute, parents in self.candidates]

    def sensitivity(self, relation: Relation) -> float:
        """What one row can change, in counts."""
        return PER_ROW[relation] / 2

    def scores(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Exact scores in counts, multiples of 1/(2 GRID)."""
        grid = [independence_difference(t.reshape(len(t), -1)) for t in tables]
        return np.asarray(grid, dtype=np.float64) / (2 * GRID)
