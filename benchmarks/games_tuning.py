"""Which settings should the games have by default?  Answered on public tables only.

Settings are rounds, costs and options.  The tables are real ones (``--tables``;
``public_tables.py`` writes those that were used), or drawn from a mixture of eight groups with
skewed columns, in three shapes.  For every budget (said as nu = n sqrt(rho), which is all that the
game's accuracy depends on) and every setting the script plays a few games and prints the largest
error over 64 random 3-way marginals.

    python benchmarks/games_tuning.py recent --tables tables/tv16.csv tables/hi.csv --out recent.csv
    python benchmarks/games_tuning.py rounds --out rounds.csv      # on simulated tables
    python benchmarks/games_tuning.py costs | start | after-start | crossover | samples
    python benchmarks/games_tuning.py larger-costs | growing | quiet-start | dual | mwem
    python benchmarks/games_tuning.py rounds --tiny        # seconds; also run by the tests

The answers, and the defaults taken from them, are in docs/games.md.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games import dqrs, dual_query, fem, mwem
from saddlesynth.games.payoff import max_error
from saddlesynth.games.play import Allowance, Game, mixture
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.oracle import Limits
from saddlesynth.oracles.portfolio import Portfolio
from saddlesynth.oracles.queries import marginal_counts

SHAPES = {
    "wide": (90, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2),
    "narrow": (10, 9, 16, 7, 15, 6, 5, 2, 13, 6, 10, 42, 2),
    "binary": (2,) * 24,
}


@dataclass(eq=False)
class Public:
    """A public table, played as if it were private."""

    domain: Domain
    records: NDArray[np.int64]

    def count(self, marginals: list[Attributes]) -> list[NDArray[np.int64]]:
        return marginal_counts(self.domain, marginals, self.records)


def simulate(sizes: tuple[int, ...], rows: int, seed: int, groups: int = 8) -> Public:
    """A mixture: a row's group decides the distribution of each column, a power law, shuffled."""
    generator = np.random.default_rng(seed)
    group = generator.choice(groups, rows, p=generator.dirichlet(np.ones(groups)))
    columns = []
    for size in sizes:
        law = (1.0 + np.arange(size)) ** -generator.uniform(0.5, 7.0)
        shared = generator.permutation(law)
        laws = np.stack([0.75 * shared + 0.25 * generator.permutation(law) for _ in range(groups)])
        sums = np.cumsum(laws / laws.sum(axis=1, keepdims=True), axis=1)
        columns.append(
            (generator.random(rows)[:, None] > sums[group]).sum(axis=1).clip(0, size - 1)
        )
    names = tuple(f"c{i}" for i in range(len(sizes)))
    return Public(Domain(names, sizes), np.stack(columns, axis=1))


def workload_of(domain: Domain, rows: int, k: int = 3, count: int = 64) -> QueryClass:
    every = itertools.combinations(range(len(domain)), k)
    fitting = [m for m in every if domain.cells(m) <= rows]
    if len(fitting) > count:
        chosen = np.random.RandomState(0).choice(len(fitting), count, replace=False)
        fitting = [fitting[i] for i in chosen]
    return QueryClass.of(domain, fitting)


def run(
    table: Public, workload: QueryClass, rho: float, seed: int, rounds: int, **settings: object
) -> Iterator[dict[str, float]]:
    """One play; the error of the average over several tails."""
    start = settings.pop("start", None)
    generator = np.random.default_rng(seed)
    ledger = Ledger(100.0, 1e-9)
    curator = Curator(table, ledger, Seeded(np.random.default_rng(seed + 10_000)))
    left, first = rho, None
    if start is not None:
        left = rho * (1 - float(start))  # type: ignore[arg-type]
        first = one_way_start(curator, rho - left)
    rate = Allowance(left).selection(rounds)
    parameters = fem.FEM(rounds, rate, start=first, **settings)  # type: ignore[arg-type]
    begin = time.process_time()
    played = list(fem.play(Game(curator, workload, Portfolio()), parameters, generator))
    seconds = time.process_time() - begin
    truth = workload.answers_on(table.records)
    for tail in (1.0, 0.75, 0.5, 0.25):
        error = max_error(workload, truth, workload.answers_on(mixture(played, tail)))
        yield {"tail": tail, "error": error, "seconds": seconds}


