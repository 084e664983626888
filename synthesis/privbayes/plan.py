"""What a run of PrivBayes would ask and need, from the public domain alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan
from saddlesynth.synthesis.errors import SizeError
from saddlesynth.synthesis.noisy import SECONDS_A_DRAW, expected_distance
from saddlesynth.synthesis.privbayes.candidates import (
    CELLS_A_STEP,
    Limits,
    cap,
    crowded,
    maximal_sets,
    varied,
)
from saddlesynth.synthesis.privbayes.network import Network, Node, joints
from saddlesynth.synthesis.privbayes.spending import Share
from saddlesynth.synthesis.privbayes.structure import CELLS_KEPT

# Measured on two cores of a small cloud machine.
SECONDS_A_COUNT = 6e-9  # for each row and candidate
SECONDS_A_CANDIDATE = 3e-4  # scoring


def check_cells(network: Network | None, domain: Domain, most: int) -> None:
    """Refuse a given network with a joint of more cells than ``most``; ``SizeError`` names it."""
    for node in network or ():
        cells = domain.cells(node.family)
        if cells > most:
            names = [domain.names[a] for a in node.parents]
            raise SizeError(
                f"network gives {domain.names[node.attribute]!r} the parents {names}: a joint of "
                f"{cells:,} cells; the limit is max_cells={most:,}. Give it fewer parents, or "
                "these columns fewer values or bins"
            )


def widest_network(domain: Domain, limits: Limits) -> tuple[Network, int]:
    """A network with the largest joints that the limits allow, and how many candidates it takes.

    Attributes come in their order, each with those of its (first) sets of parents that have most
    cells.
    """
    network = [Node(a) for a, size in enumerate(domain.sizes) if size == 1]
    left, placed, scored = varied(domain), list[int](), 0
    while left:
        most = cap(limits, len(left))
        room = limits.cells / domain.sizes[left[0]]
        sets = list(islice(maximal_sets(placed, domain, room, limits.parents), most))
        network.append(Node(left[0], max(sets, key=domain.cells)))
        scored += len(sets) * len(left)
        placed.append(left.pop(0))
    return tuple(network), scored


def make_plan(
    method: str,
    domain: Domain,
    rows: int,
    rho: float,
    amount: float,
    network: Network | None,
    limits: Limits,
    ask_first: Sequence[Attributes],
    first: Share,
    structure: Share,
    last: Share,
    *,
    two_stage: bool,
) -> Plan:
    """The plan.

    amount : the whole budget, in rho or in epsilon;  first, structure, last : its three parts
    network : if it is given;  limits : of a network that is still to be chosen
    ask_first : the marginals that are measured before the network is known
    two_stage : whether the search may take two selections a node
    """
    d = len(varied(domain))
    two = network is None and two_stage and crowded(domain, limits)
    guess, scored = (network, 0) if network is not None else widest_network(domain, limits)
    chosen = joints([node for node in guess if domain.sizes[node.attribute] > 1]) or [(0,)]
    steps: list[dict[str, Any]] = []

    def add(what: str, marginals: int, cells: int, share: float, sigma: float) -> None:
        part = {"rho": rho * share / amount, "sigma": sigma}
        steps.append({"step": what, "marginals": marginals, "cells": cells, **part})

    spent = 0.0
    if ask_first and first.amount > 0:
        cells = sum(domain.cells(m) for m in ask_first)
        add("first", len(ask_first), cells, first.amount, first.sigma(len(ask_first)))
        spent += first.amount
    selections = max(0, d - 1) * (1 + two) if network is None else 0
    scored += two * d * d * d // 6  # one parent of those left, at each step
    if selections and any(node.parents for node in guess):
        scale = 2 / structure.selection(selections)  # of the Gumbel noise, a unit of sensitivity
        add("network", selections, selections, structure.amount, scale)
        spent += structure.amount
    rest = Share(max(last.amount, amount - spent), last.pure, last.l1, last.l2)
    sigma = rest.sigma(len(chosen))
    sizes = [domain.cells(m) for m in chosen]
    add("joints", len(chosen), sum(sizes), amount - spent, sigma)
    queries = sum(int(step["cells"]) for step in steps)
    held = min(scored * max(sizes), CELLS_KEPT) + CELLS_A_STEP if scored else 0
    return Plan(
        method,
        rows,
        rho,
        queries,
        memory=8 * held + 80 * sum(sizes),
        seconds=SECONDS_A_DRAW * queries
        + scored * (SECONDS_A_CANDIDATE + SECONDS_A_COUNT * rows)
        + 0.1 * len(domain),
        expected_error=float(np.mean([expected_distance(c, sigma, rows) for c in sizes])),
        steps=tuple(steps),
        notes=()
        if network is not None
        else (
            "which joints are measured depends on the data; this counts the largest that would be "
            "useful, so a run is likely to be smaller",
        ),
        smaller="a larger theta, a smaller degree, or fewer values or bins in the schema",
    )
