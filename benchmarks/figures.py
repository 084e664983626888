"""How does the error of each method fall with epsilon?  A figure from the runs of other scripts.

    python benchmarks/accuracy.py ... --json runs.jsonl
    python benchmarks/peers.py ... --json runs.jsonl
    python benchmarks/figures.py runs.jsonl --out error-over-epsilon.svg

One panel for each table and metric, mean of the runs, bars from the smallest to the largest;
methods of other packages (and whatever is called "best ...") dashed.  With ``--table`` the means
are printed instead, best in each cell bold.

Answer: see ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import COLUMNS
from peers import PEERS

METRICS = {
    "2-way": "pairs: mean total variation",
    "3-way": "triples: mean total variation",
    "max 3-way": "64 triples: largest error of a cell",
    "range": "ranges: mean error",
    "boosting": "boosting: error rate",
}
Runs = dict[tuple[str, str, float], list[dict[str, float]]]


def read(paths: Iterable[Path]) -> Runs:
    """Runs by table, method and epsilon; the last line of a seed counts."""
    by_seed: dict[tuple[Any, ...], dict[str, float]] = {}
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            key = tuple(line[name] for name in ("table", "method", "epsilon", "seed"))
            by_seed[key] = line
    runs: Runs = defaultdict(list)
    for (table, method, epsilon, _), line in sorted(by_seed.items()):
        runs[table, method, epsilon].append(line)
    return runs


def draw(runs: Runs, out: Path) -> None:
    """The figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    tables = sorted({table for table, _, _ in runs})
    methods = sorted({method for _, method, _ in runs}, key=lambda m: (_foreign(m), m))
    epsilons = sorted({epsilon for _, _, epsilon in runs})
    plt.rcParams["svg.fonttype"] = "none"  # text as text: a quarter of the size
    figure, axes = plt.subplots(
        len(METRICS),
        len(tables),
        figsize=(4.6 * len(tables), 2.5 * len(METRICS)),
        sharex=True,
        squeeze=False,
    )
    for (row, (metric, title)), (column, table) in (
        (r, c) for r in enumerate(METRICS.items()) for c in enumerate(tables)
    ):
        panel = axes[row][column]
        for i, method in enumerate(methods):
            points = [
                (e, [r[metric] for r in runs[table, method, e] if metric in r])
                for e in epsilons
                if (table, method, e) in runs
            ]
            points = [(e, values) for e, values in points if values]
            if not points:
                continue
            means = np.array([np.mean(values) for _, values in points])
            ends = np.array([[min(values), max(values)] for _, values in points])
            panel.errorbar(
                [e for e, _ in points],
                means,
                yerr=np.abs(ends - means[:, None]).T,
                label=method,
                color=f"C{i}",
                marker="o",
                markersize=3,
                capsize=2,
                linewidth=1.3,
                linestyle="--" if _foreign(method) else "-",
            )
        panel.set_xscale("log")
        panel.set_xticks(epsilons, [f"{e:g}" for e in epsilons])
        panel.minorticks_off()
        if metric not in ("SVM", "boosting"):
            panel.set_yscale("log")
        panel.set_title(f"{table}: {title}" if len(tables) > 1 else title, fontsize=9)
        panel.grid(alpha=0.3, which="both")
        if row == len(METRICS) - 1:
            panel.set_xlabel("epsilon")
    handles = {h.get_label(): h for a in axes.ravel() for h in a.get_legend_handles_labels()[0]}
    figure.legend(
        handles.values(), handles.keys(), loc="upper center", ncols=4, frameon=False, fontsize=9
    )
    top = 1 - 0.25 * (1 + -(-len(methods) // 4)) / figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0, 1, top))
    figure.savefig(out)
    plt.close(figure)


def _foreign(method: str) -> bool:
    return method in PEERS or method.startswith("best")


def as_table(runs: Runs) -> str:
    """Means of the runs, a line for each table, epsilon and method."""
    names = [name for name in COLUMNS if name != "overlap"]
    lines = ["| table | epsilon | method | runs | " + " | ".join(names) + " |"]
    lines.append("|---" * (len(names) + 4) + "|")
    for table, epsilon in sorted({(t, e) for t, _, e in runs}):
        own = {m: r for (t, m, e), r in runs.items() if (t, e) == (table, epsilon)}
        means = {
            m: {n: float(np.mean([x[n] for x in r])) for n in names if all(n in x for x in r)}
            for m, r in own.items()
        }
        best = {n: min((v[n] for v in means.values() if n in v), default=0.0) for n in names}
        for method, values in means.items():
            cells = [
                "-"
                if n not in values
                else f"**{values[n]:{COLUMNS[n]}}**"
                if values[n] == best[n] and n != "CPU s"
                else f"{values[n]:{COLUMNS[n]}}"
                for n in names
            ]
            line = f"| {table} | {epsilon:g} | {method} | {len(own[method])} | "
            lines.append(line + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="files of JSON lines")
    parser.add_argument("--out", type=Path, default=Path("error-over-epsilon.svg"))
    parser.add_argument("--table", action="store_true", help="print the means instead")
    options = parser.parse_args(arguments)
    runs = read(options.runs)
    if options.table:
        print(as_table(runs))
    else:
        draw(runs, options.out)


if __name__ == "__main__":
    main()
