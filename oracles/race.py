"""Races: solvers x formulations x reductions on a set of instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.formulation import Form
from saddlesynth.oracles.instances import Instance
from saddlesynth.oracles.oracle import Limits, NoValidRecord, Oracle, SolverMissing, Status
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Floats, Reduction
from saddlesynth.oracles.registry import make

AGREE = 1e-6  # relative difference of values up to which two records are equally good


@dataclass(frozen=True)
class Contender:
    """A solver with a formulation (None for those that have none) and a reduction."""

    solver: str
    form: Form | None
    reduction: Reduction

    @property
    def name(self) -> str:
        """The parts, for tables and legends."""
        return " ".join(filter(None, [self.solver, self.form, self.reduction]))

    def oracle(self, limits: Limits) -> Oracle:
        """The oracle; ``ValueError`` if it lacks an option or limit."""
        form = {} if self.form is None else {"form": self.form}
        return make(self.solver, limits=limits, reduction=self.reduction, **form)


@dataclass(frozen=True)
class Run:
    """One contender on one instance.  ``best`` says that nobody found a better record."""

    instance: str
    solver: str
    form: str
    reduction: str
    status: str
    value: float
    bound: float
    seconds: float
    nodes: int | None
    reason: str
    best: bool = False

    @property
    def contender(self) -> str:
        return " ".join(filter(None, [self.solver, self.form, self.reduction]))


def contenders(
    solvers: Iterable[str], forms: Iterable[Form], reductions: Iterable[Reduction]
) -> list[Contender]:
    """All combinations; solvers without formulations enter once a reduction."""
    found: dict[Contender, None] = {}
    for solver, form, reduction in product(solvers, forms, reductions):
        has_form = any(f.name == "form" for f in fields(make(solver)))  # type: ignore[arg-type]
        found[Contender(solver, form if has_form else None, reduction)] = None
    return list(found)


def race(
    instances: Sequence[Instance],
    field: Sequence[Contender],
    limits: Limits,
    progress: Callable[[float], None] = lambda done: None,
) -> Iterator[Run]:
    """Every contender on every instance, one after the other (so that times compare).

    ``seconds`` is wall time of presolve, formulation and solve; a tiny problem before the race
    keeps the import of packages out of it.  A solver that is not installed or
    finds that there is no record gives a run of status ``error``.
    """
    for contender in field:
        _run("", _tiny(), contender, limits)
    for i, instance in enumerate(instances):
        name = instance.name or f"instance {i}"
        runs = []
        for j, contender in enumerate(field):
            runs.append(_run(name, instance, contender, limits))
            progress((i * len(field) + j + 1) / (len(instances) * len(field)))
        top = max((run.value for run in runs), default=-np.inf)
        for run in runs:
            near = run.value >= top - AGREE * max(1.0, abs(top))
            yield replace(run, best=bool(near))


def _tiny() -> Instance:
    """A problem that the reductions leave something of."""
    queries = Conjunctions.of([{0: 0, 1: 0}, {0: 1, 1: 1}, {0: 0, 1: 1}])
    problem = Problem(Domain(("a", "b"), (2, 2)), queries, [1.0, 1.0, -1.0])
    return Instance.of(problem, np.zeros(4))


def _run(name: str, instance: Instance, contender: Contender, limits: Limits) -> Run:
    who = (name, contender.solver, contender.form or "", str(contender.reduction))
    try:
        prepared = contender.oracle(limits).prepare(instance.problem)
        answer = prepared.best_response(instance.perturbation)
    except (SolverMissing, NoValidRecord) as error:
        nan = float("nan")
        return Run(*who, str(Status.ERROR), -np.inf, np.inf, nan, None, str(error))
    return Run(
        *who,
        str(answer.status),
        answer.value,
        answer.bound,
        answer.seconds,
        answer.nodes,
        answer.reason,
    )


def profile(runs: Sequence[Run]) -> dict[str, tuple[Floats, Floats]]:
    """Performance profiles (Dolan and More 2002): contender -> (ratios, shares).

    ``shares[i]`` of the instances were solved to proven optimality within ``ratios[i]`` times the
    quickest contender's time.  A contender that proved nothing has empty arrays.
    """
    quickest: dict[str, float] = {}
    for run in runs:
        if run.status == Status.OPTIMAL:
            quickest[run.instance] = min(run.seconds, quickest.get(run.instance, np.inf))
    total = len({run.instance for run in runs})
    curves = {}
    for name in dict.fromkeys(run.contender for run in runs):
        ratios = np.sort(
            [
                run.seconds / quickest[run.instance]
                for run in runs
                if run.contender == name and run.status == Status.OPTIMAL
            ]
        )
        curves[name] = (ratios, np.arange(1, len(ratios) + 1) / total)
    return curves
