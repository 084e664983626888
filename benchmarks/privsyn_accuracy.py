"""How near to the real table does PrivSyn come, in what time, and does noise change its choice?

    python benchmarks/privsyn_accuracy.py TABLE.csv DOMAIN.json --epsilon 0.2 1 2 --runs 3

TABLE.csv holds integer codes, DOMAIN.json maps each column to its number of values.  Reported for
each method and epsilon, as mean [smallest, largest] over the runs:

* total variation distance of all 2-way marginals, mean and largest, and of all 1-way marginals;
* overlap: of the pairs of attributes that PrivSyn chose, and those that it would have chosen by
  exact independence differences (same merged values, same budget), how many are the same, as a
  fraction of the larger set;
* seconds of one fit (counting, noise, optimisation) and the largest memory of the process so far.

delta is 1/n^2 unless given; then it depends on the private number of rows, so such a run is for
comparison with published figures only.  Noise is seeded by the number of the run; ``--secure``
takes real noise, which is slower.

Answer (2 cores, NumPy 2, Python 3.11; UCI Adult, 48,842 rows, coded in two ways; mean of 3 runs):
see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Noise, noise_source
from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.evaluate.metrics import k_way_tvd
from saddlesynth.synthesis.methods import make
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema import Schema


class ExactScores(Curator):
    """Says the exact independence differences; for public tables only."""

    def independence_differences(
        self, step: str, pairs: Sequence[Attributes], rho: float
    ) -> NDArray[np.float64]:
        differences = []
        for table in self._exact_tables(pairs):
            independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            differences.append(np.abs(table - independent).sum())
        return np.array(differences)


@dataclass(frozen=True)
class Table:
    """A public table of codes, with a way to fit a method to it."""

    records: LocalRecords
    codes: NDArray[np.integer[Any]]
    delta: float

    @classmethod
    def load(cls, path: Path, sizes: dict[str, int], delta: float | None) -> Table:
        columns = {
            name: {"type": "categorical", "values": list(range(size))}
            for name, size in sizes.items()
        }
        table = open_table(path)
        codec = Codec(Schema.parse({"columns": columns}), table.schema)
        blocks = [np.array(codec.encode(batch)).T for batch in table.batches()]
        codes = np.concatenate(blocks)
        return cls(LocalRecords(table, codec), codes, delta or 1 / len(codes) ** 2)

    def fit(
        self,
        method: str,
        epsilon: float,
        noise: Noise,
        seed: int,
        curator: Callable[..., Curator] = Curator,
        **settings: Any,
    ) -> Fit:
        session = Session(
            curator(self.records, Ledger(epsilon, self.delta), noise),
            self.records.domain,
            np.random.default_rng(seed),
        )
        return make(method, epsilon=epsilon, delta=self.delta, **settings)._fit(session)

    def distances(self, fit: Fit, seed: int) -> dict[str, float]:
        """TVD of as many synthetic rows as there are real ones."""
        blocks = fit.model.sample(len(self.codes), np.random.default_rng(seed))
        synthetic = np.concatenate(list(blocks))
        two, one = (k_way_tvd(self.codes, synthetic, fit.model.domain, k) for k in (2, 1))
        return {"2-way": two.mean(), "2-way max": two.max(), "1-way": one.mean()}


def chosen_pairs(fit: Fit) -> set[Attributes]:
    """The pairs inside the marginals that were measured."""
    return {pair for m in fit.measured for pair in combinations(sorted(m.attributes), 2)}


def overlap(table: Table, private: Fit, epsilon: float, noise: Noise, seed: int) -> float:
    """Pairs chosen by noisy and by exact scores that are the same, of the larger set."""
    exact = table.fit("privsyn", epsilon, noise, seed, ExactScores, sweeps=0)
    first, second = chosen_pairs(private), chosen_pairs(exact)
    return len(first & second) / max(len(first), len(second), 1)


def run(table: Table, method: str, epsilon: float, seed: int, secure: bool) -> dict[str, float]:
    """One fit and its figures."""

    def noise() -> Noise:
        return noise_source(None if secure else seed)

    start = time.perf_counter()
    fit = table.fit(method, epsilon, noise(), seed)
    figures = {"seconds": time.perf_counter() - start, **table.distances(fit, seed)}
    if method == "privsyn":
        figures["overlap"] = overlap(table, fit, epsilon, noise(), seed)
    return figures


def report(figures: list[dict[str, float]]) -> str:
    """The runs of one line of the table, as mean [smallest, largest]."""
    parts = []
    for name in ("2-way", "2-way max", "1-way", "overlap", "seconds"):
        values = [f[name] for f in figures if name in f]
        form = ".1f" if name == "seconds" else ".2f" if name == "overlap" else ".4f"
        parts.append(
            f"{np.mean(values):{form}} [{min(values):{form}}, {max(values):{form}}]"
            if values
            else "-"
        )
    return " | ".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.2, 1.0, 2.0])
    parser.add_argument("--delta", type=float)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=["privsyn", "independent"])
    parser.add_argument("--secure", action="store_true")
    options = parser.parse_args(arguments)
    sizes = json.loads(options.domain.read_text(encoding="utf-8"))
    table = Table.load(options.table, sizes, options.delta)
    print("| method | epsilon | 2-way TVD | largest 2-way | 1-way TVD | overlap | seconds | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for method in options.methods:
        for epsilon in options.epsilon:
            figures = [
                run(table, method, epsilon, seed, options.secure) for seed in range(options.runs)
            ]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"| {method} | {epsilon:g} | {report(figures)} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
