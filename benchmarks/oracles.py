"""What does a proven best response cost, and what do reduction and solver contribute?

    python benchmarks/oracles.py TABLE.csv DOMAIN.json      # half an hour on two cores
    python benchmarks/oracles.py --tiny                     # seconds, on a simulated table

TABLE.csv holds integer codes, DOMAIN.json maps each column to its number of values.  FEM is played
on it with the authors' settings (64 random 3-way and 5-way marginals, 50 perturbations a round),
and its oracle problems of rounds 50, 200 and 350 are kept; then DualQuery (eta 2), of which rounds
2 and 20 are kept for s = 50 ... 1000 draws.  All times are CPU time, children's included, in one
run of one thread.  Printed:

1. FEM: milliseconds a solve of the default oracle; the share proven optimal; what the reduction
   leaves; milliseconds of solvers and formulations on the *unreduced* problem (equal queries
   merged), and how many times the default is faster;
2. the same solvers on the reduced problem;
3. DualQuery: seconds of the default oracle, ties broken at random, and its status.

Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games import fem
from saddlesynth.games.payoff import payoffs
from saddlesynth.games.play import Game
from saddlesynth.games.players import MultiplicativeWeights
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.formulation import Form
from saddlesynth.oracles.generate import Recorder
from saddlesynth.oracles.oracle import BestResponse, Limits, Oracle, Status
from saddlesynth.oracles.portfolio import Portfolio
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions, marginal_counts
from saddlesynth.oracles.reduce import Reduction, merge, reduce
from saddlesynth.oracles.registry import availability, make

Result = TypeVar("Result")
Problems = dict[int, tuple[Problem, NDArray[np.float64]]]

CONTENDERS = (
    ("cp-sat", Form.EXCLUSIVE),
    ("highs", Form.EXCLUSIVE),
    ("scipy-highs", Form.EXCLUSIVE),
    ("mathopt-scip", Form.EXCLUSIVE),
    ("highs", Form.AGGREGATED),
    ("pulp-cbc", Form.AGGREGATED),
)
# ways: (rounds, epsilon of one selection, mean cost / sqrt(rounds)), as published for epsilon 1
SETTINGS = {3: (354, 0.008, 0.16), 5: (400, 0.010, 0.16)}


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    ways: tuple[int, ...] = (3, 5)
    kept: tuple[int, ...] = (50, 200, 350)
    samples: int = 50
    solves: int = 6  # of each contender; the default oracle solves all samples
    draws: tuple[int, ...] = (50, 200, 500, 1000)
    dual_rounds: tuple[int, ...] = (2, 20)
    marginals: int = 64


TINY = Size((2,), (12,), 4, 1, (20,), (2,), 6)


@dataclass(frozen=True, eq=False)
class Table:
    """A public table, played as if it were private."""

    domain: Domain
    records: NDArray[np.int64]

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        return marginal_counts(self.domain, marginals, self.records)

    def workload(self, ways: int, count: int) -> QueryClass:
        """Random marginals of at most as many cells as there are rows."""
        every = itertools.combinations(range(len(self.domain)), ways)
        fitting = [m for m in every if self.domain.cells(m) <= len(self.records)]
        order = np.random.default_rng(0).permutation(len(fitting))[:count]
        return QueryClass.of(self.domain, [fitting[i] for i in order])


def read_table(table: Path, domain: Path) -> Table:
    sizes = json.loads(domain.read_text())
    with table.open(newline="") as file:
        rows = csv.DictReader(file)
        records = np.array([[int(float(row[name])) for name in sizes] for row in rows])
    return Table(Domain(tuple(sizes), tuple(sizes.values())), records)


def simulated_table() -> Table:
    generator = np.random.default_rng(0)
    sizes = (6, 5, 4, 3, 2)
    columns = [generator.geometric(0.5, 400).clip(1, size) - 1 for size in sizes]
    return Table(Domain(tuple("abcde"), sizes), np.stack(columns, axis=1))


# ------------------------------------------------------------------------------------ instances
def fem_problems(table: Table, ways: int, size: Size) -> Problems:
    """The problems and perturbations of the kept rounds."""
    asked: list[tuple[Problem, NDArray[np.float64]]] = []
    recorder = Recorder(Portfolio(), lambda problem, rows: asked.append((problem, rows)))
    curator = Curator(table, Ledger(100.0, 1e-9), Seeded(np.random.default_rng(1)))
    game = Game(curator, table.workload(ways, size.marginals), recorder)
    rounds, rate, multiple = SETTINGS.get(ways, (max(size.kept), 0.5, 0.16))
    parameters = fem.FEM(rounds, rate, samples=size.samples, multiple=multiple)
    for _ in itertools.islice(fem.play(game, parameters, np.random.default_rng(0)), max(size.kept)):
        pass
    return {number: asked[number - 1] for number in size.kept}


def dual_query_problems(table: Table, draws: int, size: Size) -> Iterator[tuple[int, Problem]]:
    """DualQuery's problems: s queries drawn from multiplicative weights on queries, eta 2."""
    workload = table.workload(3 if len(table.domain) > 5 else 2, size.marginals)
    truth = [t / len(table.records) for t in workload.answers(table.count(workload.marginals))]
    generator = np.random.default_rng(0)
    player = MultiplicativeWeights(workload.candidates)
    for number in range(1, max(size.dual_rounds) + 1):
        drawn = generator.choice(workload.candidates, draws, p=player.mix)
        queries = [workload.query(int(position)) for position in drawn]
        rows = [dict(zip(q.attributes, q.low, strict=True)) for q in queries]
        conjunctions = Conjunctions.of(rows, [q.negated for q in queries])
        problem = Problem(table.domain, conjunctions, np.ones(draws))
        if number in size.dual_rounds:
            yield number, problem
        costs = np.zeros(problem.domain.width)
        answer = Portfolio().prepare(problem).best_response(costs, generator=generator)
        answers = workload.answers_on(answer.record[None])
        half = np.concatenate([t.ravel() for t in payoffs(workload, truth, answers)])
        player.update(np.concatenate([half, -half]), rate=2.0)


