"""Records with the cell that each falls into in every measured marginal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """The cells of several marginals, laid end to end in one vector.

    >>> Cells(Domain(("a", "b"), (2, 3)), ((0,), (0, 1))).offsets
    array([0, 2, 8])
    """

    domain: Domain
    marginals: tuple[Attributes, ...]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Start of each marginal's cells, and the number of all cells at the end."""
        return np.cumsum([0, *(self.domain.cells(m) for m in self.marginals)])

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def of(self, records: NDArray[np.integer]) -> NDArray[np.int32]:
        """The cell of each record in each marginal; (N, d) codes to (N, marginals) positions."""
        columns = [records[:, a].astype(np.int32) for a in range(records.shape[1])]
        cells = np.empty((len(records), len(self.marginals)), dtype=np.int32)
        for i, attributes in enumerate(self.marginals):
            position = np.zeros(len(records), dtype=np.int32)
            for a in attributes:
                position *= np.int32(self.domain.sizes[a])
                position += columns[a]
            cells[:, i] = position + np.int32(self.offsets[i])
        return cells

    def split(self, values: Floats) -> list[Floats]:
        """One table a marginal, shaped by the domain."""
        return [
            values[start:stop].reshape(self.domain.shape(attributes))
            for attributes, start, stop in zip(
                self.marginals, self.offsets[:-1], self.offsets[1:], strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class Pool:
    """N records (N, d), and the sparse 0/1 matrix from records to the cells they fall into."""

    cells: Cells
    records: NDArray[np.integer]

    @cached_property
    def _incidence(self) -> Any:
        from scipy.sparse import csr_matrix

        count, marginals = len(self.records), len(self.cells.marginals)
        starts = np.arange(0, count * marginals + 1, max(marginals, 1), dtype=np.int64)
        columns = self.cells.of(self.records).ravel()
        shape = (count, len(self.cells))
        return csr_matrix((np.ones(len(columns)), columns, starts[: count + 1]), shape=shape)

    @cached_property
    def sizes(self) -> Floats:
        """Number of records in each cell; (cells,)."""
        return self.marginals(np.ones(len(self.records)))

    def marginals(self, weights: Floats) -> Floats:
        """All marginals of the weighted records, end to end; (cells,)."""
        return np.asarray(self._incidence.T @ weights, dtype=np.float64)

    def scores(self, values: Floats) -> Floats:
        """For each record, the sum of the values of its cells; (N,)."""
        return np.asarray(self._incidence @ values, dtype=np.float64)

    def products(self, other: Pool, weights: Floats) -> Floats:
        """Sum of ``weights`` over the cells that two records share, for all pairs of records."""
        scaled = self._incidence.multiply(weights[None, :]).tocsr()
        return np.asarray((scaled @ other._incidence.T).toarray(), dtype=np.float64)

    def valid(self, impossible: Sequence[Mapping[int, int]]) -> NDArray[np.bool_]:
        """Which records contain no impossible combination."""
        valid = np.ones(len(self.records), dtype=np.bool_)
        for rule in impossible:
            broken = np.ones(len(self.records), dtype=np.bool_)
            for attribute, code in rule.items():
                broken &= self.records[:, attribute] == code
            valid &= ~broken
        return valid
