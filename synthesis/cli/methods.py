"""What can be used here."""

from __future__ import annotations

import json

import click

from saddlesynth.synthesis.cli.options import JSON
from saddlesynth.synthesis.methods import METHODS, method


@click.command(short_help="Methods and solvers that can be used here.")
@click.argument("name", required=False)
@JSON
def methods(name: str | None, as_json: bool) -> None:
    """List the methods, or the parameters of the method NAME.

    \b
    saddlesynth methods
    saddlesynth methods independent
    """
    if name:
        found = _parameters(name)
    else:
        found = {known: method(known).summary for known in METHODS}
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, default=str))
        return
    width = max(map(len, found)) + 2
    for key, text in found.items():
        click.echo(f"{key:<{width}}{text}")


def _parameters(name: str) -> dict[str, str]:
    """Parameters of a method with their defaults."""
    return {known: f"default {value!r}" for known, value in method(name).defaults().items()}
