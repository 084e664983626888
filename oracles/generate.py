"""Instances to try solvers on: random, with a planted optimum, or recorded from a real game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.instances import Instance
from saddlesynth.oracles.oracle import BestResponse, Oracle, Prepared
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Floats


@dataclass(frozen=True)
class Size:
    """How large a generated instance is.

    ``queries`` conjunctions of ``literals`` literals over ``attributes`` attributes of ``values``
    values each.  Raises ``ValueError`` on a size below 1, or more literals than attributes.
    """

    attributes: int = 14
    values: int = 10
    queries: int = 60
    literals: int = 3

    def __post_init__(self) -> None:
        for name in ("attributes", "values", "literals"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.queries < 0:
            raise ValueError(f"queries is {self.queries}; it must not be negative")
        if self.literals > self.attributes:
            raise ValueError(
                f"literals is {self.literals}; a query names at most {self.attributes} attributes"
            )

    @property
    def domain(self) -> Domain:
        names = tuple(f"a{i}" for i in range(self.attributes))
        return Domain(names, (self.values,) * self.attributes)


def random_instance(
    size: Size, generator: np.random.Generator, *, scale: float = 1.0, negated: float = 0.5
) -> Instance:
    """Queries drawn uniformly, a share of them negated, weights 1 to 3, exponential costs.

    ``scale`` is the mean cost; 0 makes ties.
    """
    rows = [_conjunction(size, generator) for _ in range(size.queries)]
    flags = generator.random(size.queries) < negated
    weights = generator.integers(1, 4, size.queries)
    problem = Problem(size.domain, Conjunctions.of(rows, flags), weights)
    return Instance.of(problem, scale * generator.exponential(1.0, problem.domain.width))


def _conjunction(size: Size, generator: np.random.Generator) -> dict[int, int]:
    attributes = generator.choice(size.attributes, size.literals, replace=False)
    return {int(a): int(generator.integers(size.values)) for a in attributes}


def planted_instance(size: Size, generator: np.random.Generator) -> Instance:
    """An instance whose optimum is known without solving it.

    A record x* is drawn.  The objective is a sum of small tables, each on a few attributes with
    random cells, of which the largest is put at x*; and costs whose smallest is at x*.  Since x*
    is best in every term it is best in the sum, while no term tells which record that is: the
    relaxations of the integer programs are fractional.  About ``size.queries`` cells in all.
    """
    domain = size.domain
    best = generator.integers(size.values, size=size.attributes)
    parts, weights, optimum, total = [], [], 0.0, 0
    while total < size.queries:
        attributes = tuple(sorted(generator.choice(size.attributes, size.literals, replace=False)))
        count = min(domain.cells(attributes), size.queries - total, 12)
        cells = generator.choice(domain.cells(attributes), count, replace=False)
        home = np.ravel_multi_index(tuple(best[list(attributes)]), domain.shape(attributes))
        cells = np.append(cells[cells != home], home)
        table = np.round(generator.uniform(0.5, 3.0, len(cells)), 3)
        top = int(np.argmax(table))
        table[[top, -1]] = table[[-1, top]]
        parts.append(Conjunctions.cells(domain, attributes, cells))
        weights.append(table)
        optimum += float(table[-1])
        total += len(cells)
    costs = np.round(generator.exponential(0.3, domain.width), 3)
    for a, value in enumerate(best):
        block = slice(domain.offsets[a], domain.offsets[a + 1])
        place = domain.offsets[a] + value
        cheapest = domain.offsets[a] + int(np.argmin(costs[block]))
        costs[[place, cheapest]] = costs[[cheapest, place]]
        optimum -= float(costs[place])
    queries = Conjunctions.concatenate(parts)
    problem = Problem(domain, queries, np.concatenate(weights) if weights else [])
    return Instance.of(problem, costs, name="planted", optimum=optimum)


@dataclass(frozen=True, eq=False)
class Recorder:
    """An oracle that passes every question on to another and tells ``tell`` about it.

    Put in the place of a game's oracle it yields instances from a real run:
    ``tell(problem, perturbations)`` is called once a round.
    """

    oracle: Oracle
    tell: Callable[[Problem, Floats], None] = field(repr=False)

    @property
    def name(self) -> str:
        return self.oracle.name

    def prepare(self, problem: Problem) -> Prepared:
        return _Recorded(self.oracle.prepare(problem), problem, self.tell)


@dataclass(frozen=True, eq=False)
class _Recorded:
    prepared: Prepared
    problem: Problem
    tell: Callable[[Problem, Floats], None]

    def best_response(
        self, perturbation: ArrayLike, *, generator: np.random.Generator | None = None
    ) -> BestResponse:
        self.tell(self.problem, self.problem.check_perturbations(perturbation))
        return self.prepared.best_response(perturbation, generator=generator)

    def best_responses(
        self,
        perturbations: ArrayLike,
        n_jobs: int | None = 1,
        *,
        generator: np.random.Generator | None = None,
    ) -> list[BestResponse]:
        self.tell(self.problem, self.problem.check_perturbations(perturbations))
        return list(self.prepared.best_responses(perturbations, n_jobs, generator=generator))
