"""Few views that together contain every wanted marginal: greedy covering designs.

A *view* is a marginal of at most a given number of cells; a wanted marginal that is larger is a
view of its own.

 1  while some marginal is not covered: open a view on the largest of them
 2      add the attribute that completes most uncovered marginals, for the logarithm of its size
 3      where none completes any, join the uncovered marginal that fits and adds fewest cells
 4      until nothing fits
 5  leave out views that the others make superfluous

Privacy.  Public inputs only: names and sizes.

Reference: Qardaji, Yang, Li (2014), "PriView: Practical Differentially Private Release of Marginal
Contingency Tables", section 4.  Differs: any sizes, so a bound on cells replaces one on attributes;
greedy instead of tabulated designs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain

Flags = NDArray[np.bool_]


def cover(marginals: Sequence[Attributes], domain: Domain, cells: int) -> list[Attributes]:
    """Views of at most ``cells`` cells, in ascending order, such that each marginal lies in one.

    >>> binary = Domain(tuple("abcd"), (2, 2, 2, 2))
    >>> cover([(0, 1), (0, 2), (1, 2), (2, 3)], binary, 8)
    [(0, 1, 2), (2, 3)]
    """
    wanted = np.zeros((len(marginals), len(domain)), dtype=bool)
    for row, attributes in zip(wanted, marginals, strict=True):
        row[list(attributes)] = True
    logs = np.log(np.array(domain.sizes, dtype=np.float64))
    limit = max(np.log(cells), 0.0) + 1e-9
    order = np.argsort(-(wanted @ logs), kind="stable")
    left = np.ones(len(wanted), dtype=bool)
    views: list[Flags] = []
    while left.any():
        view = wanted[next(i for i in order if left[i])].copy()  # line 1
        while (more := _extension(view, wanted[left], logs, limit)) is not None:
            view = view | more
        views.append(view)
        left &= (wanted & ~view).any(axis=1)
    kept = _needed(views, wanted)
    return sorted(tuple(int(a) for a in np.flatnonzero(view)) for view in kept)


def _extension(view: Flags, wanted: Flags, logs: NDArray[np.float64], limit: float) -> Flags | None:
    """Attributes to add to a view; ``None`` if nothing fits."""
    missing = wanted & ~view
    lacking = missing.sum(axis=1)
    fits = logs <= limit - logs[view].sum()
    completed = np.where(fits, missing[lacking == 1].sum(axis=0), 0)
    if completed.any():  # line 2
        best = int(np.argmax(completed / np.maximum(logs, 0.1)))
        return np.asarray(np.arange(len(logs)) == best)
    growth = np.where(lacking > 0, missing @ logs, np.inf)  # line 3
    nearest = int(np.argmin(growth)) if len(growth) else -1
    if nearest < 0 or growth[nearest] > limit - logs[view].sum():
        return None
    return np.asarray(missing[nearest])


def _needed(views: list[Flags], wanted: Flags) -> list[Flags]:
    """Line 5: drop views, the last one first, whose marginals all lie in others, too."""
    held = np.array([~(wanted & ~view).any(axis=1) for view in views])
    times = held.sum(axis=0)
    kept = []
    for view, own in zip(reversed(views), held[::-1], strict=True):
        if (times[own] > 1).all():
            times = times - own
        else:
            kept.append(view)
    return kept
