"""Shares of rows by value, column by column, for plots and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.evaluate.metrics import Codes, as_columns
from saddlesynth.synthesis.evaluate.result import ColumnShares

MANY = 100  # values shown one by one

Shares = NDArray[np.float64]


def column_shares(
    real: Codes,
    synthetic: Codes,
    domain: Domain,
    labels: Sequence[Sequence[str]],
    numeric: Sequence[bool],
) -> tuple[ColumnShares, ...]:
    """What share of each table has which value; ``labels`` are the values' names, by column."""
    tables = [as_columns(codes, domain) for codes in (real, synthetic)]
    found = []
    for a, size in enumerate(domain.sizes):
        p, q = (np.bincount(t[a], minlength=size + 1) / len(t[a]) for t in tables)
        names, shown, note = list(labels[a]), np.stack([p[:size], q[:size]]), ""
        if size > MANY:
            coarser = _neighbours if numeric[a] else _frequent
            names, shown, note = coarser(names, shown)
        found.append(
            ColumnShares(
                name=domain.names[a],
                numeric=numeric[a],
                labels=tuple(names),
                real=tuple(shown[0].tolist()),
                synthetic=tuple(shown[1].tolist()),
                real_invalid=float(p[size]),
                synthetic_invalid=float(q[size]),
                tvd=float(np.abs(p - q).sum() / 2),
                note=note,
            )
        )
    return tuple(found)


def _neighbours(names: list[str], shares: Shares) -> tuple[list[str], Shares, str]:
    """Put neighbouring bins together, so that at most MANY are left."""
    width = -(-len(names) // MANY)
    starts = np.arange(0, len(names), width)
    note = f"{width} neighbouring bins of {len(names):,} are shown together"
    return [names[i] for i in starts], np.add.reduceat(shares, starts, axis=1), note


def _frequent(names: list[str], shares: Shares) -> tuple[list[str], Shares, str]:
    """The values that are most frequent in either table, and all others as one."""
    order = np.argsort(-shares.max(axis=0), kind="stable")
    kept, others = np.sort(order[: MANY - 1]), order[MANY - 1 :]
    rest = shares[:, others].sum(axis=1, keepdims=True)
    note = f"the {len(kept)} most frequent of {len(names):,} values"
    return (
        [*(names[i] for i in kept), f"{len(others):,} others"],
        np.hstack([shares[:, kept], rest]),
        note,
    )
