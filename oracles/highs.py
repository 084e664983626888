"""HiGHS, through its own Python interface."""

from __future__ import annotations

import functools
import os
import sys
import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.reduce import Floats

_LOCK = threading.Lock()


@functools.cache
def _silence_once() -> None:
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        import highspy

        highspy.Highs()  # type: ignore[no-untyped-call]
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def ready_highs() -> None:
    """Make HiGHS ready for a run in this thread; call it before each one, in whatever wrapping.

    *Banner.* It prints two lines on file descriptor 1, once a process, when the first ``Highs`` is
    created, whatever its options say; programs that write data to standard output cannot have that,
    so the first one is created where they are lost.

    *Threads.* The first run in a thread makes a scheduler of its number of threads, and every later
    run that asks for another number fails, also one through another package.  So the old scheduler
    is dropped.
    """
    with _LOCK:
        _silence_once()
    import highspy

    reset: Any = getattr(highspy.Highs, "resetThreadScheduler", highspy.Highs.resetGlobalScheduler)
    reset(True)


@dataclass(frozen=True)
class Highs(MipBackend):
    """HiGHS with one thread and no relative gap."""

    name: ClassVar[str] = "highs"
    package: ClassVar[str | None] = "highspy"
    install: ClassVar[str] = "pip install highspy"
    has: ClassVar[frozenset[str]] = frozenset({"seconds", "nodes"})

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        ready_highs()
        import highspy

        unit = program.unit()
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in options(self.limits.seconds, self.limits.nodes, self.limits.seed):
            solver.setOptionValue(option, value)
        solver.setOptionValue("mip_abs_gap", gap / unit)
        solver.passModel(to_highs(program, unit))
        if hint is not None:
            start = highspy.HighsSolution()
            start.col_value = hint.tolist()
            solver.setSolution(start)
        solver.run()
        return read(self, program, solver)


def options(seconds: float | None, nodes: int | None, seed: int) -> list[tuple[str, Any]]:
    """Option names and values that every way to HiGHS uses."""
    chosen: list[tuple[str, Any]] = [
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", seed % 2**31),
        ("mip_rel_gap", 0.0),
    ]
    if seconds is not None:
        chosen.append(("time_limit", float(seconds)))
    if nodes is not None:
        chosen.append(("mip_max_nodes", nodes))
    return chosen


def to_highs(program: Program, unit: float) -> Any:
    """The program as a ``HighsLp`` that minimises; objective divided by ``unit``."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.shape
    lp.col_cost_ = -program.objective / unit
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = program.upper
    lp.row_lower_ = program.row_lower
    lp.row_upper_ = program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.start
    lp.a_matrix_.index_ = program.index
    lp.a_matrix_.value_ = program.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(whole)] for whole in program.integer]
    return lp


def read(backend: MipBackend, program: Program, solver: Any) -> Answer:
    """What a HiGHS object has after ``run``: its own status, not a modelling layer's."""
    import highspy

    status = solver.getModelStatus()
    reason = f"{backend.name}: {solver.modelStatusToString(status)}"
    info = solver.getInfo()
    feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
    point = None
    if int(info.primal_solution_status) == feasible:
        point = np.array(solver.getSolution().col_value)
    bound = program.constant - info.mip_dual_bound * program.unit()
    usable = status in (
        highspy.HighsModelStatus.kOptimal,
        highspy.HighsModelStatus.kTimeLimit,
        highspy.HighsModelStatus.kSolutionLimit,
        highspy.HighsModelStatus.kInterrupt,
    )
    return backend.answer(
        program, reason, point, bound if usable else None, int(info.mip_node_count)
    )
