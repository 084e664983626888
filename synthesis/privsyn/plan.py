"""What a run of PrivSyn would ask and need, from the public domain alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from saddlesynth.games.privacy.recode import CELLS_AT_ONCE
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan
from saddlesynth.synthesis.noisy import expected_distance
from saddlesynth.synthesis.privsyn.select import all_pairs

# Measured on two cores of a small cloud machine.
SECONDS_A_DRAW = 1e-5  # exact noise, for each number
SECONDS_A_COUNT = 4e-9  # counting, for each row and pair
SECONDS_AN_UPDATE = 3e-4  # GUM, for each marginal and sweep ...
SECONDS_A_RECORD = 1.5e-8  # ... and for each record of the pool in it


def make_plan(
    method: str,
    domain: Domain,
    rows: int,
    shares: Sequence[float],
    pairs: Sequence[Attributes],
    cells: Sequence[int],
    marginal_shares: Sequence[float],
    *,
    sensitivity: float,
    difference_sensitivity: float,
    updates: int,
    records: int,
) -> Plan:
    """The plan.

    shares : rho of the three stages
    pairs : candidates;  cells, marginal_shares : of each marginal that could be chosen
    sensitivity, difference_sensitivity : of a marginal, of an independence difference
    updates : of one marginal, in all sweeps;  records : in the pool
    """
    d = len(domain)
    sigmas = [sensitivity / math.sqrt(2 * rho) for rho in marginal_shares]
    errors = [expected_distance(c, s, rows) for c, s in zip(cells, sigmas, strict=True)]
    one_way_sigma = sensitivity * math.sqrt(d / (2 * shares[0]))
    steps: list[dict[str, Any]] = [_step("1-way", d, domain.width, shares[0], one_way_sigma)]
    if pairs:
        sigma = difference_sensitivity * math.sqrt(len(pairs) / (2 * shares[1]))
        steps.append(_step("InDif", len(pairs), len(pairs), shares[1], sigma))
    steps.append(_step("marginals", len(cells), sum(cells), shares[2], float(np.mean(sigmas))))
    queries = sum(step["cells"] for step in steps)
    counted = min(CELLS_AT_ONCE, sum(domain.cells(pair) for pair in all_pairs(domain)))
    return Plan(
        method=method,
        rows=rows,
        rho=math.fsum(shares),
        queries=queries,
        memory=16 * counted + 40 * sum(cells) + records * (4 * d + 40),
        seconds=SECONDS_A_DRAW * queries
        + SECONDS_A_COUNT * rows * len(pairs)
        + updates * (SECONDS_AN_UPDATE + SECONDS_A_RECORD * records),
        expected_error=float(np.mean(errors)),
        steps=tuple(steps),
        notes=(
            "which pairs are measured depends on the data; this counts all that could be worth "
            "their noise, uncombined, so a run is likely to be smaller and more accurate",
        ),
    )


def _step(what: str, marginals: int, cells: int, rho: float, sigma: float) -> dict[str, Any]:
    return {"step": what, "marginals": marginals, "cells": cells, "rho": rho, "sigma": sigma}
