"""How near does each method come to the real table, and at what cost in time and memory?

    python benchmarks/accuracy.py TABLE.csv DOMAIN.json --methods projection privsyn \\
        --epsilon 0.1 1 --runs 3 --label income

TABLE.csv holds integer codes, DOMAIN.json maps each column to its number of values.  Reported for
each method and epsilon, as the mean over the runs (``--spread`` adds [smallest, largest]):

* total variation distance of all 1-way and 2-way marginals (mean, and largest 2-way), and of 64
  random 3-way ones; largest error of a cell of 64 random 3-way and 5-way marginals; mean error of
  1,000 random ranges on 3 attributes (``saddlesynth.synthesis.evaluate.metrics``);
* with ``--label``: error of a linear SVM and of gradient boosting trained on synthetic rows, on
  a fifth of the real ones;
* with ``--overlap``, for PrivSyn: of the pairs that it chose, and those that it would have chosen
  by exact independence differences (same merged values, same budget), how many are the same, as a
  fraction of the larger set;
* CPU seconds of the fit (counting, noise, optimisation), and the process's largest memory so far.

delta is 1/n^2 unless given (0 for pure methods); then it depends on the private number of rows, so
such a run is for comparison with published figures only.  Noise is seeded by the number of the run;
``--secure`` takes real noise, which is slower.  ``--json FILE`` appends one line a run, which
``figures.py`` draws.

Answer: see ``benchmarks/README.md``.
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
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.evaluate.classify import classifier_errors
from saddlesynth.synthesis.evaluate.metrics import k_way_tvd, range_errors, workload_error
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
        if delta is None:
            delta = 1 / len(codes) ** 2
        return cls(LocalRecords(table, codec), codes, delta)

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

    def rows(self, fit: Fit, seed: int) -> NDArray[np.integer[Any]]:
        """As many synthetic rows as there are real ones."""
        blocks = fit.model.sample(len(self.codes), np.random.default_rng(seed))
        return np.concatenate(list(blocks))


def distances(
    real: NDArray[np.integer[Any]],
    synthetic: NDArray[np.integer[Any]],
    domain: Domain,
    label: int | None,
) -> dict[str, float]:
    """All figures of accuracy; those that the table is too narrow for are left out."""
    one, two = (k_way_tvd(real, synthetic, domain, k) for k in (1, 2))
    figures = {"1-way": one.mean(), "2-way": two.mean(), "2-way max": two.max()}
    for k in (3, 5):
        if len(domain) >= k:
            workload = workload_error(real, synthetic, domain, k)
            figures |= {f"{k}-way": workload.tvd, f"max {k}-way": workload.max_error}
    figures.pop("5-way", None)
    if len(domain) >= 3:
        figures["range"] = float(range_errors(real, synthetic, domain).mean())
    if label is not None:
        errors = classifier_errors(real, synthetic, domain, label).synthetic
        figures |= {"SVM": errors["svm"], "boosting": errors["boosting"]}
    return figures


def chosen_pairs(fit: Fit) -> set[Attributes]:
    """The pairs inside the marginals that were measured."""
    return {pair for m in fit.measured for pair in combinations(sorted(m.attributes), 2)}


def overlap(table: Table, private: Fit, epsilon: float, noise: Noise, seed: int) -> float:
    """Pairs chosen by noisy and by exact scores that are the same, of the larger set."""
    exact = table.fit("privsyn", epsilon, noise, seed, ExactScores, sweeps=0)
    first, second = chosen_pairs(private), chosen_pairs(exact)
    return len(first & second) / max(len(first), len(second), 1)


def run(
    table: Table,
    method: str,
    epsilon: float,
    seed: int,
    *,
    secure: bool,
    label: int | None,
    compare: bool,
    settings: dict[str, Any],
) -> dict[str, float]:
    """One fit and its figures."""

    def noise() -> Noise:
        return noise_source(None if secure else seed)

    start = time.process_time()
    fit = table.fit(method, epsilon, noise(), seed, **settings)
    seconds = time.process_time() - start
    domain = fit.model.domain
    figures = distances(table.codes, table.rows(fit, seed), domain, label)
    if compare and method == "privsyn":
        figures["overlap"] = overlap(table, fit, epsilon, noise(), seed)
    return {**figures, "CPU s": seconds}


COLUMNS = {
    "1-way": ".4f", "2-way": ".4f", "2-way max": ".3f", "3-way": ".4f", "max 3-way": ".4f",
    "max 5-way": ".4f", "range": ".5f", "SVM": ".3f", "boosting": ".3f", "overlap": ".2f",
    "CPU s": ".1f",
}  # fmt: skip


def report(figures: list[dict[str, float]], spread: bool) -> str:
    """The runs of one line of the table."""
    parts = []
    for name, form in COLUMNS.items():
        values = [f[name] for f in figures if name in f]
        if not values:
            parts.append("-")
            continue
        ends = f" [{min(values):{form}}, {max(values):{form}}]" if spread else ""
        parts.append(f"{np.mean(values):{form}}{ends}")
    return " | ".join(parts)


def write_line(
    path: Path | None, table: Path, method: str, epsilon: float, seed: int, figures: dict[str, Any]
) -> None:
    """Append one run to a file of JSON lines."""
    if path is None:
        return
    line = {"table": table.stem, "method": method, "epsilon": epsilon, "seed": seed}
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in figures.items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line | plain) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.2, 0.5, 1.0, 2.0])
    parser.add_argument("--delta", type=float)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=["projection", "privsyn", "independent"])
    parser.add_argument("--label", help="column that the classifiers predict")
    parser.add_argument("--set", dest="settings", default="{}", help="parameters, as JSON")
    parser.add_argument("--overlap", action="store_true")
    parser.add_argument("--spread", action="store_true")
    parser.add_argument("--secure", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    sizes = json.loads(options.domain.read_text(encoding="utf-8"))
    table = Table.load(options.table, sizes, options.delta)
    label = list(sizes).index(options.label) if options.label else None
    print("| method | epsilon | " + " | ".join(COLUMNS) + " | MB |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    for method in options.methods:
        for epsilon in options.epsilon:
            figures = []
            for seed in range(options.runs):
                figures.append(
                    run(
                        table, method, epsilon, seed, secure=options.secure, label=label,
                        compare=options.overlap, settings=json.loads(options.settings),
                    )
                )  # fmt: skip
                write_line(options.json, options.table, method, epsilon, seed, figures[-1])
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            line = report(figures, options.spread)
            print(f"| {method} | {epsilon:g} | {line} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
