"""``oracle race``: a table, a CSV file and a performance profile."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON, QUIET
from saddlesynth.synthesis.cli.oracle import (
    FORMS,
    PATH,
    REDUCTIONS,
    limits_from,
    read_instance,
    refusals,
    write_text,
)
from saddlesynth.synthesis.cli.talk import progress_bar, say
from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    from saddlesynth.oracles.instances import Instance
    from saddlesynth.oracles.race import Run

PLOTS = (".png", ".pdf", ".svg")
INDEX = "index.json"  # lists what "oracle generate" wrote into a folder


@click.command(short_help="Solvers x formulations x reductions: table, CSV, plot.")
@click.argument("instances", type=PATH, nargs=-1, required=True)
@click.option("--solver", multiple=True, help="May be repeated [default: all that work here].")
@click.option("--form", type=FORMS, multiple=True, help="May be repeated [default: exclusive].")
@click.option(
    "--reduction", type=REDUCTIONS, multiple=True, help="May be repeated [default: full]."
)
@click.option("--time-limit", type=float, default=60.0, show_default=True, help="Seconds a solve.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the solvers.")
@click.option("--csv", "csv_file", type=PATH, help="File for all runs.")
@click.option("--plot", type=PATH, help="File (.png, .pdf, .svg) for a performance profile.")
@FORCE
@QUIET
@JSON
def race(
    instances: tuple[Path, ...],
    solver: tuple[str, ...],
    form: tuple[str, ...],
    reduction: tuple[str, ...],
    csv_file: Path | None,
    plot: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Race solvers, formulations and reductions on INSTANCES (JSON files, or folders of them).

    The plot is a performance profile: the share of instances proven optimal within a multiple of
    the quickest contender's time.

    \b
    saddlesynth oracle generate --kind random --count 10 --out set
    saddlesynth oracle race set --csv race.csv --plot race.png
    saddlesynth oracle race set --solver highs --form aggregated --form exclusive \\
        --reduction merge --reduction full
    """
    from saddlesynth.oracles.formulation import Form
    from saddlesynth.oracles.race import contenders
    from saddlesynth.oracles.race import race as run_race
    from saddlesynth.oracles.reduce import Reduction
    from saddlesynth.oracles.registry import availability
    from saddlesynth.synthesis.aside import check_destination

    if plot is not None and plot.suffix not in PLOTS:
        raise InputError(f"--plot {plot}: the name must end in {', '.join(PLOTS)}")
    for out in filter(None, (csv_file, plot)):
        check_destination(out, force=force)
    found = [read(path) for path in files(instances)]
    with refusals(), progress_bar(quiet) as show:
        field = contenders(
            solver or [row.name for row in availability() if row.usable],
            [Form(f) for f in form or ("exclusive",)],
            [Reduction(r) for r in reduction or ("full",)],
        )
        say(f"{len(found)} instances, {len(field)} contenders", quiet)
        report = (lambda done: show("race", done)) if show else (lambda done: None)
        runs = list(run_race(found, field, limits_from(options), report))
    if csv_file is not None:
        write_text(csv_file, as_csv(runs), force)
        say(f"wrote {csv_file}", quiet)
    if plot is not None:
        draw(runs, plot, force)
        say(f"wrote {plot}", quiet)
    if as_json:
        click.echo(json.dumps([summary(runs, name) for name in names(runs)]))
    else:
        click.echo(table(runs))


def files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the JSON files in folders that are named."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(p for p in path.glob("*.json") if p.name != INDEX)
        if path.is_dir() and not inside:
            raise InputError(f"folder {path} holds no instance (*.json)")
        found += inside if path.is_dir() else [path]
    return found


def read(path: Path) -> Instance:
    """An instance, named after its file."""
    from dataclasses import replace

    return replace(read_instance(path), name=path.stem)


def names(runs: Sequence[Run]) -> list[str]:
    """The contenders, in the order of the race."""
    return list(dict.fromkeys(run.contender for run in runs))


def summary(runs: Sequence[Run], name: str) -> dict[str, Any]:
    """One contender's row of the table; seconds are of runs that gave a record."""
    own = [run for run in runs if run.contender == name]
    seconds = [run.seconds for run in own if run.status != "error"]
    return {
        "contender": name,
        "optimal": sum(run.status == "optimal" for run in own),
        "best": sum(run.best and run.status != "error" for run in own),
        "fallback": sum(run.status == "fallback" for run in own),
        "error": sum(run.status == "error" for run in own),
        "median_ms": round(1000 * median(seconds), 3) if seconds else None,
        "total_s": round(sum(seconds), 3),
    }


def table(runs: Sequence[Run]) -> str:
    """All contenders, the quickest first among those that proved most."""
    rows = [summary(runs, name) for name in names(runs)]
    rows.sort(key=lambda row: (-row["optimal"], row["total_s"]))
    width = max(len(row["contender"]) for row in rows) + 2
    count = len({run.instance for run in runs})
    lines = [f"{count} instances; optimal = proven, best = nobody found a better record"]
    lines.append(f"{'contender':<{width}}" + "".join(f"{k:>10}" for k in list(rows[0])[1:]))
    for row in rows:
        lines.append(
            f"{row['contender']:<{width}}" + "".join(f"{v!s:>10}" for v in list(row.values())[1:])
        )
    return "\n".join(lines)


def as_csv(runs: Sequence[Run]) -> str:
    """One line a run."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(asdict(runs[0])), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(run) for run in runs)
    return out.getvalue()


def draw(runs: Sequence[Run], plot: Path, force: bool) -> None:
    """The performance profile."""
    from saddlesynth.synthesis.aside import file_aside

    with file_aside(plot, force=force) as path:
        profile_figure(runs).savefig(path, dpi=150, bbox_inches="tight")


def profile_figure(runs: Sequence[Run]) -> Any:
    """A matplotlib figure: ratio to the quickest (log) against the share of instances."""
    from matplotlib.figure import Figure

    from saddlesynth.oracles.race import profile

    curves = profile(runs)
    end = 1.3 * max((float(ratios[-1]) for ratios, _ in curves.values() if len(ratios)), default=1)
    figure = Figure(figsize=(8, 5))
    axes = figure.subplots()
    parts = {run.contender: (run.solver, (run.form, run.reduction)) for run in runs}
    solvers, variants = (
        list(dict.fromkeys(column)) for column in zip(*parts.values(), strict=True)
    )
    for name, (ratios, shares) in curves.items():
        x = [1.0, *ratios, end] if len(ratios) else [1.0, end]
        y = [0.0, *shares, shares[-1]] if len(ratios) else [0.0, 0.0]
        solver, variant = parts[name]
        style = ("-", "--", ":", "-.")[variants.index(variant) % 4]
        colour = f"C{solvers.index(solver)}"
        axes.step(x, y, where="post", label=name, linestyle=style, color=colour)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(1.0, end)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("time as a multiple of the quickest contender's")
    axes.set_ylabel("share of instances proven optimal")
    axes.set_title(f"Performance profile, {len({run.instance for run in runs})} instances")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure
