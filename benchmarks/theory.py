"""How does PrivBayes's distance from the data fall with the number of rows, beside its bounds?

    python benchmarks/theory.py --out theory.png --table theory.csv

PrivBayes on given random networks (``saddlesynth.synthesis.theory.simulate``), for several
in-degrees k and numbers of rows n: mean total variation over the runs between the synthetic
distribution and the network fitted without noise, for both ways to process joints, with the upper
bounds on the mean, the packing lower bound, and the full-domain histogram.  One panel a k, both
axes logarithmic.

Answer: it falls as 1/n, as the bounds do, at a tenth to a fifth of their height.  Date, machine and
figures are in ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from saddlesynth.synthesis.theory.distance import How, Setting, full_domain_bound, network_bound
from saddlesynth.synthesis.theory.packing import lower_bound
from saddlesynth.synthesis.theory.simulate import simulate, simulate_full_domain, with_joints_of

WAYS: tuple[How, ...] = ("normalise", "project")
COLOURS = {"normalise": "tab:orange", "project": "tab:blue"}
MARKERS: dict[str, dict[str, Any]] = {  # one around the other, since they often coincide
    "normalise": {"marker": "s", "markersize": 9, "markerfacecolor": "none"},
    "project": {"marker": "o", "markersize": 5},
}


@dataclass(frozen=True)
class Point:
    """One number of rows and one in-degree: measured means, and what bounds them."""

    degree: int
    rows: int
    way: str
    measured: float
    upper: float
    full_domain: float
    full_domain_upper: float
    lower: float


def measure(setting: Setting, way: How, runs: int) -> Point:
    """The means of all runs."""
    setting = with_joints_of(setting)
    return Point(
        setting.degree,
        setting.rows,
        way,
        float(np.mean([simulate(setting, way, s).tv for s in range(runs)])),
        network_bound(setting, way).expected_tv,
        float(np.mean([simulate_full_domain(setting, way, s).tv for s in range(runs)])),
        full_domain_bound(setting, way).expected_tv,
        lower_bound(setting).expected_tv,
    )


def slope(points: Sequence[Point]) -> float:
    """Of the measured distance in the number of rows, both logarithmic, by least squares."""
    logs = np.log([[p.rows, p.measured] for p in points])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def draw(points: Sequence[Point], setting: Setting, out: Path) -> None:
    """The figure."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    degrees = sorted({p.degree for p in points})
    figure, panels = plt.subplots(
        1, len(degrees), figsize=(3.2 * len(degrees), 4.4), sharey=True, squeeze=False
    )
    for degree, panel in zip(degrees, panels[0], strict=True):
        for way in WAYS:
            own = [p for p in points if p.degree == degree and p.way == way]
            rows = [p.rows for p in own]
            panel.loglog(rows, [p.measured for p in own], linestyle="-", color=COLOURS[way],
                         label=f"{way}, measured", **MARKERS[way])  # fmt: skip
            panel.loglog(rows, [p.upper for p in own], "--", color=COLOURS[way],
                         label=f"{way}, bound")  # fmt: skip
            if way == "project":
                panel.loglog(rows, [p.full_domain for p in own], ":", color="grey",
                             label="full domain, measured")  # fmt: skip
                seen = [(p.rows, p.lower) for p in own if p.lower > 0]
                if seen:
                    panel.loglog(*zip(*seen, strict=True), "-.", color="black",
                                 label="any method, at least")  # fmt: skip
        panel.set_title(f"k = {degree}")
        panel.set_xlabel("rows n")
        panel.grid(color="0.92")
    panels[0][0].set_ylabel("total variation distance")
    handles, labels = panels[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"PrivBayes on a given network of in-degree k: {setting.attributes} binary columns, "
        f"epsilon = {setting.epsilon:g}, {setting.relation.replace('_', '/')}"
    )
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    figure.savefig(out, dpi=150)
    plt.close(figure)


def write(points: Iterable[Point], out: Path) -> None:
    """The numbers, as CSV."""
    lines = [asdict(p) for p in points]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--attributes", type=int, default=14)
    parser.add_argument("--degrees", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**i for i in range(3, 8)])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--relation", default="add_remove")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("theory.png"))
    parser.add_argument("--table", type=Path, help="the numbers, as CSV")
    options = parser.parse_args(arguments)
    points: list[Point] = []
    print("| k | post-processing | n | measured TV | bound | measured / bound |")
    print("|---|---|---|---|---|---|")
    for degree in options.degrees:
        for way in WAYS:
            own = []
            for rows in options.rows:
                setting = Setting(
                    rows, options.attributes, degree, options.epsilon, options.relation
                )
                point = measure(setting, way, options.runs)
                own.append(point)
                print(
                    f"| {degree} | {way} | {rows:,} | {point.measured:.3g} | {point.upper:.3g} | "
                    f"{point.measured / point.upper:.2f} |",
                    flush=True,
                )
            if len(own) > 1:
                print(f"| {degree} | {way} | slope | {slope(own):.2f} | | |")
            points += own
    draw(points, setting, options.out)
    if options.table:
        write(points, options.table)


if __name__ == "__main__":
    main()
