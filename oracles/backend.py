"""The frame that every back-end shares, so that each of them is a page.

A back-end only says how it attacks one reduced problem (:meth:`Backend.attempt`) and hands back an
:class:`Answer`.  Everything else is here, once: preparing, reducing all perturbations of a round,
breaking ties, catching what goes wrong, and having the answer judged (``judge.py``).
"""

from __future__ import annotations

import functools
import importlib.metadata
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.judge import Answer, Judged, judge
from saddlesynth.oracles.oracle import BestResponse, Limits, NotOptimal, SolverMissing, Status
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.reduce import Floats, Ints, Merged, Reduced, Reduction, merge, reduce

__all__ = ["Answer", "Backend", "PreparedBackend"]


ALL_LIMITS = frozenset({"seconds", "nodes", "deterministic_time"})


@functools.cache
def _version(distribution: str) -> str:
    return importlib.metadata.version(distribution)


@dataclass(frozen=True)
class Backend(ABC):
    """An oracle made of one way to attack a reduced problem.

    Parameters
    ----------
    limits
        When to stop without a proof.  A back-end refuses limits that it does not have.
    reduction
        How much exact presolve to do first.
    require_optimal
        Raise ``NotOptimal`` instead of returning an answer that is not proven best.

    *Privacy.* Public inputs only.

    Raises
    ------
    ValueError
        A limit is not one that this back-end has.
    """

    limits: Limits = field(default_factory=Limits)
    reduction: Reduction = Reduction.FULL
    require_optimal: bool = False

    package: ClassVar[str | None] = None  # distribution whose version is reported, if not ours
    install: ClassVar[str] = ""  # how to get it
    has: ClassVar[frozenset[str]] = frozenset()  # the limits that it obeys

    @property
    @abstractmethod
    def name(self) -> str:
        """The name on the command line."""

    @abstractmethod
    def attempt(self, task: Reduced, hint: Ints | None = None) -> Answer:
        """Try to find the best choice of columns.  May raise, fail, lie: the answer is judged."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reduction", Reduction(self.reduction))
        for limit in ALL_LIMITS:
            if getattr(self.limits, limit) is not None and limit not in self.has:
                known = ", ".join(sorted(self.has)) or "none"
                raise ValueError(f"{self.name} has no limit {limit!r}; it has: {known}")

    def missing(self) -> str | None:
        """Why this back-end cannot run here and what to do about it, or None."""
        try:
            if self.package is not None:
                importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return f"package {self.package} is not installed: {self.install}"
        return None

    def version(self) -> str:
        """Of the package that does the work."""
        return _version(self.package or "saddlesynth")

    def prepare(self, problem: Problem) -> PreparedBackend:
        """Merge equal queries; ``SolverMissing`` with the install line if it cannot run here."""
        reason = self.missing()
        if reason is not None:
            raise SolverMissing(f"{self.name}: {reason}")
        return PreparedBackend(self, problem, merge(problem))


@dataclass(frozen=True, eq=False)
class PreparedBackend:
    """A problem with equal queries merged, ready for perturbations.  Can be pickled."""

    backend: Backend
    problem: Problem
    merged: Merged

    def best_response(
        self, perturbation: ArrayLike, *, generator: np.random.Generator | None = None
    ) -> BestResponse:
        """The best record under one perturbation, (width,).

        Raises ``ValueError`` (shape, not finite), ``NoValidRecord`` (the impossible combinations
        leave none), ``NotOptimal`` (only if a proof was required).
        """
        return self.best_responses(np.asarray(perturbation)[None], generator=generator)[0]

    def best_responses(
        self,
        perturbations: ArrayLike,
        n_jobs: int | None = 1,
        *,
        generator: np.random.Generator | None = None,
    ) -> list[BestResponse]:
        """The best record under each row of ``perturbations`` (s, width).

        Parameters
        ----------
        n_jobs
            Parallel solves, as in joblib: threads by default (solvers release the GIL); inside
            ``with joblib.parallel_config("loky")`` processes, with "dask" or "ray" a cluster.
            The answers do not depend on it.
        generator
            Breaks ties at random; without one the same tie is always broken the same way.
        """
        values = self.problem.check_perturbations(perturbations)
        tilted, slack = _tilt(self.merged, values, generator)
        if n_jobs == 1 or len(values) < 2:
            return self._solve(values, tilted, slack)
        import joblib

        pieces = np.array_split(np.arange(len(values)), joblib.effective_n_jobs(n_jobs))
        run = joblib.delayed(self._solve)
        parts = joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
            run(values[piece], tilted[piece], slack[piece]) for piece in pieces if len(piece)
        )
        return [answer for part in parts for answer in part]

    def _solve(self, values: Floats, tilted: Floats, slack: Floats) -> list[BestResponse]:
        start = time.perf_counter()
        tasks = reduce(self.merged, tilted, self.backend.reduction)
        shared = (time.perf_counter() - start) / max(1, len(tasks))
        return [
            self._one(task, value, float(room), shared)
            for task, value, room in zip(tasks, values, slack, strict=True)
        ]

    def _one(
        self, task: Reduced, perturbation: Floats, slack: float, shared: float
    ) -> BestResponse:
        """Attempt, judge, time, and refuse if a proof was required."""
        step = _step(self.merged.weights, perturbation)
        task = replace(task, step=step, base=self.merged.constant, tilted=slack > 0)

        def attempt() -> Answer:
            if len(task.free):
                return self.backend.attempt(task)
            chosen = np.zeros(0, dtype=np.intp)
            return Answer.choice(task, chosen, task.constant, "the reduction left one record")

        result = timed_judgement(self.problem, perturbation, task, self.backend, attempt, slack)
        result = replace(result, seconds=shared + result.seconds)
        if self.backend.require_optimal and result.status is not Status.OPTIMAL:
            raise NotOptimal(result)
        return result


def timed_judgement(
    problem: Judged,
    perturbation: Floats,
    task: Reduced,
    backend: Backend,
    attempt: Callable[[], Answer],
    slack: float = 0.0,
) -> BestResponse:
    """Attempt and judge; whatever a solver throws costs accuracy, not the run."""
    start = time.perf_counter()
    try:
        answer = attempt()
    except Exception as error:
        answer = Answer(reason=f"{type(error).__name__}: {error}")
    result = judge(problem, perturbation, task, answer, slack, backend)
    return replace(result, seconds=time.perf_counter() - start)


def _step(weights: Floats, perturbation: Floats) -> float:
    """A number of which every weight and cost is a whole multiple, or 0 if none is evident.

    Then two records with different values differ by at least this much, and a bound may be rounded
    down.  DualQuery's problems (equal weights, no perturbation) are of this kind.
    """
    sizes = np.abs(np.concatenate([weights, perturbation]))
    sizes = sizes[sizes > 0]
    if len(sizes) == 0:
        return 0.0
    unit = float(sizes.min())
    multiples = sizes / unit
    whole = multiples.max() < 2**31 and bool((multiples == np.rint(multiples)).all())
    return unit if whole else 0.0


def _tilt(
    merged: Merged, perturbations: Floats, generator: np.random.Generator | None
) -> tuple[Floats, NDArray[np.float64]]:
    """Perturbations with tiny, data-independent noise; and how much it can change a value, (s,).

    At most an eighth of the step where there is one, so that no optimum is lost; else 1e-9 of the
    largest coefficient, which goes into the tolerance.
    """
    if generator is None:
        return perturbations, np.zeros(len(perturbations))
    largest = np.abs(perturbations).max(axis=1, initial=np.abs(merged.weights).max(initial=0.0))
    steps = np.array([_step(merged.weights, p) for p in perturbations])
    room = np.where(steps > 0, steps / 8, np.where(largest > 0, 1e-9 * largest, 1.0))
    noise = generator.random(perturbations.shape) * (room / len(merged.domain))[:, None]
    return perturbations + noise, room
