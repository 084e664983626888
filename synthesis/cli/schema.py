"""Schemas: a first draft, a check against the data, import, and help for editors."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON
from saddlesynth.synthesis.cli.talk import say

OUT = click.option("--out", default="-", help="File to write [default: standard output].")
DATA = click.argument("data", type=click.Path(path_type=Path))


@click.group(short_help="Draft, check and import schemas.")
def schema() -> None:
    """The schema says, in public, what the columns of a table mean.

    \b
    saddlesynth schema draft people.csv --out people.schema.json
    saddlesynth schema check people.csv --schema people.schema.json
    """


@schema.command(short_help="Write a first schema, read off the data: not private.")
@DATA
@OUT
@FORCE
def draft(data: Path, out: str, force: bool) -> None:
    """Write a first schema for DATA, to be edited.

    Values and ranges are read off the data, so it is stamped as a draft: a release made with it is
    marked as not private.  Replace them by what is publicly known and remove the stamp.

    \b
    saddlesynth schema draft people.csv --out people.schema.json
    """
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.schema_draft import draft as read_off

    _write(read_off(open_table(data)), out, force)
    say('read off the data: not private. Edit it, then remove the line "draft".')


@schema.command(short_help="List all that does not fit, by column.")
@DATA
@click.option("--schema", "path", required=True, type=click.Path(path_type=Path))
@JSON
def check(data: Path, path: Path, as_json: bool) -> None:
    """List everything in DATA that does not fit the schema: columns and numbers of cells.

    Never shows a cell's content.  Exit code 2 if something does not fit.

    \b
    saddlesynth schema check people.csv --schema people.schema.json
    """
    from saddlesynth.synthesis.errors import DataWarning, SchemaError
    from saddlesynth.synthesis.read import open_table
    from saddlesynth.synthesis.schema import Schema
    from saddlesynth.synthesis.schema_check import check as misfits_of

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        found = misfits_of(open_table(data), Schema.load(path))
    for warning in told:
        say(f"NOTE: {warning.message}")
    if as_json:
        click.echo(json.dumps([vars(misfit) for misfit in found], ensure_ascii=False))
    else:
        for misfit in found:
            click.echo(misfit)
    if found:
        kinds = "1 kind" if len(found) == 1 else f"{len(found)} kinds"
        raise SchemaError(f"{data} does not fit {path}: {kinds} of misfit")
    say(f"{data} fits {path}")


@schema.command("import", short_help="Translate an mbi domain or SDV metadata.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--table", help="Which table, where SDV metadata describe several.")
@OUT
@FORCE
def import_(file: Path, table: str | None, out: str, force: bool) -> None:
    """Translate FILE, an mbi/private-pgm domain or SDV metadata (JSON), into a schema.

    Says what the file does not tell and has to be filled in.

    \b
    saddlesynth schema import metadata.json --table patients --out patients.schema.json
    """
    from saddlesynth.synthesis.errors import InputError, SchemaError
    from saddlesynth.synthesis.schema_files import read_mapping
    from saddlesynth.synthesis.schema_import import import_schema

    try:
        imported = import_schema(read_mapping(file), table)
    except InputError as error:
        raise SchemaError(f"{file}: {error}") from error
    _write(imported.mapping, out, force)
    say(f"from {imported.source}")
    for line in imported.missing:
        say(f"to fill in, {line}")


@schema.command("json-schema", short_help="The JSON Schema of schema files, for editors.")
@OUT
@FORCE
def json_schema(out: str, force: bool) -> None:
    """Write the JSON Schema of schema files; editors complete and check with it.

    \b
    saddlesynth schema json-schema --out saddlesynth.schema.json
    """
    from saddlesynth.synthesis.schema import json_schema as describe

    _write(describe(), out, force)


def _write(mapping: dict[str, Any], out: str, force: bool) -> None:
    from saddlesynth.synthesis.aside import file_aside

    text = json.dumps(mapping, indent=2, ensure_ascii=False) + "\n"
    if out == "-":
        click.echo(text, nl=False)
        return
    with file_aside(Path(out), force=force) as scratch:
        scratch.write_text(text, encoding="utf-8")
