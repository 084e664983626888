"""Local search as an oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from saddlesynth.oracles.backend import ALL_LIMITS, Answer, Backend
from saddlesynth.oracles.local_search import local_search
from saddlesynth.oracles.reduce import Ints, Reduced


@dataclass(frozen=True)
class Local(Backend):
    """Coordinate ascent from ``restarts`` starting points, seeded by ``limits.seed``.

    Misses the optimum in a third of the problems that games pose; its status is ``FEASIBLE`` unless
    the reduction's own bound proves it.
    """

    restarts: int = 200

    name: ClassVar[str] = "local"
    has: ClassVar[frozenset[str]] = ALL_LIMITS  # its work is bounded anyway

    def attempt(self, task: Reduced, hint: Ints | None = None) -> Answer:
        chosen = local_search(task, np.random.default_rng(self.limits.seed), self.restarts, hint)
        return Answer.choice(task, chosen, reason=f"best of {self.restarts} local searches")
