"""What can be asked of a release folder: ``sample``, ``marginals``, ``ledger``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from saddlesynth.synthesis.cli.options import COUNT, FORCE, FORMAT, JSON, QUIET, RELEASE, SEED_RANGE
from saddlesynth.synthesis.cli.talk import say
from saddlesynth.synthesis.errors import BudgetError


@click.command(short_help="Make rows from a release.")
@RELEASE
@click.option("--rows", type=COUNT, help="[default: about as many as were fitted]")
@click.option("--seed", type=SEED_RANGE, help="The same seed makes the same rows.")
@click.option("--out", required=True, help="File to write; - for standard output.")
@FORMAT
@FORCE
@QUIET
def sample(
    release: Path,
    rows: int | None,
    seed: int | None,
    out: str,
    format: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Make rows from the release folder REL; costs no privacy, however many.

    \b
    saddlesynth sample release --rows 1000 --seed 7 --out rows.csv
    saddlesynth sample release --rows 20 --out -
    """
    from saddlesynth.synthesis.release import load

    loaded = load(release)
    for note in loaded.manifest["notes"]:
        say(f"NOTE: {note}", quiet)
    if out == "-":
        loaded.write_rows(sys.stdout.buffer, format or "csv", rows, seed)
        sys.stdout.buffer.flush()
    else:
        loaded.sample_to(out, rows, seed, format=format, force=force)
        say(f"{rows or loaded.default_rows:,} rows: {out}", quiet)


@click.command(short_help="Counts with standard errors.")
@RELEASE
@click.argument("columns")
@click.option("--out", default="-", help="File to write [default: standard output].")
@FORCE
@JSON
def marginals(release: Path, columns: str, out: str, force: bool, as_json: bool) -> None:
    """Counts of all value combinations of COLUMNS (comma-separated), with standard errors.

    \b
    saddlesynth marginals release age,sex
    saddlesynth marginals release '"größe (cm)",città' --out table.csv
    """
    import csv

    from saddlesynth.synthesis.aside import file_aside
    from saddlesynth.synthesis.release import load

    names = next(csv.reader([columns]), [])
    frame = load(release).marginals(names)
    text = (
        frame.to_json(orient="records", force_ascii=False, default_handler=str) + "\n"
        if as_json
        else frame.to_csv(index=False, lineterminator="\n")
    )
    if out == "-":
        click.echo(text, nl=False)
        return
    with file_aside(Path(out), force=force) as scratch:
        scratch.write_text(text, encoding="utf-8")


@click.command(short_help="Show the privacy ledger and add it up again.")
@RELEASE
@JSON
def ledger(release: Path, as_json: bool) -> None:
    """Print every line of the privacy ledger of REL, and add the lines up again.

    \b
    saddlesynth ledger release
    saddlesynth ledger release --json
    """
    from saddlesynth.synthesis.folder import read_ledger, read_manifest
    from saddlesynth.synthesis.plain_words import protects, recomputed

    saved = read_ledger(release)
    again = recomputed(saved)
    if as_json:
        click.echo(json.dumps({**saved, "recomputed": again}, indent=2, ensure_ascii=False))
    else:
        for line in saved["lines"]:
            epsilon = "" if line["epsilon"] is None else f"  epsilon {line['epsilon']:.6g}"
            click.echo(
                f"rho {line['rho']:.6g}{epsilon}  noise {line['noise']:.6g}  "
                f"sensitivity {line['sensitivity']:.6g}  {line['mechanism']}: {line['step']}"
            )
        click.echo(f"rule   {saved['rule']}")
        click.echo(f"about  {protects(read_manifest(release))}")
        click.echo(f"asked  epsilon {saved['asked']['epsilon']}, delta {saved['asked']['delta']}")
        click.echo(f"total  epsilon {again['epsilon']}, delta {again['delta']} (added up again)")
    if again["epsilon"] > saved["asked"]["epsilon"] or again["delta"] > saved["asked"]["delta"]:
        raise BudgetError("the ledger's lines add up to more than was asked")
    if again != saved["total"]:
        raise BudgetError(f"the ledger states {saved['total']}, its lines give {again}")
