"""Do FEM and DualQuery run on a table of 48 attributes and 4,427 values, from the command line?

    python benchmarks/wide.py --epsilon 0.2
    python benchmarks/wide.py --tiny

The size is that of LOANS, the larger table of the FEM paper: 42,535 rows.  The table is drawn from
a mixture of eight groups whose columns follow power laws, with a fixed seed; it is written as CSV
with its schema, and ``saddlesynth synthesize`` is run on it with 64 random 3-way marginals, real
noise, n public.  Told: seconds and megabytes of the whole process (on Linux at least those of this
script, which are few until the errors are worked out), what the plan foresaw of the method's own
memory, and the largest error of a cell of the workload.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import max_error
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.methods import make
from saddlesynth.synthesis.release import load
from saddlesynth.synthesis.workload import parse_workload

ROWS, WORKLOAD, GROUPS = 42_535, "random:64:3:0", 8


def sizes() -> list[int]:
    """48 numbers of values that add up to 4,427: many small ones, a few of hundreds."""
    found = [2] * 10 + [3 + 2 * i for i in range(20)] + [50] * 9 + [300] * 8
    return [*found, 4_427 - sum(found)]


def table(shape: list[int], rows: int) -> NDArray[np.int64]:
    """Records of a mixture: a row's group decides the law of each column."""
    generator = np.random.default_rng(0)
    group = generator.choice(GROUPS, rows, p=generator.dirichlet(np.ones(GROUPS)))
    columns = []
    for size in shape:
        law = (1.0 + np.arange(size)) ** -generator.uniform(0.5, 5.0)
        laws = np.stack([generator.permutation(law) + law for _ in range(GROUPS)])
        sums = np.cumsum(laws / laws.sum(axis=1, keepdims=True), axis=1)
        places, codes = generator.random(rows), np.zeros(rows, dtype=np.int64)
        for g in range(GROUPS):
            codes[group == g] = np.searchsorted(sums[g], places[group == g]).clip(0, size - 1)
        columns.append(codes)
    return np.stack(columns, axis=1)


def run(folder: Path, rows: int, method: str, given: Any) -> dict[str, float]:
    """One run from the command line: what it took."""
    command = [
        *(
            sys.executable,
            "-m",
            "saddlesynth.synthesis.cli",
            "synthesize",
            str(folder / "wide.csv"),
        ),
        *("--schema", str(folder / "wide.json"), "--method", method, "--relation", "replace_one"),
        *("--epsilon", str(given.epsilon), "--delta", str(rows**-2.0)),
        *("--workload", given.workload, "--out", str(folder / method), "--quiet", "--yes"),
    ]
    begin = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{method} ended with status {status}")
    cpu = used.ru_utime + used.ru_stime
    return {"cpu": cpu, "wall": wall, "memory": used.ru_maxrss / 1024}


def look(out: Path, domain: Domain, records: NDArray[np.int64], workload: str) -> dict[str, float]:
    """What the release is worth: its largest error, and the rounds that were played."""
    fit = load(out).fit
    queries = parse_workload(workload, domain, len(records))
    answers = queries.answers([fit.model.marginal(m) for m in queries.marginals])
    error = max_error(queries, queries.answers_on(records), answers)
    return {"error": error, "rounds": fit.facts["rounds"]}


def main(arguments: list[str] | None = None) -> list[dict[str, float]]:
    """A line a method; also returned."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=0.2)
    parser.add_argument("--methods", nargs="+", default=["fem", "dualquery"])
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    shape, rows, given.workload = sizes(), ROWS, WORKLOAD
    if given.tiny:
        shape, rows, given.workload, given.methods = [3] * 6, 500, "random:4:2:0", ["dualquery"]
    names = tuple(f"c{i}" for i in range(len(shape)))
    domain, records = Domain(names, tuple(shape)), table(shape, rows)
    columns = {
        name: {"type": "categorical", "values": list(range(size))}
        for name, size in zip(names, shape, strict=True)
    }
    print("| method | epsilon | rounds | CPU s | wall s | MB | MB planned | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        np.savetxt(folder / "wide.csv", records, "%d", ",", header=",".join(names), comments="")
        (folder / "wide.json").write_text(json.dumps({"columns": columns}), encoding="utf-8")
        took = [run(folder, rows, method, given) for method in given.methods]
        found = [
            line | look(folder / method, domain, records, given.workload)
            for line, method in zip(took, given.methods, strict=True)
        ]
        for line, method in zip(found, given.methods, strict=True):
            planned = make(
                method,
                epsilon=given.epsilon,
                delta=rows**-2.0,
                workload=given.workload,
                relation="replace_one",
            ).plan({"columns": columns}, rows)
            print(
                f"| {method} | {given.epsilon:g} | {line['rounds']} | {line['cpu']:.0f} | "
                f"{line['wall']:.0f} | {line['memory']:.0f} | {planned.memory / 2**20:.0f} | "
                f"{line['error']:.3f} |",
                flush=True,
            )
    return found


if __name__ == "__main__":
    main()
