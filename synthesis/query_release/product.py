"""The model that MWEM, PMW and SmallDB leave: independent groups of attributes, each a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.histogram import Part, marginal_of
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.model import block_sizes


@dataclass(frozen=True, eq=False)
class ProductModel:
    """A product of distributions on groups of attributes; every attribute is in one group.

    ``sample`` draws each group by systematic resampling, in an order of its own, so that a group's
    table survives as well as whole numbers allow.

    >>> half = Part((0,), np.array([0.5, 0.5]))
    >>> model = ProductModel(Domain(("a",), (2,)), (half,))
    >>> sorted(next(model.sample(4, np.random.default_rng(0))).ravel().tolist())
    [0, 0, 1, 1]
    """

    kind: ClassVar[str] = "product"
    domain: Domain
    parts: tuple[Part, ...]

    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        sums = [np.cumsum(part.table.ravel()) for part in self.parts]
        for size in block_sizes(rows):
            records = np.empty((size, len(self.domain)), dtype=np.intp)
            for part, cumulative in zip(self.parts, sums, strict=True):
                points = (np.arange(size) + generator.random()) / size * cumulative[-1]
                cells = np.searchsorted(cumulative, points, side="right")
                cells = np.minimum(generator.permutation(cells), len(cumulative) - 1)
                codes = np.unravel_index(cells, part.table.shape)
                for attribute, code in zip(part.attributes, codes, strict=True):
                    records[:, attribute] = code
            yield records

    def marginal(self, attributes: Attributes) -> NDArray[np.float64]:
        return marginal_of(self.parts, attributes)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for i, part in enumerate(self.parts):
            arrays[f"attributes{i}"] = np.array(part.attributes, dtype=np.int64)
            arrays[f"table{i}"] = part.table
        return arrays

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self:
        parts = tuple(
            Part(tuple(int(a) for a in arrays[f"attributes{i}"]), arrays[f"table{i}"])
            for i in range(len(arrays) // 2)
        )
        return cls(domain, parts)
