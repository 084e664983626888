"""The default oracle on problems as FEM and DualQuery pose them."""

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.cp_sat import CpSat
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.local_search import local_search
from saddlesynth.oracles.oracle import Limits, Status
from saddlesynth.oracles.portfolio import Portfolio
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import merge, reduce


def dual_query_problem(draws, seed=0):
    """Uniform draws of cells of 64 marginals, half negated: DualQuery's first round, its worst."""
    g = np.random.default_rng(seed)
    sizes = (90, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)  # as of a census table
    domain = Domain(tuple(f"a{i}" for i in range(14)), sizes)
    every = [m for m in itertools.combinations(range(14), 3) if domain.cells(m) <= 50_000]
    marginals = [every[i] for i in g.choice(len(every), 64, replace=False)]
    cells = np.array([domain.cells(m) for m in marginals], dtype=float)
    counts = g.multinomial(draws, cells / cells.sum())
    parts = [
        Conjunctions.cells(
            domain, m, g.integers(domain.cells(m), size=count), g.random(count) < 0.5
        )
        for m, count in zip(marginals, counts, strict=True)
    ]
    return Problem(domain, Conjunctions.concatenate(parts), np.ones(draws))


def left(case):
    """What the reduction leaves."""
    return reduce(merge(case.problem), case.perturbation[None])[0]


def test_small_problems_are_enumerated_and_large_ones_go_to_cp_sat(cases):
    case = next(case for case in cases if left(case).states > 1)
    small = Portfolio().prepare(case.problem).best_response(case.perturbation)
    assert (small.solver, small.status) == ("exact", Status.OPTIMAL)
    problem = dual_query_problem(300)
    large = Portfolio().prepare(problem).best_response(np.zeros(problem.domain.width))
    assert (large.solver, large.status) == ("cp-sat", Status.OPTIMAL)


def test_cp_sat_takes_over_where_enumeration_stops(cases):
    for case in cases[:25]:
        answer = Portfolio(states=2).prepare(case.problem).best_response(case.perturbation)
        assert answer.status is Status.OPTIMAL
        assert answer.value == pytest.approx(case.optimum)


def test_values_that_come_in_steps_leave_no_gap():
    problem = dual_query_problem(200)
    prepared = Portfolio().prepare(problem)
    generator = np.random.default_rng(0)
    answers = prepared.best_responses(np.zeros((6, problem.domain.width)), generator=generator)
    assert {a.status for a in answers} == {Status.OPTIMAL}
    assert {a.gap for a in answers} == {0.0}
    assert len({a.value for a in answers}) == 1
    assert len({tuple(a.record) for a in answers}) >= 3  # ties are broken at random


def test_the_incumbent_survives_any_limit(hard):
    problem, perturbation = hard
    (task,) = reduce(merge(problem), perturbation[None])
    incumbent = task.record(local_search(task, np.random.default_rng(0)))
    floor = problem.value(incumbent, perturbation)[0]
    for limits in (Limits(seconds=0.01), Limits(deterministic_time=0.05)):
        answer = Portfolio(limits=limits).prepare(problem).best_response(perturbation)
        assert answer.value >= floor
        assert answer.status in (Status.FEASIBLE, Status.FALLBACK)


def test_a_hint_is_where_local_search_starts(cases):
    task = next(left(case) for case in cases if left(case).states > 1)
    best = Exact().attempt(task)
    chosen = np.flatnonzero(best.point)
    again = local_search(task, np.random.default_rng(0), restarts=1, hint=chosen)
    assert again.tolist() == chosen.tolist()


def test_local_search_leaves_nothing_to_gain_in_one_attribute():
    problem = dual_query_problem(100)
    costs = np.random.default_rng(1).exponential(0.5, problem.domain.width)
    (task,) = reduce(merge(problem), costs[None])
    record = task.record(local_search(task, np.random.default_rng(0), restarts=5))
    value = problem.value(record, costs)[0]
    for a in range(len(problem.domain)):
        size = problem.domain.sizes[a]
        moved = np.tile(record, (size, 1))
        moved[:, a] = np.arange(size)
        assert problem.value(moved, costs).max() <= value + 1e-9


def test_seeds_repeat_an_answer():
    problem = dual_query_problem(200)
    costs = np.zeros(problem.domain.width)
    for oracle in (Portfolio(), CpSat(limits=Limits(seed=5))):
        first, second = (oracle.prepare(problem).best_response(costs) for _ in range(2))
        assert first.record.tolist() == second.record.tolist()
        assert first.nodes == second.nodes


def test_required_proofs_of_a_portfolio_hold(hard):
    from saddlesynth.oracles.oracle import NotOptimal

    problem, perturbation = hard
    oracle = Portfolio(limits=Limits(deterministic_time=0.05), require_optimal=True)
    with pytest.raises(NotOptimal, match="raise the limits"):
        oracle.prepare(problem).best_response(perturbation)


@pytest.mark.slow
@pytest.mark.parametrize("draws", [500, 1000])
def test_dual_query_problems_are_proven_within_a_few_seconds(draws):
    problem = dual_query_problem(draws)
    answer = Portfolio().prepare(problem).best_response(np.zeros(problem.domain.width))
    assert answer.status is Status.OPTIMAL
