"""How do the time and memory of a whole ``synthesize`` grow with the number of rows?

    python benchmarks/scale.py --rows 100000 1000000 10000000 --methods privsyn projection
    python benchmarks/scale.py --rows 1000000 --columns 40 --methods projection

For each size the embedded Adult table is drawn with replacement into a Parquet file (14 columns),
or, with ``--columns``, so many columns of 2 to 15 values are made, each a noisy image of an earlier
one.  ``saddlesynth synthesize`` runs on it in a process of its own, with the public schema and real
noise, writing as many synthetic rows to Parquet.  Reported: CPU seconds (user and system) and wall
seconds of that process, its largest memory and what ``plan`` said of it, and how far the synthetic
pairs are from the real ones (mean total variation distance).

Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

BLOCK = 1_000_000


def write_table(rows: int, path: Path) -> None:
    """Rows of the embedded table, drawn with replacement."""
    import pyarrow
    import pyarrow.parquet

    from saddlesynth.synthesis.demo_data import data_path

    source = pyarrow.parquet.read_table(data_path())
    generator = np.random.default_rng(0)
    with pyarrow.parquet.ParquetWriter(path, source.schema) as writer:
        for start in range(0, rows, BLOCK):
            picked = generator.integers(0, source.num_rows, min(BLOCK, rows - start))
            writer.write_table(source.take(pyarrow.array(picked)))


def generate_table(rows: int, columns: int, path: Path, schema: Path) -> None:
    """A random tree of columns: each value of the parent has its own distribution of the child."""
    import pyarrow
    import pyarrow.parquet

    generator = np.random.default_rng(0)
    sizes = [int(s) for s in generator.integers(2, 16, columns)]
    table = np.empty((columns, rows), dtype=np.int8)
    table[0] = generator.integers(0, sizes[0], rows)
    for child in range(1, columns):
        parent = int(generator.integers(0, child))
        chances = generator.dirichlet(np.full(sizes[child], 0.3), sizes[parent]).cumsum(axis=1)
        drawn = (chances[table[parent]] < generator.random(rows)[:, None]).sum(axis=1)
        table[child] = np.minimum(drawn, sizes[child] - 1)
    names = [f"x{i}" for i in range(columns)]
    pyarrow.parquet.write_table(pyarrow.table(list(table), names=names), path)
    values = {
        name: {"type": "categorical", "values": list(range(size))}
        for name, size in zip(names, sizes, strict=True)
    }
    schema.write_text(json.dumps({"columns": values}))


def pair_distance(real: Path, synthetic: Path, schema: Path) -> float:
    """Mean total variation distance of the pairs of columns."""
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.evaluate.metrics import k_way_tvd
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.schema import Schema

    known = Schema.parse(json.loads(schema.read_text()))
    codes = []
    for path in (real, synthetic):
        table = open_table(path)
        codec = Codec(known, table.schema)
        codes.append(np.concatenate([np.array(codec.encode(b)).T for b in table.batches()]))
    return float(k_way_tvd(*codes, codec.domain, 2).mean())


def planned_memory(method: str, rows: int, schema: Path) -> float:
    """What ``plan`` says, in megabytes."""
    from saddlesynth.synthesis.methods import make

    return make(method, schema=str(schema)).plan(n_rows=rows).memory / 1e6


def run(command: list[str]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and megabytes of one process, which must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{' '.join(command)} failed")
    wall = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    from saddlesynth.synthesis.demo_data import schema_path

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--methods", nargs="+", default=["privsyn", "projection"])
    parser.add_argument("--columns", type=int, help="generate a table of so many columns instead")
    options = parser.parse_args(arguments)
    print("| method | rows | CPU s | wall s | MB | MB planned | 2-way TVD |")
    print("|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as folder:
        table, schema = Path(folder) / "table.parquet", schema_path()
        for rows in options.rows:
            if options.columns:
                schema = Path(folder) / "schema.json"
                generate_table(rows, options.columns, table, schema)
            else:
                write_table(rows, table)
            for method in options.methods:
                release = Path(folder) / "release"
                command = [
                    sys.executable, "-m", "saddlesynth.synthesis.cli", "synthesize", str(table),
                    "--schema", str(schema), "--epsilon", "1", "--method", method,
                    "--format", "parquet", "--out", str(release), "--force",
                ]  # fmt: skip
                cpu, wall, memory = run(command)
                planned = planned_memory(method, rows, schema)
                distance = pair_distance(table, release / "synthetic.parquet", schema)
                figures = f"{cpu:.1f} | {wall:.1f} | {memory:.0f} | {planned:.0f} | {distance:.4f}"
                print(f"| {method} | {rows:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