# ------------------------------------------------------------------------------------ measuring
def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """A result, and the CPU seconds of this process and its finished children."""
    before = time.process_time() + sum(os.times()[2:4])
    result = work()
    return result, time.process_time() + sum(os.times()[2:4]) - before


def milliseconds(
    oracle: Oracle, problem: Problem, perturbations: NDArray[np.float64]
) -> tuple[float, float]:
    """CPU milliseconds a solve, preparation included, and the share proven optimal."""
    answers, seconds = timed(lambda: oracle.prepare(problem).best_responses(perturbations))
    proven = np.mean([answer.status is Status.OPTIMAL for answer in answers])
    return 1000 * seconds / len(perturbations), float(proven)


def contenders() -> list[tuple[str, Form]]:
    usable = {row.name for row in availability() if row.usable}
    return [(name, form) for name, form in CONTENDERS if name in usable]


def fem_lines(table: Table, size: Size, say: Callable[[str], None]) -> None:
    """Parts 1 and 2."""
    field = contenders()
    names = [f"{name} {form}" for name, form in field]
    say(f"| FEM | default, ms | proven | columns | queries | states | {' | '.join(names)} |")
    say("|" + "---|" * (6 + len(names)))
    for ways in size.ways:
        for number, (problem, rows) in fem_problems(table, ways, size).items():
            default, proven = milliseconds(Portfolio(), problem, rows)
            left = reduce(merge(problem), rows)
            cells = [
                f"{ways}-way, round {number}",
                f"{default:.2f}",
                f"{proven:.0%}",
                f"{np.median([task.columns for task in left]):.0f} of {problem.domain.width}",
                f"{np.median([len(task.weights) for task in left]):.0f} of {len(problem.weights)}",
                f"{np.median([float(task.states) for task in left]):.3g}",
            ]
            for reduction in (Reduction.MERGE, Reduction.FULL):
                times = [
                    milliseconds(
                        make(name, form=form, reduction=reduction), problem, rows[: size.solves]
                    )[0]
                    for name, form in field
                ]
                texts = [f"{t:.1f} ({t / default:.0f}x)" for t in times]
                say("| " + " | ".join([*cells, *texts]) + " |")
                cells = [f"{ways}-way, round {number}, reduced", *[""] * 5]


def dual_query_lines(table: Table, size: Size, say: Callable[[str], None]) -> None:
    """Part 3."""
    say("| DualQuery | CPU s | value | bound | status | by |")
    say("|---|---|---|---|---|---|")
    for draws in size.draws:
        for number, problem in dual_query_problems(table, draws, size):
            a, seconds = timed(lambda problem=problem: with_random_ties(problem))
            cells = [
                f"s = {draws}, round {number}",
                f"{seconds:.2f}",
                f"{a.value:g}",
                f"{a.bound:g}",
            ]
            say("| " + " | ".join([*cells, str(a.status), a.solver]) + " |")


def with_random_ties(problem: Problem) -> BestResponse:
    """The default oracle on an unperturbed problem."""
    prepared = Portfolio(limits=Limits(deterministic_time=20.0)).prepare(problem)
    costs = np.zeros(problem.domain.width)
    return prepared.best_response(costs, generator=np.random.default_rng(5))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("domain", nargs="?", type=Path)
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    if not given.tiny and given.domain is None:
        parser.error("give TABLE.csv and DOMAIN.json, or --tiny")
    table = simulated_table() if given.tiny else read_table(given.table, given.domain)
    size = TINY if given.tiny else Size()
    for name, form in contenders():  # imports are not part of the answer
        make(name, form=form).prepare(_warm()).best_response(np.zeros(4))
    fem_lines(table, size, lambda line: print(line, flush=True))
    print()
    dual_query_lines(table, size, lambda line: print(line, flush=True))


def _warm() -> Problem:
    domain = Domain(("a", "b"), (2, 2))
    return Problem(domain, Conjunctions.cells(domain, (0, 1)), [1.0, -1.0, 1.0, 1.0])


if __name__ == "__main__":
    main()
