"""Pricing: the record of the whole domain that a gradient likes best, and a bound on it.

The extreme points of the marginal polytope are the records' own marginals, 0/1 vectors.  A linear
function of marginals is therefore smallest at a record; finding it is the data player's best
response, an integer program, so an oracle answers it.

Privacy: public inputs only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.projection.field import Field
from saddlesynth.synthesis.projection.pool import Cells, Floats, Pool

if TYPE_CHECKING:
    from saddlesynth.oracles.oracle import Oracle

RESTARTS = 500
BATCH = 30  # records that one search hands over
COLDNESS = 1e3  # of the local search: probability e^-1000 for a step the whole range of gradients


@dataclass(frozen=True, eq=False)
class Price:
    """The best records found (r, d), best first; the best one's score; what no score is below.

    ``bound`` is ``None`` if nothing was proven.
    """

    records: NDArray[np.integer]
    score: float
    bound: float | None


@dataclass(frozen=True, eq=False)
class Pricer:
    """Finds records with a small sum of gradients over their cells.

    oracle : asked for a proof; ``None`` leaves it at the local search, without a bound
    """

    cells: Cells
    impossible: tuple[Mapping[int, int], ...] = ()
    oracle: Oracle | None = None

    def search(self, gradient: Floats, generator: np.random.Generator) -> Price:
        """Coordinate descent from random records: a Gibbs sampler at a very low temperature."""
        sizes = self.cells.domain.sizes
        shares = tuple(np.full(size, 1 / size) for size in sizes)
        sharp = COLDNESS / max(float(np.ptp(gradient)), 1e-12)
        field = Field(self.cells, shares, -sharp * gradient, self.impossible)
        start = np.stack([generator.integers(size, size=RESTARTS) for size in sizes], axis=1)
        found = Pool(self.cells, field.resample(start.astype(np.uint16), 4, generator))
        scores = np.where(found.valid(self.impossible), found.scores(gradient), np.inf)
        order = np.argsort(scores, kind="stable")
        _, first = np.unique(found.records[order], axis=0, return_index=True)
        best = order[np.sort(first)[:BATCH]]
        return Price(found.records[best], float(scores[best[0]]), None)

    def prove(self, gradient: Floats) -> Price:
        """The oracle's record and bound; ``ValueError`` without an oracle."""
        from saddlesynth.oracles.problem import Problem
        from saddlesynth.oracles.queries import Conjunctions

        if self.oracle is None:
            raise ValueError("a proof needs an oracle; give one to Pricer")
        domain = self.cells.domain
        perturbation = np.zeros(domain.width)
        queries, weights, constant = [], [], 0.0
        for attributes, table in zip(self.cells.marginals, self.cells.split(gradient), strict=True):
            if len(attributes) == 1:
                first = domain.offsets[attributes[0]]
                perturbation[first : first + len(table)] += table
            elif attributes:
                queries.append(Conjunctions.cells(domain, attributes))
                weights.append(-table.ravel())
            else:
                constant += float(table)
        problem = Problem(
            domain,
            Conjunctions.concatenate(queries) if queries else Conjunctions.of([]),
            np.concatenate(weights) if weights else np.zeros(0),
            self.impossible,
        )
        answer = self.oracle.prepare(problem).best_response(perturbation)
        bound = constant - answer.bound - answer.tolerance if np.isfinite(answer.bound) else None
        return Price(answer.record[None, :], constant - answer.value, bound)
