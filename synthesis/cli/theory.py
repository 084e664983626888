"""The statistical theory as a calculator: ``theory distance | utility | simulate``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from saddlesynth.synthesis.cli.options import JSON

Command = TypeVar("Command", bound=Callable[..., Any])

_SETTING = [
    click.option("--rows", type=int, required=True, help="n, rows of the raw table."),
    click.option("--attributes", type=int, required=True, help="d, number of columns."),
    click.option("--degree", type=int, required=True, help="k, parents of a column at most."),
    click.option("--epsilon", type=float, required=True, help="Budget (delta is 0)."),
    click.option(
        "--relation",
        default="add_remove",
        show_default=True,
        help="add_remove or replace_one; n is public either way.",
    ),
    click.option("--values", type=int, default=2, show_default=True, help="Values of a column."),
]
FAILURE = click.option(
    "--failure", type=float, default=0.05, show_default=True, help="1 - confidence."
)


def setting_options(command: Command) -> Command:
    """The options that describe a setting."""
    for option in reversed(_SETTING):
        command = option(command)
    return command


def show(report: dict[str, Any], as_json: bool) -> None:
    """A report as JSON, or one line an entry; entries may have columns."""
    if as_json:
        click.echo(json.dumps(report))
        return
    width = max(map(len, report)) + 2
    for name, entry in report.items():
        parts = entry.items() if isinstance(entry, dict) else [("", entry)]
        text = "  ".join(f"{key} {_number(value)}".strip() for key, value in parts)
        click.echo(f"{name:<{width}}{text}")


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@click.group(short_help="Bounds on the error of marginal-based synthesis.")
def theory() -> None:
    """How far synthetic rows can be from the raw ones, and what a model trained on them loses.

    Bounds for pure epsilon-DP PrivBayes on a network that is public, not chosen from the data; no
    data are read.  Assumptions and derivations are in docs/theory.md.

    \b
    saddlesynth theory distance --rows 100000 --attributes 10 --degree 2 --epsilon 1
    saddlesynth theory utility --loss logistic --distance 0.05 --synthetic-rows 100000
    saddlesynth theory simulate --rows 100000 --attributes 8 --degree 2 --epsilon 1
    """


@theory.command()
@setting_options
@click.option("--joints", type=int, help="Joints measured [default: as many as columns].")
@FAILURE
@JSON
def distance(failure: float, as_json: bool, **options: Any) -> None:
    """Bounds on total variation (tv) and L2 distance between raw and synthetic distribution.

    Of the mean (mean_tv, mean_l2) and with confidence (tv, l2); the number of rows at which the
    bound on the mean total variation is 0.1; and what no epsilon-DP method can beat.

    \b
    saddlesynth theory distance --rows 100000 --attributes 10 --degree 2 --epsilon 1
    saddlesynth theory distance --rows 50000 --attributes 14 --degree 1 --epsilon 0.5 --values 8
    """
    from saddlesynth.synthesis.theory.distance import (
        Setting,
        full_domain_bound,
        network_bound,
        sampling_distance,
    )
    from saddlesynth.synthesis.theory.packing import lower_bound

    setting = Setting(**options)
    report: dict[str, Any] = {}
    for bound_of in (network_bound, full_domain_bound):
        for how in ("normalise", "project"):
            bound = bound_of(setting, how, failure)
            report[bound.name] = {
                "mean_tv": bound.expected_tv,
                "tv": bound.tv,
                "mean_l2": bound.expected_l2,
                "l2": bound.l2,
                "rows_for_0.1": bound.rows_for_tenth,
            }
    report["any method, at least"] = {"mean_tv": lower_bound(setting).expected_tv}
    report["rows drawn from a population add"] = {"mean_tv": sampling_distance(setting)}
    show(report, as_json)


@theory.command()
@click.option("--loss", default="logistic", show_default=True, help="hinge, logistic or squared.")
@click.option("--distance", type=float, required=True, help="Total variation, or a bound on it.")
@click.option("--synthetic-rows", type=int, help="Rows trained on [default: infinitely many].")
@click.option("--radius", type=float, default=1.0, show_default=True, help="Largest |theta|.")
@click.option("--norm", type=float, default=1.0, show_default=True, help="Largest |x|.")
@click.option("--regularisation", type=float, default=0.0, show_default=True, help="lambda.")
@FAILURE
@JSON
def utility(
    loss: Any,
    distance: float,
    synthetic_rows: int | None,
    radius: float,
    norm: float,
    regularisation: float,
    failure: float,
    as_json: bool,
) -> None:
    """Bound on the loss of a linear model trained on synthetic rows, against one on raw rows.

    Both minimise mean loss + lambda/2 |theta|^2; their mean losses on the raw rows are compared.

    \b
    saddlesynth theory utility --loss hinge --distance 0.05 --synthetic-rows 100000
    """
    from dataclasses import asdict

    from saddlesynth.synthesis.theory.learning import Learner, utility_bound

    learner = Learner(loss, radius, regularisation)
    bound = utility_bound(learner, distance, synthetic_rows, norm, failure)
    show({**asdict(bound), "total": bound.total}, as_json)


@theory.command()
@setting_options
@click.option("--runs", type=int, default=10, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--loss", help="Also train: hinge, logistic or squared.")
@click.option("--radius", type=float, default=1.0, show_default=True, help="Largest |theta|.")
@click.option("--regularisation", type=float, default=0.0, show_default=True, help="lambda.")
@JSON
def simulate(
    runs: int,
    seed: int,
    loss: Any,
    radius: float,
    regularisation: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Run PrivBayes on invented tables of random networks, and show distances beside the bounds.

    With --loss a linear model predicts the last column from the others, trained on the synthetic
    distribution and on the raw one; the difference of their mean losses is shown beside its bound.

    \b
    saddlesynth theory simulate --rows 100000 --attributes 8 --degree 2 --epsilon 1
    saddlesynth theory simulate --rows 20000 --attributes 6 --degree 1 --epsilon 1 --loss hinge
    """
    import numpy as np

    from saddlesynth.synthesis.parameters import check_count
    from saddlesynth.synthesis.theory.distance import Setting, network_bound
    from saddlesynth.synthesis.theory.learning import Learner, utility_bound
    from saddlesynth.synthesis.theory.simulate import simulate as run
    from saddlesynth.synthesis.theory.simulate import with_joints_of

    check_count("runs", runs)
    setting = with_joints_of(Setting(**options))
    learner = None if loss is None else Learner(loss, radius, regularisation)
    report: dict[str, Any] = {}
    for how in ("normalise", "project"):
        found = [run(setting, how, seed + i) for i in range(runs)]
        bound = network_bound(setting, how)
        row = {
            "mean_tv": float(np.mean([f.tv for f in found])),
            "bound_tv": bound.expected_tv,
            "mean_l2": float(np.mean([f.l2 for f in found])),
            "bound_l2": bound.expected_l2,
        }
        if learner is not None:
            generator = np.random.default_rng(seed)
            row["mean_gap"] = float(np.mean([f.gap(learner, None, generator) for f in found]))
            row["bound_gap"] = utility_bound(learner, bound.expected_tv).total
        report[how] = row
    show(report, as_json)
