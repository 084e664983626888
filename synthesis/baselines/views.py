"""Any marginal from a few views, by maximum entropy.

A marginal inside a view is a sum of its cells.  Of the others the views only tell some margins:
what they say on each view's share of its attributes.  Among all tables with these margins the one
of largest entropy is taken, found by iterative proportional fitting (IPF): start uniform and scale
to one margin after the other until all hold.

Privacy.  Post-processing.

Reference: Qardaji, Yang, Li (2014), "PriView", section 5; Deming and Stephan (1940) for IPF.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.model import RecordModel

Table = NDArray[np.float64]
MAX_CELLS = 10_000_000  # of a marginal; larger ones are read off the pool
SWEEPS, TOLERANCE = 100, 1e-6


def maximum_entropy(
    attributes: Attributes, margins: Sequence[tuple[Attributes, Table]], domain: Domain
) -> Table:
    """The distribution of largest entropy with these margins (as far as they agree).

    margins : subsets of ``attributes``, both ascending, with fractions that sum to 1

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> one = np.array([0.25, 0.75])
    >>> maximum_entropy((0, 1), [((0,), one), ((1,), one)], domain)
    array([[0.0625, 0.1875],
           [0.1875, 0.5625]])
    """
    table = np.full(domain.shape(attributes), 1 / domain.cells(attributes))
    for _ in range(SWEEPS):
        furthest = 0.0
        for own, wanted in margins:
            others = tuple(i for i, a in enumerate(attributes) if a not in own)
            held = table.sum(axis=others)
            furthest = max(furthest, float(np.abs(held - wanted).sum()))
            factor = np.divide(wanted, held, out=np.zeros_like(wanted), where=held > 0)
            table *= np.expand_dims(factor, others)
        if furthest <= TOLERANCE:
            break
    return np.asarray(table / table.sum())


@dataclass(frozen=True)
class ViewsModel:
    """Consistent views, which answer marginals, and a pool of records, which makes rows.

    ``views`` hold fractions that sum to 1, on ascending attributes.
    """

    kind: ClassVar[str] = "views"
    domain: Domain
    views: tuple[tuple[Attributes, Table], ...]
    pool: RecordModel

    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        return self.pool.sample(rows, generator)

    def marginal(self, attributes: Attributes) -> Table:
        if self.domain.cells(attributes) > MAX_CELLS:
            return self.pool.marginal(attributes)
        ascending = tuple(sorted(attributes))
        table = maximum_entropy(ascending, self._margins(ascending), self.domain)
        return table.transpose([ascending.index(a) for a in attributes])

    def _margins(self, attributes: Attributes) -> list[tuple[Attributes, Table]]:
        """What the views say on their shares of these attributes, larger shares only once."""
        found: dict[Attributes, Table] = {}
        for view, table in self.views:
            own = tuple(a for a in view if a in attributes)
            others = tuple(i for i, a in enumerate(view) if a not in attributes)
            found.setdefault(own, table.sum(axis=others))
        return [
            (own, table)
            for own, table in found.items()
            if not any(set(own) < set(other) for other in found)
        ]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {f"pool_{name}": array for name, array in self.pool.to_arrays().items()}
        for i, (view, table) in enumerate(self.views):
            arrays[f"view{i}_attributes"] = np.array(view, dtype=np.int64)
            arrays[f"view{i}_table"] = table
        return arrays

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self:
        pool = {k.removeprefix("pool_"): v for k, v in arrays.items() if k.startswith("pool_")}
        count = sum(name.endswith("_table") for name in arrays)
        views = tuple(
            (tuple(int(a) for a in arrays[f"view{i}_attributes"]), arrays[f"view{i}_table"])
            for i in range(count)
        )
        return cls(domain, views, RecordModel.from_arrays(domain, pool))
