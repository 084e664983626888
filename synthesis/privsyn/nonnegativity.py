"""The other half of consistency: one table with non-negative cells and a given total.

norm-sub is the projection on the scaled simplex (``oracles.convex.simplex``); norm-cut zeroes the
smallest cells instead.  Cells that no valid record can have are left out of both and stay zero.

Privacy.  Post-processing.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.simplex import project_to_simplex

Counts = NDArray[np.float64]
Mask = NDArray[np.bool_]
Method = Callable[[Counts, float], Counts]


def norm_sub(values: Counts, total: float) -> Counts:
    """Lower (or raise) all positive values by one amount, so that they add up to ``total``.

    >>> norm_sub(np.array([-2.0, 0.5, 3.0, 9.0]), 10.0)
    array([0., 0., 2., 8.])
    """
    return project_to_simplex(values, total)


def norm_cut(values: Counts, total: float) -> Counts:
    """Set negatives to 0, then the smallest positives, until the rest add up to ``total``.

    The last value touched is lowered in part.  If the positives are too few to begin with, all
    values are raised by one amount instead.

    >>> norm_cut(np.array([-2.0, 1.0, 2.0, 9.0]), 10.0)
    array([0., 0., 1., 9.])
    """
    positive = np.maximum(values, 0.0)
    surplus = float(positive.sum()) - total
    if surplus <= 0:
        return norm_sub(positive, total)
    order = np.argsort(positive, kind="stable")
    ordered = positive[order]
    result = np.empty_like(positive)
    result[order] = np.clip(np.cumsum(ordered) - surplus, 0.0, ordered)
    return result


def non_negative(table: Counts, allowed: Mask | None, total: float, method: Method) -> Counts:
    """The table, by ``method`` on its allowed cells if one is negative; else as it is."""
    if table.min() >= 0:
        return table
    result = np.zeros_like(table)
    if allowed is None:
        result[...] = method(table.ravel(), total).reshape(table.shape)
    else:
        result[allowed] = method(table[allowed], total)
    return result


def negative_mass(table: Counts) -> float:
    """What the negative cells add up to, as a positive number of records."""
    return -float(np.minimum(table, 0.0).sum())
