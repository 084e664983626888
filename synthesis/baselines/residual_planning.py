"""Residual planning: Gaussian noise on a workload of marginals with the least total variance.

 1  plan      rho of each residual that the workload needs (``residual_budget.py``)
 2  measure   the residuals with discrete Gaussian noise (``games/privacy/residuals.py``)
 3  answer    every marginal is a sum of residuals; unbiased, each with its own standard error

Privacy.  Line 2 is one group of measurements by the curator; the rest is post-processing.

Reference: Xiao, He, Zhang, Kifer (2023), "An Optimal and Scalable Matrix Mechanism for Noisy
Marginals under Convex Loss Functions" (ResidualPlanner).  Differs: under replace-one the number of
rows is public and costs nothing, and the sum of what is charged is an upper bound; rows can be made
from the answers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.residuals import scaled_residual, squared_sensitivity
from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.baselines.answers import AnswerMethod, Draws
from saddlesynth.synthesis.baselines.residual_budget import residual_shares
from saddlesynth.synthesis.baselines.strategy import Workload


class ResidualPlanning(AnswerMethod):
    """Optimal Gaussian noise on marginals.

    Parameters: see ``AnswerMethod``.
    """

    name = "residual"
    summary = "unbiased answers to a workload of marginals, with the least Gaussian noise there is"

    def _measure(
        self, session: Session, workload: Workload
    ) -> tuple[dict[Attributes, NDArray[np.float64]], NDArray[np.float64]]:
        curator, parts = session.curator, workload.parts
        if not parts:  # nothing but a public number of rows
            return {}, np.zeros(0)
        rhos = split(curator.ledger.remaining_rho, self._shares(workload))
        measured = curator.measure_residuals("residual", parts, rhos)
        projected = {m.attributes: scaled_residual(m.counts) / m.counts.size for m in measured}
        return projected, np.array([m.sigma**2 for m in measured])

    def _shares(self, workload: Workload) -> list[float]:
        shares = residual_shares(workload, self._squares(workload), self.objective)
        return [float(share) for share in shares]

    def _squares(self, workload: Workload) -> list[float]:
        """Squared sensitivity of each residual."""
        ledger = self._new_ledger()
        return [
            squared_sensitivity(workload.domain.shape(t), ledger) / workload.domain.cells(t) ** 2
            for t in workload.parts
        ]

    def _draws(self, workload: Workload, rho: float) -> Draws:
        shares, squares = np.array(self._shares(workload)), np.array(self._squares(workload))
        variances = squares / (2 * rho * shares)
        return Draws(tuple(workload.parts), tuple(map(math.sqrt, variances)), variances)
