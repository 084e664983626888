"""Judging what a solver says: the one place where points become records.

Solvers leave numbers in their variables when they found nothing, call stopped runs optimal, and
return 0.9999991.  So nothing is believed: a point is decoded only if it is integral and picks one
value of each attribute, the record's value is recomputed, and the only claim that is used is the
bound, against that value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.local_search import local_search
from saddlesynth.oracles.oracle import BestResponse, NoValidRecord, Status
from saddlesynth.oracles.reduce import Bools, Floats, Ints, Reduced

if TYPE_CHECKING:
    from saddlesynth.oracles.backend import Backend

INTEGRAL = 1e-5  # how far from 0 or 1 a solver's number may be
SEARCHED = 100_000  # steps of the search for any valid record


class Judged(Protocol):
    """What is needed of a problem to judge an answer."""

    @property
    def domain(self) -> Domain: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def impossible(self) -> tuple[Mapping[int, int], ...]: ...
    def value(self, records: Ints, perturbation: Floats) -> Floats: ...
    def allowed(self, records: Ints) -> Bools: ...


@dataclass(frozen=True, eq=False)
class Answer:
    """What a back-end says about a reduced problem.

    ``point`` is None, or begins with one number per column.  ``bound`` is None, or claims that no
    record is better by more than ``tolerance``; if it equals the value, it claims optimality.
    ``reason`` is why it stopped, in its own words.  ``solver`` and ``version`` are set where
    another back-end did the work.
    """

    reason: str
    point: NDArray[np.float64] | None = None
    bound: float | None = None
    nodes: int | None = None
    tolerance: float = 0.0
    solver: str | None = None
    version: str | None = None

    @classmethod
    def choice(
        cls, task: Reduced, chosen: Ints, bound: float | None = None, reason: str = ""
    ) -> Answer:
        """An answer that picked these columns."""
        point = np.zeros(task.columns)
        point[chosen] = 1.0
        return cls(reason, point, bound)


def decode(task: Reduced, point: NDArray[np.float64] | None) -> Ints | None:
    """The chosen column of each free attribute, or None if the point is no choice.

    Numbers within ``INTEGRAL`` of 0 or 1 are rounded; a point with any other number, or with not
    exactly one value of each attribute, is refused.
    """
    if point is None or len(point) < task.columns:
        return None
    numbers = np.asarray(point[: task.columns], dtype=np.float64)
    if (
        not np.isfinite(numbers).all()
        or np.abs(numbers - np.rint(numbers)).max(initial=0) > INTEGRAL
    ):
        return None
    whole = np.rint(numbers)
    ones = np.flatnonzero(whole == 1)
    axes = np.arange(len(task.free))
    one_each = np.array_equal(np.repeat(axes, task.shape)[ones], axes)
    return ones if one_each and np.count_nonzero(whole) == len(ones) else None


def judge(
    problem: Judged,
    perturbation: Floats,
    task: Reduced,
    answer: Answer,
    slack: float,
    backend: Backend,
) -> BestResponse:
    """A best response from an answer that nobody trusts.

    1. Decode the point; refuse it if it is no valid record.
    2. Unless the bound proves it best, compare with a local search, which is also the fall-back.
    3. Recompute the value, and settle on a bound: the claimed one, unless it contradicts the value.
    4. ``OPTIMAL`` if value and bound meet within the tolerance.
    """
    chosen = _valid(problem, task, answer.point)
    refused = chosen is None and answer.point is not None
    claimed = None if refused else answer.bound  # why trust the bound beside a wrong point
    bound = task.bound() if claimed is None or math.isnan(claimed) else min(claimed, task.bound())
    rounding = 1e-12 * (_scale(task) + np.abs(problem.weights).sum())
    tolerance = answer.tolerance + rounding + slack

    record = None if chosen is None else task.record(chosen)
    value = -math.inf if record is None else float(problem.value(record, perturbation)[0])
    improved = False
    if record is None or bound + slack - value > max(tolerance, task.resolution):
        other = _incumbent(problem, task, backend.limits.seed, chosen)
        other_value = float(problem.value(other, perturbation)[0])
        if record is None or other_value > value:
            record, value, improved = other, other_value, True

    contradicted = value > bound + tolerance
    bound = (task.bound() if contradicted else bound) + slack
    if task.step and tolerance < task.step / 4:
        steps = math.floor((bound + tolerance - task.base) / task.step + 1e-6)
        bound, tolerance = task.base + steps * task.step, rounding
    bound = max(bound, value)
    proven = bound - value <= tolerance

    remarks = {
        "its point is no valid record": refused,
        "local search found better": improved and chosen is not None,
        "its bound is below the value of a record": contradicted,
    }
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return BestResponse(
        record=record,
        value=value,
        bound=bound,
        status=status if chosen is not None else Status.FALLBACK,
        reason="; ".join([answer.reason, *(text for text, holds in remarks.items() if holds)]),
        seconds=0.0,
        nodes=answer.nodes,
        solver=answer.solver or backend.name,
        version=answer.version or backend.version(),
        tolerance=float(tolerance),
    )


def _valid(problem: Judged, task: Reduced, point: NDArray[np.float64] | None) -> Ints | None:
    """The columns that a point chooses, if that makes a valid record."""
    chosen = decode(task, point)
    if chosen is None or not problem.allowed(task.record(chosen))[0]:
        return None
    return chosen


def _scale(task: Reduced) -> float:
    """Sum of the magnitudes that enter a value."""
    return float(abs(task.constant) + np.abs(task.weights).sum() + np.abs(task.cost).sum())


def _incumbent(problem: Judged, task: Reduced, seed: int, hint: Ints | None) -> Ints:
    """The best valid record that we find without a solver."""
    if len(task.free):
        found = task.record(local_search(task, np.random.default_rng(seed), hint=hint))
        if problem.allowed(found)[0]:
            return found
    elif problem.allowed(task.template)[0]:
        return task.template
    return any_record(problem)


def any_record(problem: Judged) -> Ints:
    """Some record without impossible combinations, by depth-first search.

    Raises ``NoValidRecord`` if there is none, or after ``SEARCHED`` steps without one.
    """
    domain, rows = problem.domain, [sorted(c.items()) for c in problem.impossible]
    closing: list[list[list[tuple[int, int]]]] = [[] for _ in domain.sizes]
    for row in rows:
        closing[row[-1][0]].append(row)  # checked when its last attribute is decided
    record = np.full(len(domain), -1, dtype=np.intp)
    a = 0
    for _ in range(SEARCHED):
        record[a] += 1
        if record[a] >= domain.sizes[a]:
            record[a] = -1
            a -= 1
            if a < 0:
                raise NoValidRecord("the impossible combinations exclude every record")
        elif not any(all(record[b] == v for b, v in row) for row in closing[a]):
            a += 1
            if a == len(domain):
                return record
    raise NoValidRecord(
        f"no record without impossible combinations was found in {SEARCHED} steps; "
        "check the impossible combinations"
    )
