"""OR-Tools CP-SAT: the most even-tempered of the solvers, and the default for large problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import ALL_LIMITS, Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.mip import MipBackend, on_interrupt
from saddlesynth.oracles.reduce import Floats

SUM = 2.0**40  # bound on the sum of integer coefficients; sums of 2**53 would still be exact
LINEAR = 100  # from this many query variables on, a full linear relaxation pays off


@dataclass(frozen=True)
class CpSat(MipBackend):
    """CP-SAT, one worker, fixed seed: the same answer each time unless ``seconds`` stops it.

    Objective coefficients become integers; the rounding error, which is added to the bound, is at
    most 1e-10 of their sum.  Rows of 0/1 variables that are clauses or at-most-one constraints are
    posted as such, which is what its presolve and relaxation like.
    """

    name: ClassVar[str] = "cp-sat"
    package: ClassVar[str | None] = "ortools"
    install: ClassVar[str] = "pip install ortools"
    has: ClassVar[frozenset[str]] = ALL_LIMITS
    all_integer: ClassVar[bool] = True

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        from ortools.sat.python import cp_model

        model, variables = build(program)
        scale, coefficients, error = whole_numbers(program)
        model.maximize(cp_model.LinearExpr.weighted_sum(variables, coefficients))
        if hint is not None:
            for variable, value in zip(variables, hint, strict=True):
                model.add_hint(variable, round(value))
        solver = cp_model.CpSolver()
        self._configure(solver.parameters, program, gap * scale)
        on_interrupt(solver.stop_search)
        status = solver.solve(model)
        reason = f"{self.name}: {solver.status_name(status)}"
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(reason)  # its values would be garbage
        point = np.array([solver.value(v) for v in variables], dtype=np.float64)
        bound = program.constant + solver.best_objective_bound / scale + error
        tolerance = 0.0 if program.step else 2 * error
        return Answer(reason, point, bound, int(solver.num_branches), tolerance)

    def _configure(self, parameters: Any, program: Program, gap: float) -> None:
        limits = self.limits
        parameters.num_workers = 1
        parameters.random_seed = limits.seed % 2**31
        parameters.catch_sigint_signal = False
        parameters.relative_gap_limit = 0.0
        parameters.absolute_gap_limit = gap
        if limits.seconds is not None:
            parameters.max_time_in_seconds = limits.seconds
        if limits.deterministic_time is not None:
            parameters.max_deterministic_time = limits.deterministic_time
        if limits.nodes is not None:
            parameters.max_number_of_conflicts = limits.nodes
        if program.shape[1] - program.columns > LINEAR:
            parameters.linearization_level = 2


def build(program: Program) -> tuple[Any, list[Any]]:
    """The model without objective.

    A row with entries +1 and -1 says that at most u of its literals (x for +1, not x for -1) are
    true, where u = upper + number of -1.  u = 1 is an at-most-one, u = all but one is a clause.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = [
        model.new_int_var(0, int(top), "") if top > 1 else model.new_bool_var("")
        for top in program.upper
    ]
    for index, data, low, high in program.rows():
        unit = all(entry in (1.0, -1.0) for entry in data) and all(
            program.upper[i] <= 1 for i in index
        )
        room = high + data.count(-1.0)
        literals = [
            variables[i] if entry > 0 else ~variables[i]
            for i, entry in zip(index, data, strict=True)
            if unit
        ]
        if unit and low == high == 1 and data.count(-1.0) == 0:
            model.add_exactly_one(literals)
        elif unit and low == -np.inf and room == 1:
            model.add_at_most_one(literals)
        elif unit and low == -np.inf and room == len(index) - 1:
            model.add_bool_or([~literal for literal in literals])
        else:
            terms = [variables[i] for i in index]
            total = cp_model.LinearExpr.weighted_sum(terms, [int(entry) for entry in data])
            low_int = -(2**40) if low == -np.inf else int(low)
            model.add_linear_constraint(total, low_int, 2**40 if high == np.inf else int(high))
    return model, variables


def whole_numbers(program: Program) -> tuple[float, list[int], float]:
    """Scale, the integers nearest to scale * objective, and how far a bound may be off by rounding.

    Where values come in steps the integers count steps: that proves optimality many times faster,
    and what is lost is the noise that breaks ties, at most an eighth of a step a record.
    """
    objective = program.objective
    total = float(np.abs(objective).sum())
    if program.step:
        scale = 1 / program.step
    else:
        scale = float(2.0 ** np.floor(np.log2(SUM / total))) if total > 0 else 1.0
    scaled = objective * scale
    whole = np.rint(scaled)
    error = float(np.abs(scaled - whole).sum()) / scale
    if program.step:
        error = min(error, program.step / 8)
    return scale, [int(c) for c in whole], error