def run_dual(
    table: Public, workload: QueryClass, rho: float, seed: int, **settings: object
) -> Iterator[dict[str, float]]:
    """One play of DualQuery or DQRS with a wanted eta."""
    rows = len(table.records)
    samples, eta = int(settings["samples"]), float(settings["eta"])  # type: ignore[call-overload]
    rounds = max(4, round((6 * rho * rows**2 / (samples * eta**2)) ** (1 / 3)))
    curator = Curator(table, Ledger(100.0, 1e-9), Seeded(np.random.default_rng(seed + 10_000)))
    oracle = Portfolio(limits=Limits(deterministic_time=1.0))
    game, generator = Game(curator, workload, oracle), np.random.default_rng(seed)
    begin = time.process_time()
    if settings["game"] == "dualquery":
        rate = dual_query.calibrated_rate(Allowance(rho), rounds, samples)
        played = list(dual_query.play(game, dual_query.DualQuery(rounds, samples, rate), generator))
    else:
        shape = dqrs.DQRS(rounds, samples, 1.0, rows, slack=float(settings["slack"]))  # type: ignore[arg-type]
        rate = dqrs.calibrated_rate(Allowance(rho), shape)
        played = list(dqrs.play(game, replace(shape, rate=rate), generator))
    seconds = time.process_time() - begin
    truth = workload.answers_on(table.records)
    for tail in (1.0, 0.75, 0.5):
        error = max_error(workload, truth, workload.answers_on(mixture(played, tail)))
        yield {"played": rounds, "tail": tail, "error": error, "seconds": seconds}


def run_mwem(
    table: Public, workload: QueryClass, rho: float, seed: int, **settings: object
) -> Iterator[dict[str, float]]:
    """One play of MWEM from noisy 1-way marginals (a tenth of the budget)."""
    from saddlesynth.synthesis.noisy import fractions

    domain, rounds = table.domain, int(settings["rounds"])  # type: ignore[call-overload]
    curator = Curator(table, Ledger(100.0, 1e-9), Seeded(np.random.default_rng(seed + 10_000)))
    singles = [(a,) for a in range(len(domain))]
    measured = curator.measure("1-way", singles, [rho / 10 / len(domain)] * len(domain))
    epsilon, price = mwem.calibrated_prices(Allowance(0.9 * rho), rounds)
    parameters = mwem.MWEM(
        rounds,
        len(table.records),
        epsilon,
        price,
        sweeps=5,
        whole=bool(settings["whole"]),
        projecting=bool(settings["projecting"]),
        start=[fractions(m.counts) for m in measured],
        limit=1_000_000,
    )
    begin = time.process_time()
    *_, (_, histogram) = mwem.play(Game(curator, workload, Portfolio()), parameters)
    seconds = time.process_time() - begin
    error = max_error(workload, workload.answers_on(table.records), histogram.answers(workload))
    yield {"error": error, "seconds": seconds}


def one_way_start(curator: Curator, rho: float) -> NDArray[np.float64]:
    from saddlesynth.synthesis.noisy import fractions

    domain = curator.domain
    singles = [(a,) for a in range(len(domain))]
    measured = curator.measure("1-way", singles, [rho / len(domain)] * len(domain))
    parts = [fractions(m.counts) for m in measured]
    return np.concatenate([np.maximum(p * len(p), 0.02) for p in parts])


