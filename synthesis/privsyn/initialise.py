"""The pool that GUM starts from: every column drawn by itself from its 1-way marginal.

Counts are rounded to whole numbers, so a column's marginal is right to within one record, and only
their order is random.

Privacy.  Post-processing.

Reference: Zhang et al. (2021), "PrivSyn", section 5.3 (called singleton initialisation).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.privsyn.rounding import Column, largest_remainder, smallest_type


def whole_counts(counts: NDArray[np.float64], records: int) -> NDArray[np.int64]:
    """A table, scaled and rounded to whole numbers that add up to ``records``.

    Negative counts are read as 0; a table without positive counts as one that is even.

    >>> whole_counts(np.array([[1.0, 3.0], [0.0, 0.0]]), 8).tolist()
    [[2, 6], [0, 0]]
    """
    positive = np.maximum(counts.ravel(), 0.0)
    if not positive.any():
        positive = np.ones(positive.size)
    return largest_remainder(positive * (records / positive.sum()), records).reshape(counts.shape)


def independent_columns(
    one_way: Sequence[NDArray[np.float64]], records: int, generator: np.random.Generator
) -> list[Column]:
    """One column of ``records`` codes for each 1-way marginal, in the smallest type that fits.

    one_way : counts or fractions, one array an attribute
    """
    return [
        generator.permutation(
            np.repeat(
                np.arange(len(counts), dtype=smallest_type(len(counts))),
                whole_counts(counts, records),
            )
        )
        for counts in one_way
    ]
