"""Solvers that fail, stop, lie or round: what becomes of their answers."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.judge import Answer, any_record, decode
from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.oracle import NotOptimal, NoValidRecord, Status
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Reduction, merge, reduce

BEST = [0, 1, 0, 1, 0, 1, 0]  # (green, S, no), one-hot, the columns of the unreduced problem


@dataclass(frozen=True)
class Stub(MipBackend):
    """Says what it is told to."""

    says: Answer | BaseException = field(default=Answer("nothing"))
    reduction: Reduction = Reduction.MERGE

    name = "stub"

    def run(self, program, gap, hint):
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says


def ask(color_problem, says, **options):
    problem, perturbation = color_problem
    answer = Stub(says=says, **options).prepare(problem).best_response(perturbation)
    assert problem.allowed(answer.record)[0]
    assert answer.value == problem.value(answer.record, perturbation)[0]
    return answer


NO_SOLUTION = {
    "time limit, no values": Answer("time limit"),
    "time limit, all zeros": Answer("time limit", np.zeros(12)),
    "not solved, fractional values": Answer("not solved", np.array([0.5, 0.5, 0] + [0.5] * 4), 9.0),
    "infeasible": Answer("infeasible"),
    "error": RuntimeError("licence expired"),
    "not a number": Answer("optimal", np.full(12, np.nan), 1.0),
    "too few numbers": Answer("optimal", np.ones(3), 1.0),
    "two values of one attribute": Answer("optimal", np.array([1.0, 1, 0, 1, 0, 1, 0]), 1.0),
    "a two": Answer("optimal", np.array([0.0, 2, 0, 1, 0, 1, 0]), 1.0),
}


@pytest.mark.parametrize("says", NO_SOLUTION.values(), ids=NO_SOLUTION.keys())
def test_no_solution_is_not_decoded_but_replaced_and_marked(color_problem, says):
    answer = ask(color_problem, says)
    assert answer.status is Status.FALLBACK
    assert answer.bound >= 1.0
    assert answer.reason


def test_an_exception_is_named_in_the_reason(color_problem):
    answer = ask(color_problem, RuntimeError("licence expired"))
    assert answer.reason == "RuntimeError: licence expired"


def test_near_integers_are_rounded_not_truncated(color_problem):
    point = np.where(np.array(BEST) == 1, 0.9999991, 4e-7)
    answer = ask(color_problem, Answer("optimal", point, 1.0))
    assert answer.record.tolist() == [1, 0, 0]
    assert answer.status is Status.OPTIMAL


def test_six_tenths_is_refused(color_problem):
    point = np.where(np.array(BEST) == 1, 0.6, 0.4)
    assert ask(color_problem, Answer("optimal", point, 1.0)).status is Status.FALLBACK


def test_a_stopped_run_keeps_its_point_and_bound(color_problem):
    answer = ask(color_problem, Answer("time limit", np.array(BEST, dtype=float), 1.7))
    assert (answer.status, answer.bound) == (Status.FEASIBLE, 1.7)
    assert answer.gap == pytest.approx(0.7)


def test_a_worse_point_gives_way_to_local_search(color_problem):
    worst = np.array([1.0, 0, 0, 0, 1, 1, 0])  # (red, L, no), value -2
    answer = ask(color_problem, Answer("time limit", worst, 1.7))
    assert answer.value == pytest.approx(1.0)
    assert answer.status is Status.FEASIBLE
    assert "local search found better" in answer.reason


def test_optimal_with_a_bound_below_the_value_is_not_believed(color_problem):
    answer = ask(color_problem, Answer("optimal", np.array(BEST, dtype=float), 0.5))
    assert answer.status is Status.FEASIBLE
    assert answer.bound > answer.value
    assert "below the value" in answer.reason


def test_a_solver_cannot_prove_with_an_infinite_or_undefined_bound(color_problem):
    for bound in (None, np.inf, np.nan):
        answer = ask(color_problem, Answer("optimal", np.array(BEST, dtype=float), bound))
        assert answer.status is Status.FEASIBLE
        assert np.isfinite(answer.bound)


def test_a_point_with_an_impossible_combination_is_refused(color_problem):
    problem, perturbation = color_problem
    strict = Problem(problem.domain, problem.queries, problem.weights, [{0: 1, 1: 0}])
    answer = ask((strict, perturbation), Answer("optimal", np.array(BEST, dtype=float), 1.0))
    assert answer.status is Status.FALLBACK
    assert answer.record.tolist() == [2, 1, 1]  # the runner-up, value 0.9


def test_required_proof_raises_with_the_answer(color_problem):
    with pytest.raises(NotOptimal, match="an optimal answer was required") as caught:
        ask(color_problem, Answer("time limit"), require_optimal=True)
    assert caught.value.answer.status is Status.FALLBACK


def test_not_optimal_survives_pickling(color_problem):
    import pickle

    with pytest.raises(NotOptimal) as caught:
        ask(color_problem, Answer("time limit"), require_optimal=True)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_interrupts_are_not_swallowed(color_problem):
    with pytest.raises(KeyboardInterrupt):
        ask(color_problem, KeyboardInterrupt())


def test_decode_needs_every_attribute(color_problem):
    problem, perturbation = color_problem
    (task,) = reduce(merge(problem), perturbation[None], Reduction.MERGE)
    assert decode(task, np.array(BEST, dtype=float)).tolist() == [1, 3, 5]
    assert decode(task, np.array([0.0, 1, 0, 1, 0, 0, 0])) is None


def test_any_record_searches_until_it_finds_or_proves():
    domain = Domain(("a", "b"), (3, 3))
    but_last = [{0: i, 1: j} for i in range(3) for j in range(3) if (i, j) != (2, 2)]
    none = Conjunctions.of([])
    assert any_record(Problem(domain, none, [], but_last)).tolist() == [2, 2]
    with pytest.raises(NoValidRecord, match="exclude every record"):
        any_record(Problem(domain, none, [], [*but_last, {0: 2, 1: 2}]))


def test_any_record_gives_up_with_a_message(monkeypatch):
    monkeypatch.setattr("saddlesynth.oracles.judge.SEARCHED", 3)
    domain = Domain(("a", "b"), (9, 9))
    with pytest.raises(NoValidRecord, match="in 3 steps"):
        any_record(Problem(domain, Conjunctions.of([]), [], [{1: v} for v in range(8)]))
