"""The frame of back-ends that hand an integer program to a solver."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar, cast

import numpy as np

from saddlesynth.oracles.backend import Answer, Backend
from saddlesynth.oracles.formulation import Form, Program, formulate
from saddlesynth.oracles.judge import decode
from saddlesynth.oracles.local_search import local_search
from saddlesynth.oracles.reduce import Floats, Ints, Reduced

T = TypeVar("T")


@dataclass(frozen=True)
class MipBackend(Backend):
    """A back-end that formulates, solves and reads one integer program per perturbation.

    To add a solver: subclass, give ``name``, ``package``, ``install``, ``has``, and write ``run``.

    Parameters
    ----------
    form
        Which formulation; ``EXCLUSIVE`` has the tightest relaxation.
    """

    form: Form = Form.EXCLUSIVE

    all_integer: ClassVar[bool] = False  # the solver has no continuous variables
    accuracy: ClassVar[float] = 1e-6  # its tolerances, for an objective scaled to about 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "form", Form(self.form))

    @abstractmethod
    def run(self, program: Program, gap: float, hint: Floats | None) -> Answer:
        """Solve the program to within ``gap`` of the optimum.

        Promises of an implementation: ``Answer.point`` is None unless the solver says that it has
        a point; ``Answer.bound`` is what the solver proved, in the units of the program (None if
        it does not say).  It may raise; whatever it returns is judged.
        """

    def attempt(self, task: Reduced, hint: Ints | None = None) -> Answer:
        program = formulate(task, self.form, all_integer=self.all_integer)
        start = None if hint is None else program_point(task, program, hint)
        gap = max(self.limits.gap, task.resolution)
        answer = interruptibly(lambda: self.run(program, gap, start))
        chosen = decode(task, answer.point) if task.tilted else None
        if chosen is not None:  # solvers' tolerances are wider than the noise that breaks ties
            generator = np.random.default_rng(self.limits.seed)
            chosen = local_search(task, generator, restarts=1, hint=chosen)
            answer = replace(answer, point=Answer.choice(task, chosen).point)
        return answer

    def answer(
        self,
        program: Program,
        reason: str,
        point: Floats | None,
        bound: float | None,
        nodes: int | None = None,
    ) -> Answer:
        """An answer with the tolerance that follows from ``accuracy`` and the program's scale."""
        if bound is not None and not np.isfinite(bound):
            bound = None
        tolerance = self.accuracy * program.unit()
        return replace(Answer(reason, point, bound, nodes), tolerance=tolerance)


def program_point(task: Reduced, program: Program, chosen: Ints) -> Floats:
    """All variables of the program at a choice of columns."""
    holds = np.zeros(task.columns + 1, dtype=bool)
    holds[chosen] = True
    holds[task.columns] = True
    return np.concatenate([holds[:-1], holds[task.literals].all(axis=1)]).astype(np.float64)


class _Worker(threading.Thread):
    """Runs one solve; ``stops`` are called if the user gives up waiting for it."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True, name="saddlesynth-solver")
        self.work = work
        self.stops: list[Callable[[], object]] = []
        self.result: object = None
        self.error: BaseException | None = None
        self.done = threading.Event()  # an interrupted Thread.join errs before 3.13

    def run(self) -> None:
        try:
            self.result = self.work()
        except BaseException as error:  # raised again in the thread that waits
            self.error = error
        finally:
            self.done.set()


def interruptibly(work: Callable[[], T]) -> T:
    """Run in a thread, so that Ctrl-C is answered while a solver is busy in compiled code.

    Only the main thread receives Ctrl-C; elsewhere the work is simply done.  A solver that cannot
    be stopped (see :func:`on_interrupt`) goes on in the background until its limit, or until the
    process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    worker = _Worker(work)
    worker.start()
    try:
        while not worker.done.wait(0.1):
            pass
    except BaseException:
        for stop in worker.stops:
            stop()
        if worker.stops:
            worker.done.wait(3.0)  # Python must not shut down under its feet
        raise
    if worker.error is not None:
        raise worker.error
    return cast(T, worker.result)


def on_interrupt(stop: Callable[[], object]) -> None:
    """Have ``stop`` called on Ctrl-C; for use inside ``MipBackend.run``."""
    worker = threading.current_thread()
    if isinstance(worker, _Worker):
        worker.stops.append(stop)
