"""PrivBayes's score F: how near a binary attribute is to being determined by its parents.

A joint distribution of a binary X and its parents has the largest mutual information, one bit, if
every parents' value goes with one value of X only, and X is 0 and 1 with probability 1/2 each.  F
is minus the total variation distance to the nearest such distribution.  Divide the parents' values
into those that go with 0 and with 1; let K_0 and K_1 count the records that agree.  The nearest
distribution overlaps with the empirical one in min(1/2, K_0/n) + min(1/2, K_1/n), so

    n F = - min over divisions of  max(n/2 - K_0, 0) + max(n/2 - K_1, 0),      -n <= n F <= 0.

The minimum is found exactly by dynamic programming: for each K_0 (cut off at n/2) the largest K_1,
one parents' value after the other.

Sensitivity of n F: 1 for both relations.  Fix a division.  *Add*: both n/2 rise by 1/2; at most one
K_x rises, by 1.  So the sum moves by at least -1/2 (one part falls by at most 1/2 while the other
does not fall) and at most 1/2 + 1/2.  *Replace*: n/2 stays; the record removed lowers at most one
K_x by 1, which adds at most 1, the one added takes off at most 1.  A minimum of functions that move
by at most 1 moves by at most 1.

Reference: Zhang et al. (2017), "PrivBayes", section 4.3: sensitivity 1/n of F, replace-one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.oracles.domain import Attributes


@dataclass(frozen=True)
class MaximumInformationScore:
    """n F of each pair (binary attribute, parents); public.

    >>> score = MaximumInformationScore((((0, (1,))),))
    >>> score.scores([np.array([[2, 0], [0, 2]])])  # determined
    array([0.])
    >>> score.scores([np.array([[1, 1], [1, 1]])])  # independent
    array([-2.])
    """

    candidates: tuple[tuple[int, Attributes], ...]
    name: str = "n F"

    @property
    def marginals(self) -> list[Attributes]:
        """The marginal that each candidate is scored on."""
        return [(attribute, *parents) for attribute, parents in self.candidates]

    def sensitivity(self, relation: Relation) -> float:
        """What one row can change, in counts."""
        return 1.0

    def scores(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Exact scores in counts, multiples of 1/2.

        Raises
        ------
        ValueError
            An attribute does not have two values.
        """
        for table in tables:
            if len(table) != 2:
                raise ValueError(f"score F needs an attribute of two values, not {len(table)}")
        return np.array([-_twice_the_distance(t.reshape(2, -1)) / 2 for t in tables])


def _twice_the_distance(table: NDArray[np.int64]) -> int:
    """2 n times the distance: a whole number."""
    n = int(table.sum())
    most = -(-n // 2)  # more than n/2 is as good as n/2
    largest = np.full(most + 1, -1, dtype=np.int64)  # K_1 for each K_0; -1 if there is none
    largest[0] = 0
    for zeros, ones in table.T.tolist():
        if zeros or ones:
            largest = np.maximum(_more(largest, min(zeros, most)), _plus(largest, ones))
    k = np.flatnonzero(largest >= 0)
    return int((np.maximum(n - 2 * k, 0) + np.maximum(n - 2 * largest[k], 0)).min())


def _more(largest: NDArray[np.int64], zeros: int) -> NDArray[np.int64]:
    """The parents' value goes with 0: K_0 rises, up to its cap."""
    moved = np.full_like(largest, -1)
    moved[zeros:] = largest[: len(largest) - zeros]
    moved[-1] = largest[len(largest) - 1 - zeros :].max()
    return moved


def _plus(largest: NDArray[np.int64], ones: int) -> NDArray[np.int64]:
    """The parents' value goes with 1: K_1 rises."""
    return np.where(largest >= 0, largest + ones, -1)
