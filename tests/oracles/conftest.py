"""Seeded problems of every kind, and the brute force that all oracles are compared with."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions

KINDS = (
    "adult-like",
    "adversarial",
    "negated",
    "tied",
    "constrained",
    "scales",
    "one attribute",
    "one value",
    "no queries",
)


@dataclass(frozen=True)
class Case:
    """A problem, one perturbation, and the best value by brute force (None: no valid record)."""

    problem: Problem
    perturbation: np.ndarray
    optimum: float | None


def brute_force(problem, perturbation):
    """The best value over all records that contain no impossible combination."""
    records = np.array(list(itertools.product(*map(range, problem.domain.sizes))))
    records = records[problem.allowed(records)]
    return float(problem.value(records, perturbation).max()) if len(records) else None


def make_case(kind, seed):
    """A small problem of a kind; at most 20,000 records."""
    g = np.random.default_rng([KINDS.index(kind), seed])
    d = 1 if kind == "one attribute" else int(g.integers(2, 7))
    high = 8 if kind == "adult-like" else 4
    sizes = [1] * d if kind == "one value" else [int(n) for n in g.integers(1, high + 1, d)]
    while math.prod(sizes) > 20_000:
        sizes[int(np.argmax(sizes))] -= 1
    m = 0 if kind == "no queries" else int(g.integers(1, 25))
    rows = [_literals(g, sizes, 0) for _ in range(m)]
    if kind == "adult-like":  # released queries repeat
        rows = [rows[i] for i in g.integers(0, m, m)]
    negated = g.random(m) < {"adult-like": 0.5, "negated": 1.0, "adversarial": 0.0}.get(kind, 0.3)
    weights = g.normal(size=m)
    perturbation = g.exponential(1.0, sum(sizes))
    if kind in ("adult-like", "tied"):
        weights = g.integers(1, 4, m).astype(float)
    if kind == "adversarial":  # one long query against many short ones that exclude it
        rows[0] = {a: 0 for a in range(d)}
        weights, weights[0] = np.abs(weights), 3.0 * m
    if kind == "tied":
        perturbation = np.zeros(sum(sizes))
    if kind == "scales":
        weights *= 10.0 ** g.integers(-9, 10, m)
        perturbation *= 10.0 ** g.integers(-9, 10)
    impossible = []
    if kind == "constrained":
        impossible = [_literals(g, sizes, 1) for _ in range(int(g.integers(1, 8)))]
    names = tuple(f"a{i}" for i in range(d))
    problem = Problem(
        Domain(names, tuple(sizes)), Conjunctions.of(rows, negated), weights, impossible
    )
    return Case(problem, perturbation, brute_force(problem, perturbation))


def _literals(g, sizes, least):
    d = len(sizes)
    attributes = g.choice(d, int(g.integers(least, min(d, 3) + 1)), replace=False)
    return {int(a): int(g.integers(sizes[a])) for a in attributes}


@pytest.fixture(scope="session")
def cases():
    """Twenty-five seeded cases of each of the nine kinds."""
    return [make_case(kind, seed) for kind in KINDS for seed in range(25)]


@pytest.fixture(scope="session")
def few_cases(cases):
    """Two of each kind."""
    return [case for i, case in enumerate(cases) if i % 25 < 2]


@pytest.fixture(scope="session")
def hard():
    """A problem that no solver finishes in a second, and its perturbation."""
    g = np.random.default_rng(11)
    attributes, values, count, k = 40, 10, 1500, 3
    clauses = [
        {int(a): int(g.integers(values)) for a in g.choice(attributes, k, replace=False)}
        for _ in range(count)
    ]
    weights = g.integers(1, 4, count)
    perturbation = g.exponential(3, attributes * values)
    domain = Domain(tuple(f"a{i}" for i in range(attributes)), (values,) * attributes)
    return Problem(domain, Conjunctions.of(clauses), weights), perturbation


@pytest.fixture(scope="session")
def color_problem():
    """A small problem worked by hand: (green, S, no) is best with value 1.0."""
    domain = Domain(("color", "size", "paid"), (3, 2, 2))  # red green blue, S L, no yes
    rows = [{0: 0, 1: 0}, {0: 0, 2: 1}, {1: 1, 2: 1}, {0: 2, 1: 1}, {0: 1, 2: 0}]
    problem = Problem(domain, Conjunctions.of(rows), [1, 1, 1, 1, 2])
    return problem, np.array([0.9, 0.2, 0.4, 0.3, 0.6, 0.5, 0.1])
