"""HDMM for marginals: measure an optimised set of marginals, answer a workload by least squares.

 1  strategy   weighted marginals that make the workload's expected error least (``strategy.py``)
 2  measure    each with its share of the budget: y = A x + noise
 3  answer     W A^+ y.  A^T A, W and the noise are all diagonal in the residuals of marginals, so
               A^+ y is, residual by residual, the average of what the measured marginals say,
               weighted by inverse variance; the domain is never built

Laplace noise with ``delta=0`` (as published), Gaussian noise otherwise.

Privacy.  Line 2 is one group of measurements by the curator; the rest is post-processing.

Reference: McKenna, Miklau, Hay, Machanavajjhala (2018), "Optimizing error of high-dimensional
statistical queries under differential privacy".  Differs: see ``strategy.py``; a public number of
rows takes part as an exact measurement; rows can be made from the answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.baselines.answers import AnswerMethod, Draws
from saddlesynth.synthesis.baselines.lattice import residual, subsets
from saddlesynth.synthesis.baselines.strategy import (
    Strategy,
    Workload,
    best_strategy,
    even_strategy,
)
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown

Kind = Literal["optimised", "even"]
Table = NDArray[np.float64]


class HDMM(AnswerMethod):
    """The high-dimensional matrix mechanism on workloads of marginals.

    Parameters
    ----------
    strategy
        ``"optimised"``, or ``"even"``: the workload's own marginals in equal shares.
    **others
        See ``AnswerMethod``.
    """

    name = "hdmm"
    summary = "unbiased answers to a workload of marginals from an optimised set of marginals"
    accepts_pure = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        strategy: Kind = "optimised",
        **others: Any,
    ) -> None:
        super().__init__(epsilon, delta, **others)
        self.strategy = strategy

    def _measure(
        self, session: Session, workload: Workload
    ) -> tuple[dict[Attributes, Table], NDArray[np.float64]]:
        strategy, ledger = self._strategy(workload), session.curator.ledger
        session.progress("strategy", 1.0)
        if ledger.pure:
            shares = split(ledger.remaining_epsilon, strategy.shares)
            measured = session.curator.measure_laplace("strategy", strategy.marginals, shares)
        else:
            shares = split(ledger.remaining_rho, strategy.shares)
            measured = session.curator.measure("strategy", strategy.marginals, shares)
        return least_squares(measured, workload.parts, session.domain)

    def _strategy(self, workload: Workload) -> Strategy:
        if self.strategy == "even":
            return even_strategy(workload)
        return best_strategy(workload, 2 if self.delta > 0 else 1, self.objective)

    def _draws(self, workload: Workload, rho: float) -> Draws:
        strategy = self._strategy(workload)
        sigmas = [self._sigma(share, rho) for share in strategy.shares]
        held = {part: i for i, part in enumerate(workload.parts)}
        precisions = np.zeros(len(held))
        for marginal, sigma in zip(strategy.marginals, sigmas, strict=True):
            for part in subsets(marginal, workload.domain):
                if part in held:
                    precisions[held[part]] += precision(marginal, part, sigma, workload.domain)
        return Draws(strategy.marginals, tuple(sigmas), 1 / precisions)

    def _check(self) -> None:
        super()._check()
        if self.strategy not in get_args(Kind):
            raise InputError(unknown("strategy", self.strategy, list(get_args(Kind))))

    def _sigma(self, share: float, rho: float) -> float:
        if self.delta > 0:
            return self.sensitivity / math.sqrt(2 * share * rho)
        return math.sqrt(2) * self.count_sensitivity / (share * float(self.epsilon))


def precision(marginal: Attributes, part: Attributes, sigma: float, domain: Domain) -> float:
    """1 over the variance that summing a marginal onto ``part`` leaves on each cell."""
    return domain.cells(part) / domain.cells(marginal) / sigma**2


def least_squares(
    measured: Sequence[Measurement], parts: Sequence[Attributes], domain: Domain
) -> tuple[dict[Attributes, Table], NDArray[np.float64]]:
    """A^+ y: the best estimate of each residual, and the variance of its noise; (parts,).

    measured : marginals with ascending attributes, of which every part is in at least one
    """
    sums = {part: np.zeros(domain.shape(part)) for part in parts}
    precisions = dict.fromkeys(parts, 0.0)
    for m in measured:
        for part in subsets(m.attributes, domain):
            if part in sums:
                weight = precision(m.attributes, part, m.sigma, domain)
                sums[part] += weight * residual(m.counts, m.attributes, part)
                precisions[part] += weight
    return (
        {part: sums[part] / precisions[part] for part in parts},
        np.array([1 / precisions[part] for part in parts]),
    )
