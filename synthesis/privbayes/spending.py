"""A part of the budget, in rho or, where the budget is pure, in epsilon: what it buys.

*Privacy.* Public inputs only; the curator charges what is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from saddlesynth.games.play import Allowance
from saddlesynth.games.privacy import budget
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.oracles.domain import Attributes


@dataclass(frozen=True)
class Share:
    """``amount`` of rho, or of epsilon if ``pure``.

    l1, l2 : sensitivities of one marginal

    >>> half, rest = Share(1.0, True, 2, 1.5).split((0.5, 0.5))
    >>> half.mean_noise(tables=3)  # Laplace noise of scale 2 * 3 / 0.5
    12.0
    """

    amount: float
    pure: bool
    l1: int
    l2: float

    def split(self, shares: Sequence[float]) -> list[Share]:
        """Parts that add up to no more than the whole."""
        return [replace(self, amount=part) for part in budget.split(self.amount, shares)]

    def selection(self, draws: int) -> float:
        """The epsilon of each of so many exponential mechanisms."""
        return Allowance(self.amount, self.amount if self.pure else None).selection(draws)

    def sigma(self, tables: int) -> float:
        """Standard deviation of the noise on a count, if so many tables have equal parts."""
        if self.pure:
            return math.sqrt(2) * self.mean_noise(tables)
        return self.l2 * math.sqrt(tables / (2 * self.amount))

    def mean_noise(self, tables: int) -> float:
        """Mean absolute noise on a count: the Laplace scale, or sigma sqrt(2 / pi)."""
        if self.pure:
            return self.l1 * tables / self.amount
        return math.sqrt(2 / math.pi) * self.sigma(tables)

    def measure(
        self, curator: Curator, step: str, marginals: Sequence[Attributes]
    ) -> list[Measurement]:
        """Noisy marginals with equal parts: Laplace if pure, Gaussian if not."""
        parts = budget.split(self.amount, [1.0] * len(marginals))
        ask = curator.measure_laplace if self.pure else curator.measure
        return ask(step, marginals, parts)
