"""OR-Tools MathOpt: one modelling interface to HiGHS and SCIP."""

from __future__ import annotations

import datetime
import sys
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.reduce import Floats


@dataclass(frozen=True)
class MathOpt(MipBackend):
    """MathOpt's solver ``"highs"`` or ``"scip"``, both linked into the ortools package."""

    solver: str = "highs"

    package: ClassVar[str | None] = "ortools"
    install: ClassVar[str] = "pip install ortools"
    has: ClassVar[frozenset[str]] = frozenset({"seconds", "nodes"})

    SOLVERS: ClassVar[dict[str, str]] = {"highs": "HIGHS", "scip": "GSCIP"}

    def __post_init__(self) -> None:
        if self.solver not in self.SOLVERS:
            raise ValueError(f"solver is {self.solver!r}; it must be one of {list(self.SOLVERS)}")
        super().__post_init__()

    @property
    def name(self) -> str:
        return f"mathopt-{self.solver}"

    def missing(self) -> str | None:
        if self.solver == "highs" and _pulp_came_first():
            return (
                "PuLP was imported before OR-Tools, whose HiGHS would crash; import ortools first"
            )
        return super().missing()

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        from ortools.math_opt.python import mathopt

        unit = program.unit()
        model, variables = build(program, unit)
        try:
            result = mathopt.solve(
                model,
                getattr(mathopt.SolverType, self.SOLVERS[self.solver]),
                params=self._parameters(gap / unit),
                model_params=_hints(variables, hint),
            )
        except AttributeError as error:
            # MathOpt hides its own message behind "'StatusNotOk' object has no attribute ...".
            raise RuntimeError(f"{self.name} refused the model or a parameter ({error})") from error
        reason = f"{self.name}: {result.termination.reason.name.lower()}"
        if result.termination.limit is not None:
            reason = f"{reason}, {result.termination.limit.name.lower()} limit"
        point = None
        if result.has_primal_feasible_solution():
            point = np.array(result.variable_values(variables))
        bound = program.constant + result.dual_bound() * unit
        nodes = int(result.solve_stats.node_count)
        return self.answer(program, reason, point, bound, nodes)

    def _parameters(self, gap: float) -> Any:
        from ortools.math_opt.python import mathopt

        limits = self.limits
        parameters = mathopt.SolveParameters(
            relative_gap_tolerance=0.0,
            absolute_gap_tolerance=gap,
            random_seed=limits.seed % 2**31,
            node_limit=limits.nodes,
        )
        if limits.seconds is not None:
            parameters = replace(parameters, time_limit=datetime.timedelta(seconds=limits.seconds))
        if self.solver == "scip":  # HiGHS refuses "threads"; it uses one by itself here
            parameters = replace(parameters, threads=1)
        return parameters


def _pulp_came_first() -> bool:
    """Whether PuLP was imported before OR-Tools (see ``pulp_mip.import_pulp``).

    Modules are in the order in which their import ended; parts of PuLP end first.
    """
    first = next((m for m in sys.modules if m.startswith(("pulp.", "ortools."))), "")
    return first.startswith("pulp.")


def build(program: Program, unit: float) -> tuple[Any, list[Any]]:
    """The model, objective divided by ``unit``, and its variables."""
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    variables = [
        model.add_variable(lb=0.0, ub=float(top), is_integer=bool(whole))
        for top, whole in zip(program.upper, program.integer, strict=True)
    ]
    for index, data, low, high in program.rows():
        row = model.add_linear_constraint(lb=low, ub=high)
        for i, entry in zip(index, data, strict=True):
            row.set_coefficient(variables[i], entry)
    model.objective.is_maximize = True
    for variable, reward in zip(variables, program.objective / unit, strict=True):
        model.objective.set_linear_coefficient(variable, float(reward))
    return model, variables


def _hints(variables: list[Any], hint: Floats | None) -> Any:
    """A starting point, if there is one."""
    from ortools.math_opt.python import mathopt

    if hint is None:
        return None
    values = dict(zip(variables, hint.tolist(), strict=True))
    return mathopt.ModelSolveParameters(
        solution_hints=[mathopt.SolutionHint(variable_values=values)]
    )
