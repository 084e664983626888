"""PriView: a few large views that cover all pairs (or triples), and maximum entropy for the rest.

 1  design     views of few cells that together contain every pair or triple (``covering.py``); the
               number of cells by the expected error of the pairs or triples, unless given
 2  measure    every view with an equal share of the budget
 3  agree      views agree on what they share and have no negative cells (``consistency.py``)
 4  answer     marginals inside a view from it, others by maximum entropy (``views.py``)
 5  rows       from the agreed views by a builder (``rows.py``)

Laplace noise with ``delta=0`` (as published), Gaussian noise otherwise.

Privacy.  Line 1 looks at names and sizes alone; line 2 is one group of measurements by the curator;
the rest is post-processing.

Reference: Qardaji, Yang, Li (2014), "PriView: Practical Differentially Private Release of Marginal
Contingency Tables".  Differs: attributes of any size; the non-negativity of our consistency step
instead of "ripple"; rows, which the paper does not make.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from saddlesynth.games.privacy.budget import split
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.baselines.covering import cover
from saddlesynth.synthesis.baselines.rows import Via, Wanted, build_rows, check_via
from saddlesynth.synthesis.baselines.views import ViewsModel
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.noisy import SECONDS_A_DRAW, expected_distance
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.privsyn.consistency import make_consistent

SIZES = tuple(2**k for k in range(4, 17, 2))  # cells of a view that are tried


class PriView(Synthesizer):
    """PriView (Qardaji, Yang, Li, 2014).

    Parameters
    ----------
    strength
        2: views cover every pair of attributes; 3: every triple.
    view_cells
        Cells of a view at most (a pair or triple that is larger is a view of its own).  Default:
        the size with the least expected error.
    via, records
        How rows are made, and the records of the pool: see ``rows.py``.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    name = "priview"
    summary = "a few views that cover all pairs or triples, other marginals by maximum entropy"
    accepts_pure = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        strength: int = 2,
        view_cells: int | None = None,
        via: Via = "gum",
        records: int | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.strength = strength
        self.view_cells = view_cells
        self.via = via
        self.records = records

    # ------------------------------------------------------------------ the method
    def _fit(self, session: Session) -> Fit:
        domain, curator = session.domain, session.curator
        views = self._design(domain)  # line 1
        equal = [1.0] * len(views)
        if curator.ledger.pure:  # line 2
            budget = split(curator.ledger.remaining_epsilon, equal)
            noisy = curator.measure_laplace("view", views, budget)
        else:
            noisy = curator.measure("view", views, split(curator.ledger.remaining_rho, equal))
        session.progress("measure", 1.0)
        rules = Constraints(domain, session.impossible)
        agreed, rows = make_consistent(  # line 3
            noisy,
            domain,
            total=None if session.public_rows is None else max(1, session.public_rows),
            zeros=[rules.forbidden_cells(v) for v in views] if session.impossible else None,
        )
        session.progress("consistency", 1.0)
        wanted = Wanted(domain, agreed, rows, session.impossible, self.records)
        built = build_rows(self.via, wanted, session.generator, session.progress)  # line 5
        model = built.model
        if isinstance(model, RecordModel):
            tables = tuple((m.attributes, m.counts / m.counts.sum()) for m in agreed)
            model = ViewsModel(domain, tables, model)  # line 4
        largest = max(domain.cells(v) for v in views)
        facts = {"views": len(views), "largest_view": largest, **built.facts}
        return Fit(model, rows, tuple(agreed), facts)

    def _design(self, domain: Domain) -> list[Attributes]:
        return list(design(domain, self.strength, self.view_cells, 2 if self.delta > 0 else 1))

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        views = self._design(domain)
        cells = [domain.cells(v) for v in views]
        sigma = math.sqrt(2) * self.count_sensitivity * len(views) / float(self.epsilon)
        if self.delta > 0:
            sigma = self.sensitivity * math.sqrt(len(views) / (2 * rho))
        step = {
            "step": "view",
            "marginals": len(views),
            "cells": sum(cells),
            "rho": rho,
            "sigma": sigma,
        }
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=sum(cells),
            memory=80 * sum(cells) + 2**20 * 64,
            seconds=1 + SECONDS_A_DRAW * sum(cells),
            expected_error=float(np.mean([expected_distance(c, sigma, rows) for c in cells])),
            steps=(step,),
            smaller="strength=2, a smaller view_cells, or fewer bins",
        )

    def _check(self) -> None:
        if self.strength not in (2, 3):
            raise InputError(f"strength is {self.strength!r}; it must be 2 (pairs) or 3 (triples)")
        if self.view_cells is not None:
            check_count("view_cells", self.view_cells)
        check_via(self.via, self.records)


@lru_cache(maxsize=8)  # planning and fitting ask the same
def design(
    domain: Domain, strength: int, view_cells: int | None, power: int
) -> tuple[Attributes, ...]:
    """Line 1: the views.  ``power`` is 1 for Laplace noise and 2 for Gaussian noise.

    With w views the noise of each has a deviation in proportion to w^(1/power), and a marginal of c
    cells summed from a view of v cells an expected L1 error in proportion to sqrt(c v) times that.
    The size is chosen whose mean over all pairs (or triples) is least.

    >>> design(Domain(tuple("abcd"), (2, 2, 2, 2)), 2, None, 2)
    ((0, 1, 2, 3),)
    """
    sets = list(itertools.combinations(range(len(domain)), min(strength, len(domain))))
    if view_cells is not None:
        return tuple(cover(sets, domain, view_cells))
    designs = [cover(sets, domain, cells) for cells in SIZES]
    errors = [_error(views, sets, domain, power) for views in designs]
    return tuple(designs[int(np.argmin(errors))])


def _error(
    views: Sequence[Attributes], sets: Sequence[Attributes], domain: Domain, power: int
) -> float:
    """The mean expected L1 error of the wanted marginals, in some unit."""
    inside = [(set(view), math.sqrt(domain.cells(view))) for view in views]
    errors = [
        math.sqrt(domain.cells(wanted)) * min(root for view, root in inside if view >= set(wanted))
        for wanted in sets
    ]
    return float(np.mean(errors) * len(views) ** (1 / power))
