"""From noisy histograms to bins: where a column's numbers lie, and edges that share them out.

Edges are whole numbers of a column's *step* (1 for integers, 10^-d for numbers with d decimals, a
day or a second for dates), so every sum here is exact.

1. ``coarse_edges``: public buckets over the whole range, growing by powers of two (dates: years);
2. ``refine``: the buckets that hold rows beyond doubt, cut up the finer the more rows they hold;
3. ``quantile_edges``: neighbouring cells put together until each bin holds its share of the rows;
   a single value that holds as much keeps a bin of its own.

*Privacy.* Post-processing: every input is public or noisy and released.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from saddlesynth.games.privacy.columns import NoisyCounts

SURE = 4.5  # standard deviations at which a bucket holds rows beyond doubt: 3e-6 a bucket
LIKELY = 3.0  # standard deviations at which an outer cell is kept
PER_CELL = 5.0  # rows a cell should hold, in standard deviations of its noise
PER_BIN = 5.0  # rows a bin should hold, likewise
MOST_CELLS = 64  # cells that a bucket is cut into
OUTER_CELLS = 8  # cells that the first and the last bucket are cut into at least, to find the ends


def coarse_edges(bits: int) -> list[int]:
    """Buckets {0}, {1}, 2 to 3, 4 to 7, ... below 2^bits, and the same for negative numbers.

    >>> coarse_edges(2)
    [-3, -1, 0, 1, 2, 4]
    """
    powers = [2**k for k in range(bits + 1)]
    return [1 - p for p in reversed(powers[1:])] + [0] + powers


def sure_range(edges: Sequence[int], noisy: NoisyCounts) -> tuple[int, int] | None:
    """Positions (first, past the last) of the buckets that surely hold rows; None if none does.

    >>> import numpy as np
    >>> sure_range([0, 1, 2, 4, 8], NoisyCounts(np.array([2.0, 90.0, -1.0, 70.0]), 1.0))
    (1, 4)
    """
    sure = [i for i, count in enumerate(noisy.counts) if count > SURE * noisy.sigma]
    return (sure[0], sure[-1] + 1) if sure else None


def refine(edges: Sequence[int], noisy: NoisyCounts, sigma: float) -> list[int]:
    """Edges of finer cells over the buckets in between, for a histogram with this noise.

    >>> import numpy as np
    >>> refine([0, 1, 2, 4, 8], NoisyCounts(np.array([0.0, 90.0, 0.0, 70.0]), 1.0), 2.0)
    [1, 2, 4, 5, 6, 7, 8]
    """
    found = sure_range(edges, noisy)
    if found is None:
        return []
    first, past = found
    fine = [edges[first]]
    for i in range(first, past):
        low, high = edges[i], edges[i + 1]
        least = OUTER_CELLS if i in (first, past - 1) else 1
        parts = min(max(int(noisy.counts[i] / (PER_CELL * sigma)), least), MOST_CELLS)
        fine += cut(low, high, min(parts, high - low))[1:]
    return fine


def cut(low: int, high: int, parts: int) -> list[int]:
    """Edges of ``parts`` parts of [low, high), as equal as whole numbers allow."""
    return [low + (high - low) * i // parts for i in range(parts + 1)]


@dataclass(frozen=True)
class Cell:
    """Whole numbers ``low .. high - 1`` with a noisy count; ``alone`` if they must stay one bin."""

    low: int
    high: int
    count: float
    alone: bool = False

    def with_next(self, other: Cell) -> Cell:
        return Cell(self.low, other.high, self.count + other.count)


def quantile_edges(
    edges: Sequence[int], noisy: NoisyCounts, bins: int, frequent: Collection[int] = ()
) -> list[int]:
    """Edges of about ``bins`` bins that share the rows out, beside frequent values on their own.

    edges : of the cells counted, in steps
    frequent : values known to hold a bin's share of the rows; a bin of its own for each

    Outer cells that hold no rows beyond noise are dropped.

    >>> import numpy as np
    >>> counts = NoisyCounts(np.array([900.0, 30, 40, 35, 40, 1]), 3.0)
    >>> quantile_edges([0, 1, 10, 20, 30, 40, 50], counts, 2)
    [0, 1, 30, 40]
    """
    counts = noisy.counts.tolist()
    cells = [Cell(*ends, count) for ends, count in zip(pairwise(edges), counts, strict=True)]
    cells = _likely(cells, noisy.sigma)
    cells = _set_apart(cells, frequent, bins, noisy.sigma)
    rest = sum(max(cell.count, 0.0) for cell in cells if not cell.alone)
    share = max(rest / bins, PER_BIN * noisy.sigma)
    found: list[Cell] = []
    for cell in cells:
        last = found[-1] if found else None
        if last is None or last.alone or cell.alone or last.count >= share:
            found.append(cell)
        else:
            found[-1] = last.with_next(cell)
    found = _without_remnants(found, share)
    return [found[0].low, *(cell.high for cell in found)]


def _likely(cells: list[Cell], sigma: float) -> list[Cell]:
    """The cells without outer ones that hold no rows beyond noise; all if none does."""
    counts = [cell.count for cell in cells]
    first, last = _outermost(counts, sigma), _outermost(counts[::-1], sigma)
    return cells if first is None or last is None else cells[first : len(cells) - last]


def _outermost(counts: Sequence[float], sigma: float) -> int | None:
    """The first position where a count, or the sum of all up to it, is more than noise."""
    total = 0.0
    for i, count in enumerate(counts):
        total += count
        if max(count, total / math.sqrt(i + 1)) > LIKELY * sigma:
            return i
    return None


def _set_apart(cells: list[Cell], frequent: Collection[int], bins: int, sigma: float) -> list[Cell]:
    """The cells, with single values that hold a bin's share of all rows on their own."""
    share = max(sum(max(cell.count, 0.0) for cell in cells) / bins, PER_BIN * sigma)
    parts = []
    for cell in cells:
        inside = sorted(v for v in frequent if cell.low <= v < cell.high)
        if cell.high == cell.low + 1:
            parts.append(replace(cell, alone=bool(inside) or cell.count >= share))
        else:
            parts += _split(cell, inside)
    return parts


def _split(cell: Cell, values: Sequence[int]) -> list[Cell]:
    """A cell cut at single values; what each part holds is not known, so they share the count."""
    cuts = sorted({cell.low, cell.high, *values, *(v + 1 for v in values)})
    count = cell.count / (len(cuts) - 1)
    return [Cell(low, high, count, low in values) for low, high in pairwise(cuts)]


def _without_remnants(cells: list[Cell], share: float) -> list[Cell]:
    """The bins, with one that holds less than half its share joined to the one before."""
    kept: list[Cell] = []
    for cell in cells:
        if kept and not cell.alone and not kept[-1].alone and cell.count < share / 2:
            kept[-1] = kept[-1].with_next(cell)
        else:
            kept.append(cell)
    return kept
