"""Compare synthetic with real rows: ``evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON, QUIET
from saddlesynth.synthesis.cli.talk import progress_bar, say

PATH = click.Path(path_type=Path)


@click.command(short_help="Compare synthetic with real rows (not private).")
@click.argument("real", type=PATH)
@click.argument("synthetic", type=PATH)
@click.option("--schema", type=PATH, help="Meaning of the columns [default: the release's].")
@click.option("--release", type=PATH, help="Release folder: what was measured, and the budget.")
@click.option("--test", type=PATH, help="Real rows that the synthetic table was not made from.")
@click.option(
    "--label", help="Column that classifiers predict [default: the last with few values]."
)
@click.option(
    "--max-marginals",
    type=int,
    default=1000,
    show_default=True,
    help="Sample more k-way marginals.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For random queries.")
@click.option("--out", type=PATH, help="Folder for report.html and evaluation.json.")
@FORCE
@QUIET
@JSON
def evaluate(
    real: Path,
    synthetic: Path,
    out: Path | None,
    seed: int,
    force: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare SYNTHETIC (rows, or a whole release folder) with the REAL rows.

    Uses the real data: the result is NOT differentially private.  Keep it inside; it is never
    written into a release.  Without --schema and --release the columns are read off the tables.

    \b
    saddlesynth evaluate people.csv release --out report
    saddlesynth evaluate people.csv rows.csv --schema people.schema.json --out report
    saddlesynth evaluate train.csv release --test rest.csv --label income --out report
    """
    from saddlesynth.synthesis.evaluate import evaluate as compare
    from saddlesynth.synthesis.report import check_report_destination, write_report

    if out is not None:
        check_report_destination(out, force=force)
    with progress_bar(quiet) as progress:
        found = compare(real, synthetic, random_state=seed, progress=progress, **options)
    page = None if out is None else write_report(found, out, force=force)
    if as_json:
        click.echo(found.to_json(), nl=False)
    elif page is None:
        click.echo(str(found))
    else:
        say(str(found), quiet)
    if page is not None:
        say(f"report: {page}", quiet)
