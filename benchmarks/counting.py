"""How fast are all pair marginals counted, and in how much memory?

A Parquet file of 14 columns is written once (``--rows``, default 10 million), then counted in a
process of its own for each line: kind of column, threads, with and without keeping the codes in
memory (``first`` reads and checks the file, ``again`` is a second pass).  Seconds are the
process's own processor time and the wall; memory is the process's peak.

    python benchmarks/counting.py --rows 10000000
    python benchmarks/counting.py --rows 20000 --folder /tmp     # tiny, as in the tests

Answers, with date and machine, stand in ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import numpy as np

SIZES = (15, 9, 16, 16, 7, 15, 6, 5, 2, 13, 8, 14, 42, 2)  # UCI Adult, coarsely binned
CHUNK = 500_000


def values_of(kind: str, size: int) -> list[int] | list[str]:
    """The values of a column of one kind."""
    return list(range(size)) if kind == "int" else [f"value-{i}" for i in range(size)]


def write_table(path: Path, rows: int, kind: str) -> None:
    """A table of skewed, independent columns: whole numbers or texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(0)
    names = [f"c{i}" for i in range(len(SIZES))]
    type = pa.int32() if kind == "int" else pa.string()
    with pq.ParquetWriter(path, pa.schema([(name, type) for name in names])) as writer:
        for start in range(0, rows, CHUNK):
            columns = []
            for size in SIZES:
                weights = 1 / np.arange(1, size + 1) ** 1.2
                codes = generator.choice(size, min(CHUNK, rows - start), p=weights / weights.sum())
                columns.append(pa.array(values_of(kind, size), type).take(pa.array(codes)))
            writer.write_table(pa.table(columns, names=names))


def count(path: Path, kind: str, n_jobs: int, cache_bytes: int) -> dict[str, float]:
    """Count all pairs twice, in this process."""
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.engines import LocalRecords
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.schema import Schema

    columns = {
        f"c{i}": {"type": "categorical", "values": values_of(kind, size)}
        for i, size in enumerate(SIZES)
    }
    table = open_table(path)
    codec = Codec(Schema.parse({"columns": columns}), table.schema)
    records = LocalRecords(table, codec, n_jobs=n_jobs, cache_bytes=cache_bytes)
    pairs = list(combinations(range(len(SIZES)), 2))
    found: dict[str, float] = {}
    for name in ("first", "again"):
        wall, own = time.perf_counter(), time.process_time()
        tables = records.count(pairs)
        found[f"{name} wall"] = time.perf_counter() - wall
        found[f"{name} cpu"] = time.process_time() - own
    found["rows"] = int(tables[0].sum())
    found["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def run(folder: Path, rows: int, threads: tuple[int, ...] = (1, 2)) -> list[dict[str, object]]:
    """One line for each setting, each measured in a process of its own."""
    lines: list[dict[str, object]] = []
    for kind in ("int", "str"):
        path = folder / f"{kind}.parquet"
        write_table(path, rows, kind)
        for n_jobs in threads:
            for cache_bytes in (0, 256 << 20):
                setting = [str(path), kind, str(n_jobs), str(cache_bytes)]
                done = subprocess.run(
                    [sys.executable, __file__, "--one", *setting],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                kept = "kept" if cache_bytes else "streamed"
                line = {"kind": kind, "threads": n_jobs, "codes": kept, **json.loads(done.stdout)}
                lines.append(line)
        path.unlink()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to write the table, for a while")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, kind, n_jobs, cache_bytes = options.one
        print(json.dumps(count(Path(path), kind, int(n_jobs), int(cache_bytes))))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for line in run(Path(folder), options.rows):
            print(
                "  ".join(
                    f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in line.items()
                )
            )


if __name__ == "__main__":
    main()
