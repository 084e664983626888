"""AIM: again and again measure the marginal that the model gets most wrong, for what it costs.

 1  sigma, epsilon such that T = 16 d rounds would spend the budget: nine tenths on measuring
 2  measure every 1-way marginal of the workload; fit
 3  while budget is left:                            (the last round takes all that is left)
 4      candidates: all subsets of the workload's marginals that keep the junction tree small, the
        size allowed in proportion to the budget spent
 5      select by the exponential mechanism on w_r ( || M_r - m_r ||_1 - sqrt(2/pi) sigma cells_r ),
        where m_r is the model's table and w_r = sum over the workload's s of weight_s |r and s|
 6      measure it; fit
 7      where the model moved by less than the noise would: halve sigma, double epsilon

Privacy.  Measurements and selections by the curator; what to ask next, and how well, follows from
released values.

Reference: McKenna, Mullins, Sheldon, Miklau (2022), "AIM: An Adaptive and Iterative Mechanism for
Differentially Private Synthetic Data".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.baselines.graphical import Graphical, tree_size
from saddlesynth.synthesis.baselines.graphical_method import (
    MEAN_ABSOLUTE,
    GraphicalMethod,
    plan_step,
    select_far,
)
from saddlesynth.synthesis.baselines.lattice import closure
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.workload import check_workload, parse_workload

ROUNDS_A_COLUMN = 16
MEASURING = 0.9  # of a round's budget; the rest selects


class AIM(GraphicalMethod):
    """Adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau, 2022).

    Parameters
    ----------
    workload
        What should be right: ``all:K``, ``random:COUNT:K:SEED``, a JSON file, or what it would
        hold; see ``workload.py``.
    rounds
        Into how many rounds (T) the budget is divided at first; default: 16 times the number of
        columns.  Usually far fewer are played.
    **others
        See ``GraphicalMethod``.
    """

    name = "aim"
    summary = "marginals chosen one by one where the model is worst (needs mbi; slow)"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        workload: Any = "all:2",
        rounds: int | None = None,
        **others: Any,
    ) -> None:
        super().__init__(epsilon, delta, **others)
        self.workload = workload
        self.rounds = rounds

    def _fit(self, session: Session) -> Fit:
        domain, curator = session.domain, session.curator
        importance = self._importance(domain)
        self._check_rounds(domain, importance)
        whole = curator.ledger.remaining_rho
        each = whole / self._rounds_of(domain)  # line 1
        singles = [m for m in importance if len(m) == 1]
        curator.prepare(list(importance))
        measured = curator.measure("1-way", singles, [MEASURING * each] * len(singles))  # line 2
        rows = self._rows(session, measured)
        fit = self._between(domain, measured, rows)
        played = 0
        while each > 0:  # line 3
            left = curator.ledger.remaining_rho
            if left < 2 * each:
                each = left
            spent = min(1.0, 1 - (left - each) / whole)
            chosen = self._choose(session, fit.model, measured, importance, rows, each, spent)
            budget = [curator.ledger.remaining_rho if each == left else MEASURING * each]
            (new,) = curator.measure("marginal", [chosen], budget)  # line 6
            measured.append(new)
            played += 1
            session.progress("play", spent)
            if each == left:
                break
            rows = self._rows(session, measured)
            (before,) = fit.model.marginals([chosen])
            fit = self._between(domain, measured, rows, fit)
            (after,) = fit.model.marginals([chosen])
            if rows * np.abs(after - before).sum() <= MEAN_ABSOLUTE * new.sigma * after.size:
                each *= 4  # line 7
        return self._finished(session, measured, self._rows(session, measured), {"rounds": played})

    def _choose(
        self,
        session: Session,
        model: Graphical,
        measured: list[Measurement],
        importance: dict[Attributes, float],
        rows: float,
        rho: float,
        spent: float,
    ) -> Attributes:
        """Lines 4 and 5."""
        taken = [m.attributes for m in measured]
        candidates = list(self._small(session.domain, model, taken, list(importance), spent))
        sigma = self.sensitivity / math.sqrt(2 * MEASURING * rho)
        cells = np.array([float(session.domain.cells(c)) for c in candidates])
        position = select_far(
            session.curator,
            "select",
            candidates,
            [rows * table for table in model.marginals(candidates)],
            (1 - MEASURING) * rho,
            np.array([importance[c] for c in candidates]),
            MEAN_ABSOLUTE * sigma * cells,
        )
        return candidates[position]

    def _small(
        self,
        domain: Domain,
        model: Graphical,
        taken: list[Attributes],
        candidates: list[Attributes],
        spent: float,
    ) -> Iterator[Attributes]:
        """Candidates inside a node, and those that leave the tree small enough for now."""
        for candidate in candidates:
            inside = any(set(candidate) <= set(node) for node in model.nodes)
            if inside or tree_size(domain, [*taken, candidate]) <= spent * self.max_model_size:
                yield candidate

    def _importance(self, domain: Domain) -> dict[Attributes, float]:
        """w_r of every candidate r."""
        blocks = parse_workload(self.workload, domain).blocks
        candidates = closure([b.attributes for b in blocks], domain)
        singles = [(a,) for b in blocks for a in b.attributes]  # with one value, too
        wanted = dict.fromkeys([*sorted(singles), *(c for c in candidates if c)])
        sets = [(set(b.attributes), b.weight) for b in blocks]
        return {r: sum(w * len(s & set(r)) for s, w in sets) for r in wanted}

    def _rounds_of(self, domain: Domain) -> int:
        return self.rounds or ROUNDS_A_COLUMN * len(domain)

    def _check_rounds(self, domain: Domain, importance: dict[Attributes, float]) -> None:
        """The 1-ways alone cost a round's measuring each."""
        singles = sum(len(m) == 1 for m in importance)
        if self._rounds_of(domain) <= singles:
            raise InputError(
                f"rounds is {self.rounds}; the workload has {singles} columns, so it must be above "
                f"{singles}"
            )

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        importance, total = self._importance(domain), self._rounds_of(domain)
        self._check_rounds(domain, importance)
        singles = [m for m in importance if len(m) == 1]
        others = [domain.cells(m) for m in importance if len(m) > 1] or [1]
        sigma = self.sensitivity / math.sqrt(2 * MEASURING * rho / total)
        first = MEASURING * rho * len(singles) / total
        played = max(1, total - len(singles))
        cells = sum(domain.cells(m) for m in singles)
        steps = [
            plan_step("1-way", len(singles), cells, first, sigma),
            plan_step("play", played, played * max(others), rho - first, sigma),
        ]
        note = f"at most {played:,} rounds of some {len(others):,} candidates; usually far fewer"
        return self._graphical_plan(domain, rows, rho, steps, played, [note])

    def _check(self) -> None:
        super()._check()
        check_workload(self.workload)
        if self.rounds is not None:
            check_count("rounds", self.rounds)
