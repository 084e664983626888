"""Does HDMM reproduce the published error of its answers on Adult, which falls as 1/epsilon?

    python benchmarks/hdmm.py TABLE.csv DOMAIN.json --epsilon 0.1 0.2 0.5 1 --runs 10

TABLE.csv holds integer codes, DOMAIN.json maps each column to its number of values.  The workload
is the FEM authors': 64 random 3-way marginals of at most n cells.  Reported: the largest error of
any of its cells, as a fraction of the rows, before clipping, for the relation of those authors
(replace one record, n public).  The ways:

* ``laplace``: every marginal by itself, equal shares, pure epsilon-DP
* ``hdmm`` with ``delta=0``: pure epsilon-DP, the workload measured evenly; then strategies that
  aim at the largest and at the total error
* ``hdmm`` and ``residual`` with delta = 1/n^2: Gaussian noise

Noise is seeded by the number of the run.  Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger, Relation, split
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.queries import marginal_counts
from saddlesynth.synthesis.methods import make
from saddlesynth.synthesis.workload import parse_workload

WORKLOAD = "random:64:3:0"


@dataclass(frozen=True, eq=False)
class Records:
    """A public table of codes, with its workload."""

    frame: pd.DataFrame
    domain: Domain
    workload: str

    @property
    def marginals(self) -> list[Attributes]:
        return parse_workload(self.workload, self.domain, len(self.frame)).marginals

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        return marginal_counts(self.domain, marginals, self.frame.to_numpy())

    def largest_error(self, answers: Sequence[Measurement]) -> float:
        """Of the workload's cells, as a fraction of the rows."""
        told = {m.attributes: m.counts for m in answers}
        exact = self.count(self.marginals)
        worst = (np.abs(told[m] - e).max() for m, e in zip(self.marginals, exact, strict=True))
        return float(max(worst)) / len(self.frame)


def laplace(records: Records, epsilon: float, seed: int) -> list[Measurement]:
    """Every marginal by itself."""
    curator = Curator(records, Ledger(epsilon, 0.0, Relation.REPLACE_ONE), noise_source(seed))
    shares = split(epsilon, [1.0] * len(records.marginals))
    return curator.measure_laplace("marginal", records.marginals, shares)


def by_method(
    name: str, records: Records, epsilon: float, seed: int, **settings: Any
) -> list[Measurement]:
    """A method's answers."""
    listed = zip(records.domain.names, records.domain.sizes, strict=True)
    columns = {n: {"type": "categorical", "values": list(range(size))} for n, size in listed}
    method = make(
        name,
        epsilon=epsilon,
        schema={"columns": columns},
        workload=records.workload,
        relation="replace_one",
        via="independent",
        random_state=seed,
        **settings,
    )
    return list(method.fit(records.frame).release_.fit.measured)


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    """One line for each way of answering and each epsilon; also returned."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.2, 0.5, 1.0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--workload", default=WORKLOAD)
    options = parser.parse_args(arguments)
    sizes = json.loads(options.domain.read_text())
    frame = pd.read_csv(options.table)[list(sizes)]
    domain = Domain(tuple(sizes), tuple(sizes.values()))
    records = Records(frame, domain, options.workload)
    delta = 1 / len(frame) ** 2
    ways: list[tuple[str, dict[str, Any]]] = [
        ("laplace", {}),
        ("hdmm", {"delta": 0.0, "strategy": "even"}),
        ("hdmm", {"delta": 0.0, "objective": "max"}),
        ("hdmm", {"delta": 0.0, "objective": "total"}),
        ("hdmm", {"delta": delta, "objective": "max"}),
        ("residual", {"delta": delta, "objective": "max"}),
    ]
    found = []
    for name, settings in ways:
        for epsilon in options.epsilon:
            start = time.process_time()
            errors = []
            for seed in range(options.runs):
                answers = (
                    laplace(records, epsilon, seed)
                    if name == "laplace"
                    else by_method(name, records, epsilon, seed, **settings)
                )
                errors.append(records.largest_error(answers))
            seconds = (time.process_time() - start) / options.runs
            said = ", ".join(f"{k} {v:.2g}" if k == "delta" else v for k, v in settings.items())
            print(
                f"{name:9} {said:28} epsilon {epsilon:<5g} largest error {np.mean(errors):.4f} "
                f"[{min(errors):.4f}, {max(errors):.4f}]  {seconds:.1f} s CPU a run"
            )
            found.append({"method": name, **settings, "epsilon": epsilon, "errors": errors})
    return found


if __name__ == "__main__":
    main()
