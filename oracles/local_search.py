"""Local search: many restarts of coordinate ascent at once.  An incumbent, never a proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.reduce import Bools, Floats, Ints, Reduced

SWEEPS = 50  # passes over the attributes; a dozen is usual


def local_search(
    task: Reduced, generator: np.random.Generator, restarts: int = 200, hint: Ints | None = None
) -> Ints:
    """Columns of a record that no change of one attribute improves, (f,).

    1. Start: the cheapest record; the hint; then records that make one or another rewarded query
       true and are elsewhere cheapest (half of them) or random.
    2. Attribute by attribute: compute the value of each of its candidates given the rest, move to
       the best if that is an improvement.  Repeat until no restart moves.
    3. Return the best of all restarts.

    An impossible combination counts as a penalty larger than anything else can gain; the caller
    checks whether one is left.
    """
    penalty = 2 * (np.abs(task.weights).sum() + np.ptp(task.cost) * len(task.free)) + 1
    k = max(task.literals.shape[1], task.forbidden.shape[1])
    literals = np.concatenate([_widen(r, k, task.columns) for r in (task.literals, task.forbidden)])
    weights = np.concatenate([task.weights, np.full(len(task.forbidden), -penalty)])
    chosen = _starts(task, generator, restarts, hint)
    holds = _one_hot(chosen, task.columns)
    missing = (~holds[:, literals]).sum(axis=2, dtype=np.int16)  # false literals, (restarts, rows)
    blocks = [_Block.of(task, literals, weights, a) for a in range(len(task.free))]
    for _ in range(SWEEPS):
        moved = False
        for a in generator.permutation(len(blocks)):
            moved |= blocks[a].improve(chosen, holds, missing)
        if not moved:
            break
    values = (missing == 0) @ weights - task.cost[chosen].sum(axis=1)
    best: Ints = chosen[np.argmax(values)]
    return best


@dataclass(frozen=True, eq=False)
class _Block:
    """One attribute's columns and the rows that mention them."""

    axis: int
    start: int
    cost: Floats
    rows: Ints  # rows of literals that contain a column of this attribute
    column: Ints  # which column that is
    reward: Floats  # (rows, candidates): the row's weight in the place of its column

    @classmethod
    def of(cls, task: Reduced, literals: Ints, weights: Floats, axis: int) -> _Block:
        start, stop = task.starts[axis], task.starts[axis + 1]
        rows, slot = np.nonzero((literals >= start) & (literals < stop))
        column = literals[rows, slot]
        reward = np.zeros((len(rows), stop - start))
        reward[np.arange(len(rows)), column - start] = weights[rows]
        return cls(axis, int(start), task.cost[start:stop], rows, column, reward)

    def improve(self, chosen: Ints, holds: Bools, missing: NDArray[np.int16]) -> bool:
        """Move every restart to its best candidate, in place; say whether any moved."""
        others = missing[:, self.rows] - ~holds[:, self.column]  # false literals elsewhere
        value = (others == 0) @ self.reward - self.cost
        now = chosen[:, self.axis] - self.start
        best = np.argmax(value, axis=1)
        restart = np.arange(len(chosen))
        better = value[restart, best] > value[restart, now] + 1e-12 * np.abs(value[restart, now])
        if not better.any():
            return False
        new = np.where(better, best, now) + self.start
        holds[restart, chosen[:, self.axis]] = False
        holds[restart, new] = True
        chosen[:, self.axis] = new
        missing[:, self.rows] = others + ~holds[:, self.column]
        return True


def _starts(
    task: Reduced, generator: np.random.Generator, restarts: int, hint: Ints | None
) -> Ints:
    """Starting records as columns, (restarts, f)."""
    bounds = list(zip(task.starts[:-1], task.starts[1:], strict=True))
    cheapest = np.array([a + np.argmin(task.cost[a:b]) for a, b in bounds], dtype=np.intp)
    chosen = np.tile(cheapest, (restarts, 1))
    half = restarts // 2
    for axis, (a, b) in enumerate(bounds):
        chosen[half:, axis] = generator.integers(a, b, size=restarts - half)
    rewarded = task.literals[task.weights > 0]
    if len(rewarded):
        axis_of = np.repeat(np.arange(len(task.free)), task.shape)
        picks = rewarded[generator.integers(len(rewarded), size=restarts - 1)]
        for j in range(picks.shape[1]):
            present = np.flatnonzero(picks[:, j] < task.columns)
            chosen[1 + present, axis_of[picks[present, j]]] = picks[present, j]
    if hint is not None:
        chosen[-1] = hint
    return chosen


def _one_hot(chosen: Ints, columns: int) -> Bools:
    """(restarts, columns + 1); the filler column always holds."""
    holds = np.zeros((len(chosen), columns + 1), dtype=bool)
    np.put_along_axis(holds, chosen, True, axis=1)
    holds[:, columns] = True
    return holds


def _widen(rows: Ints, k: int, filler: int) -> Ints:
    """The rows filled up to k columns."""
    return np.pad(rows, ((0, 0), (0, k - rows.shape[1])), constant_values=filler)
