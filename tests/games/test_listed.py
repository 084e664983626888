"""The oracle of tiny domains agrees with reduction and enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.listed import Listed
from saddlesynth.oracles.oracle import NoValidRecord
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))


def _problem(seed, impossible=()):
    generator = np.random.default_rng(seed)
    cells = Conjunctions.cells(DOMAIN, (0, 2), generator.integers(8, size=5))
    pairs = Conjunctions.cells(DOMAIN, (1,), generator.integers(3, size=3), [True, False, True])
    queries = Conjunctions.concatenate([cells, pairs])
    return Problem(DOMAIN, queries, generator.integers(1, 4, 8), impossible), generator


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40)
def test_it_finds_the_same_values_as_the_exact_oracle(seed, ruled):
    problem, generator = _problem(seed, ({0: 1, 1: 2},) if ruled else ())
    costs = generator.exponential(1.0, (6, DOMAIN.width))
    listed = Listed(Exact()).prepare(problem).best_responses(costs)
    exact = Exact().prepare(problem).best_responses(costs)
    for one, other, cost in zip(listed, exact, costs, strict=True):
        assert one.value == pytest.approx(other.value)
        assert one.value == pytest.approx(problem.value(one.record, cost)[0])
        assert problem.allowed(one.record)[0]


def test_ties_are_broken_at_random_among_the_best_only():
    problem = Problem(DOMAIN, Conjunctions.of([{0: 1}]), [1.0])
    prepared = Listed(Exact()).prepare(problem)
    costs = np.zeros((400, DOMAIN.width))
    records = [r.record for r in prepared.best_responses(costs, generator=np.random.default_rng(0))]
    assert {tuple(r) for r in records} == {(1, b, c) for b in range(3) for c in range(4)}
    same = {tuple(r.record) for r in prepared.best_responses(costs)}
    assert len(same) == 1


def test_larger_domains_are_left_to_the_other_oracle():
    problem, _ = _problem(0)
    answer = Listed(Exact(), records=10).prepare(problem).best_response(np.ones(DOMAIN.width))
    assert answer.solver == "exact"


def test_rules_that_leave_no_record_are_refused():
    with pytest.raises(NoValidRecord):
        Listed(Exact()).prepare(_problem(0, ({0: 0}, {0: 1}))[0])
