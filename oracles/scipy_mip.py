"""SciPy's ``milp`` (its own copy of HiGHS): no package beyond the base installation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer
from saddlesynth.oracles.formulation import Program
from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.reduce import Floats


@dataclass(frozen=True)
class Scipy(MipBackend):
    """``scipy.optimize.milp``; takes no absolute gap and no starting point."""

    name: ClassVar[str] = "scipy-highs"
    package: ClassVar[str | None] = "scipy"
    install: ClassVar[str] = "pip install scipy"
    has: ClassVar[frozenset[str]] = frozenset({"seconds", "nodes"})

    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        from scipy.optimize import Bounds, LinearConstraint, milp

        unit = program.unit()
        options: Any = {"mip_rel_gap": 0.0}
        if self.limits.seconds is not None:
            options["time_limit"] = self.limits.seconds
        if self.limits.nodes is not None:
            options["node_limit"] = self.limits.nodes
        result = milp(
            -program.objective / unit,
            integrality=program.integer.astype(np.int64),
            bounds=Bounds(0, program.upper),
            constraints=LinearConstraint(program.matrix(), program.row_lower, program.row_upper),
            options=options,
        )
        bound = result.get("mip_dual_bound")
        nodes = result.get("mip_node_count")
        return self.answer(
            program,
            f"{self.name}: {result.message}",
            result.x,
            None if bound is None else program.constant - float(bound) * unit,
            None if nodes is None else int(nodes),
        )
