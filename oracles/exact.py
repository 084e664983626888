"""Exact oracle: reduction, then the value of every record that is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from saddlesynth.oracles.backend import ALL_LIMITS, Answer, Backend
from saddlesynth.oracles.reduce import Floats, Ints, Reduced

STATES = 200_000  # records that are enumerated at most; 1.6 MB of values


@dataclass(frozen=True)
class Exact(Backend):
    """Enumerates what the reduction leaves; the reference for every other oracle.

    Parameters
    ----------
    states
        Give up (status ``FALLBACK``) when more records than this are left.
    """

    states: int = STATES

    name: ClassVar[str] = "exact"
    has: ClassVar[frozenset[str]] = ALL_LIMITS  # its work is bounded anyway

    def attempt(self, task: Reduced, hint: Ints | None = None) -> Answer:
        if task.states > self.states:
            return Answer(
                reason=f"{task.states:.3g} records are left; at most {self.states} listed"
            )
        table = values(task)
        best = int(np.argmax(table))
        if table.flat[best] == -np.inf:
            return Answer(reason="every record contains an impossible combination")
        chosen = np.asarray(np.unravel_index(best, table.shape), dtype=np.intp) + task.starts[:-1]
        return Answer.choice(
            task, chosen, bound=float(table.flat[best]), reason="all records compared"
        )


def values(task: Reduced) -> Floats:
    """The value of every record that is left, one axis a free attribute; -inf where impossible."""
    shape = task.shape
    table = np.full(shape, task.constant)
    for axis, (start, stop) in enumerate(zip(task.starts[:-1], task.starts[1:], strict=True)):
        table -= task.cost[start:stop].reshape([-1 if i == axis else 1 for i in range(len(shape))])
    axis_of = np.repeat(np.arange(len(shape)), shape)
    code_of = np.arange(task.columns) - task.starts[axis_of]
    for rows, weights in ((task.literals, task.weights), (task.forbidden, None)):
        for j, row in enumerate(rows):
            where: list[int | slice] = [slice(None)] * len(shape)
            for column in row[row < task.columns]:
                where[axis_of[column]] = int(code_of[column])
            table[tuple(where)] += -np.inf if weights is None else weights[j]
    return table
