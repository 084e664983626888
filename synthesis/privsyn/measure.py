"""Lines 1 to 5 of PrivSyn: everything that asks the curator.

Privacy.  Each of the three stages is charged its share of the budget by the curator.  Later
questions (the recoding, the chosen marginals) are functions of earlier noisy answers: adaptive
composition.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.privacy.recode import CELLS_AT_ONCE
from saddlesynth.oracles.convex.budget import Objective, allocate
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.privsyn.combine import combine
from saddlesynth.synthesis.privsyn.merge import Merge, Spread, merge_rare
from saddlesynth.synthesis.privsyn.select import Method, PairSelection, all_pairs, select_pairs

Budget = Literal["optimal", "equal", "minimax"]


@dataclass(frozen=True)
class Choices:
    """The parameters of ``PrivSyn`` that say what is measured."""

    split: tuple[float, ...]
    selection: Method
    threshold: float
    combine_cells: int
    budget: Budget
    merge_sigmas: float
    spread: Spread


@dataclass(frozen=True)
class Measured:
    """Noisy marginals on the coarse domain of ``merge``, and how they were chosen.

    one_way : of each attribute, in order
    marginals : the chosen ones, of two attributes or more
    pairs : how many pairs there were to choose from; ``selection`` is ``None`` if none
    """

    merge: Merge
    one_way: list[Measurement]
    marginals: list[Measurement]
    pairs: int
    selection: PairSelection | None


def measure(curator: Curator, choices: Choices, progress: Callable[[str, float], None]) -> Measured:
    """Ask the curator; spends what is left in its ledger."""
    domain = curator.domain
    rho1, rho2, rho3 = split(curator.ledger.remaining_rho, choices.split)
    singles = [(a,) for a in range(len(domain))]
    curator.prepare([*singles, *_first_pass(domain)])
    progress("count", 1.0)
    one_way = curator.measure("1-way", singles, split(rho1, [1.0] * len(domain)))  # line 1
    merge = merge_rare(  # line 2
        domain, one_way, threshold=choices.merge_sigmas, spread=choices.spread
    )
    rows, sensitivity = rows_estimate(one_way), curator.marginal_sensitivity()
    pairs = candidate_pairs(merge.coarse, rows, rho3, sensitivity)
    selection, chosen = None, []
    if pairs:
        view = curator.recoded(merge.maps)
        scores = view.independence_differences("InDif", pairs, rho2)  # line 3
        selection = select_pairs(  # line 4
            scores, pairs, merge.coarse, rho3,
            method=choices.selection,
            sensitivity=sensitivity,
            threshold=choices.threshold,
        )  # fmt: skip
        chosen = combine(selection.pairs, merge.coarse, max_cells=choices.combine_cells)
    else:
        rho3 = curator.ledger.remaining_rho
    progress("select", 1.0)
    covered = {a for attributes in chosen for a in attributes}
    isolated = [a for a in range(len(domain)) if a not in covered]
    merge = merge.undo(isolated)
    wanted = [*chosen, *((a,) for a in isolated)]
    shares = budget_shares([merge.coarse.cells(m) for m in wanted], rho3, choices.budget)
    measured = curator.recoded(merge.maps).measure("marginal", wanted, shares)  # line 5
    progress("measure", 1.0)
    again = {m.attributes: m for m in measured[len(chosen) :]}
    return Measured(
        merge,
        [average(merge.coarsen(m), again.get(m.attributes)) for m in one_way],
        measured[: len(chosen)],
        len(pairs),
        selection,
    )


def candidate_pairs(
    domain: Domain, rows: float, rho: float, sensitivity: float
) -> list[Attributes]:
    """Pairs that could be worth their noise, were their dependence as strong as it can be.

    An attribute with one value depends on none.  No InDif is above twice the number of rows, and a
    pair of c cells, given the whole budget, has an error of sensitivity c / sqrt(pi rho).  Fewer
    candidates mean less noise on each score, and very large tables need not be counted.
    """
    most_cells = 2 * rows * math.sqrt(math.pi * rho) / sensitivity
    pairs = all_pairs(domain)
    return [p for p in pairs if 1 not in domain.shape(p) and domain.cells(p) <= most_cells]


def _first_pass(domain: Domain) -> list[Attributes]:
    """Pairs to count in one pass over the records, as many as fit in memory, small ones first."""
    pairs = sorted(all_pairs(domain), key=domain.cells)
    held = itertools.accumulate(domain.cells(pair) for pair in pairs)
    return [pair for pair, cells in zip(pairs, held, strict=True) if cells <= CELLS_AT_ONCE]


def budget_shares(cells: Sequence[int], rho: float, budget: Budget) -> list[float]:
    """The share of the budget of each marginal, from its number of cells."""
    if budget == "equal":
        return split(rho, [1.0] * len(cells))
    objective: Objective = "minimax" if budget == "minimax" else "mean"
    return [float(share) for share in allocate(cells, rho, objective=objective).shares]


def average(first: Measurement, second: Measurement | None) -> Measurement:
    """Two measurements of one marginal as one, weighted by inverse variance."""
    if second is None:
        return first
    rho = first.rho + second.rho
    return Measurement(
        first.attributes,
        (first.rho * first.counts + second.rho * second.counts) / rho,
        first.sigma * math.sqrt(first.rho / rho),
        rho,
    )
