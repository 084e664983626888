"""From data to a release: ``synthesize``, ``fit`` and ``plan``."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saddlesynth.synthesis.cli.options import (
    COUNT,
    FORCE,
    FORMAT,
    JSON,
    QUIET,
    ROWS,
    SEED,
    method_from,
    method_options,
)
from saddlesynth.synthesis.cli.talk import progress_bar, say
from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    from saddlesynth.synthesis.base import Plan, Synthesizer

DATA = click.argument("data", type=click.Path(path_type=Path))


@click.command(short_help="From a private table to a release folder.")
@DATA
@method_options
@click.option("--out", required=True, help="Release folder to write; - for rows on stdout.")
@ROWS
@SEED
@FORMAT
@FORCE
@QUIET
@JSON
@click.option("--dry-run", is_flag=True, help="Only say what would be done; needs a schema.")
def synthesize(data: Path, **options: Any) -> None:
    """Make a synthetic table from DATA (CSV or Parquet) and write a release folder.

    \b
    saddlesynth synthesize people.csv --epsilon 1 --delta 1e-9 --out release
    saddlesynth synthesize people.csv --schema people.schema.json --out release --rows 1000
    saddlesynth synthesize people.parquet --schema s.json --dry-run --out release
    """
    _run(data, options, synthetic=True)


@click.command(short_help="The same without rows.")
@DATA
@method_options
@click.option("--out", required=True, help="Release folder to write.")
@SEED
@FORCE
@QUIET
@JSON
@click.option("--dry-run", is_flag=True, help="Only say what would be done; needs a schema.")
def fit(data: Path, **options: Any) -> None:
    """Measure DATA privately and write a release folder without rows.

    \b
    saddlesynth fit people.csv --schema people.schema.json --epsilon 1 --out release
    saddlesynth sample release --rows 1000 --out rows.csv
    """
    if options["out"] == "-":
        raise InputError("--out is -; fit writes a release folder, give its name")
    _run(data, {**options, "rows": None, "format": None}, synthetic=False)


@click.command(short_help="What a run would do and cost.")
@method_options
@click.option(
    "--rows",
    type=COUNT,
    default=10_000,
    show_default=True,
    help="Rows you expect the table to have.",
)
@JSON
def plan(rows: int, as_json: bool, **options: Any) -> None:
    """Say what a run would do and cost: queries, memory, time, expected error.

    Reads no data and spends nothing.

    \b
    saddlesynth plan --schema people.schema.json --epsilon 1 --rows 50000
    """
    method = method_from(options, None)
    show_plan(method.plan(n_rows=rows), as_json)


def _run(data: Path, options: dict[str, Any], *, synthetic: bool) -> None:
    start, out, quiet = time.monotonic(), options["out"], options["quiet"]
    if out == "-" and options["as_json"]:
        raise InputError("--json and --out - both want standard output; choose one")
    with progress_bar(quiet) as progress:
        method = method_from(options, progress)
        if options["dry_run"]:
            show_plan(method.plan(n_rows=options["rows"] or 10_000), options["as_json"])
            return
        _check(data, out, options)
        method.fit(data)
        if out == "-":
            _rows_to_stdout(method, options)
        else:
            method.save(
                out,
                force=options["force"],
                rows=options["rows"],
                format=options["format"],
                synthetic=synthetic,
            )
    _report(method, options, time.monotonic() - start)


def _check(data: Path, out: str, options: dict[str, Any]) -> None:
    """Refuse what could only fail after the budget is spent."""
    from saddlesynth.synthesis.folder import check_release_destination

    if out != "-":
        check_release_destination(Path(out), force=options["force"])


def _rows_to_stdout(method: Synthesizer, options: dict[str, Any]) -> None:
    method.release_.write_rows(sys.stdout.buffer, options["format"] or "csv", options["rows"])
    sys.stdout.buffer.flush()


def _report(method: Synthesizer, options: dict[str, Any], seconds: float) -> None:
    from saddlesynth.synthesis.plain_words import protects, spent

    release, out = method.release_, options["out"]
    if options["as_json"]:
        answer = {
            "release": out,
            "method": method.name,
            "asked": release.manifest["asked"],
            "spent": release.manifest["spent"],
            "seeded": release.manifest["seeded"],
            "dp": release.manifest["dp"],
            "rows": options["rows"] or release.default_rows,
            "seconds": round(seconds, 3),
        }
        click.echo(json.dumps(answer, ensure_ascii=False))
    quiet = options["quiet"]
    say(f"{method.name}: {spent(release.ledger)}", quiet)
    say(f"{protects(release.manifest)}; took {seconds:.1f} s", quiet)
    for note in release.manifest["notes"]:
        say(f"NOTE: {note}", quiet)
    if out != "-":
        say(f"release: {out}", quiet)


def show_plan(plan: Plan, as_json: bool) -> None:
    """A plan as lines for people, or as JSON."""
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(plan), ensure_ascii=False))
        return
    click.echo(f"method          {plan.method}")
    click.echo(f"rows expected   {plan.rows:,}")
    click.echo(f"rho to spend    {plan.rho:.6g}")
    click.echo(f"queries         {plan.queries:,}")
    click.echo(f"memory          about {plan.memory / 2**20:,.1f} MiB")
    click.echo(f"time            about {plan.seconds:,.1f} s")
    click.echo(f"expected error  {plan.expected_error:.4f} (mean total variation from noise alone)")
    for step in plan.steps:
        numbers = ", ".join(f"{k} {_short(v)}" for k, v in step.items() if k != "step")
        click.echo(f"step            {step.get('step')}: {numbers}")
    for note in plan.notes:
        click.echo(f"note            {note}")
    click.echo(f"smaller         {plan.smaller}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
