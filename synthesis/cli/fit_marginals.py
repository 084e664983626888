"""Rows from noisy marginals made elsewhere: ``fit-marginals``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON, QUIET, ROWS
from saddlesynth.synthesis.cli.talk import progress_bar, say

PATH = click.Path(path_type=Path)


@click.command("fit-marginals", short_help="Rows from noisy marginals made elsewhere.")
@click.argument("noisy", type=PATH)
@click.option("--schema", type=PATH, required=True, help="Public meaning of the columns.")
@click.option(
    "--via",
    default="projection",
    show_default=True,
    help="How rows are made: projection, gum, mcf, pgm or independent.",
)
@click.option("--out", type=PATH, required=True, help="Release folder to write.")
@ROWS
@click.option("--total", type=int, help="Number of rows, where known [default: estimated].")
@click.option("--seed", type=int, help="The same seed makes the same rows.")
@FORCE
@QUIET
@JSON
def fit_marginals(
    noisy: Path,
    schema: Path,
    via: str,
    out: Path,
    rows: int | None,
    total: int | None,
    seed: int | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a release with synthetic rows from the noisy marginals in NOISY.

    NOISY is a CSV or Parquet file with the columns columns, values, estimate and standard_error,
    one line a cell, as marginals.csv in a release. No private data are read and nothing is charged:
    the release is as private as the marginals are.

    \b
    saddlesynth fit-marginals noisy.csv --schema people.schema.json --out release
    saddlesynth fit-marginals noisy.csv --schema s.json --via gum --rows 1000 --out release
    """
    from saddlesynth.synthesis.baselines.fit_marginals import fit_marginals as fit
    from saddlesynth.synthesis.folder import check_release_destination
    from saddlesynth.synthesis.parameters import check_count

    if rows is not None:
        check_count("rows", rows)
    check_release_destination(out, force=force)
    with progress_bar(quiet) as progress:
        told = {} if progress is None else {"progress": progress}
        release = fit(noisy, schema, via=via, total=total, random_state=seed, **told)  # type: ignore[arg-type]
        release.save(out, force=force, rows=rows)
    if as_json:
        answer = {
            "release": str(out),
            "marginals": release.manifest["facts"]["marginals"],
            "rows": rows or release.default_rows,
        }
        click.echo(json.dumps(answer, ensure_ascii=False))
    for note in release.manifest["notes"]:
        say(f"NOTE: {note}", quiet)
    say(f"release: {out}", quiet)
