"""How near do other packages come to the same table, on this machine, with the same metrics?

    python benchmarks/peers.py TABLE.csv DOMAIN.json --peers dpmm-mst --python VENV/bin/python \\
        --epsilon 0.2 1 --runs 3 --label "income>50K" --json results.jsonl

Each peer runs in a process of the interpreter given (an environment of its own: they ask for old
companions): it reads the CSV of integer codes with the domain declared, so that nothing is spent
on finding domains or bins, and writes as many synthetic rows.  delta is 1/n^2.  Reported are the
figures of ``accuracy.py``, the CPU seconds (user and system) and the largest memory of the whole
process.  ``figures.py`` draws the JSON lines of both.

Peers: ``dpmm-mst``, ``dpmm-privbayes`` (PyPI: dpmm), ``datasynthesizer`` (PyPI: DataSynthesizer,
correlated mode of degree 1, pure epsilon).  Their own seeds do not reach noise drawn by OpenDP.

Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from accuracy import COLUMNS, Table, distances, report, write_line

READ = """
import json, sys, pandas as pd
table, domain, epsilon, delta, seed, out = sys.argv[1:]
sizes, epsilon, delta, seed = json.load(open(domain)), float(epsilon), float(delta), int(seed)
frame = pd.read_csv(table)[list(sizes)]
"""
DPMM = """
from dpmm.pipelines import {pipeline} as Pipeline
model = Pipeline(epsilon=epsilon, delta=delta, disable_processing=True, n_jobs=1)
model.fit(frame, dict(sizes), random_state=seed)
model.generate(n_records=len(frame), random_state=seed)[list(sizes)].to_csv(out, index=False)
"""
DATA_SYNTHESIZER = """
import os
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator
folder = os.path.dirname(out)
frame.to_csv(folder + "/in.csv", index=False)
every = pd.DataFrame({c: pd.Series(range(s)) for c, s in sizes.items()}).astype("Int64")
every.to_csv(folder + "/domain.csv", index=False)
one, kinds = dict.fromkeys(sizes, True), dict.fromkeys(sizes, "Integer")
describer = DataDescriber(category_threshold=10_000)
describer.describe_dataset_in_correlated_attribute_mode(
    folder + "/in.csv", k=1, epsilon=epsilon, attribute_to_datatype=kinds,
    attribute_to_is_categorical=one, attribute_to_is_candidate_key=dict.fromkeys(sizes, False),
    seed=seed,
)
describer.save_dataset_description_to_file(folder + "/description.json")
generator = DataGenerator()
generator.generate_dataset_in_correlated_attribute_mode(
    len(frame), folder + "/description.json", seed=seed
)
generator.synthetic_dataset[list(sizes)].to_csv(out, index=False)
"""
PEERS = {
    "dpmm-mst": DPMM.format(pipeline="MSTPipeline"),
    "dpmm-privbayes": DPMM.format(pipeline="PrivBayesPipeline"),
    "datasynthesizer": DATA_SYNTHESIZER,
}


def synthetic(
    peer: str, python: Path, inputs: Sequence[str], columns: Sequence[str]
) -> tuple[np.ndarray, dict[str, float]]:
    """The rows that a peer makes, as codes, and what that took."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.csv"
        command = [str(python), "-c", READ + PEERS[peer], *inputs, str(out)]
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise RuntimeError(f"{peer} failed")
        with out.open(encoding="utf-8") as file:
            order = file.readline().strip().split(",")
            codes = np.loadtxt(file, delimiter=",", dtype=float).astype(int)
    return codes[:, [order.index(c) for c in columns]], {
        "CPU s": usage.ru_utime + usage.ru_stime,
        "wall s": time.perf_counter() - start,
        "MB": usage.ru_maxrss / 1024,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("domain", type=Path)
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--python", type=Path, required=True, help="interpreter that has the peers")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.2, 1.0])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--label", help="column that the classifiers predict")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    sizes = json.loads(options.domain.read_text(encoding="utf-8"))
    table = Table.load(options.table, sizes, None)
    label = list(sizes).index(options.label) if options.label else None
    where = [str(options.table.resolve()), str(options.domain.resolve())]
    print("| peer | epsilon | " + " | ".join(COLUMNS) + " | MB |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    for peer in options.peers:
        for epsilon in options.epsilon:
            figures = []
            for seed in range(options.runs):
                inputs = [*where, str(epsilon), str(table.delta), str(seed)]
                codes, costs = synthetic(peer, options.python, inputs, list(sizes))
                found = distances(table.codes, codes, table.records.domain, label)
                figures.append({**found, **costs})
                write_line(options.json, options.table, peer, epsilon, seed, figures[-1])
            peak = max(f["MB"] for f in figures)
            print(f"| {peer} | {epsilon:g} | {report(figures, False)} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
