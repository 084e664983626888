"""The default oracle: enumerate if that is quick, else CP-SAT from a local search's record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from saddlesynth.oracles.backend import Answer, Backend
from saddlesynth.oracles.cp_sat import CpSat
from saddlesynth.oracles.exact import STATES, Exact
from saddlesynth.oracles.local_search import local_search
from saddlesynth.oracles.oracle import Limits
from saddlesynth.oracles.reduce import Ints, Reduced


@dataclass(frozen=True)
class Portfolio(Backend):
    """Exact if the reduction leaves at most ``states`` records, CP-SAT otherwise.

    On games' problems nearly every solve is an enumeration of a few thousand records (under a
    millisecond).  CP-SAT starts from a local search's record, so that a limit never leaves less.
    The default limit is CP-SAT's repeatable clock: the same answer on every machine.
    """

    limits: Limits = field(default_factory=lambda: Limits(deterministic_time=5.0))
    states: int = STATES

    name: ClassVar[str] = "portfolio"
    package: ClassVar[str | None] = CpSat.package
    install: ClassVar[str] = CpSat.install
    has: ClassVar[frozenset[str]] = CpSat.has

    def attempt(self, task: Reduced, hint: Ints | None = None) -> Answer:
        part: Backend
        if task.states <= self.states:
            part = Exact(states=self.states)
        else:
            part = CpSat(limits=self.limits)
            hint = local_search(task, np.random.default_rng(self.limits.seed), hint=hint)
        answer = part.attempt(task, hint)
        return replace(answer, solver=part.name, version=part.version())
