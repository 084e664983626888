"""The workbench for integer programs: ``oracle solve | generate | export | race``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON, QUIET
from saddlesynth.synthesis.cli.talk import say
from saddlesynth.synthesis.errors import InputError, SolverError
from saddlesynth.synthesis.text_files import read_text

if TYPE_CHECKING:
    from saddlesynth.oracles.instances import Instance
    from saddlesynth.oracles.oracle import BestResponse, Limits

FORMS = click.Choice(["aggregated", "disaggregated", "exclusive"])
REDUCTIONS = click.Choice(["merge", "group", "full"])
PATH = click.Path(path_type=Path)
INSTANCE = click.argument("instance", type=PATH)
TIME_LIMIT = click.option("--time-limit", type=float, help="Seconds a solve [default: none].")


class Workbench(click.Group):
    """The group; ``generate`` and ``race`` are imported when they are called."""

    LAZY = {
        "generate": ("oracle_generate:generate", "Make instances: random, planted, or of a game."),
        "race": ("oracle_race:race", "Solvers x formulations x reductions: table, CSV, plot."),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.LAZY]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.LAZY:
            return super().get_command(ctx, name)
        module, attribute = self.LAZY[name][0].split(":")
        found: click.Command = getattr(
            import_module(f"saddlesynth.synthesis.cli.{module}"), attribute
        )
        return found


@click.group(cls=Workbench, short_help="Solve, make, export and race integer programs.")
def oracle() -> None:
    """A workbench for the integer programs behind the games.

    An instance is a JSON file: attributes, weighted queries, a perturbation, impossible
    combinations.  'saddlesynth methods --solvers' lists the solvers.

    \b
    saddlesynth oracle generate --kind planted --count 3 --out set
    saddlesynth oracle solve set/planted-000.json --solver cp-sat --json
    saddlesynth oracle race set --plot profile.png
    """


@contextmanager
def refusals() -> Iterator[None]:
    """The oracles' errors as the command line's: exit 4 for solvers, 2 for input."""
    from saddlesynth.oracles.oracle import NotOptimal, NoValidRecord, SolverMissing

    try:
        yield
    except (NotOptimal, SolverMissing, NoValidRecord) as error:
        raise SolverError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def read_instance(path: Path) -> Instance:
    """An instance file; ``-`` is standard input."""
    from saddlesynth.oracles.instances import parse

    if str(path) == "-":
        text = sys.stdin.read()
    else:
        text = read_text(path, f"instance {path}", "a JSON file that 'oracle generate' makes")
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"instance {path}: {error}") from error


def limits_from(options: dict[str, Any]) -> Limits:
    """``--time-limit``, ``--nodes``, ``--deterministic-time``, ``--gap``, ``--seed``."""
    from saddlesynth.oracles.oracle import Limits

    return Limits(
        seconds=options.get("time_limit"),
        nodes=options.get("nodes"),
        deterministic_time=options.get("deterministic_time"),
        gap=options.get("gap") or 0.0,
        seed=options.get("seed") or 0,
    )


@oracle.command()
@INSTANCE
@click.option("--solver", default="portfolio", show_default=True, help="Name of the oracle.")
@click.option("--form", type=FORMS, help="Formulation, for MIP solvers [default: exclusive].")
@click.option("--reduction", type=REDUCTIONS, default="full", show_default=True)
@TIME_LIMIT
@click.option("--nodes", type=int, help="Branch-and-bound nodes (CP-SAT: conflicts).")
@click.option("--deterministic-time", type=float, help="CP-SAT's repeatable seconds.")
@click.option("--gap", type=float, help="Stop once bound - value is at most this.")
@click.option("--seed", type=int, help="Of the solver.")
@click.option("--require-optimal", is_flag=True, help="Exit 4 unless the record is proven best.")
@QUIET
@JSON
def solve(instance: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Find the best record of the INSTANCE (a JSON file; - for standard input).

    Prints the record, its value (recomputed, never the solver's word), the bound, the gap and the
    status: optimal, feasible, fallback (the solver gave no record: ours), error (there is none).

    \b
    saddlesynth oracle solve instance.json --solver highs --form aggregated
    saddlesynth oracle solve instance.json --solver cp-sat --time-limit 5 --json
    """
    found = read_instance(instance)
    say(
        f"{instance}: {len(found.problem.domain)} attributes, {len(found.problem.queries)} queries",
        quiet,
    )
    try:
        with refusals():
            answer = _answer(found, options)
    except SolverError as error:
        if as_json:
            click.echo(json.dumps(_failure(options["solver"], str(error))))
        raise
    report = describe(found, answer)
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False))
        return
    for key, value in report.items():
        click.echo(f"{key:<10}{_plain(value)}")


