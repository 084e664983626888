"""The integer programs: right on every record, and as tight as they are said to be."""

import itertools

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from saddlesynth.oracles.cp_sat import whole_numbers
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.formulation import Form, formulate
from saddlesynth.oracles.mip import program_point
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Reduction, merge, reduce


def tasks(cases, level=Reduction.MERGE):
    for case in cases:
        (task,) = reduce(merge(case.problem), case.perturbation[None], level)
        if task.columns and task.states <= 300:
            yield task


@pytest.mark.parametrize("form", Form)
def test_a_choice_is_feasible_exactly_if_it_is_allowed_and_its_value_is_the_objective(
    form, few_cases
):
    for task in tasks(few_cases):
        program = formulate(task, form)
        for index in itertools.product(*map(range, task.shape)):
            chosen = np.asarray(index, dtype=np.intp) + task.starts[:-1]
            point = program_point(task, program, chosen)
            rows = program.matrix() @ point
            feasible = (rows <= program.row_upper).all() and (rows >= program.row_lower).all()
            holds = np.append(np.isin(np.arange(task.columns), chosen), True)
            assert feasible == (not holds[task.forbidden].all(axis=1).any())
            true = holds[task.literals].all(axis=1)
            value = task.constant + task.weights[true].sum() - task.cost[chosen].sum()
            assert program.constant + program.objective @ point == pytest.approx(value)


@pytest.mark.parametrize("form", [Form.DISAGGREGATED, Form.EXCLUSIVE])
def test_only_the_record_needs_to_be_integer_except_when_aggregated(form, few_cases):
    for task in tasks(few_cases):
        program = formulate(task, form)
        assert program.integer.sum() == task.columns
        values = [_milp(formulate(task, f)) for f in (form, Form.AGGREGATED)]
        assert values[0] == pytest.approx(values[1])


def test_exclusive_rows_are_tighter_than_disaggregated_and_those_than_aggregated(few_cases):
    gained = 0
    for task in tasks(few_cases):
        bounds = [_relaxation(formulate(task, form)) for form in reversed(Form)]
        scale = 1e-7 * max(1.0, np.abs(bounds).max())
        assert bounds[0] <= bounds[1] + scale and bounds[1] <= bounds[2] + scale
        gained += bounds[2] > bounds[1] + scale
    assert gained >= 5


def test_exclusive_rows_close_the_gap_on_four_cells_of_a_table():
    domain = Domain(("a", "b"), (2, 2))
    problem = Problem(domain, Conjunctions.cells(domain, (0, 1)), np.ones(4))
    (task,) = reduce(merge(problem), np.zeros((1, 4)), Reduction.MERGE)
    bounds = [_relaxation(formulate(task, form)) for form in Form]
    assert bounds == pytest.approx([2.0, 2.0, 1.0])  # exactly one of the four cells can be true


def test_exclusive_rows_are_fewer_than_disaggregated(few_cases):
    for task in tasks(few_cases):
        rows = [formulate(task, f).shape[0] for f in (Form.EXCLUSIVE, Form.DISAGGREGATED)]
        assert rows[0] <= rows[1]


def test_whole_numbers_differ_from_the_objective_by_no_more_than_they_say(few_cases):
    for task in tasks(few_cases):
        program = formulate(task)
        scale, coefficients, error = whole_numbers(program)
        off = np.abs(np.array(coefficients) / scale - program.objective).sum()
        assert off <= error + 1e-12 * np.abs(program.objective).sum()
        assert sum(map(abs, coefficients)) < 2**53


def _relaxation(program):
    matrix = program.matrix()
    equal = program.row_lower == program.row_upper
    solution = linprog(
        -program.objective,
        A_ub=matrix[~equal],
        b_ub=program.row_upper[~equal],
        A_eq=matrix[equal],
        b_eq=program.row_upper[equal],
        bounds=np.stack([np.zeros(len(program.upper)), program.upper], axis=1),
    )
    return program.constant - solution.fun


def _milp(program):
    rows = LinearConstraint(program.matrix(), program.row_lower, program.row_upper)
    result = milp(
        -program.objective,
        integrality=program.integer.astype(int),
        bounds=Bounds(0, program.upper),
        constraints=rows,
        options={"mip_rel_gap": 0.0},
    )
    assert result.status == 0
    return program.constant - result.fun
