"""The best-response problem that every oracle solves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import Conjunctions


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximise, over records x (one value per attribute),

        sum_j weights[j] * [query j is true on x]  -  <perturbation, onehot(x)>

    subject to: no combination in ``impossible`` occurs in x.  The perturbation comes later, with
    ``best_response``, since a round of a game solves one problem under many perturbations.

    Parameters
    ----------
    domain
        Attributes and their sizes.
    queries
        m conjunctions, some of them negated.
    weights : (m,) float
        Finite, of any sign.
    impossible
        Combinations {attribute position: code} that no record may contain (structural zeros).

    *Privacy.* Public inputs only; any answer is post-processing.

    Raises
    ------
    ValueError
        A weight is not finite, or a query or combination does not fit the domain.

    >>> domain = Domain(("color", "size"), (2, 2))
    >>> problem = Problem(domain, Conjunctions.of([{0: 0, 1: 0}]), [1.0])
    >>> problem.value(np.array([[0, 0], [1, 0]]), np.array([0.5, 0.0, 0.25, 0.0]))
    array([ 0.25, -0.25])
    """

    domain: Domain
    queries: Conjunctions
    weights: NDArray[np.float64]
    impossible: tuple[Mapping[int, int], ...] = field(default=())

    def __init__(
        self,
        domain: Domain,
        queries: Conjunctions,
        weights: ArrayLike,
        impossible: Sequence[Mapping[int, int]] = (),
    ) -> None:
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (len(queries),):
            raise ValueError(f"weights has shape {values.shape}; expected ({len(queries)},)")
        if not np.isfinite(values).all():
            raise ValueError("weights must be finite")
        if len(domain) == 0:
            raise ValueError("the domain has no attributes; a record needs at least one")
        queries.check(domain)
        combinations = tuple(dict(c) for c in impossible)
        if any(not c for c in combinations):
            raise ValueError("an impossible combination is empty; it would forbid every record")
        Conjunctions.of(combinations).check(domain)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "queries", queries)
        object.__setattr__(self, "weights", values)
        object.__setattr__(self, "impossible", combinations)

    @cached_property
    def forbidden(self) -> Conjunctions:
        """The impossible combinations as conjunctions."""
        return Conjunctions.of(self.impossible)

    def value(
        self, records: NDArray[np.integer], perturbation: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The objective on each record, (r,); says nothing about impossible combinations."""
        records = np.atleast_2d(records)
        costs = perturbation[self.domain.offsets[:-1] + records].sum(axis=1)
        result: NDArray[np.float64] = self.queries.evaluate(records) @ self.weights - costs
        return result

    def allowed(self, records: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which records have every code in range and contain no impossible combination, (r,)."""
        records = np.atleast_2d(records)
        inside = ((records >= 0) & (records < np.asarray(self.domain.sizes))).all(axis=1)
        return np.asarray(inside & ~self.forbidden.evaluate(records).any(axis=1))

    def check_perturbations(self, perturbations: ArrayLike) -> NDArray[np.float64]:
        """As an (s, width) float array; ``ValueError`` on another shape or a value not finite."""
        values = np.array(perturbations, dtype=np.float64, ndmin=2)
        if values.ndim != 2 or values.shape[1] != self.domain.width:
            raise ValueError(
                f"perturbation has shape {values.shape}; expected (s, {self.domain.width}), "
                "one entry per attribute value"
            )
        if not np.isfinite(values).all():
            raise ValueError("perturbation must be finite")
        return values
