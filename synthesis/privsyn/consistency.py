"""Step 6 of PrivSyn: marginals that agree with each other, are non-negative, and share one total.

First the linear half (``agreement.py``): weighted averages over all shared attribute sets, the
least-squares estimate from all measurements.  It may be negative in places.  Then:

=============  =====================================================================================
``top-down``   shared sets are made non-negative, small ones first, and *kept*; each larger table is
               then fitted: in turns it is given these margins and made non-negative by norm-sub
``norm-sub``   as published: all tables are made non-negative by projection on a simplex, then all
               agree again, in turns
``norm-cut``   the same, but negatives and then the smallest positives become 0, to keep the total
``n3``         the authors' schedule: norm-sub for most rounds, norm-cut in the last ones
``none``       nothing; cells may be negative
=============  =====================================================================================

Why ``top-down`` is the default.  Non-negativity biases tables with many small cells.  In the
published schedule the next average hands that bias on to the well measured small tables; top-down
protects them.  On Adult with 40 pairs, at rho 0.0005, 0.015 and 0.1, it lowers the error of 1-way
tables by a quarter to a half and of pairs by a tenth to a fifth, against norm-sub, the best of the
others.  (The exact least-squares optimum under both conditions, by Dykstra's algorithm, was a
little better than norm-sub on 1-way tables and a little worse on pairs.)

Non-negativity has the last word, so tables are valid; the disagreement that is left is of the size
of the tolerance, or what the rounds could reach.

Privacy.  Post-processing.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", section 5.1.
Differs from the paper: top-down; known zeros are kept; a public number of rows fixes the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.privsyn.agreement import Agreement, Margin
from saddlesynth.synthesis.privsyn.nonnegativity import (
    Counts,
    Mask,
    negative_mass,
    non_negative,
    norm_cut,
    norm_sub,
)

NonNegativity = Literal["top-down", "norm-sub", "norm-cut", "n3", "none"]

ROUNDS = 60
CUT_FROM = 0.8  # n3 changes from norm-sub to norm-cut after this fraction of the rounds
TOLERANCE = 1.0  # records


def make_consistent(
    measurements: Sequence[Measurement],
    domain: Domain,
    *,
    total: float | None = None,
    zeros: Sequence[Mask | None] | None = None,
    non_negativity: NonNegativity = "top-down",
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
) -> tuple[list[Measurement], float]:
    """Noisy marginals made to agree, non-negative, and with one total.

    measurements : counts of any marginals, each with its rho; the same marginal may come twice
    total : the number of rows where it is public; else the marginals' totals are averaged by
        inverse variance, and it is at least 1
    zeros : for each measurement, a mask of the cells that no valid record can have, or ``None``
    rounds, tolerance : a loop stops after this many rounds, or when in no marginal the negative
        cells add up to more than ``tolerance`` records

    Returns the measurements in the order given, with the same attributes, sigma and rho (of the
    noise before this step), and the total.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> noisy = [
    ...     Measurement((0,), np.array([6.0, 4.0]), 1.0, 0.5),
    ...     Measurement((0, 1), np.array([[5.0, 3.0], [2.0, 3.0]]), 1.0, 0.5),
    ... ]
    >>> agreed, total = make_consistent(noisy, domain)
    >>> agreed[0].counts.round(3), agreed[1].counts.sum(axis=1).round(3), round(total, 3)
    (array([6.667, 4.333]), array([6.667, 4.333]), 11.0)

    Raises
    ------
    ValueError
        There are no measurements, a table does not have its marginal's shape, the zeros leave a
        marginal no cell, or an option is unknown or out of range.
    """
    _check(measurements, domain, total, zeros, non_negativity, rounds)
    orders = [np.argsort(m.attributes) for m in measurements]  # axes ascending by attribute
    tables = [
        np.array(m.counts.transpose(order), dtype=np.float64, order="C")
        for m, order in zip(measurements, orders, strict=True)
    ]
    agreement = Agreement(
        [tuple(sorted(m.attributes)) for m in measurements],
        [m.rho for m in measurements],
        [table.shape for table in tables],
        [
            None if mask is None or not mask.any() else ~mask.transpose(order)
            for mask, order in zip(zeros or [None] * len(tables), orders, strict=True)
        ],
    )
    rows = _rows(measurements, tables, agreement) if total is None else float(total)
    for table, allowed in zip(tables, agreement.allowed, strict=True):
        if allowed is not None:
            table[~allowed] = 0.0
    agreement.settle(tables, rows)
    if non_negativity == "top-down":
        _top_down(tables, agreement, rows, rounds, tolerance)
    elif non_negativity != "none":
        _interleave(tables, agreement, rows, non_negativity, rounds, tolerance)
    result = [
        Measurement(m.attributes, table.transpose(np.argsort(order)), m.sigma, m.rho)
        for m, table, order in zip(measurements, tables, orders, strict=True)
    ]
    return result, rows


def _rows(measurements: Sequence[Measurement], tables: list[Counts], agreement: Agreement) -> float:
    """Number of rows, from the possible cells alone."""
    possible = [
        table if allowed is None else table[allowed]
        for table, allowed in zip(tables, agreement.allowed, strict=True)
    ]
    return rows_estimate(
        [
            Measurement(m.attributes, counts, m.sigma, m.rho)
            for m, counts in zip(measurements, possible, strict=True)
        ]
    )


def _interleave(
    tables: list[Counts],
    agreement: Agreement,
    total: float,
    schedule: NonNegativity,
    rounds: int,
    tolerance: float,
) -> None:
    """Non-negativity and agreement in turns, in place."""
    for done in range(rounds):
        negative = max(negative_mass(table) for table in tables)
        cut = schedule == "norm-cut" or (schedule == "n3" and done >= CUT_FROM * rounds)
        method = norm_cut if cut else norm_sub
        for i, allowed in enumerate(agreement.allowed):
            tables[i] = non_negative(tables[i], allowed, total, method)
        if negative <= tolerance or done == rounds - 1:
            return
        agreement.apply(tables, total)


def _top_down(
    tables: list[Counts], agreement: Agreement, total: float, rounds: int, tolerance: float
) -> None:
    """Fix the shared sets, subsets first, then fit each table to those it contains, in place."""
    fixed: dict[Attributes, Counts] = {}

    def fit(attributes: Attributes, table: Counts, allowed: Mask | None) -> Counts:
        inside = [shared for shared in fixed if set(shared) <= set(attributes)]
        margins = [(Margin.of(attributes, s, table.shape, allowed), fixed[s]) for s in inside]
        for _ in range(rounds):
            for margin, target in margins:
                margin.move(table, target - margin.project(table))
            negative = negative_mass(table)
            table = non_negative(table, allowed, total, norm_sub)
            if negative <= tolerance:
                break
        return table

    for shared in agreement.shared:
        fixed[shared] = fit(shared, *agreement.projection(tables, shared))
    for i, attributes in enumerate(agreement.attributes):
        tables[i] = fit(attributes, tables[i], agreement.allowed[i])


def _check(
    measurements: Sequence[Measurement],
    domain: Domain,
    total: float | None,
    zeros: Sequence[Mask | None] | None,
    non_negativity: str,
    rounds: int,
) -> None:
    if not measurements:
        raise ValueError("there are no measurements to make consistent")
    if non_negativity not in get_args(NonNegativity):
        known = ", ".join(get_args(NonNegativity))
        raise ValueError(f"non_negativity is {non_negativity!r}; it must be one of {known}")
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}; at least 1 is needed")
    if total is not None and not total > 0:
        raise ValueError(f"total is {total}; it must be positive")
    masks = [None] * len(measurements) if zeros is None else list(zeros)
    if len(masks) != len(measurements):
        raise ValueError(f"{len(masks)} masks of zeros for {len(measurements)} measurements")
    for m, mask in zip(measurements, masks, strict=True):
        expected = domain.shape(m.attributes)
        for name, table in (("counts", m.counts), ("zeros", mask)):
            if table is not None and table.shape != expected:
                raise ValueError(
                    f"{name} of the marginal on {m.attributes} have shape {table.shape}; "
                    f"expected {expected}"
                )
