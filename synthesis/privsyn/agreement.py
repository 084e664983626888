"""The linear half of consistency: marginals that contain the same attributes agree on them.

Marginal i, measured with budget rho_i, has g_i possible cells above each cell of a shared attribute
set A, so its projection on A has a variance proportional to g_i / rho_i.  The best common value is
the inverse-variance average

    target = sum_i w_i proj_A(M_i),      w_i = (rho_i / g_i) / sum_j (rho_j / g_j),

and the smallest change that reaches it adds (target - proj_A(M_i)) / g_i to every possible cell
above.

A runs over all intersections of marginals, closed under intersection, with the empty set (the
total) first and subsets before supersets.  Then all members of a set agree on its subsets already,
a later set leaves the earlier ones alone, and one pass is the least-squares projection, in the
metric weighted by rho, on the tables that agree.

With impossible cells g_i varies from cell to cell.  Weights then use its mean, so that a later set
still leaves its subsets (and the total) alone, and passes are repeated until the others agree, too.

Privacy.  Post-processing.

Reference: Zhang et al. (2021), "PrivSyn", section 5.1; Qardaji, Yang, Li (2014), "PriView", for the
order of the sets.
Differs from the paper: 1-way marginals take part with their own budget, and the correction is
divided by g_i alone, as least squares asks.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.privsyn.nonnegativity import Counts, Mask

PASSES = 200  # at most so many where cells are impossible
PRECISION = 1e-9  # of the total: tables that differ by no more agree


def shared_sets(marginals: Iterable[Attributes]) -> list[Attributes]:
    """Non-empty sets on which marginals have to agree, ascending, subsets before supersets.

    Intersections of two marginals, closed under intersection, and marginals that come twice.

    >>> shared_sets([(0, 1, 2), (1, 2, 3), (2, 4), (5,)])
    [(2,), (1, 2)]
    """
    times = Counter(frozenset(m) for m in marginals)
    near: dict[int, list[frozenset[int]]] = defaultdict(list)
    for marginal in times:
        for attribute in marginal:
            near[attribute].append(marginal)
    found = {m for m, count in times.items() if count > 1}
    found |= {a & b for group in near.values() for a, b in itertools.combinations(group, 2)}
    new = found
    while new:
        new = {a & b for a in new for b in found} - found
        found = found | new
    return sorted((tuple(sorted(s)) for s in found if s), key=lambda s: (len(s), s))


@dataclass(frozen=True)
class Margin:
    """One table's projection on a set A of its axes, and how a change of it is spread.

    above : the axes that are summed out
    cells : g, the mean number of possible cells above a possible A-cell
    share : 1 over the number of possible cells above the same A-cell, 0 on impossible cells
    """

    above: tuple[int, ...]
    cells: float
    share: Counts

    @classmethod
    def of(
        cls,
        attributes: Attributes,
        shared: Attributes,
        shape: tuple[int, ...],
        allowed: Mask | None,
    ) -> Margin:
        """The margin on ``shared`` of a table whose axes are ``attributes``."""
        above = tuple(axis for axis, a in enumerate(attributes) if a not in shared)
        if allowed is None:
            cells = math.prod(shape[axis] for axis in above)
            return cls(above, cells, np.asarray(1 / cells))
        counts = np.count_nonzero(allowed, axis=above, keepdims=True)
        mean = float(counts[counts > 0].mean())
        return cls(above, mean, allowed / np.maximum(counts, 1))

    def project(self, table: Counts) -> Counts:
        return np.asarray(table.sum(axis=self.above))

    def move(self, table: Counts, change: Counts) -> None:
        """Change the projection by ``change``, in place, with the smallest change of cells."""
        table += np.expand_dims(change, self.above) * self.share


@dataclass(frozen=True)
class _Group:
    """The tables that contain a shared set, their margins on it, and the weights w_i."""

    tables: list[int]
    margins: list[Margin]
    weights: list[float]

    def project(self, tables: Sequence[Counts]) -> list[Counts]:
        return [m.project(tables[i]) for i, m in zip(self.tables, self.margins, strict=True)]

    def average(self, projections: list[Counts]) -> Counts:
        parts = [w * x for w, x in zip(self.weights, projections, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    def move(self, tables: Sequence[Counts], projections: list[Counts], target: Counts) -> None:
        for i, margin, projection in zip(self.tables, self.margins, projections, strict=True):
            margin.move(tables[i], target - projection)


class Agreement:
    """Which of some marginals share what, and how they come to agree.

    attributes : of each marginal, ascending: the axes of its table
    rho : budget of each marginal
    shapes : shape of each table
    allowed : masks of possible cells, ``None`` where all are.  The attribute of this name says the
        same after what one marginal rules out has been ruled out in all.

    Raises
    ------
    ValueError
        A marginal is left without a possible cell.
    """

    def __init__(
        self,
        attributes: Sequence[Attributes],
        rho: Sequence[float],
        shapes: Sequence[tuple[int, ...]],
        allowed: Sequence[Mask | None],
    ) -> None:
        self.attributes = list(attributes)
        self.shared = shared_sets(attributes)
        members = {
            shared: [i for i, a in enumerate(attributes) if set(shared) <= set(a)]
            for shared in [(), *self.shared]
        }
        self.allowed = list(allowed)
        if any(mask is not None for mask in allowed):
            self.allowed = _propagate(members, attributes, shapes, allowed)
        self._groups = {
            shared: self._group(shared, tables, rho, shapes) for shared, tables in members.items()
        }

    def apply(self, tables: Sequence[Counts], total: float) -> None:
        """One pass over all shared sets, in place; the total is set to the one given."""
        for shared, group in self._groups.items():
            projections = group.project(tables)
            target = group.average(projections) if shared else np.asarray(total)
            group.move(tables, projections, target)

    def settle(self, tables: Sequence[Counts], total: float) -> None:
        """Passes until all tables agree, in place: one, unless cells are impossible."""
        for _ in range(1 if all(mask is None for mask in self.allowed) else PASSES):
            self.apply(tables, total)
            if self.disagreement(tables) <= PRECISION * total:
                return

    def projection(
        self, tables: Sequence[Counts], shared: Attributes
    ) -> tuple[Counts, Mask | None]:
        """What tables that agree say of a shared set: its counts, and its possible cells."""
        group = self._groups[shared]
        first, margin = group.tables[0], group.margins[0]
        mask = self.allowed[first]
        possible = None if mask is None else np.asarray(mask.any(axis=margin.above))
        return margin.project(tables[first]), possible

    def disagreement(self, tables: Sequence[Counts]) -> float:
        """Largest difference between two marginals in a cell of a shared set, in counts."""
        return max(
            float(np.ptp(group.project(tables), axis=0).max()) for group in self._groups.values()
        )

    def _group(
        self,
        shared: Attributes,
        tables: list[int],
        rho: Sequence[float],
        shapes: Sequence[tuple[int, ...]],
    ) -> _Group:
        margins = [
            Margin.of(self.attributes[i], shared, shapes[i], self.allowed[i]) for i in tables
        ]
        precisions = [rho[i] / m.cells for i, m in zip(tables, margins, strict=True)]
        whole = math.fsum(precisions)
        return _Group(tables, margins, [p / whole for p in precisions])


def _propagate(
    members: dict[Attributes, list[int]],
    attributes: Sequence[Attributes],
    shapes: Sequence[tuple[int, ...]],
    allowed: Sequence[Mask | None],
) -> list[Mask | None]:
    """Rule out everywhere what one marginal rules out, until nothing changes."""
    masks = [
        np.ones(shape, dtype=bool) if mask is None else mask.copy()
        for shape, mask in zip(shapes, allowed, strict=True)
    ]
    before = -1
    while (possible := sum(int(mask.sum()) for mask in masks)) != before:
        before = possible
        for shared, tables in members.items():
            above = [Margin.of(attributes[i], shared, shapes[i], None).above for i in tables]
            open_cells = np.logical_and.reduce(
                [masks[i].any(axis=axes) for i, axes in zip(tables, above, strict=True)]
            )
            for i, axes in zip(tables, above, strict=True):
                masks[i] &= np.expand_dims(open_cells, axes)
    if not all(mask.any() for mask in masks):
        raise ValueError("the known zeros leave a marginal without any possible cell")
    return [None if mask.all() else mask for mask in masks]
