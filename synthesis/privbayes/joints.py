"""From noisy joints to conditional probabilities.

Noisy tables are made distributions in one of three ways:

==============  ==================================================================================
``consistent``  all together, with 1-way marginals measured apart: tables agree on the attributes
                they share and none is negative (``privsyn.consistency``, top-down)
``project``     each for itself: the nearest distribution in L2 (``oracles.convex.simplex``)
``normalise``   each for itself: negatives become 0, then the table is divided by its sum
==============  ==================================================================================

Then P(x | parents) = joint / its sum over x; where that sum is 0, every value is equally likely.
Cells that no valid record can have are 0 throughout.

*Privacy.* Post-processing.

Reference: Zhang et al. (2017), "PrivBayes", for ``normalise``; Li, Wang, Cheng (2023), "Statistical
Theory of Differentially Private Marginal-based Data Synthesis Algorithms", for ``project``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.estimates import sum_onto
from saddlesynth.synthesis.noisy import fractions, normalised, rows_estimate
from saddlesynth.synthesis.privbayes.network import Network, Node
from saddlesynth.synthesis.privsyn.consistency import make_consistent

PostProcessing = Literal["consistent", "project", "normalise"]


def post_process(
    measured: Sequence[Measurement],
    domain: Domain,
    how: PostProcessing,
    rows: float | None,
    rules: Constraints,
) -> tuple[tuple[Measurement, ...], float]:
    """Tables that are distributions times the number of rows, and that number.

    rows : where it is known; otherwise it is estimated from the totals
    """
    zeros = [rules.forbidden_cells(m.attributes) if rules.rules else None for m in measured]
    if how == "consistent":
        agreed, total = make_consistent(measured, domain, total=rows, zeros=zeros)
        return tuple(agreed), total
    total = rows_estimate(measured) if rows is None else rows
    done = []
    for m, mask in zip(measured, zeros, strict=True):
        allowed = np.ones(m.counts.shape, dtype=bool) if mask is None else ~mask
        cells = m.counts[allowed]
        shares = np.zeros(m.counts.shape)
        shares[allowed] = normalised(cells) if how == "normalise" else fractions(cells, total)
        done.append(replace(m, counts=total * shares))
    return tuple(done), total


def conditionals(
    network: Network, tables: Sequence[Measurement], domain: Domain, rules: Constraints
) -> tuple[NDArray[np.float64], ...]:
    """P(attribute | parents) of each node, of shape (size of each parent ..., size)."""
    return tuple(_conditional(node, tables, domain, rules) for node in network)


def _conditional(
    node: Node, tables: Sequence[Measurement], domain: Domain, rules: Constraints
) -> NDArray[np.float64]:
    axes = (*node.parents, node.attribute)
    if domain.sizes[node.attribute] == 1:
        return np.ones(domain.shape(axes))
    containing = (m for m in tables if set(axes) <= set(m.attributes))
    measured = min(containing, key=lambda m: m.counts.size)
    joint = np.maximum(sum_onto(measured, axes), 0.0)
    total = joint.sum(axis=-1, keepdims=True)
    if rules.rules:
        possible = (~rules.forbidden_cells(axes)).astype(np.float64)
        possible[~possible.any(axis=-1)] = 1.0  # parents' values that no record has
    else:
        possible = np.ones(joint.shape)
    evenly = possible / possible.sum(axis=-1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), evenly)
