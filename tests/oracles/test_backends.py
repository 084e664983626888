"""The contract that every oracle in the table keeps; a new one joins by its row there."""

import numpy as np
import pytest

from saddlesynth.oracles.formulation import Form
from saddlesynth.oracles.oracle import Limits, NoValidRecord, Status
from saddlesynth.oracles.reduce import Reduction
from saddlesynth.oracles.registry import availability, make

USABLE = [row.name for row in availability() if row.usable]
MIP = [name for name in USABLE if name not in ("portfolio", "exact", "local")]


def check(name, case, **options):
    """The record is valid, its value recomputed, its bound valid, and optimal means optimal."""
    prepared = make(name, **options).prepare(case.problem)
    if case.optimum is None:
        with pytest.raises(NoValidRecord):
            prepared.best_response(case.perturbation)
        return None
    answer = prepared.best_response(case.perturbation)
    assert case.problem.allowed(answer.record)[0]
    assert answer.value == case.problem.value(answer.record, case.perturbation)[0]
    assert answer.value <= answer.bound
    assert case.optimum <= answer.bound + answer.tolerance
    if answer.status is Status.OPTIMAL:
        assert answer.value >= case.optimum - answer.tolerance - 1e-9 * abs(case.optimum)
    return answer


def test_the_required_solvers_are_usable_here():
    wanted = {"portfolio", "exact", "local", "cp-sat", "mathopt-highs", "mathopt-scip", "highs"}
    assert wanted | {"scipy-highs", "pulp-highs", "cvxpy-highs"} <= set(USABLE)


@pytest.mark.parametrize("name", USABLE)
@pytest.mark.parametrize("reduction", [Reduction.MERGE, Reduction.FULL])
def test_answers_agree_with_brute_force(name, reduction, few_cases):
    for case in few_cases:
        answer = check(name, case, reduction=reduction)
        assert answer is None or name == "local" or answer.status is Status.OPTIMAL


@pytest.mark.parametrize("name", MIP)
@pytest.mark.parametrize("form", Form)
def test_every_formulation_agrees_with_brute_force(name, form, few_cases):
    for case in few_cases[::2]:
        answer = check(name, case, form=form, reduction=Reduction.MERGE)
        assert answer is None or answer.status is Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize("name", USABLE)
def test_nothing_is_called_optimal_that_is_not_on_225_problems(name, cases):
    answers = [check(name, case, reduction=Reduction.MERGE) for case in cases]
    proven = sum(a is not None and a.status is Status.OPTIMAL for a in answers)
    solvable = sum(case.optimum is not None for case in cases)
    assert solvable >= 200
    assert proven == solvable or name == "local"


@pytest.mark.parametrize("name", USABLE)
def test_hand_worked_optimum_is_found(name, color_problem):
    problem, perturbation = color_problem
    answer = make(name).prepare(problem).best_response(perturbation)
    assert answer.record.tolist() == [1, 0, 0]
    assert answer.value == pytest.approx(1.0)


@pytest.mark.parametrize("name", [n for n in USABLE if n != "local"])
def test_ties_are_broken_the_same_way_each_time_and_proven(name, color_problem):
    problem, perturbation = color_problem
    prepared = make(name).prepare(problem)
    first, second = (prepared.best_response(0 * perturbation) for _ in range(2))
    assert first.value == 2.0
    assert first.status is Status.OPTIMAL
    assert first.record.tolist() == second.record.tolist()


@pytest.mark.parametrize("name", ["exact", "cp-sat", "highs"])
def test_a_generator_breaks_ties_at_random_and_repeatably(name, color_problem):
    problem, perturbation = color_problem
    prepared = make(name).prepare(problem)

    def records(seed):
        generator = np.random.default_rng(seed)
        answers = prepared.best_responses(np.zeros((30, 7)), generator=generator)
        assert {a.value for a in answers} == {2.0}
        assert {a.status for a in answers} == {Status.OPTIMAL}
        return [tuple(a.record) for a in answers]

    assert records(1) == records(1)
    assert len(set(records(1))) >= (5 if name == "exact" else 2)  # five records tie


def test_untouched_attributes_are_drawn_uniformly_on_request():
    from saddlesynth.oracles.domain import Domain
    from saddlesynth.oracles.problem import Problem
    from saddlesynth.oracles.queries import Conjunctions

    problem = Problem(Domain(("a", "b"), (2, 4)), Conjunctions.of([{0: 1}]), [1.0])
    generator = np.random.default_rng(0)
    answers = make("exact").prepare(problem).best_responses(np.zeros((400, 6)), generator=generator)
    counts = np.bincount([a.record[1] for a in answers], minlength=4)
    # Each count is Binomial(400, 1/4); outside 60..140 with probability below 1e-5.
    assert counts.min() >= 60 and counts.max() <= 140


@pytest.mark.parametrize("name", ["exact", "cp-sat", "highs", "mathopt-scip"])
def test_threads_change_nothing(name, cases):
    case = cases[3]
    rows = np.random.default_rng(0).exponential(1.0, (9, case.problem.domain.width))
    prepared = make(name).prepare(case.problem)
    alone = prepared.best_responses(rows, generator=np.random.default_rng(1))
    together = prepared.best_responses(rows, n_jobs=2, generator=np.random.default_rng(1))
    assert [a.record.tolist() for a in alone] == [a.record.tolist() for a in together]


@pytest.mark.slow
def test_processes_change_nothing(cases):
    import joblib

    case = cases[3]
    rows = np.random.default_rng(0).exponential(1.0, (4, case.problem.domain.width))
    prepared = make("highs").prepare(case.problem)
    alone = prepared.best_responses(rows)
    with joblib.parallel_config("loky"):
        together = prepared.best_responses(rows, n_jobs=2)
    assert [a.record.tolist() for a in alone] == [a.record.tolist() for a in together]


@pytest.mark.parametrize("name", [n for n in USABLE if n != "exact"])
def test_an_answer_cut_short_is_never_called_optimal(name, hard):
    problem, perturbation = hard
    oracle = make(name, limits=Limits(seconds=0.05))
    answer = oracle.prepare(problem).best_response(perturbation)
    assert answer.status in (Status.FEASIBLE, Status.FALLBACK)
    assert problem.allowed(answer.record)[0]
    assert answer.value < answer.bound


def test_deterministic_limit_repeats_status_value_and_bound(hard):
    problem, perturbation = hard
    oracle = make("cp-sat", limits=Limits(deterministic_time=0.2))
    prepared = oracle.prepare(problem)
    first, second = (prepared.best_response(perturbation) for _ in range(2))
    assert first.status is not Status.OPTIMAL
    assert (first.status, first.value, first.bound) == (second.status, second.value, second.bound)


def test_a_gap_stops_early_and_is_not_called_optimal(hard):
    problem, perturbation = hard
    answer = make("highs", limits=Limits(gap=4000.0)).prepare(problem).best_response(perturbation)
    assert answer.status is Status.FEASIBLE
    assert answer.reason.startswith("highs: Optimal")  # its own words, within the gap


@pytest.mark.parametrize("name", MIP)
def test_an_unknown_limit_is_refused(name):
    oracle = make(name)
    for limit in ("seconds", "nodes", "deterministic_time"):
        if limit not in oracle.has:
            with pytest.raises(ValueError, match=f"{name} has no limit '{limit}'"):
                make(name, limits=Limits(**{limit: 1}))
