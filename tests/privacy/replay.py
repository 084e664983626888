"""What a method's noisy answers say about which of two tables it saw.

A fit on one table is recorded: every draw with the exact numbers that went in, its scale, and the
answer.  The fit is then repeated on another table with the *same* answers.  A method that learns
from its table only through noise asks the same again and releases the same, whatever the table; and
the exact numbers of both fits give the privacy loss

    loss = log p(answers | first table) - log p(answers | second table),

by which, if noise has the scale that was asked, the two tables are told apart as well as can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.mechanisms import Seeded


@dataclass(frozen=True, eq=False)
class Draw:
    """One call of a noise source: what was asked, of which exact numbers, and the answer."""

    mechanism: str
    exact: NDArray[Any]
    scale: float
    answer: Any


class Recording(Seeded):
    """Seeded noise that notes every draw; ``factor`` 1/2 is the bug of half the noise."""

    def __init__(self, seed: int, factor: float = 1.0) -> None:
        super().__init__(np.random.default_rng(seed))
        self.factor = factor
        self.draws: list[Draw] = []

    def _noted(self, mechanism: str, exact: NDArray[Any], scale: float) -> Any:
        answer = getattr(super(), mechanism)(exact, scale * self.factor)
        self.draws.append(Draw(mechanism, exact, scale, answer))
        return answer

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> Any:
        return self._noted("discrete_gaussian", counts, sigma)

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> Any:
        return self._noted("discrete_laplace", counts, scale)

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> Any:
        return self._noted("noisy_max", scores, scale)


class Replaying(Seeded):
    """Gives the recorded answers again, and adds up the loss."""

    def __init__(self, recorded: Recording) -> None:
        super().__init__(np.random.default_rng(0))
        self._left = iter(recorded.draws)
        self.loss = 0.0

    def _again(
        self,
        mechanism: str,
        exact: NDArray[Any],
        scale: float,
        log_density: Callable[[NDArray[Any], float, Any], float],
    ) -> Any:
        draw = next(self._left)
        asked, before = (
            (mechanism, scale, exact.shape),
            (draw.mechanism, draw.scale, draw.exact.shape),
        )
        if asked != before:
            raise AssertionError(f"asked {asked} after the same answers; before it was {before}")
        self.loss += log_density(draw.exact, scale, draw.answer)
        self.loss -= log_density(exact, scale, draw.answer)
        return draw.answer

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> Any:
        return self._again("discrete_gaussian", counts, sigma, _gaussian)

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> Any:
        return self._again("discrete_laplace", counts, scale, _laplace)

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> Any:
        return self._again("noisy_max", scores, scale, _softmax)

    @property
    def left(self) -> int:
        """Draws that were not asked again."""
        return len(list(self._left))


def _gaussian(exact: NDArray[Any], scale: float, answer: Any) -> float:
    return -float((((answer - exact) / scale) ** 2).sum()) / 2


def _laplace(exact: NDArray[Any], scale: float, answer: Any) -> float:
    return -float(np.abs((answer - exact) / scale).sum())


def _softmax(exact: NDArray[Any], scale: float, answer: Any) -> float:
    logits = (exact - exact.max()) / scale
    return float(logits[answer] - np.log(np.exp(logits).sum()))
