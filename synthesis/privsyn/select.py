"""Step 4a of PrivSyn: which pairs of attributes to measure (DenseMarg).

The noisy independence differences (InDif) say what leaving a pair out costs; the pair's number of
cells and the budget say what measuring it costs.  Both are in counts, so the sum is minimised:
exactly, with proof (``oracles.convex.selection``), or greedily, as published.

Privacy.  Post-processing of noisy scores and the public domain.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", Algorithm 1.
Differs from the paper: an attribute in no chosen pair is kept as a 1-way marginal of its own; the
exact optimum is the default.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.selection import Selection, select_exact, select_greedy
from saddlesynth.oracles.domain import Attributes, Domain

Method = Literal["exact", "greedy"]


@dataclass(frozen=True)
class PairSelection:
    """The pairs to measure, and how good the choice is.

    pairs : chosen pairs, in the order they were offered
    isolated : 1-way marginals of the attributes that are in no chosen pair
    objective, bound : expected total L1 error in counts, and what no choice can beat
    greedy_gap : how much worse the greedy's objective is than the bound, as a fraction of it
    """

    pairs: tuple[Attributes, ...]
    isolated: tuple[Attributes, ...]
    objective: float
    bound: float
    greedy_gap: float
    nodes: int
    proven: bool

    @property
    def marginals(self) -> tuple[Attributes, ...]:
        """Everything to measure, before pairs are combined."""
        return self.pairs + self.isolated


def all_pairs(domain: Domain) -> list[Attributes]:
    """Every pair of attributes, in lexicographic order.

    >>> all_pairs(Domain(("a", "b", "c"), (2, 2, 2)))
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(itertools.combinations(range(len(domain)), 2))


def select_pairs(
    scores: NDArray[np.float64],
    pairs: Sequence[Attributes],
    domain: Domain,
    rho: float,
    *,
    method: Method = "exact",
    sensitivity: float = 1.0,
    threshold: float = 0.0,
) -> PairSelection:
    """Choose the pairs to measure with a budget.

    scores : (m,) noisy InDif of each pair, in counts (0 to twice the number of rows, plus noise)
    pairs : m pairs of attributes
    rho : budget of the measurements
    sensitivity : L2 sensitivity of one marginal (``Curator.marginal_sensitivity()``)
    threshold : for ``"greedy"``, the improvement in counts below which it stops

    Returns a ``PairSelection``; equal inputs give equal outputs.

    >>> domain = Domain(("a", "b", "c"), (2, 3, 2))
    >>> picked = select_pairs(np.array([500.0, 3.0, -20.0]), all_pairs(domain), domain, rho=0.01)
    >>> picked.pairs, picked.isolated, picked.proven
    (((0, 1),), ((2,),), True)

    Raises
    ------
    ValueError
        The method is unknown, there is not one finite score for each pair, or a parameter is not
        positive.
    """
    if method not in ("exact", "greedy"):
        raise ValueError(f"method is {method!r}; it must be 'exact' or 'greedy'")
    cells = [domain.cells(pair) for pair in pairs]
    exact = select_exact(scores, cells, rho, sensitivity=sensitivity)
    greedy = select_greedy(scores, cells, rho, sensitivity=sensitivity, threshold=threshold)
    best = exact if method == "exact" else greedy
    chosen = tuple(pairs[i] for i in best.chosen)
    covered = {attribute for pair in chosen for attribute in pair}
    return PairSelection(
        pairs=chosen,
        isolated=tuple((a,) for a in range(len(domain)) if a not in covered),
        objective=best.objective,
        bound=exact.bound,
        greedy_gap=_excess(greedy, exact.bound),
        nodes=exact.nodes,
        proven=best.objective <= exact.objective and exact.optimal,
    )


def _excess(selection: Selection, bound: float) -> float:
    return (selection.objective - bound) / max(abs(bound), 1e-300)
