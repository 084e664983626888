"""Reduction and enumeration against brute force over all records."""

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.local import Local
from saddlesynth.oracles.oracle import NoValidRecord, Status
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Reduction


def random_problem(seed):
    """A tiny problem with ties, negations, cancelling weights and impossible combinations."""
    g = np.random.default_rng(seed)
    d = int(g.integers(1, 5))
    sizes = tuple(int(n) for n in g.integers(1, 5, d))

    def conjunctions(n, least):
        picks = [g.choice(d, g.integers(least, min(d, 3) + 1), replace=False) for _ in range(n)]
        return [{int(a): int(g.integers(sizes[a])) for a in pick} for pick in picks]

    m = int(g.integers(0, 12))
    weights = g.integers(-3, 4, m).astype(float) if seed % 2 else g.normal(size=m)
    queries = Conjunctions.of(conjunctions(m, 0), negated=g.random(m) < 0.4)
    impossible = conjunctions(int(g.integers(0, 4)), 1)
    problem = Problem(Domain(tuple("abcd"[:d]), sizes), queries, weights, impossible)
    scale = 1.0 if seed % 3 else 0.0
    return problem, scale * g.exponential(1.0, (3, problem.domain.width))


def brute_force(problem, perturbation):
    records = np.array(list(itertools.product(*map(range, problem.domain.sizes))))
    records = records[problem.allowed(records)]
    return problem.value(records, perturbation).max() if len(records) else None


@pytest.mark.parametrize("level", Reduction)
@pytest.mark.parametrize("tied", [False, True])
def test_exact_agrees_with_brute_force_at_every_reduction(level, tied):
    for seed in range(150):
        problem, perturbations = random_problem(seed)
        prepared = Exact(reduction=level).prepare(problem)
        generator = np.random.default_rng(seed) if tied else None
        if brute_force(problem, perturbations[0]) is None:
            with pytest.raises(NoValidRecord):
                prepared.best_responses(perturbations, generator=generator)
            continue
        for answer, row in zip(
            prepared.best_responses(perturbations, generator=generator), perturbations, strict=True
        ):
            assert answer.status is Status.OPTIMAL
            assert problem.allowed(answer.record).all()
            assert answer.value == pytest.approx(brute_force(problem, row), abs=1e-8)


def test_local_search_never_claims_what_it_has_not_proven():
    for seed in range(150):
        problem, perturbations = random_problem(seed)
        optimum = brute_force(problem, perturbations[0])
        if optimum is None:
            continue
        answer = Local(restarts=3).prepare(problem).best_response(perturbations[0])
        assert answer.value <= optimum + 1e-9 <= answer.bound + 2e-9
        assert answer.status is not Status.OPTIMAL or answer.value == pytest.approx(optimum)