def _answer(found: Instance, options: dict[str, Any]) -> BestResponse:
    """Build the oracle that the options describe, and ask it."""
    from saddlesynth.oracles.registry import make

    form = {} if options["form"] is None else {"form": options["form"]}
    required = {"require_optimal": True} if options["require_optimal"] else {}
    made = make(
        options["solver"],
        limits=limits_from(options),
        reduction=options["reduction"],
        **form,
        **required,
    )
    return made.prepare(found.problem).best_response(found.perturbation)


def describe(found: Instance, answer: BestResponse) -> dict[str, Any]:
    """An answer as what ``--json`` prints."""
    report: dict[str, Any] = {
        "record": found.named(answer.record),
        "value": answer.value,
        "bound": answer.bound,
        "gap": answer.gap,
        "status": str(answer.status),
        "reason": answer.reason,
        "solver": answer.solver,
        "version": answer.version,
        "seconds": round(answer.seconds, 6),
        "nodes": answer.nodes,
        "tolerance": answer.tolerance,
    }
    if found.optimum is not None:
        report["optimum"] = found.optimum
    return report


def _failure(solver: str, reason: str) -> dict[str, Any]:
    """The object for a solver that gave no record at all."""
    empty = dict.fromkeys(("record", "value", "bound", "gap"))
    return empty | {"status": "error", "reason": reason, "solver": solver, "seconds": None}


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={label}" for name, label in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@oracle.command()
@INSTANCE
@click.option("--format", "format_", type=click.Choice(["lp", "mps", "json"]), required=True)
@click.option("--form", type=FORMS, default="exclusive", show_default=True)
@click.option("--reduction", type=REDUCTIONS, default="merge", show_default=True)
@click.option("--out", type=PATH, required=True, help="File to write; - for standard output.")
@FORCE
@QUIET
def export(
    instance: Path, format_: str, form: str, reduction: str, out: Path, force: bool, quiet: bool
) -> None:
    """Write the INSTANCE for another solver.

    LP maximises, MPS minimises the negative.  Variables are named by position: x3_0 is the first
    value of the fourth attribute; names of columns and values stay in the JSON file.

    \b
    saddlesynth oracle export instance.json --format lp --out instance.lp
    saddlesynth oracle export instance.json --format mps --reduction full --out -
    """
    from saddlesynth.oracles.export import export as as_program
    from saddlesynth.oracles.formulation import Form
    from saddlesynth.oracles.reduce import Reduction

    found = read_instance(instance)
    if format_ == "json":
        text = found.to_json() + "\n"
    else:
        with refusals():
            text = as_program(
                found.problem, found.perturbation, format_, Form(form), Reduction(reduction)
            )
    write_text(out, text, force)
    say(f"wrote {out}", quiet or str(out) == "-")


def write_text(out: Path, text: str, force: bool) -> None:
    """To a file, whole or not at all; ``-`` is standard output."""
    from saddlesynth.synthesis.aside import file_aside

    if str(out) == "-":
        click.echo(text, nl=False)
        return
    with file_aside(out, force=force) as path:
        path.write_text(text, encoding="utf-8")
