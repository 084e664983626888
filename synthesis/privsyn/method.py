"""PrivSyn: choose pairs of attributes, measure them, and update records until they fit.

 1  1-ways       measure every 1-way marginal                           rho1, equal shares
 2  merge        count rare values as one (``merge.py``)
 3  InDif        noisy independence difference of every pair            rho2
 4  select       pairs worth their noise (``select.py``), combined into larger marginals
                 (``combine.py``); attributes in no pair keep a 1-way marginal
 5  measure      the selected marginals, budget by optimal shares       rho3
 6  consistency  averages over shared attributes, no negative cells (``consistency.py``)
 7  build        records that have these marginals: GUM (``build.py``, ``gum.py``)
 8  unmerge      tell the rare values apart again

==================================  =============================================
paper                               here
==================================  =============================================
rho1, rho2, rho3 = 0.1, 0.1, 0.8    ``split``
phi, psi                            scores of InDif; noise errors in ``select.py``
theta = 5000                        ``combine_cells``
alpha0, its decay                   ``alpha``, ``schedule``
==================================  =============================================

Privacy.  Three groups of Gaussian releases through the curator, on a recoding that is itself a
function of released counts; everything else is post-processing.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", USENIX Security.
Differs from the paper: pairs too large to be ever worth their noise are no candidates in line 3;
attributes in no selected pair are measured again, unmerged, in line 5; the relation and units of
several rows come in through the curator's sensitivities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.games.privacy.budget import split as split_budget
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.games.privacy.independence import PER_ROW
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.privsyn.build import Built, build_pool
from saddlesynth.synthesis.privsyn.combine import MAX_CELLS
from saddlesynth.synthesis.privsyn.consistency import ROUNDS, NonNegativity, make_consistent
from saddlesynth.synthesis.privsyn.gum import Schedule, Strategy, Updating
from saddlesynth.synthesis.privsyn.measure import (
    Budget,
    Choices,
    Measured,
    budget_shares,
    candidate_pairs,
    measure,
)
from saddlesynth.synthesis.privsyn.merge import Spread
from saddlesynth.synthesis.privsyn.plan import make_plan
from saddlesynth.synthesis.privsyn.select import Method, select_pairs

SMALLEST_POOL, LARGEST_POOL = 1_000, 500_000
CHOICES = {
    "selection": get_args(Method),
    "budget": get_args(Budget),
    "non_negativity": get_args(NonNegativity),
    "spread": get_args(Spread),
    "strategy": get_args(Strategy),
    "schedule": get_args(Schedule),
}


class PrivSyn(Synthesizer):
    """PrivSyn (Zhang et al., 2021), the whole pipeline.

    Parameters
    ----------
    split
        Shares of the budget: 1-way marginals, choice of pairs, chosen marginals.
    selection
        ``"exact"`` (provably best by the noisy scores) or ``"greedy"`` (as published).
    threshold
        For ``"greedy"``: stop when a pair improves the expected total error by at most so many
        records.  0 is the published algorithm; other values must not be tuned on private results.
    combine_cells
        Pairs are combined into larger marginals of fewer cells than this; 0 for none.
    budget
        Shares of the chosen marginals: ``"optimal"`` (least total error), ``"equal"``, or
        ``"minimax"`` (least largest error).
    non_negativity, rounds
        How tables become non-negative and consistent, and in at most how many rounds.
    merge_sigmas
        Values whose noisy count is below so many standard deviations are merged; 0 for none.
    spread
        How merged values are told apart again: ``"shrunk"`` (as the noisy counts say, as far as
        they are more than noise) or ``"uniform"`` (as published).
    strategy
        Update of the records: ``"gum"`` (half replaced and half duplicated, then all duplicated, in
        turns), ``"replace"``, ``"duplicate"``, ``"half"``, or ``"mcf"`` (minimum-cost flow).
    alpha, schedule
        Step size of the first sweep, and how it falls: ``"step"`` (0.84^(t//20)),
        ``"exponential"``, ``"linear"``, ``"square_root"``.
    sweeps, patience
        At most so many sweeps over all marginals; stop when so many brought nothing.
    append_attributes
        Attributes that only one marginal speaks about are appended after the updates.
    separate_and_join
        Groups of attributes that no marginal connects are updated apart and joined at random.
    records
        Size of the pool of records that the model keeps.  Default: the (noisy or public) number
        of rows, at least 1,000, at most 500,000; any number of rows can be drawn from it.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    name = "privsyn"
    summary = "noisy marginals of well chosen pairs, records updated until they fit"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        split: Sequence[float] = (0.1, 0.1, 0.8),
        selection: Method = "exact",
        threshold: float = 0.0,
        combine_cells: int = MAX_CELLS,
        budget: Budget = "optimal",
        non_negativity: NonNegativity = "top-down",
        rounds: int = ROUNDS,
        merge_sigmas: float = 3.0,
        spread: Spread = "shrunk",
        strategy: Strategy = "gum",
        alpha: float = 1.0,
        schedule: Schedule = "step",
        sweeps: int = 100,
        patience: int = 10,
        append_attributes: bool = True,
        separate_and_join: bool = True,
        records: int | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.split = split
        self.selection = selection
        self.threshold = threshold
        self.combine_cells = combine_cells
        self.budget = budget
        self.non_negativity = non_negativity
        self.rounds = rounds
        self.merge_sigmas = merge_sigmas
        self.spread = spread
        self.strategy = strategy
        self.alpha = alpha
        self.schedule = schedule
        self.sweeps = sweeps
        self.patience = patience
        self.append_attributes = append_attributes
        self.separate_and_join = separate_and_join
        self.records = records

    # ------------------------------------------------------------------ the method
    def _fit(self, session: Session) -> Fit:
        measured = measure(session.curator, self._choices(), session.progress)  # lines 1 to 5
        one_way, marginals, rows = self._consistent(measured, session)
        session.progress("consistency", 1.0)
        built = build_pool(
            one_way,
            marginals,
            self._pool_size(rows),
            Updating(self.strategy, self.alpha, self.schedule, self.sweeps, self.patience),
            session.generator,
            append_attributes=self.append_attributes,
            separate_and_join=self.separate_and_join,
            progress=lambda done: session.progress("update", done),
        )
        columns = measured.merge.spread(built.pool, session.generator)  # line 8
        return Fit(
            RecordModel(session.domain, np.array(columns).T),
            rows,
            tuple(measured.merge.expand(m) for m in (*one_way, *marginals)),
            _facts(measured, built),
        )

    def _choices(self) -> Choices:
        return Choices(
            tuple(self.split), self.selection, self.threshold, self.combine_cells, self.budget,
            self.merge_sigmas, self.spread,
        )  # fmt: skip

    def _consistent(
        self, measured: Measured, session: Session
    ) -> tuple[list[Measurement], list[Measurement], float]:
        """Line 6: 1-way and other marginals that agree, and the number of rows."""
        noisy = [*measured.one_way, *measured.marginals]
        rules = Constraints(session.domain, session.impossible)
        zeros = [
            measured.merge.coarse_mask(m.attributes, rules.forbidden_cells(m.attributes))
            if session.impossible
            else None
            for m in noisy
        ]
        agreed, rows = make_consistent(
            noisy,
            measured.merge.coarse,
            total=None if session.public_rows is None else max(1, session.public_rows),
            zeros=zeros,
            non_negativity=self.non_negativity,
            rounds=self.rounds,
        )
        return agreed[: len(session.domain)], agreed[len(session.domain) :], rows

    def _pool_size(self, rows: float) -> int:
        if self.records is not None:
            return self.records
        return int(np.clip(round(rows), SMALLEST_POOL, LARGEST_POOL))

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        shares = split_budget(rho, self.split)
        pairs = candidate_pairs(domain, rows, shares[2], self.sensitivity)
        chosen: list[Attributes] = [(a,) for a in range(len(domain))]
        if not pairs:
            shares = [shares[0], 0.0, shares[1] + shares[2]]
        else:  # as many as could be worth their noise: no InDif is above twice the rows
            most = np.full(len(pairs), 2.0 * rows)
            chosen = list(
                select_pairs(most, pairs, domain, shares[2], sensitivity=self.sensitivity).marginals
            )
        cells = [domain.cells(m) for m in chosen]
        return make_plan(
            self.name, domain, rows, shares, pairs, cells,
            budget_shares(cells, shares[2], self.budget),
            sensitivity=self.sensitivity,
            difference_sensitivity=PER_ROW[Relation(self.relation)] * self.max_rows_per_unit,
            updates=len(chosen) * self.sweeps,
            records=self._pool_size(rows),
        )  # fmt: skip

    def _check(self) -> None:
        if not isinstance(self.split, Sequence | np.ndarray) or len(self.split) != 3:
            raise InputError(
                f"split is {self.split!r}; it must be 3 shares: 1-ways, choice of pairs, marginals"
            )
        for share in self.split:
            check_number("split", share)
            if share <= 0:
                raise InputError(f"split is {self.split!r}; every share must be above 0")
        for name in ("threshold", "alpha", "merge_sigmas"):
            check_number(name, getattr(self, name))
        if self.alpha <= 0:
            raise InputError(f"alpha is {self.alpha!r}; it must be above 0")
        if self.threshold and self.selection == "exact":
            raise InputError("threshold is for selection='greedy'; the exact choice needs none")
        for name, least in (("combine_cells", 0), ("rounds", 1), ("sweeps", 0), ("patience", 1)):
            check_count(name, getattr(self, name), least)
        if self.records is not None:
            check_count("records", self.records)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(unknown(name, getattr(self, name), list(known)))


def _facts(measured: Measured, built: Built) -> dict[str, Any]:
    """Short figures for the manifest; all are functions of what was released."""
    selection = measured.selection
    facts: dict[str, Any] = {
        "candidate_pairs": measured.pairs,
        "selected_pairs": len(selection.pairs) if selection else 0,
        "measured_marginals": len(measured.marginals),
        "combined_marginals": sum(len(m.attributes) > 2 for m in measured.marginals),
        "merged_values": measured.merge.merged_values,
        "pool": len(built.pool[0]),
        "sweeps": built.sweeps,
        "update_error": round(built.error, 6),
        "components": built.components,
        "appended_attributes": built.appended,
    }
    if selection:
        facts["selection_proven"] = selection.proven
        facts["greedy_gap"] = selection.greedy_gap
    return facts