GRIDS: dict[str, list[dict[str, object]]] = {
    "rounds": [{"share": f} for f in (1 / 24, 1 / 12, 1 / 6, 1 / 3, 2 / 3)],
    "costs": [{"multiple": m} for m in (0.04, 0.08, 0.16, 0.32, 0.64)],
    "growing": [{"growing": g, "multiple": m} for g in (False, True) for m in (0.16, 0.24)],
    "start": [{"start": s} for s in (None, 0.05, 0.1, 0.2)],
    "after-start": [
        {"start": 0.1, "share": f, "multiple": m}
        for f in (1 / 12, 1 / 6, 1 / 3)
        for m in (0.08, 0.16, 0.32)
    ],
    "mwem": [
        {"rounds": t, "whole": whole, "projecting": projecting}
        for t in (5, 10, 20, 30)
        for whole, projecting in ((True, True), (False, True), (False, False))
    ],
    "larger-costs": [
        {"start": 0.1, "share": f, "multiple": m}
        for f in (1 / 24, 1 / 12)
        for m in (0.32, 0.64, 1.28)
    ],
    "crossover": [
        {"start": start, "share": f, "multiple": m}
        for start, f, m in (
            (None, 1 / 6, 0.16),
            (0.1, 1 / 12, 0.32),
            (0.1, 1 / 6, 0.16),
            (0.2, 1 / 6, 0.16),
        )
    ],
    "samples": [{"samples": s} for s in (10, 25, 50, 100)],
    "recent": [
        {"start": 0.1, "share": f, "multiple": m, "samples": s, "recent": w}
        for f, m, s, w in (
            (1 / 12, 0.64, 50, 1),
            (1 / 12, 0.64, 50, 4),
            (1 / 12, 0.64, 50, 8),
            (1 / 12, 0.64, 50, 16),
            (1 / 12, 0.32, 50, 16),
            (1 / 12, 1.28, 50, 4),
            (1 / 12, 1.28, 50, 8),
            (1 / 24, 0.64, 50, 8),
            (1 / 18, 0.9, 50, 4),
            (1 / 8, 0.9, 50, 8),
            (1 / 12, 0.64, 100, 4),
            (1 / 12, 0.64, 200, 1),
        )
    ],
    "quiet-start": [
        {"start": start, "share": f, "multiple": m, "recent": w}
        for start, f, m, w in (
            (None, 1 / 6, 0.16, 1),
            (None, 1 / 6, 0.16, 4),
            (None, 1 / 6, 0.32, 4),
            (0.1, 1 / 12, 0.64, 1),
            (0.1, 1 / 12, 0.64, 4),
            (0.1, 1 / 24, 0.64, 4),
            (0.2, 1 / 12, 0.64, 4),
        )
    ],
    "dual": [
        {"game": game, "samples": s, "eta": eta, "slack": slack}
        for game, slacks in (("dualquery", [0.0]), ("dqrs", [0.5, 1.0]))
        for s in (5, 10, 25, 50)
        for eta in (1.0, 2.0, 4.0, 8.0)
        for slack in slacks
    ],
}


DIRECT = {"dual": run_dual, "mwem": run_mwem}


def read_table(path: Path) -> Public:
    """A table of codes; its sizes are in the JSON file of the same name."""
    sizes = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    records = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    return Public(Domain(tuple(sizes), tuple(sizes.values())), records)


def study(
    question: str, tables: dict[str, Public], budgets: list[float], seeds: int
) -> Iterator[dict[str, object]]:
    for (name, table), nu, setting in itertools.product(tables.items(), budgets, GRIDS[question]):
        rows = len(table.records)
        workload = workload_of(table.domain, rows)
        options = dict(setting)
        share = float(options.pop("share", 1 / 6))  # type: ignore[arg-type]
        rounds = max(5, round(nu * share))
        rho = (nu / rows) ** 2
        for seed in range(seeds):
            if question in DIRECT:
                lines = DIRECT[question](table, workload, rho, seed, **options)
            else:
                lines = run(table, workload, rho, seed, rounds, **dict(options))
            for line in lines:
                yield {"table": name, "nu": nu, "rounds": rounds, **setting, "seed": seed, **line}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question", choices=GRIDS)
    parser.add_argument("--tables", nargs="+", type=Path, default=[])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    parser.add_argument("--budgets", nargs="+", type=float, default=[300, 1000, 3000])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--out")
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    if given.tiny:
        given.shapes, given.budgets, given.seeds, given.rows = ["binary"], [60.0], 1, 2_000
    target = open(given.out, "w", newline="") if given.out else sys.stdout  # noqa: SIM115
    writer = None
    tables = {path.stem: read_table(path) for path in given.tables} or {
        shape: simulate(SHAPES[shape], given.rows, seed=0) for shape in given.shapes
    }
    for line in study(given.question, tables, given.budgets, given.seeds):
        if writer is None:
            writer = csv.DictWriter(target, list(line))
            writer.writeheader()
        writer.writerow({k: round(v, 5) if isinstance(v, float) else v for k, v in line.items()})
        target.flush()


if __name__ == "__main__":
    main()
