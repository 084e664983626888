"""Disjunctions, parities and halfspaces: definition, enumeration and integer programs agree."""

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.classes import (
    BinaryProblem,
    Halfspace,
    Parity,
    best_binary_response,
    disjunctions,
)
from saddlesynth.oracles.cp_sat import CpSat
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.highs import Highs
from saddlesynth.oracles.mathopt import MathOpt
from saddlesynth.oracles.oracle import Limits, Status
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.pulp_mip import Pulp
from saddlesynth.oracles.registry import make


def random_binary(seed):
    g = np.random.default_rng(seed)
    d = int(g.integers(1, 8))
    queries = []
    for _ in range(int(g.integers(0, 7))):
        if g.random() < 0.5:
            queries.append(
                Parity(tuple(map(int, g.choice(d, g.integers(0, d + 1), replace=False))))
            )
        else:
            row = tuple(map(int, g.integers(-3, 4, d)))
            queries.append(Halfspace(row, int(g.integers(-4, 5))))
    problem = BinaryProblem(d, tuple(queries), g.normal(size=len(queries)))
    return problem, g.normal(0.0, 0.5, 2 * d)


@pytest.mark.parametrize("backend", [CpSat(), Highs(), MathOpt(solver="scip"), Pulp()], ids=str)
def test_programs_agree_with_enumeration(backend):
    for seed in range(40):
        problem, costs = random_binary(seed)
        listed = best_binary_response(problem, costs)
        solved = best_binary_response(problem, costs, backend)
        assert (listed.status, solved.status) == (Status.OPTIMAL, Status.OPTIMAL)
        assert solved.value == pytest.approx(listed.value)
        assert solved.value == problem.value(solved.record, costs)[0]


def test_enumeration_agrees_with_the_definition():
    problem, costs = random_binary(3)
    records = np.array(list(itertools.product((0, 1), repeat=problem.attributes)))
    by_hand = []
    for x in records:
        value = -sum(costs[2 * a + x[a]] for a in range(problem.attributes))
        for query, weight in zip(problem.queries, problem.weights, strict=True):
            if isinstance(query, Parity):
                value += weight * (sum(x[a] for a in query.attributes) % 2)
            else:
                value += weight * (np.dot(query.coefficients, x) >= query.threshold)
        by_hand.append(value)
    assert best_binary_response(problem, costs).value == pytest.approx(max(by_hand))


def test_any_two_records_are_separated_by_single_attributes_of_each_class():
    records = np.array(list(itertools.product((0, 1), repeat=3)))
    parity = np.stack([Parity((a,)).evaluate(records) for a in range(3)])
    unit = np.eye(3, dtype=int)
    halfspace = np.stack(
        [Halfspace(tuple(map(int, unit[a])), 1).evaluate(records) for a in range(3)]
    )
    either = disjunctions([{a: 1} for a in range(3)]).evaluate(records).T
    for truth in (parity, halfspace, either):
        assert len(np.unique(truth, axis=1).T) == len(records)


def test_disjunctions_are_solved_like_conjunctions():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    problem = Problem(domain, disjunctions([{0: 1, 1: 1}, {0: 0, 2: 1}]), [1.0, 2.0])
    costs = np.array([0.0, 0.1, 0.0, 0.3, 0.0, 5.0])
    answer = make("exact").prepare(problem).best_response(costs)
    assert answer.record.tolist() == [0, 1, 0]  # 1 + 2 - 0.3; with a = 1 only 1 - 0.1
    assert answer.value == pytest.approx(2.7)


def test_a_program_too_large_to_list_needs_a_back_end():
    queries = tuple(Parity(tuple(range(i, i + 5))) for i in range(20))
    problem = BinaryProblem(24, queries, np.ones(20))
    with pytest.raises(ValueError, match="give a back-end"):
        best_binary_response(problem, np.zeros(48))
    answer = best_binary_response(problem, np.zeros(48), CpSat(limits=Limits(seconds=20)))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 20.0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Parity((0, 3)), "distinct attributes from 0 to 2"),
        (Parity((1, 1)), "distinct attributes from 0 to 2"),
        (Halfspace((1, 2), 0), "3 whole coefficients"),
        (Halfspace((1, 2, 0.5), 0), "3 whole coefficients"),
    ],
)
def test_queries_that_do_not_fit_are_refused(query, message):
    with pytest.raises(ValueError, match=message):
        BinaryProblem(3, (query,), [1.0])


def test_other_mistakes_are_refused():
    with pytest.raises(ValueError, match="weights must be 1 finite numbers"):
        BinaryProblem(3, (Parity((0,)),), [np.nan])
    with pytest.raises(ValueError, match="perturbation must be 6 finite numbers"):
        best_binary_response(BinaryProblem(3, (), []), np.zeros(3))
    with pytest.raises(ValueError, match="over binary values"):
        disjunctions([{0: 2}])
