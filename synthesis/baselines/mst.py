"""MST: measure the maximum spanning tree of dependence, fit a graphical model to it.

 1  1-ways    measure every 1-way marginal                                       a third of rho
 2  merge     count values below 3 standard deviations as one (``privsyn/merge.py``)
 3  tree      d - 1 times: of the pairs that join two trees, pick one that is far from independent,
              by the exponential mechanism on the distance from the 1-ways' product  another third
 4  pairs     measure the d - 1 pairs                                            the last third
 5  estimate  the graphical model of all of it; tell merged values apart again

Privacy.  Two groups of measurements and d - 1 selections by the curator, on a recoding that is
itself a function of released counts; everything else is post-processing.

Reference: McKenna, Miklau, Sheldon (2021), "Winning the NIST Contest: A scalable and general
approach to differentially private synthetic data".
Differs from the paper: merged values are told apart in proportion to their noisy counts as far as
those are more than noise (``spread="uniform"``: evenly, as published).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.baselines.graphical_method import (
    GraphicalMethod,
    plan_step,
    select_far,
)
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.noisy import fractions
from saddlesynth.synthesis.parameters import check_number
from saddlesynth.synthesis.privsyn.merge import Spread, merge_rare


class MST(GraphicalMethod):
    """Maximum spanning tree (McKenna, Miklau, Sheldon, 2021).

    Parameters
    ----------
    merge_sigmas
        Values whose noisy count is below so many standard deviations are merged; 0 for none.
    spread
        How merged values are told apart again: ``"shrunk"`` or ``"uniform"`` (as published).
    **others
        See ``GraphicalMethod``.
    """

    name = "mst"
    summary = "a tree of strongly dependent pairs, fitted by a graphical model (needs mbi)"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        merge_sigmas: float = 3.0,
        spread: Spread = "shrunk",
        **others: Any,
    ) -> None:
        super().__init__(epsilon, delta, **others)
        self.merge_sigmas = merge_sigmas
        self.spread = spread

    def _fit(self, session: Session) -> Fit:
        domain, curator = session.domain, session.curator
        singles = [(a,) for a in range(len(domain))]
        thirds = self._thirds(domain, curator.ledger.remaining_rho)
        one_way = curator.measure("1-way", singles, split(thirds[0], [1.0] * len(singles)))  # 1
        merge = merge_rare(domain, one_way, threshold=self.merge_sigmas, spread=self.spread)  # 2
        view, rows = curator.recoded(merge.maps), self._rows(session, one_way)
        coarse = [merge.coarsen(m) for m in one_way]
        tree = spanning_tree(view, coarse, rows, thirds[1])  # 3
        session.progress("select", 1.0)
        measured = list(coarse)
        if tree:
            rest = split(curator.ledger.remaining_rho, [1.0] * len(tree))
            measured += view.measure("pair", tree, rest)  # 4
        rows = self._rows(session, one_way)
        fit = self._finished(  # 5
            replace(session, domain=merge.coarse, curator=view),
            measured,
            rows,
            {"pairs": len(tree), "merged_values": merge.merged_values},
        )
        assert isinstance(fit.model, RecordModel)
        columns = merge.spread(list(fit.model.records.T), session.generator)
        return replace(
            fit,
            model=RecordModel(domain, np.array(columns).T),
            measured=tuple(merge.expand(m) for m in fit.measured),
        )

    def _thirds(self, domain: Domain, rho: float) -> list[float]:
        """Budget of lines 1, 3 and 4; a single column gets it all."""
        return split(rho, [1.0] * 3) if len(domain) > 1 else [rho, 0.0, 0.0]

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        d = len(domain)
        thirds = self._thirds(domain, rho)
        sigma = self.sensitivity * math.sqrt(d / (2 * thirds[0]))
        steps = [plan_step("1-way", d, domain.width, thirds[0], sigma)]
        if d > 1:
            largest = sorted(domain.cells(p) for p in itertools.combinations(range(d), 2))
            pairs = sum(largest[-(d - 1) :])
            sigma = self.sensitivity * math.sqrt((d - 1) / (2 * thirds[2]))
            steps.append(plan_step("tree", len(largest), d - 1, thirds[1], None))
            steps.append(plan_step("pair", d - 1, pairs, thirds[2], sigma))
        note = "which pairs are measured depends on the data; this counts the largest there are"
        return self._graphical_plan(domain, rows, rho, steps, notes=[note])

    def _check(self) -> None:
        super()._check()
        check_number("merge_sigmas", self.merge_sigmas)
        if self.spread not in get_args(Spread):
            raise InputError(unknown("spread", self.spread, list(get_args(Spread))))


def spanning_tree(
    curator: Curator, one_way: list[Measurement], rows: float, rho: float
) -> list[Attributes]:
    """Line 3: d - 1 pairs that connect all attributes.

    Privacy.  ``rho``-zCDP, by d - 1 exponential mechanisms of equal cost.
    """
    shares = [fractions(m.counts, total=rows) for m in one_way]
    tree_of = list(range(len(shares)))  # attributes in one tree have one number
    expected = {
        (a, b): rows * np.outer(shares[a], shares[b])
        for a, b in itertools.combinations(range(len(shares)), 2)
    }
    curator.prepare(list(expected))
    tree: list[Attributes] = []
    for each in split(rho, [1.0] * (len(shares) - 1)) if len(shares) > 1 else []:
        joining = [(a, b) for a, b in expected if tree_of[a] != tree_of[b]]
        pair = joining[select_far(curator, "tree", joining, [expected[p] for p in joining], each)]
        tree.append(pair)
        tree_of = [tree_of[pair[0]] if t == tree_of[pair[1]] else t for t in tree_of]
    return tree
