"""How accurate and how fast are the games on a real table?

For each game and epsilon: the largest error over 64 random k-way marginals (the FEM authors' rule
and metric) as mean, least and most of some runs, and CPU seconds of a whole fit.  ``fem-published``
has the authors' own settings (rate 0.008 sqrt(epsilon), cost multiple 0.16, 50 samples, rounds by
their accounting), so that the speed and what our accounting and defaults add can be told apart.
``hdmm`` is the baseline of that paper, with Gaussian noise; ``hdmm-pure`` has Laplace noise and
delta 0, as there.

    python benchmarks/games.py DATA.csv DOMAIN.json --runs 3 --epsilons 0.1 0.2 0.5 1 --out g.csv
    python benchmarks/games.py DATA.csv DOMAIN.json --epsilons 0.1 --out w.csv \\
        --workload random:32:5:0 random:64:5:0 random:128:5:0
    python benchmarks/games_figures.py g.csv w.csv docs/figures/games.svg
    python benchmarks/games.py --tiny            # a simulated table, seconds

DOMAIN.json maps each column to its number of integer codes.  Noise is seeded; n is public, as in
the published runs; delta is 1 / n^2, as there.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from saddlesynth.games.payoff import max_error
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.methods import make
from saddlesynth.synthesis.workload import parse_workload

GAMES = ("fem-published", "fem", "sepfem", "dualquery", "dqrs", "mwem", "pmw", "hdmm", "hdmm-pure")


def published(epsilon: float, delta: float) -> dict[str, Any]:
    """The authors' settings: epsilon0^2 / 2 a round, and the simple conversion from rho."""
    rate = 0.008 * math.sqrt(epsilon)
    logarithm = math.log(1 / delta)
    rho = (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm)) ** 2
    rounds = math.floor(2 * rho / rate**2)
    return {
        "rounds": rounds, "selection_epsilon": rate, "multiple": 0.16, "start": "uniform",
        "recent": 1, "tail": 1.0,
    }  # fmt: skip


def run(
    frame: pd.DataFrame, domain: Domain, game: str, epsilon: float, workload: str, seed: int
) -> dict[str, Any]:
    """One fit; its largest error on the workload and its CPU seconds."""
    rows = len(frame)
    delta = rows**-2.0
    name, _, variant = game.partition("-")
    settings: dict[str, Any] = {}
    if variant == "published":
        settings = published(epsilon, delta)
    if name == "hdmm":
        settings = {"via": "independent", "objective": "max"}
    made = make(
        name,
        epsilon=epsilon, delta=0.0 if variant == "pure" else delta, workload=workload,
        relation="replace_one", random_state=seed, **settings,
    )  # fmt: skip
    schema = {
        "columns": {
            name: {"type": "categorical", "values": list(range(size))}
            for name, size in zip(domain.names, domain.sizes, strict=True)
        }
    }
    begin = time.process_time()
    made.fit(frame, schema)
    seconds = time.process_time() - begin
    queries = parse_workload(workload, domain, rows)
    truth = queries.answers_on(frame.to_numpy())
    answers = queries.answers([answer(made, m, rows) for m in queries.marginals])
    distances = [float(np.abs(a - t).sum()) / 2 for a, t in zip(answers, truth, strict=True)]
    return {
        "game": game, "epsilon": epsilon, "workload": workload, "seed": seed,
        "marginals": len(queries.blocks), "rounds": len(getattr(made, "rounds_", ())),
        "max_error": max_error(queries, truth, answers),
        "mean_distance": float(np.mean(distances)), "spent": made.ledger_.spent_epsilon,
        "cpu_seconds": seconds,
    }  # fmt: skip


def answer(made: Any, marginal: Attributes, rows: int) -> NDArray[np.float64]:
    """Fractions that a fitted method tells: of its model, or HDMM's answer itself, clipped."""
    if made.name != "hdmm":
        return np.asarray(made.release_.fit.model.marginal(marginal))
    told = {m.attributes: m.counts for m in made.release_.fit.measured}
    return np.clip(told[marginal] / rows, 0.0, 1.0)


def load(data: str, domain: str) -> tuple[pd.DataFrame, Domain]:
    with open(domain, encoding="utf-8") as file:
        sizes = json.load(file)
    return pd.read_csv(data)[list(sizes)], Domain(tuple(sizes), tuple(sizes.values()))


def tiny() -> tuple[pd.DataFrame, Domain]:
    generator = np.random.default_rng(0)
    first = generator.integers(3, size=800)
    columns = {f"c{i}": (first + (generator.random(800) < 0.2) * i) % 3 for i in range(5)}
    return pd.DataFrame(columns), Domain(tuple(columns), (3,) * 5)


def study(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    frame, domain = tiny() if given.tiny else load(given.data, given.domain)
    cases = itertools.product(given.games, given.workload, given.epsilons, range(given.runs))
    for game, workload, epsilon, seed in cases:
        yield run(frame, domain, game, epsilon, workload, seed)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?")
    parser.add_argument("domain", nargs="?")
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.2, 0.5, 1.0])
    parser.add_argument("--workload", nargs="+", default=["random:64:3:0"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out")
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    if given.tiny:
        given.epsilons, given.runs, given.workload = [1.0], 1, ["random:3:2:0"]
    elif not (given.data and given.domain):
        parser.error("give DATA and DOMAIN, or --tiny")
    lines = []
    for line in study(given):
        lines.append(line)
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}, flush=True)
    if given.out:
        with open(given.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
    table = pd.DataFrame(lines).groupby(["game", "workload", "epsilon"], sort=False)
    summary = table.agg(
        mean=("max_error", "mean"), least=("max_error", "min"), most=("max_error", "max"),
        cpu=("cpu_seconds", "mean"), rounds=("rounds", "mean"),
    )  # fmt: skip
    print(summary.round(4).to_string(), file=sys.stderr)


if __name__ == "__main__":
    main()
