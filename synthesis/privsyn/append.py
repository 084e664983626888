"""Take easy attributes out before GUM and append them after it; split what is not connected.

An attribute that only one marginal speaks about needs no iteration: given the marginal's other
attributes, it follows the marginal's conditional distribution.  So:

1. while some attribute is in exactly one marginal (of two attributes or more): strip it, and
   shrink that marginal to its other attributes (it is dropped when one attribute is left, or when
   another marginal contains it);
2. run GUM on what is left, on each connected component by itself;
3. append the stripped attributes, the last one first.

A forest of pairs is stripped down to one attribute a tree, and is then met exactly, up to rounding.

Privacy.  Post-processing.

Reference: Zhang et al. (2021), "PrivSyn", section 5.3 (attribute appending, separate and join).
Differs from the paper: not only pairs are stripped, and conditional counts are rounded at random,
in the mean exact, so that groups of few records are not pulled to the most frequent value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.privsyn.rounding import Column, smallest_type, systematic_rows


@dataclass(frozen=True)
class Stripped:
    """An attribute to be appended: it follows ``given`` in the marginal with this index."""

    attribute: int
    given: Attributes
    marginal: int


@dataclass(frozen=True)
class Core:
    """What is left for GUM: the index of a marginal, and which of its attributes are left."""

    marginals: tuple[tuple[int, Attributes], ...]
    stripped: tuple[Stripped, ...]


def strip(marginals: Sequence[Attributes]) -> Core:
    """Step 1: strip attributes until all are in two marginals, or in none.

    >>> strip([(0, 1), (1, 2)]).stripped
    (Stripped(attribute=0, given=(1,), marginal=0), Stripped(attribute=1, given=(2,), marginal=1))
    >>> strip([(0, 1), (1, 2), (0, 2), (2, 3)]).marginals
    ((0, (0, 1)), (1, (1, 2)), (2, (0, 2)))
    """
    left = {i: m for i, m in enumerate(marginals) if len(m) > 1}
    stripped: list[Stripped] = []
    while (place := _alone(left)) is not None:
        attribute, marginal = place
        given = tuple(a for a in left[marginal] if a != attribute)
        stripped.append(Stripped(attribute, given, marginal))
        left[marginal] = given
        others = (set(m) for i, m in left.items() if i != marginal)
        if len(given) == 1 or any(set(given) <= other for other in others):
            del left[marginal]
    return Core(tuple(left.items()), tuple(stripped))


def _alone(marginals: dict[int, Attributes]) -> tuple[int, int] | None:
    """The first attribute that is in exactly one marginal, and that marginal."""
    holders: dict[int, list[int]] = {}
    for i, attributes in marginals.items():
        for a in attributes:
            holders.setdefault(a, []).append(i)
    return min(((a, held[0]) for a, held in holders.items() if len(held) == 1), default=None)


def components(marginals: Iterable[Attributes]) -> list[set[int]]:
    """Attributes that marginals connect, directly or by others; ascending by smallest attribute.

    >>> components([(0, 1), (2, 3), (1, 4)])
    [{0, 1, 4}, {2, 3}]
    """
    groups: list[set[int]] = []
    for attributes in marginals:
        touched = [group for group in groups if group & set(attributes)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(attributes).union(*touched))
    return sorted(groups, key=min)


def append(
    pool: list[Column],
    step: Stripped,
    table: NDArray[np.float64],
    generator: np.random.Generator,
) -> None:
    """Step 3: draw one attribute of the pool anew, given others, in place.

    table : non-negative counts with the given attributes first and this one last

    Where the table has no records for the given values, the attribute's own distribution is used.
    """
    values = table.shape[-1]
    rows = table.reshape(-1, values)
    shares = np.where(rows.sum(axis=1, keepdims=True) > 0, rows, rows.sum(axis=0))
    shares = shares / shares.sum(axis=1, keepdims=True)
    groups = np.ravel_multi_index(tuple(pool[a] for a in step.given), table.shape[:-1])
    sizes = np.bincount(groups, minlength=len(rows))
    counts = systematic_rows(shares, sizes, generator)
    order = generator.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    codes = np.tile(np.arange(values, dtype=smallest_type(values)), len(rows))
    drawn = np.empty(len(groups), dtype=codes.dtype)
    drawn[order] = np.repeat(codes, counts.ravel())
    pool[step.attribute] = drawn
