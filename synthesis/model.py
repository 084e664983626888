"""What a method leaves behind after fitting: something that makes records, without private data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain

BLOCK = 65_536  # rows made at a time, so that any number of rows needs bounded memory


class Model(Protocol):
    """A distribution over records that can be sampled, projected, saved and loaded."""

    kind: ClassVar[str]

    @property
    def domain(self) -> Domain: ...

    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        """Blocks of codes, each (at most BLOCK, d), that add up to ``rows`` rows."""
        ...

    def marginal(self, attributes: Attributes) -> NDArray[np.float64]:
        """The model's marginal as fractions that sum to 1, shaped ``domain.shape(attributes)``."""
        ...

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Plain arrays that say everything; no pickling."""
        ...

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self: ...


@dataclass(frozen=True)
class RecordModel:
    """A finite pool of records, each with equal weight or a weight of its own.

    ``sample(n)`` uses every record ``n // N`` times and draws the rest without replacement, so that
    the pool's marginals survive; with weights, by systematic resampling.

    >>> pool = RecordModel(Domain(("a",), (2,)), np.array([[0], [0], [1], [1]]))
    >>> pool.marginal((0,))
    array([0.5, 0.5])
    >>> sum(len(b) for b in pool.sample(10, np.random.default_rng(0)))
    10
    """

    kind: ClassVar[str] = "records"
    domain: Domain
    records: NDArray[np.integer]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.records.ndim != 2 or self.records.shape[1] != len(self.domain):
            raise ValueError(f"records are {self.records.shape}, not (N, {len(self.domain)})")
        if not len(self.records):
            raise ValueError("a pool needs at least one record")

    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        if self.weights is None:
            yield from self._repeat(rows, generator)
        else:
            yield from self._systematic(rows, generator)

    def _repeat(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        left = rows
        while left > 0:
            order = generator.permutation(len(self.records))[:left]
            for start in range(0, len(order), BLOCK):
                yield self.records[order[start : start + BLOCK]]
            left -= len(order)

    def _systematic(
        self, rows: int, generator: np.random.Generator
    ) -> Iterator[NDArray[np.integer]]:
        assert self.weights is not None
        cumulative = np.cumsum(self.weights / self.weights.sum())
        for size in block_sizes(rows):
            points = (np.arange(size) + generator.random()) / size
            picked = np.minimum(np.searchsorted(cumulative, points), len(cumulative) - 1)
            yield self.records[generator.permutation(picked)]

    def marginal(self, attributes: Attributes) -> NDArray[np.float64]:
        shape = self.domain.shape(attributes)
        if not attributes:
            return np.ones(())
        flat = np.ravel_multi_index(tuple(self.records[:, a] for a in attributes), shape)
        table = np.bincount(flat, weights=self.weights, minlength=self.domain.cells(attributes))
        return np.asarray(table / table.sum(), dtype=np.float64).reshape(shape)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"records": self.records}
        if self.weights is not None:
            arrays["weights"] = self.weights
        return arrays

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self:
        return cls(domain, arrays["records"], arrays.get("weights"))


def block_sizes(rows: int) -> Iterator[int]:
    """Sizes of at most BLOCK that add up to ``rows``."""
    for start in range(0, rows, BLOCK):
        yield min(BLOCK, rows - start)


@dataclass(frozen=True)
class Fit:
    """All that a method hands over after fitting; everything in it may be published.

    ``rows`` is the (private or public) estimate of the number of rows; ``measured`` are the noisy
    marginals *after* consistency, with the noise's standard deviation before it, in counts;
    ``facts`` are short figures for the manifest and the report (what was selected, solver counts).
    """

    model: Model
    rows: float
    measured: tuple[Measurement, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
