"""Bins of ordered values: from numbers to codes, and from codes to numbers in the bin.

Edges are a function of the schema alone, computed in exact fractions, so they are the same on every
machine.  Bin i holds ``edges[i] <= x < edges[i+1]``; the last holds its upper edge too.  Numbers
beyond the ends are moved to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

DEFAULT_BINS = 32
FEW_VALUES = 100  # integers with no more values than this get one bin each
TABLE_SPAN = 1 << 16  # integers over no more than this are looked up in a table

Codes = NDArray[np.integer]


def equal_steps(low: float, high: float, count: int) -> list[Fraction]:
    """``count + 1`` exact, equally spaced numbers from ``low`` to ``high``."""
    start, width = Fraction(low), Fraction(high) - Fraction(low)
    return [start + width * i / count for i in range(count + 1)]


@dataclass(frozen=True)
class IntegerBins:
    """Bins of whole numbers: bin i holds ``first[i] .. last[i]``, both included.

    >>> bins = IntegerBins.equal(0, 9, 3)
    >>> bins.first.tolist(), bins.last.tolist()
    ([0, 4, 7], [3, 6, 9])
    >>> bins.encode(np.array([-5, 3, 4, 99])).tolist()
    [0, 0, 1, 2]
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def equal(cls, low: int, high: int, count: int | None) -> IntegerBins:
        """About equally many whole numbers a bin; never more bins than numbers."""
        values = high - low + 1
        if count is None:
            count = values if values <= FEW_VALUES else DEFAULT_BINS
        count = min(count, values)
        # ceil: bin i starts at the first whole number that is not below its exact edge
        starts = [low - (-i * values // count) for i in range(count)]
        return cls.from_edges([*starts, high])

    @classmethod
    def from_edges(cls, edges: list[int]) -> IntegerBins:
        """Bins between edges; the last edge belongs to the last bin."""
        first = np.array(edges[:-1] if len(edges) > 1 else edges, dtype=np.int64)
        last = np.append(first[1:] - 1, edges[-1])
        return cls(first, last)

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        low, high = int(self.first[0]), int(self.last[-1])
        if high - low >= TABLE_SPAN:
            return None
        return np.repeat(np.arange(len(self), dtype=np.int32), self.last - self.first + 1)

    def encode(self, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """The bin of each number."""
        inside = np.clip(values, self.first[0], self.last[-1])
        if self._table is not None:
            return np.asarray(self._table[inside - self.first[0]])
        return (np.searchsorted(self.first, inside, side="right") - 1).astype(np.int32)

    def decode(self, codes: Codes, generator: np.random.Generator) -> NDArray[np.int64]:
        """A number drawn uniformly from each bin."""
        if (self.first == self.last).all():
            return self.first[codes]
        drawn = generator.integers(self.first[codes], self.last[codes], endpoint=True)
        return np.asarray(drawn, dtype=np.int64)


@dataclass(frozen=True)
class FloatBins:
    """Bins of real numbers between ``edges``; with ``decimals``, of multiples of 10**-decimals.

    >>> bins = FloatBins(np.array([0.0, 0.5, 1.0]), decimals=1)
    >>> bins.encode(np.array([0.49, 0.5, 1.0])).tolist()
    [0, 1, 1]
    >>> sorted(set(bins.decode(np.zeros(99, dtype=int), np.random.default_rng(0)).tolist()))
    [0.0, 0.1, 0.2, 0.3, 0.4]

    Raises
    ------
    ValueError
        A bin holds no number with that many decimals, or they do not fit in 64 bits.
    """

    edges: NDArray[np.float64]
    decimals: int | None = None

    def __post_init__(self) -> None:
        if self.decimals is not None:
            empty = np.flatnonzero(self._grid.first > self._grid.last)
            if len(empty):
                low, high = self.edges[empty[0]], self.edges[empty[0] + 1]
                raise ValueError(
                    f"the bin from {low:g} to {high:g} holds no number with {self.decimals} "
                    "decimals; use fewer bins or more decimals"
                )

    def __len__(self) -> int:
        return len(self.edges) - 1

    @classmethod
    def equal(
        cls, low: float, high: float, count: int | None, decimals: int | None = None
    ) -> FloatBins:
        """Bins of equal width; fewer only if there are not as many floats in the range.

        The default number is so small that each bin holds a number with these decimals.
        """
        if count is None:
            width = Fraction(high) - Fraction(low)
            numbers = DEFAULT_BINS if decimals is None else math.floor(width * 10**decimals)
            count = max(1, min(DEFAULT_BINS, numbers))
        steps = equal_steps(low, high, count)
        return cls(np.unique([float(step) for step in steps]), decimals)

    @cached_property
    def _grid(self) -> IntegerBins:
        """The multiples of 10**-decimals that each bin holds."""
        starts = [self._first_multiple(edge) for edge in self.edges.tolist()]
        if max(-starts[0], starts[-1]) >= 2**63:
            raise ValueError(f"{self.decimals} decimals are too many for so wide a range")
        top = starts[-1]
        if top / self._scale > self.edges[-1]:
            top -= 1
        first = np.array(starts[:-1], dtype=np.int64)
        return IntegerBins(first, np.append(first[1:] - 1, top))

    @property
    def _scale(self) -> int:
        return int(10 ** (self.decimals or 0))

    def _first_multiple(self, edge: float) -> int:
        """The smallest k with k / 10**decimals >= edge, compared as the floats that users see."""
        k: int = math.floor(Fraction(edge) * self._scale) - 1
        while k / self._scale < edge:
            k += 1
        return k

    def encode(self, values: NDArray[np.float64]) -> NDArray[np.int32]:
        """The bin of each number."""
        found = np.searchsorted(self.edges, values, side="right") - 1
        return np.clip(found, 0, len(self) - 1).astype(np.int32)

    def decode(self, codes: Codes, generator: np.random.Generator) -> NDArray[np.float64]:
        """A number drawn uniformly from each bin."""
        if self.decimals is not None:
            return self.decode_multiples(codes, generator) / float(self._scale)
        low, high = self.edges[codes], self.edges[codes + 1]
        drawn = low + (high - low) * generator.random(len(codes))
        return np.minimum(drawn, np.nextafter(high, -np.inf))

    def decode_multiples(self, codes: Codes, generator: np.random.Generator) -> NDArray[np.int64]:
        """The same as whole multiples of 10**-decimals, which print without rounding."""
        return self._grid.decode(codes, generator)
