"""What an oracle is: a value that prepares a problem once and answers many perturbations.

Three facts are kept apart: why a solver stopped (``reason``), what we have (``record`` and its
``value``, recomputed by us), and what is proven (``bound``, ``status``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.problem import Problem


class Status(StrEnum):
    """What is known about a record.

    ``OPTIMAL``: no record is better by more than the tolerance.  ``FEASIBLE``: a solver's record,
    not proven best.  ``FALLBACK``: the solver gave no usable record, so this one is from our local
    search.  ``ERROR``: no record at all (appears only in reports; Python raises instead).
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    FALLBACK = "fallback"
    ERROR = "error"


@dataclass(frozen=True)
class Limits:
    """When a back-end stops without a proof, and its random seed.

    Parameters
    ----------
    seconds
        Wall time of one solve; makes results depend on the machine.
    nodes
        Branch-and-bound nodes (CP-SAT: conflicts) of one solve.
    deterministic_time
        CP-SAT's own repeatable clock, roughly seconds; other back-ends refuse it.
    gap
        Stop once ``bound - value`` is at most this.  Such an answer is ``FEASIBLE``.
    seed
        Of the back-end and of the local search.

    Raises ``ValueError`` on a limit that is not positive, or a negative gap or seed.
    """

    seconds: float | None = None
    nodes: int | None = None
    deterministic_time: float | None = None
    gap: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("seconds", "nodes", "deterministic_time"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ValueError(f"{name} is {limit}; it must be positive, or None for no limit")
        if not (math.isfinite(self.gap) and self.gap >= 0):
            raise ValueError(f"gap is {self.gap}; it must be finite and not negative")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must not be negative")


@dataclass(frozen=True, eq=False)
class BestResponse:
    """An oracle's answer.

    ``record`` (d,) is always a valid record.  ``value`` is recomputed from it, never read from a
    solver.  No record's value exceeds ``bound`` by more than ``tolerance``, which is also how close
    to ``bound`` the value must be to be called ``OPTIMAL``.  ``seconds`` is wall time; ``nodes`` is
    None where the back-end does not say.
    """

    record: NDArray[np.intp]
    value: float
    bound: float
    status: Status
    reason: str
    seconds: float
    nodes: int | None
    solver: str
    version: str
    tolerance: float

    @property
    def gap(self) -> float:
        """How much better another record might be."""
        return max(0.0, self.bound - self.value)


class Prepared(Protocol):
    """A problem made ready by an oracle."""

    def best_response(
        self, perturbation: ArrayLike, *, generator: np.random.Generator | None = None
    ) -> BestResponse:
        """The best record under one perturbation, (width,); ``generator`` breaks ties at random."""
        ...

    def best_responses(
        self,
        perturbations: ArrayLike,
        n_jobs: int | None = 1,
        *,
        generator: np.random.Generator | None = None,
    ) -> Sequence[BestResponse]:
        """The same for each row of ``perturbations`` (s, width), in order."""
        ...


class Oracle(Protocol):
    """Anything that finds best responses; a frozen value, built and passed."""

    @property
    def name(self) -> str: ...

    def prepare(self, problem: Problem) -> Prepared:
        """Work that all perturbations of one round share."""
        ...


class NoValidRecord(ValueError):
    """The impossible combinations leave no record (or none was found; the message says which)."""


class NotOptimal(RuntimeError):
    """``require_optimal`` was asked for and the answer is not proven; ``.answer`` holds it."""

    def __init__(self, answer: BestResponse) -> None:
        super().__init__(
            f"{answer.solver} answered '{answer.status}' ({answer.reason}), gap {answer.gap:.3g}; "
            "an optimal answer was required: raise the limits or choose another solver"
        )
        self.answer = answer

    def __reduce__(self) -> tuple[type[NotOptimal], tuple[BestResponse]]:
        return type(self), (self.answer,)


class SolverMissing(ImportError):
    """The package of a back-end is not installed; the message holds the install line."""
