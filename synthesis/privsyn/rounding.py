"""Whole numbers from fractions, with sums kept.

*Privacy.* Post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.unsignedinteger]


def largest_remainder(values: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Round a vector down, then the entries with the largest fractions up, until the sum is right.

    values : (n,) non-negative float; ``total`` is within 1/2 of their sum, or they are scaled to it

    >>> largest_remainder(np.array([0.2, 0.6, 1.2]), 2)
    array([0, 1, 1])
    >>> largest_remainder(np.array([1.0, 3.0]), 8)
    array([2, 6])
    """
    whole_sum = values.sum()
    if abs(whole_sum - total) > 0.5:
        values = values * (total / whole_sum)
    rounded = np.floor(values).astype(np.int64)
    missing = total - int(rounded.sum())
    fraction = values - rounded
    rounded[np.argsort(-fraction, kind="stable")[:missing]] += 1
    return rounded


def systematic_rows(
    shares: NDArray[np.float64], totals: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Round ``totals[i] * shares[i]`` so that each row keeps its total and each entry its mean.

    shares : (rows, n), each row sums to 1
    totals : (rows,) whole numbers

    Systematic sampling: the running sum of a row, shifted by a random fraction, is cut at whole
    numbers.  The fractions of the rows are spread evenly, which keeps column sums close as well.
    """
    rows = len(totals)
    start = (generator.permutation(rows) + generator.random()) / max(rows, 1)
    upto = np.floor(np.cumsum(shares, axis=1) * totals[:, None] + start[:, None]).astype(np.int64)
    upto = np.minimum(upto, totals[:, None])
    upto[:, -1] = totals
    return np.diff(upto, axis=1, prepend=0)


def smallest_type(size: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer type that holds codes below ``size``.

    >>> smallest_type(256).__name__, smallest_type(257).__name__
    ('uint8', 'uint16')
    """
    return np.min_scalar_type(size - 1).type
