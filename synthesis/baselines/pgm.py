"""Measure the marginals of a workload and fit a graphical model to them.

 1  measure    every marginal of the workload, the budget by optimal shares (``delta=0``: equal
               shares, Laplace noise)
 2  estimate   the graphical model of largest entropy that fits best (``graphical.py``)

Privacy.  One group of measurements by the curator; the rest is post-processing.

Reference: McKenna, Sheldon, Miklau (2019), "Graphical-model based estimation and inference for
differential privacy".
"""

from __future__ import annotations

import math
from typing import Any

from saddlesynth.games.privacy.budget import split
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.baselines.graphical import check_tree
from saddlesynth.synthesis.baselines.graphical_method import GraphicalMethod, plan_step
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.privsyn.measure import budget_shares
from saddlesynth.synthesis.workload import check_workload, parse_workload


class PGM(GraphicalMethod):
    """A graphical model of chosen marginals.

    Parameters
    ----------
    workload
        The marginals: ``all:K``, ``random:COUNT:K:SEED``, a JSON file, or what it would hold; see
        ``workload.py``.  Marginals that share many columns make a large junction tree, which is
        refused before data are read.
    **others
        See ``GraphicalMethod``.
    """

    name = "pgm"
    summary = "a graphical model of marginals that you choose (needs mbi)"
    accepts_pure = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-9, *, workload: Any = "all:1", **others: Any
    ) -> None:
        super().__init__(epsilon, delta, **others)
        self.workload = workload

    def _fit(self, session: Session) -> Fit:
        chosen, ledger = self._marginals(session.domain), session.curator.ledger
        if ledger.pure:
            shares = split(ledger.remaining_epsilon, [1.0] * len(chosen))
            measured = session.curator.measure_laplace("marginal", chosen, shares)
        else:
            shares = self._shares(session.domain, chosen, ledger.remaining_rho)
            measured = session.curator.measure("marginal", chosen, shares)
        session.progress("measure", 1.0)
        rows = self._rows(session, measured)
        return self._finished(session, measured, rows, {"marginals": len(chosen)})

    def _marginals(self, domain: Domain) -> list[Attributes]:
        """The workload's marginals; refused if their junction tree is too large."""
        asked = parse_workload(self.workload, domain).marginals
        chosen = list(dict.fromkeys(tuple(sorted(m)) for m in asked))
        check_tree(domain, chosen, self.max_model_size)
        return chosen

    def _shares(self, domain: Domain, chosen: list[Attributes], rho: float) -> list[float]:
        return budget_shares([domain.cells(m) for m in chosen], rho, "optimal")

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        chosen = self._marginals(domain)
        steps = []
        for marginal, share in zip(chosen, self._shares(domain, chosen, rho), strict=True):
            sigma = self.sensitivity / math.sqrt(2 * share)
            if self.delta == 0:
                sigma = math.sqrt(2) * self.count_sensitivity * len(chosen) / float(self.epsilon)
            name = " x ".join(domain.names[a] for a in marginal)
            steps.append(plan_step(name, 1, domain.cells(marginal), share, sigma))
        return self._graphical_plan(domain, rows, rho, steps)

    def _check(self) -> None:
        super()._check()
        check_workload(self.workload)
