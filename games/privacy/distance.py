"""How far marginals are from what a model says of them: the score of MST, AIM and MWEM.

Candidate i is a marginal M_i with a public table m_i of expected counts, a public weight w_i in
(0, 1] and a public penalty b_i (what measuring it would cost in noise); its score, in counts, is

    w_i ( || M_i - m_i ||_1 - b_i ).

Sensitivity.  m_i, w_i and b_i are fixed, and by the triangle inequality the norm changes by at most
the L1 change of M_i: 1 for a row added or removed, 2 for a row replaced, k times that for a unit
of k rows; w_i <= 1.  Tables, weights and penalties are rounded to multiples of 1/GRID first, which
keeps all of this and makes the scores exact: w_i times a distance is a whole multiple of 1/GRID^2,
below 2^53 of them for fewer than 2^31 rows.

Reference: McKenna, Miklau, Sheldon (2021), "Winning the NIST Contest" (MST); McKenna, Mullins,
Sheldon, Miklau (2022), "AIM: An Adaptive and Iterative Mechanism".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.oracles.domain import Attributes

GRID = 1024


@dataclass(frozen=True, eq=False)
class MarginalDistance:
    """The score above.

    Parameters
    ----------
    marginals
        The candidates; public.
    expected
        For each, the model's counts; public.
    weights, penalties : (m,) float
        Weights of at most 1, above 0; default 1.  Penalties in counts; default 0.

    >>> score = MarginalDistance([(0,)], [np.array([2.0, 2.0])])
    >>> score.scores([np.array([3, 0])])
    array([3.])

    Raises
    ------
    ValueError
        A weight is not in (0, 1].
    """

    marginals: Sequence[Attributes]
    expected: Sequence[NDArray[np.float64]]
    weights: NDArray[np.float64] | None = None
    penalties: NDArray[np.float64] | None = None
    name: str = "distance from the model"

    def __post_init__(self) -> None:
        if self.weights is not None and not ((self.weights > 0) & (self.weights <= 1)).all():
            raise ValueError(f"weights are {self.weights}; each must be above 0 and at most 1")

    def sensitivity(self, relation: Relation) -> float:
        """What one row can change, in counts."""
        return 2.0 if relation is Relation.REPLACE_ONE else 1.0

    def scores(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Exact scores in counts, multiples of 1/GRID^2."""
        distances = np.array(
            [
                np.abs(GRID * table - _on_grid(model)).sum()
                for table, model in zip(tables, self.expected, strict=True)
            ]
        )
        if self.penalties is not None:
            distances = distances - _on_grid(self.penalties)
        weights = np.full(len(distances), GRID)
        if self.weights is not None:
            weights = np.maximum(_on_grid(self.weights), 1)
        return np.asarray(weights * distances, dtype=np.float64) / GRID**2


def _on_grid(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray(np.rint(GRID * np.asarray(values)), dtype=np.int64)
