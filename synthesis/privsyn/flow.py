"""Step 7 of PrivSyn by minimum-cost flow (MCF), the paper's alternative to GUM's update.

For one marginal with current counts s and target counts t:

1. graph: cells with s > t on the left, cells with s < t on the right, an arc between any two;
2. an arc costs the number of attributes in which its cells differ;
3. send all of (s - t)+ to all of (t - s)+ at the least cost;
4. for each unit of flow, overwrite the marginal's attributes of one random record of the left cell.

The pool then has exactly this marginal; the next marginal spoils it again, which is why sweeps over
all marginals level off where GUM, which moves in smaller steps and copies whole records, goes on.
``gum.gum`` runs these updates as strategy ``mcf``, in the same sweeps.

Privacy.  Post-processing of released marginals.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", section 5.2.
Differs from the paper: costs are solved for, not assumed equal (``oracles.convex.transport``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.transport import transport

Counts = NDArray[np.int64]


def moves(current: Counts, target: Counts) -> tuple[Counts, Counts, Counts]:
    """Steps 1 to 3: which cells give records to which.

    current, target : whole numbers, shaped as the marginal, with one sum

    Returns (source, destination, records): flat positions of cells, sorted by source, and how many
    records move.  A source gives s - t records in all, a destination gets t - s.

    >>> moves(np.array([[3, 0], [0, 1]]), np.array([[1, 1], [1, 1]]))
    (array([0, 0]), array([1, 2]), array([1, 1]))

    Raises
    ------
    ValueError
        The shapes or sums differ, or a count is negative.
    """
    plan = transport(current, target)
    return plan.source, plan.destination, plan.records
