"""The public domain of a table: attribute names and how many values each has.

A *record* is a row of integer codes, one per attribute, ``0 <= code < size``.  Everything here is
public by definition; nothing is ever learnt from data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Attributes = tuple[int, ...]  # positions in a Domain, in the order of the marginal's axes


@dataclass(frozen=True)
class Domain:
    """Attribute names with the number of values of each.

    >>> domain = Domain(("color", "size"), (3, 2))
    >>> domain.cells((0, 1))
    6
    >>> domain.positions(["size"])
    (1,)

    Raises
    ------
    ValueError
        Names are not distinct, lengths differ, or a size is below 1.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes):
            raise ValueError(f"{len(self.names)} names but {len(self.sizes)} sizes")
        if len(set(self.names)) != len(self.names):
            raise ValueError("attribute names must be distinct")
        for name, size in zip(self.names, self.sizes, strict=True):
            if size < 1:
                raise ValueError(f"attribute {name!r} has {size} values; at least 1 is needed")

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Start of each attribute's block in a one-hot vector, and the total at the end; (d+1,)."""
        return np.concatenate([[0], np.cumsum(np.asarray(self.sizes, dtype=np.int64))])

    @property
    def width(self) -> int:
        """Length of a record's one-hot encoding."""
        return int(self.offsets[-1])

    def shape(self, attributes: Sequence[int]) -> tuple[int, ...]:
        """Sizes of the attributes, in the order given."""
        return tuple(self.sizes[a] for a in attributes)

    def cells(self, attributes: Sequence[int]) -> int:
        """Number of cells of the marginal on these attributes (an exact Python int)."""
        return math.prod(self.shape(attributes))

    def positions(self, names: Iterable[str]) -> Attributes:
        """Positions of named attributes; ``ValueError`` names the first unknown one."""
        index = {name: i for i, name in enumerate(self.names)}
        result = []
        for name in names:
            if name not in index:
                raise ValueError(f"unknown attribute {name!r}; the table has {list(self.names)}")
            result.append(index[name])
        return tuple(result)
