"""Many margins of one table, and its adjoint, in few passes over the table.

To sum a table of axes (a, b, c, d) onto all its pairs one by one takes six passes.  Summed over a
first, the three pairs without a come from a smaller table; of those with a, two lack b, and so on:
three passes, and the rest over smaller tables.

Privacy.  Post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes

Table = NDArray[np.float64]


def sums(table: Table, axes: Attributes, wanted: Sequence[Attributes]) -> dict[Attributes, Table]:
    """A table with these axes summed onto each of ``wanted``; distinct, axes in the table's order.

    >>> sums(np.array([[1.0, 2.0], [3.0, 4.0]]), (5, 7), [(5,), (7,)])
    {(7,): array([4., 6.]), (5,): array([3., 7.])}
    """
    if not wanted:
        return {}
    if len(wanted) == 1:
        others = tuple(i for i, a in enumerate(axes) if a not in wanted[0])
        return {wanted[0]: np.asarray(table.sum(axis=others))}
    axis = _first(axes, wanted)
    without = [w for w in wanted if axis not in w]
    having = [w for w in wanted if axis in w]
    smaller = np.asarray(table.sum(axis=axes.index(axis)))
    left = tuple(a for a in axes if a != axis)
    return {**sums(smaller, left, without), **sums(table, axes, having)}


def added(axes: Attributes, tables: Mapping[Attributes, Table]) -> Table:
    """The sum of tables on some of the axes each, in a shape that broadcasts over all of them.

    >>> added((5, 7), {(5,): np.array([10.0, 20.0]), (7,): np.array([1.0, 2.0])})
    array([[11., 12.],
           [21., 22.]])
    """
    if len(tables) == 1:
        ((attributes, table),) = tables.items()
        sizes = iter(table.shape)
        return table.reshape([next(sizes) if a in attributes else 1 for a in axes])
    axis = _first(axes, list(tables))
    without = {a: t for a, t in tables.items() if axis not in a}
    having = {a: t for a, t in tables.items() if axis in a}
    left = tuple(a for a in axes if a != axis)
    smaller = np.expand_dims(added(left, without), axes.index(axis))
    return smaller + added(axes, having) if having else smaller


def _first(axes: Attributes, wanted: Sequence[Attributes]) -> int:
    """The axis that most lack: summed out first it leaves the fewest to do on the whole table."""
    return max(axes, key=lambda axis: sum(axis not in w for w in wanted))
