"""MWEM+PGM: the MWEM loop with a graphical model instead of a histogram of the whole domain.

 1  measure the number of rows, where it is private                    ``count_share``
 2  T times, each with 1/T of the rest:
 3      select, by the exponential mechanism on || M_r - m_r ||_1 - cells_r sqrt(2/pi) sigma, a
        marginal r of the workload whose table the model gets wrong, among those that keep the
        junction tree below its limit                                                    half
 4      measure it; fit the model to all measurements                                    half

Privacy.  Measurements and T selections by the curator; what to ask next follows from released
values.

Reference: Hardt, Ligett, McSherry (2012), "A simple and practical algorithm for differentially
private data release" (MWEM); McKenna, Sheldon, Miklau (2019), section 5, for the graphical model.
Differs from MWEM: Gaussian noise and zCDP; whole marginals instead of single queries.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from saddlesynth.games.privacy.budget import Relation, split
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.baselines.graphical import tree_size
from saddlesynth.synthesis.baselines.graphical_method import (
    MEAN_ABSOLUTE,
    GraphicalMethod,
    plan_step,
    select_far,
)
from saddlesynth.synthesis.baselines.propagation import Propagated
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.workload import check_workload, parse_workload


class MWEMPGM(GraphicalMethod):
    """MWEM with a graphical model.

    Parameters
    ----------
    workload
        The marginals to choose from: ``all:K``, ``random:COUNT:K:SEED``, a JSON file, or what it
        would hold; see ``workload.py``.
    rounds
        Rounds (T); default: the number of columns.
    count_share
        Share of the budget for the number of rows, where that is private.
    **others
        See ``GraphicalMethod``.
    """

    name = "mwem-pgm"
    summary = "the worst marginals of a workload, one a round, by a graphical model (needs mbi)"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        workload: Any = "all:2",
        rounds: int | None = None,
        count_share: float = 0.02,
        **others: Any,
    ) -> None:
        super().__init__(epsilon, delta, **others)
        self.workload = workload
        self.rounds = rounds
        self.count_share = count_share

    def _fit(self, session: Session) -> Fit:
        domain, curator = session.domain, session.curator
        marginals = self._marginals(domain)
        curator.prepare(marginals)
        measured: list[Measurement] = []
        if session.public_rows is None:  # line 1
            count = self.count_share * curator.ledger.remaining_rho
            measured = curator.measure("number of rows", [()], [count])
        fit: Propagated | None = None
        rows = self._rows(session, measured)
        rounds = self._rounds_of(domain)
        for played, each in enumerate(  # line 2
            split(curator.ledger.remaining_rho, [1.0] * rounds), start=1
        ):
            candidates = self._small(domain, marginals, measured)
            chosen = self._choose(session, fit, candidates, rows, each / 2)  # line 3
            half = curator.ledger.remaining_rho if played == rounds else each / 2
            measured += curator.measure("marginal", [chosen], [half])  # line 4
            rows = self._rows(session, measured)
            if played < rounds:
                fit = self._between(domain, measured, rows, fit)
            session.progress("play", played / rounds)
        return self._finished(session, measured, rows, {"rounds": rounds})

    def _choose(
        self,
        session: Session,
        fit: Propagated | None,
        candidates: list[Attributes],
        rows: float,
        rho: float,
    ) -> Attributes:
        """Line 3; before anything is measured the model is uniform."""
        domain = session.domain
        cells = np.array([float(domain.cells(c)) for c in candidates])
        expected = (
            [np.full(domain.shape(c), 1 / domain.cells(c)) for c in candidates]
            if fit is None
            else fit.model.marginals(candidates)
        )
        sigma = self.sensitivity / math.sqrt(2 * rho)
        position = select_far(
            session.curator,
            "select",
            candidates,
            [rows * table for table in expected],
            rho,
            penalties=MEAN_ABSOLUTE * sigma * cells,
        )
        return candidates[position]

    def _marginals(self, domain: Domain) -> list[Attributes]:
        """The workload; refused if none of its marginals fits into the model."""
        asked = parse_workload(self.workload, domain).marginals
        marginals = list(dict.fromkeys(tuple(sorted(m)) for m in asked))
        if not self._small(domain, marginals, []):
            raise SizeError(
                f"no marginal of the workload fits into {self.max_model_size:g} MiB. Smaller: "
                "marginals of fewer columns, or fewer bins; or raise max_model_size"
            )
        return marginals

    def _small(
        self, domain: Domain, marginals: list[Attributes], measured: list[Measurement]
    ) -> list[Attributes]:
        """Marginals that leave the junction tree below its limit."""
        taken = [m.attributes for m in measured]
        limit = self.max_model_size
        return [m for m in marginals if m in taken or tree_size(domain, [*taken, m]) <= limit]

    def _rounds_of(self, domain: Domain) -> int:
        return self.rounds or len(domain)

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        marginals, rounds = self._marginals(domain), self._rounds_of(domain)
        steps = []
        if self.relation == Relation.ADD_REMOVE or self.unit is not None:
            count = self.count_share * rho
            sigma = self.sensitivity / math.sqrt(2 * count)
            steps.append(plan_step("number of rows", 1, 1, count, sigma))
            rho_left = rho - count
        else:
            rho_left = rho
        cells = rounds * max(domain.cells(m) for m in marginals)
        sigma = self.sensitivity / math.sqrt(rho_left / rounds)
        steps.append(plan_step("play", rounds, cells, rho_left, sigma))
        note = "which marginals are measured depends on the data; this counts the largest"
        return self._graphical_plan(domain, rows, rho, steps, rounds, [note])

    def _check(self) -> None:
        super()._check()
        check_workload(self.workload)
        check_number("count_share", self.count_share)
        if not 0 < self.count_share < 1:
            raise InputError(f"count_share is {self.count_share!r}; it must lie between 0 and 1")
        if self.rounds is not None:
            check_count("rounds", self.rounds)
