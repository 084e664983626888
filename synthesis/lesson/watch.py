"""Looking over the players' shoulders: what the curator and the oracle were asked, and why.

The games themselves know nothing of it.  A lesson hands them a curator and an oracle that remember
every question; only a curator of public records may.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.games.noiseless import Noiseless, exact_scores
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator, PrivateRecords
from saddlesynth.games.privacy.mechanisms import Noise
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.oracle import BestResponse, Oracle, Prepared
from saddlesynth.oracles.problem import Problem


@dataclass(frozen=True, eq=False)
class Selection:
    """One question to the exponential mechanism, with what it saw: exact, so for public tables.

    ``scores`` are the errors of all queries and negations in counts, ``chances`` the probabilities
    with which each was drawn; ``epsilon`` is infinite if the game has no noise.
    """

    drawn: tuple[int, ...]
    epsilon: float
    scores: NDArray[np.float64]
    chances: NDArray[np.float64]


class Watched(Curator):
    """A curator of public records that remembers its selections."""

    def __init__(self, records: PrivateRecords, ledger: Ledger, noise: Noise) -> None:
        super().__init__(records, ledger, noise, public=True)
        self.selections: list[Selection] = []

    def select_query(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
        draws: int = 1,
    ) -> list[int]:
        """As ``Curator.select_query``."""
        played = list(answers)
        drawn = super().select_query(step, workload, played, epsilon, draws)
        scores = exact_scores(self, workload, played)
        shown = self._shown_epsilon(epsilon)
        law = chances(scores, shown / self.ledger.rows_per_unit)
        self.selections.append(Selection(tuple(drawn), shown, scores, law))
        return drawn

    def _shown_epsilon(self, epsilon: float) -> float:
        return epsilon


class WatchedNoiseless(Watched, Noiseless):
    """The same without noise."""

    def __init__(self, records: PrivateRecords) -> None:
        Noiseless.__init__(self, records, public=True)
        self.selections = []

    def _shown_epsilon(self, epsilon: float) -> float:
        return math.inf


def chances(scores: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The law of the exponential mechanism, proportional to exp(epsilon * score / 2).

    >>> chances(np.array([2.0, 0.0]), epsilon=math.log(3))
    array([0.75, 0.25])
    >>> chances(np.array([2.0, 2.0, 0.0]), math.inf)
    array([1., 0., 0.])
    """
    if math.isinf(epsilon):
        return np.asarray(np.arange(len(scores)) == np.argmax(scores), dtype=np.float64)
    weights = np.exp(epsilon / 2 * (scores - scores.max()))
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True, eq=False)
class Answered:
    """One round of the oracle: the problem, the random costs (s, width), and s answers."""

    problem: Problem
    costs: NDArray[np.float64]
    answers: Sequence[BestResponse]


@dataclass(frozen=True, eq=False)
class WatchedOracle:
    """An oracle that remembers what it was asked."""

    oracle: Oracle
    answered: list[Answered] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.oracle.name

    def prepare(self, problem: Problem) -> Prepared:
        """As the oracle's own."""
        return _WatchedProblem(problem, self.oracle.prepare(problem), self.answered)


@dataclass(frozen=True, eq=False)
class _WatchedProblem:
    problem: Problem
    prepared: Prepared
    answered: list[Answered]

    def best_response(
        self, perturbation: ArrayLike, *, generator: np.random.Generator | None = None
    ) -> BestResponse:
        return self.best_responses(np.asarray(perturbation)[None], generator=generator)[0]

    def best_responses(
        self,
        perturbations: ArrayLike,
        n_jobs: int | None = 1,
        *,
        generator: np.random.Generator | None = None,
    ) -> Sequence[BestResponse]:
        answers = self.prepared.best_responses(perturbations, n_jobs, generator=generator)
        self.answered.append(Answered(self.problem, np.asarray(perturbations), answers))
        return answers
