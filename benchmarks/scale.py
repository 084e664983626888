"""How do the time and memory of a whole ``synthesize`` grow with the number of rows?

    python benchmarks/scale.py --rows 100000 1000000 10000000 --methods privsyn projection

For each size the embedded Adult table is drawn with replacement into a Parquet file (14 columns),
and ``saddlesynth synthesize`` runs on it in a process of its own, with the public schema and real
noise, writing as many synthetic rows to Parquet.  Reported: CPU seconds (user and system) and wall
seconds of that process, its largest memory, and CPU seconds a million rows.

Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
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
    options = parser.parse_args(arguments)
    print(
        "| method | rows | CPU s | wall s | MB | CPU s a million rows |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.parquet"
        for rows in options.rows:
            write_table(rows, table)
            for method in options.methods:
                command = [
                    sys.executable, "-m", "saddlesynth.synthesis.cli", "synthesize", str(table),
                    "--schema", str(schema_path()), "--epsilon", "1", "--method", method,
                    "--format", "parquet", "--out", str(Path(folder) / "release"), "--force",
                ]  # fmt: skip
                cpu, wall, memory = run(command)
                rate = cpu / rows * 1e6
                figures = f"{cpu:.1f} | {wall:.1f} | {memory:.0f} | {rate:.1f}"
                print(f"| {method} | {rows:,} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
