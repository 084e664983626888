"""PuLP 3 and 4: HiGHS, CP-SAT and CBC behind its modelling layer.

The two versions differ: 3 returns an integer and keeps the status in the problem, 4 returns an
``LpSolveStats``; 4 ships no solver (``pulp[cbc]`` is one) and is the first with CP-SAT.  In both a
run that a limit stopped is called "Optimal": what counts is the *solution* status, and for HiGHS
what the solver object itself says.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.highs import options, read, ready_highs
from saddlesynth.oracles.mip import MipBackend, on_interrupt
from saddlesynth.oracles.reduce import Floats

HOW = {
    "highs": "pip install pulp highspy",
    "cp-sat": "pip install 'pulp[ortools]>=4' (needs Python 3.12 or newer)",
    "cbc": "pip install 'pulp<4' (includes CBC) or 'pulp[cbc]>=4' (Python 3.12 or newer)",
}
NAMES = {"highs": "HiGHS", "cp-sat": "CPSAT", "cbc": "COIN_CMD"}


@dataclass(frozen=True)
class Pulp(MipBackend):
    """PuLP's solver ``"highs"``, ``"cp-sat"`` or ``"cbc"``.

    CBC does not tell its bound: stopped early, it proves nothing.
    """

    solver: str = "highs"

    package: ClassVar[str | None] = "pulp"
    has: ClassVar[frozenset[str]] = frozenset({"seconds", "nodes"})
    all_integer: ClassVar[bool] = True  # its CP-SAT interface rounds continuous variables

    def __post_init__(self) -> None:
        if self.solver not in NAMES:
            raise ValueError(f"solver is {self.solver!r}; it must be one of {list(NAMES)}")
        super().__post_init__()

    @property
    def name(self) -> str:
        return f"pulp-{self.solver}"

    @property
    def install(self) -> str:  # type: ignore[override]
        return HOW[self.solver]

    def missing(self) -> str | None:
        reason = super().missing()
        if reason is not None:
            return reason
        pulp = import_pulp(self.solver)

        name = NAMES[self.solver]
        if name in pulp.listSolvers() and pulp.getSolver(name, **self._options(0.0)).available():
            return None
        return f"PuLP {self.version()} finds no {name}: {self.install}"

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        import pulp

        if self.solver == "highs":
            ready_highs()
        problem, variables = build(program)
        solver = pulp.getSolver(NAMES[self.solver], **self._options(gap / program.unit()))
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            if self.solver == "cbc":
                solver.tmpDir = folder
                on_interrupt(lambda: _kill(solver.path))
            stats = problem.solve(solver)
        seconds = time.monotonic() - start
        values = [variable.varValue for variable in variables]
        point = None
        if any(value is not None for value in values):  # PuLP leaves out a variable without use
            point = np.array([value or 0.0 for value in values], dtype=np.float64)
        if self.solver == "highs":  # the solver's own words, not the layer's
            own = read(self, program, problem.solverModel)
            return replace(own, point=None if own.point is None else point)
        reason, found, optimal = _outcome(stats, problem)
        if not found or point is None:
            return Answer(f"{self.name}: {reason}")
        bound = None
        if optimal and not (self.limits.seconds and seconds >= 0.95 * self.limits.seconds):
            bound = program.constant + float(program.objective @ point) + gap
        return self.answer(program, f"{self.name}: {reason}", point, bound)

    def _options(self, gap: float) -> dict[str, Any]:
        limits = self.limits
        common: dict[str, Any] = {"msg": False, "threads": 1, "timeLimit": limits.seconds}
        if self.solver == "highs":
            own = dict(options(None, limits.nodes, limits.seed))
            return common | {k: v for k, v in own.items() if k not in common} | {"gapAbs": gap}
        if self.solver == "cbc":
            own = {"gapAbs": gap, "gapRel": 0.0, "maxNodes": limits.nodes, "path": _bundled_cbc()}
            return common | own | {"options": [f"randomCbcSeed {limits.seed % 2**31}"]}
        own = {"random_seed": limits.seed % 2**31, "relative_gap_limit": 0.0}
        if limits.nodes is not None:
            own["max_number_of_conflicts"] = limits.nodes
        return common | own | {"absolute_gap_limit": gap, "catch_sigint_signal": False}


def import_pulp(solver: str = "") -> Any:
    """PuLP, imported after OR-Tools.

    PuLP 3 loads highspy so that its symbols are visible to every library loaded later: OR-Tools'
    own, older HiGHS would then call into it and crash.
    """
    if importlib.util.find_spec("ortools") is not None:
        importlib.import_module("ortools.sat.python.cp_model")
    if solver == "highs":
        ready_highs()
    return importlib.import_module("pulp")


def _kill(path: str) -> None:
    """End the CBC processes that we started; PuLP keeps them to itself."""
    for thing in gc.get_objects():
        if type(thing) is subprocess.Popen and thing.poll() is None:  # isinstance would ask proxies
            if isinstance(thing.args, list) and thing.args[0] == path:
                thing.kill()


def _bundled_cbc() -> str | None:
    """Where PuLP 3 keeps the CBC that it brings along; PuLP 4 searches by itself."""
    bundled = getattr(import_pulp().apis, "PULP_CBC_CMD", None)
    return getattr(bundled, "pulp_cbc_path", None)


def build(program: Program) -> tuple[Any, list[Any]]:
    """The problem, as a minimisation of the negated objective divided by its unit."""
    pulp = import_pulp()
    problem = pulp.LpProblem("best_response", pulp.LpMinimize)
    width = len(str(len(program.objective)))  # PuLP 3 orders columns by name
    variables = [
        problem.add_variable(
            f"z{i:0{width}}", 0, float(top), cat="Integer" if whole else "Continuous"
        )
        for i, (top, whole) in enumerate(zip(program.upper, program.integer, strict=True))
    ]
    costs = (-program.objective / program.unit()).tolist()
    problem += pulp.lpSum(c * v for c, v in zip(costs, variables, strict=True))
    for index, data, low, high in program.rows():
        total = pulp.lpSum(entry * variables[i] for i, entry in zip(index, data, strict=True))
        if low == high:
            problem += total == low
            continue
        if low != -np.inf:
            problem += total >= low
        if high != np.inf:
            problem += total <= high
    return problem, variables


def _outcome(stats: Any, problem: Any) -> tuple[str, bool, bool]:
    """Why it stopped, whether there is a point, whether it is said to be optimal."""
    if hasattr(stats, "has_solution"):  # PuLP 4
        optimal = stats.status_str == "Optimal"
        return str(stats.status_str).lower(), bool(stats.has_solution), optimal
    pulp = import_pulp()
    said = problem.sol_status  # PuLP 3: problem.status is "Optimal" after a time limit, too
    optimal = said == pulp.LpSolutionOptimal
    return pulp.LpSolution[said].lower(), optimal or said == pulp.LpSolutionIntegerFeasible, optimal
