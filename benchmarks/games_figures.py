"""Draw the two figures of the FEM paper from what ``games.py`` measured.

    python benchmarks/games_figures.py BY_EPSILON.csv BY_WORKLOAD.csv docs/figures/games.svg

Left: the largest error against epsilon, from BY_EPSILON.csv (several epsilons, one workload).
Right: against the number of marginals, from BY_WORKLOAD.csv (one epsilon, several workloads
``random:COUNT:K:SEED``; a table may have fewer that fit).  Lines are means over the runs, bars the
least and the most.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

STYLES = {  # game: (name, colour, marker)
    "hdmm-pure": ("HDMM, Laplace", "#9aa0a6", "v"),
    "hdmm": ("HDMM, Gauss", "#5f6368", "^"),
    "fem-published": ("FEM, the authors' settings", "#c58af9", "D"),
    "fem": ("FEM", "#d93025", "o"),
    "sepfem": ("sepFEM", "#f29900", "s"),
    "dualquery": ("DualQuery", "#1a73e8", "P"),
    "dqrs": ("DQRS", "#188038", "X"),
}


def panel(axes: Any, lines: pd.DataFrame, column: str) -> None:
    """One line a game: mean error, with least and most, against a column."""
    for game, (name, colour, marker) in STYLES.items():
        found = (
            lines[lines["game"] == game].groupby(column)["max_error"].agg(["mean", "min", "max"])
        )
        if found.empty:
            continue
        spread = [found["mean"] - found["min"], found["max"] - found["mean"]]
        axes.errorbar(
            found.index, found["mean"], yerr=spread, label=name, color=colour, marker=marker,
            markersize=4, linewidth=1.4, elinewidth=0.7, capsize=2,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = sorted(lines[column].unique())
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    heights = [0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0]
    low, high = axes.get_ylim()
    shown = [h for h in heights if low <= h <= high]
    axes.set_yticks(shown, [f"{h:g}" for h in shown])
    axes.minorticks_off()
    axes.grid(color="#e8eaed", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylabel("largest error of a cell")


def main(arguments: list[str] | None = None) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("by_epsilon", nargs="+", type=Path)
    parser.add_argument("by_workload", type=Path)
    parser.add_argument("figure", type=Path)
    given = parser.parse_args(arguments)
    by_epsilon = pd.concat([pd.read_csv(path) for path in given.by_epsilon])
    by_workload = pd.read_csv(given.by_workload)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    panel(left, by_epsilon, "epsilon")
    panel(right, by_workload, "marginals")
    workload = by_epsilon["workload"].iloc[0].split(":")
    left.set(xlabel="epsilon", title=f"{workload[1]} random {workload[2]}-way marginals")
    epsilon, ways = by_workload["epsilon"].iloc[0], by_workload["workload"].iloc[0].split(":")[2]
    right.set(
        xlabel="number of marginals", title=f"random {ways}-way marginals, epsilon {epsilon:g}"
    )
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    given.figure.parent.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["svg.hashsalt"] = "games"
    figure.savefig(given.figure, metadata={"Date": None} if given.figure.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
