"""Steps 2 and 8 of PrivSyn: count rare values as one, and tell them apart again at the end.

Values whose noisy 1-way count is below 3 standard deviations of the noise drown in it, and make
every table they take part in larger.  Where an attribute has two or more of them, they become one
value of a coarser domain.  Synthetic records with that value are spread over its members:

===========  ==================================================================================
``uniform``  evenly, as published
``shrunk``   in proportion to the noisy counts, shrunk to their mean by as much of their spread
             as the noise explains (James and Stein's estimator), negatives cut off
===========  ==================================================================================

Privacy.  The recoding is a function of released counts, and acts on each record alone: what is
measured on the coarser domain has the same sensitivity.

Reference: Zhang et al. (2021), "PrivSyn"; the authors' code for the uniform spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.convex.simplex import project_to_simplex
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.privsyn.rounding import Column, smallest_type, systematic_rows

Spread = Literal["shrunk", "uniform"]


@dataclass(frozen=True)
class Merge:
    """A coarser domain and the way there and back.

    maps : for each attribute, the coarse code of each value
    shares : for each attribute, each value's share of the records with its coarse code
    """

    fine: Domain
    maps: tuple[NDArray[np.intp], ...]
    shares: tuple[NDArray[np.float64], ...]

    @cached_property
    def coarse(self) -> Domain:
        """Merged values of an attribute are its last one; the others keep their order."""
        return Domain(self.fine.names, tuple(int(codes.max()) + 1 for codes in self.maps))

    @property
    def merged_values(self) -> int:
        """How many values were merged into others."""
        sizes = zip(self.fine.sizes, self.coarse.sizes, strict=True)
        return sum(fine - coarse + 1 for fine, coarse in sizes if fine > coarse)

    def undo(self, attributes: Sequence[int]) -> Merge:
        """The same without merging in these attributes."""
        maps, shares = list(self.maps), list(self.shares)
        for a in attributes:
            maps[a] = np.arange(self.fine.sizes[a], dtype=np.intp)
            shares[a] = np.ones(self.fine.sizes[a])
        return Merge(self.fine, tuple(maps), tuple(shares))

    def coarsen(self, measured: Measurement) -> Measurement:
        """A 1-way marginal on the coarse domain.

        A merged cell has the noise of all its members.  One measurement has one rho, so it is
        lowered to that of the mean variance; consistency then trusts the table as it should.
        """
        (attribute,) = measured.attributes
        codes = self.maps[attribute]
        counts = np.bincount(codes, weights=measured.counts).astype(np.float64)
        return replace(measured, counts=counts, rho=measured.rho * len(counts) / len(codes))

    def expand(self, measured: Measurement) -> Measurement:
        """A marginal on the fine domain: merged cells are divided by their members' shares.

        Of a 1-way marginal it has the rho that ``coarsen`` took.
        """
        counts, rho = measured.counts, measured.rho
        for axis, a in enumerate(measured.attributes):
            shape = [-1 if i == axis else 1 for i in range(counts.ndim)]
            counts = counts.take(self.maps[a], axis=axis) * self.shares[a].reshape(shape)
        if counts.ndim == 1:
            rho *= counts.size / measured.counts.size
        return replace(measured, counts=counts, rho=rho)

    def coarse_mask(self, attributes: Sequence[int], fine: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Coarse cells all of whose fine cells are set."""
        mask = np.ones(self.coarse.shape(attributes), dtype=bool)
        np.logical_and.at(mask, np.ix_(*[self.maps[a] for a in attributes]), fine)
        return mask

    def spread(self, pool: Sequence[Column], generator: np.random.Generator) -> list[Column]:
        """The columns of a pool on the fine domain."""
        return [
            _spread(column, codes, shares, generator)
            for column, codes, shares in zip(pool, self.maps, self.shares, strict=True)
        ]


def merge_rare(
    domain: Domain,
    one_way: Sequence[Measurement],
    *,
    threshold: float = 3.0,
    spread: Spread = "shrunk",
) -> Merge:
    """Merge the values with noisy counts below ``threshold`` standard deviations of the noise.

    one_way : a noisy 1-way marginal of each attribute, in order
    threshold : 0 or less merges nothing

    >>> noisy = Measurement((0,), np.array([900.0, 12.0, 500.0, -4.0]), 10.0, 0.005)
    >>> merge = merge_rare(Domain(("job",), (4,)), [noisy])
    >>> merge.maps[0], merge.coarse.sizes, merge.merged_values
    (array([0, 2, 1, 2]), (3,), 2)
    """
    parts = [_merge_one(m, threshold, spread) for m in one_way]
    return Merge(domain, tuple(codes for codes, _ in parts), tuple(shares for _, shares in parts))


def _merge_one(
    measured: Measurement, threshold: float, spread: Spread
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    size = len(measured.counts)
    rare = (measured.counts < threshold * measured.sigma) & (threshold > 0)
    if np.count_nonzero(rare) < 2:
        return np.arange(size, dtype=np.intp), np.ones(size)
    codes = np.cumsum(~rare) - 1
    codes[rare] = np.count_nonzero(~rare)
    shares = np.ones(size)
    shares[rare] = _shares(measured.counts[rare], measured.sigma, spread)
    return codes.astype(np.intp), shares


def _shares(counts: NDArray[np.float64], sigma: float, spread: Spread) -> NDArray[np.float64]:
    """How a merged value's records are divided over its members; sums to 1."""
    mean, variance = counts.mean(), counts.var()
    if spread == "uniform" or mean <= 0 or variance <= sigma**2:
        return np.full(len(counts), 1 / len(counts))
    signal = 1 - sigma**2 / variance
    return project_to_simplex((mean + signal * (counts - mean)) / counts.sum())


def _spread(
    column: Column,
    codes: NDArray[np.intp],
    shares: NDArray[np.float64],
    generator: np.random.Generator,
) -> Column:
    """Fine codes for coarse ones; only the last coarse code may have several members."""
    first = np.unique(codes, return_index=True)[1].astype(smallest_type(len(codes)))
    fine = first[column]
    merged = codes.max()
    members = np.flatnonzero(codes == merged)
    if len(members) > 1:
        rows = generator.permutation(np.flatnonzero(column == merged))
        counts = systematic_rows(shares[members][None, :], np.array([len(rows)]), generator)
        fine[rows] = np.repeat(members, counts[0])
    return fine
