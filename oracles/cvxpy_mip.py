"""CVXPY: HiGHS and, where PySCIPOpt is installed, SCIP behind its modelling layer."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.highs import options, ready_highs
from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.reduce import Floats

MODULES = {"highs": "highspy", "scip": "pyscipopt"}
FEASIBLE = 2  # HiGHS's kSolutionStatusFeasible


@dataclass(frozen=True)
class Cvxpy(MipBackend):
    """CVXPY's solver ``"highs"`` or ``"scip"``, always named: by default it takes what it finds.

    After a limit CVXPY leaves numbers in the variables whether or not there is a solution; for
    HiGHS its own statistics tell, from SCIP only a proven optimum is used.
    """

    solver: str = "highs"

    package: ClassVar[str | None] = "cvxpy"
    has: ClassVar[frozenset[str]] = frozenset({"seconds", "nodes"})

    def __post_init__(self) -> None:
        if self.solver not in MODULES:
            raise ValueError(f"solver is {self.solver!r}; it must be one of {list(MODULES)}")
        super().__post_init__()

    @property
    def name(self) -> str:
        return f"cvxpy-{self.solver}"

    @property
    def install(self) -> str:  # type: ignore[override]
        return f"pip install cvxpy {MODULES[self.solver]}"

    def missing(self) -> str | None:
        module = MODULES[self.solver]
        reason = super().missing()
        if reason is None and importlib.util.find_spec(module) is None:
            return f"package {module} is not installed: {self.install}"
        return reason

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        if self.solver == "highs":
            ready_highs()
        import cvxpy

        unit = program.unit()
        whole = (np.flatnonzero(program.integer),)
        z = cvxpy.Variable(len(program.objective), integer=whole)
        rows, low, high = program.matrix(), program.row_lower, program.row_upper
        equal, floor, ceiling = low == high, low > -np.inf, high < np.inf
        constraints = [z >= 0, z <= program.upper]
        if equal.any():
            constraints.append(rows[equal] @ z == low[equal])
        if (floor & ~equal).any():
            constraints.append(rows[floor & ~equal] @ z >= low[floor & ~equal])
        if (ceiling & ~equal).any():
            constraints.append(rows[ceiling & ~equal] @ z <= high[ceiling & ~equal])
        problem: Any = cvxpy.Problem(cvxpy.Minimize((-program.objective / unit) @ z), constraints)
        problem.solve(**self._options(gap / unit))
        reason = f"{self.name}: {problem.status}"
        point = None if z.value is None else np.array(z.value)
        proven = problem.status == cvxpy.OPTIMAL
        if self.solver == "highs":
            info = problem.solver_stats.extra_stats
            found = int(info.primal_solution_status) == FEASIBLE
            bound = program.constant - float(info.mip_dual_bound) * unit
            return self.answer(program, reason, point if found else None, bound)
        if not proven or point is None:
            return Answer(reason)
        bound = program.constant + float(program.objective @ point) + gap
        return self.answer(program, reason, point, bound)

    def _options(self, gap: float) -> dict[str, Any]:
        limits = self.limits
        if self.solver == "highs":
            own = dict(options(limits.seconds, limits.nodes, limits.seed))
            own.pop("output_flag")  # CVXPY sets its own
            return {"solver": "HIGHS", "mip_abs_gap": gap, **own}
        parameters: dict[str, Any] = {
            "limits/gap": 0.0,
            "limits/absgap": gap,
            "misc/catchctrlc": False,
        }
        parameters["randomization/randomseedshift"] = limits.seed % 2**31
        if limits.seconds is not None:
            parameters["limits/time"] = limits.seconds
        if limits.nodes is not None:
            parameters["limits/nodes"] = limits.nodes
        return {"solver": "SCIP", "scip_params": parameters}
