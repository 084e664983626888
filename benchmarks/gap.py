"""How fast does column generation close the gap that its certificate proves?

    python benchmarks/gap.py TABLE.csv DOMAIN.json --columns 4 5 6 7 --out gap-over-time.svg

All 1-way and 2-way marginals of the first so many columns (by number of values, smallest first) are
measured with the noise of epsilon 1, and fitted by the exact master of ``projection``.  After every
round an oracle bounds how far above its minimum the misfit is; the bound on the minimum is the best
so far.  The clock stops while the oracle proves.  The marginals are of a public table.

Answer: see ``docs/projection.md``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from accuracy import Table

from saddlesynth.games.privacy.budget import Ledger, split
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.projection.exact import certificate, column_generation
from saddlesynth.synthesis.projection.fit import target_of
from saddlesynth.synthesis.projection.pool import Pool
from saddlesynth.synthesis.projection.pricing import Pricer
from saddlesynth.synthesis.solver import solver_by_name


@dataclass(frozen=True)
class Point:
    """One round: CPU seconds so far, misfit, the best proven lower bound on it, records held."""

    seconds: float
    objective: float
    bound: float
    records: int
    proving: float


def play(table: Table, columns: int, solver: str, limit: float, rounds: int) -> Iterator[Point]:
    """The rounds on so many columns."""
    whole = table.records.domain
    chosen = sorted(np.argsort(whole.sizes, kind="stable")[:columns].tolist())
    curator = Curator(table.records, Ledger(1.0, table.delta), noise_source(0))
    wanted = [(a,) for a in chosen] + list(itertools.combinations(chosen, 2))
    rhos = split(curator.ledger.remaining_rho, [1.0] * len(wanted))
    measured = curator.measure("marginal", wanted, rhos)
    names = [(whole.names[a], whole.sizes[a]) for a in chosen]
    domain = Domain(tuple(n for n, _ in names), tuple(s for _, s in names))
    there = {a: i for i, a in enumerate(chosen)}
    moved = [
        type(m)(tuple(there[a] for a in m.attributes), m.counts, m.sigma, m.rho) for m in measured
    ]
    target = target_of(domain, moved, rows_estimate(moved))
    pricer = Pricer(target.cells, (), solver_by_name(solver, limit))
    clock, bound, proving = time.process_time(), 0.0, 0.0
    fits = column_generation(target, Pricer(target.cells), np.random.default_rng(0), rounds=rounds)
    for fit in fits:
        seconds = time.process_time() - clock - proving
        start = time.process_time()
        marginals = Pool(target.cells, fit.records).marginals(fit.weights)
        _, gap, _ = certificate(target, marginals, pricer)
        proving += time.process_time() - start
        if gap is not None:
            bound = max(bound, fit.objective - gap)
        yield Point(seconds, fit.objective, bound, len(fit.records), proving)


def draw(series: dict[int, list[Point]], domains: dict[int, int], out: Path) -> None:
    """Gap against seconds, a line for each number of columns."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.fonttype"] = "none"  # text as text: a quarter of the size
    figure, panel = plt.subplots(figsize=(6.4, 4))
    for columns, points in series.items():
        best = min(p.objective for p in points)
        gaps = [max(p.objective - points[-1].bound, 1e-9 * (1 + best)) / (1 + best) for p in points]
        label = f"{columns} columns, {domains[columns]:,} records"
        seconds = [max(p.seconds, 1e-3) for p in points]
        panel.plot(seconds, gaps, marker="o", markersize=3, label=label)
    panel.set(
        xscale="log",
        yscale="log",
        xlabel="CPU seconds of column generation, proofs not counted",
        ylabel="misfit above its proven minimum, relative",
        title="Column generation closes the gap",
    )
    panel.grid(alpha=0.3)
    panel.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(out)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--columns", type=int, nargs="+", default=[4, 5, 6, 7])
    parser.add_argument("--solver", default="portfolio")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds a proof")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("gap-over-time.svg"))
    options = parser.parse_args(arguments)
    table = Table.load(options.table, json.loads(options.domain.read_text(encoding="utf-8")), None)
    series: dict[int, list[Point]] = {}
    domains: dict[int, int] = {}
    print("| columns | records | rounds | held | CPU s | misfit | proven at least | CPU s proofs |")
    print("|---" * 8 + "|")
    for columns in options.columns:
        sizes = sorted(table.records.domain.sizes)[:columns]
        domains[columns] = int(np.prod(sizes))
        points = list(play(table, columns, options.solver, options.time_limit, options.rounds))
        series[columns], last = points, points[-1]
        print(
            f"| {columns} | {domains[columns]:,} | {len(points)} | {last.records} | "
            f"{last.seconds:.2f} | {last.objective:.8g} | {last.bound:.8g} | {last.proving:.1f} |",
            flush=True,
        )
    draw(series, domains, options.out)


if __name__ == "__main__":
    main()
