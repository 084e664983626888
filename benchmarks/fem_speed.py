"""How long does a whole run of FEM take with our oracle, and with the authors' formulation?

    python benchmarks/fem_speed.py TABLE.csv DOMAIN.json --epsilon 0.1
    python benchmarks/fem_speed.py TABLE.csv DOMAIN.json --epsilon 1 --rounds 120

The authors' settings for that epsilon (rate 0.008 sqrt(epsilon), cost multiple 0.16, 50 samples,
rounds by their accounting) and their 64 random 3-way marginals; the same noise and perturbations
for every oracle, one thread, CPU seconds of a whole fit, children's included.  The published
formulation is the aggregated integer program over the whole domain, equal queries merged, solved by
HiGHS and by CBC (the authors used Gurobi).

``--rounds N`` plays fewer rounds than the budget has.  Later rounds have more queries and are
dearer, for the published formulation more than for ours, so the ratio is then a lower estimate.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from saddlesynth.oracles.formulation import Form
from saddlesynth.oracles.oracle import Oracle
from saddlesynth.oracles.portfolio import Portfolio
from saddlesynth.oracles.reduce import Reduction
from saddlesynth.oracles.registry import availability, make
from saddlesynth.synthesis.query_release.fem import FEM

ROUNDS = {0.1: 36, 0.2: 72, 0.5: 178, 1.0: 353}  # that the authors' accounting allows on Adult
SOLVERS = ("highs", "pulp-cbc")


class With(FEM):
    """FEM with an oracle of our choice."""

    asked: Oracle

    def _oracle(self) -> Oracle:
        return self.asked


def oracles() -> dict[str, Oracle]:
    """Ours, and the published formulation by every solver that is there."""
    usable = {row.name for row in availability() if row.usable}
    theirs = {
        f"published, {name}": make(name, form=Form.AGGREGATED, reduction=Reduction.MERGE)
        for name in SOLVERS
        if name in usable
    }
    return {"ours": Portfolio(), **theirs}


def seconds(
    frame: pd.DataFrame, sizes: dict[str, int], oracle: Oracle, epsilon: float, rounds: int
) -> float:
    """CPU seconds of one fit."""
    columns = {name: {"type": "categorical", "values": [*range(k)]} for name, k in sizes.items()}
    made = With(
        epsilon, len(frame) ** -2.0, rounds=rounds, selection_epsilon=0.008 * epsilon**0.5,
        multiple=0.16, recent=1, tail=1.0, start="uniform", workload="random:64:3:0",
        relation="replace_one", random_state=0,
    )  # fmt: skip
    made.asked = oracle
    before = time.process_time() + sum(os.times()[2:4])
    made.fit(frame, {"columns": columns})
    return time.process_time() + sum(os.times()[2:4]) - before


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """A line an oracle; also returned, as CPU seconds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("domain", nargs="?", type=Path)
    parser.add_argument("--epsilon", type=float, choices=list(ROUNDS), default=0.1)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    whole = ROUNDS[given.epsilon]
    rounds = given.rounds or whole
    if given.tiny:
        generator, sizes, rounds = np.random.default_rng(0), dict.fromkeys("abcd", 3), 2
        frame = pd.DataFrame({name: generator.integers(k, size=9_000) for name, k in sizes.items()})
    elif given.domain is None:
        parser.error("give TABLE.csv and DOMAIN.json, or --tiny")
    else:
        sizes = json.loads(given.domain.read_text())
        frame = pd.read_csv(given.table)[list(sizes)]
    found: dict[str, float] = {}
    print("| epsilon | rounds | oracle | CPU s | times ours |")
    print("|---|---|---|---|---|")
    for name, oracle in oracles().items():
        found[name] = seconds(frame, sizes, oracle, given.epsilon, rounds)
        told = f"{found[name]:.1f} | {found[name] / found['ours']:.0f}"
        print(f"| {given.epsilon:g} | {rounds} of {whole} | {name} | {told} |", flush=True)
    return found


if __name__ == "__main__":
    main()
