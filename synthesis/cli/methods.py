"""What can be used here."""

from __future__ import annotations

import json

import click

from saddlesynth.synthesis.cli.options import JSON
from saddlesynth.synthesis.methods import METHODS, method


@click.command(short_help="Methods and solvers that can be used here.")
@click.argument("name", required=False)
@click.option("--solvers", is_flag=True, help="The solvers: which work here, how to get others.")
@JSON
def methods(name: str | None, solvers: bool, as_json: bool) -> None:
    """List the methods, or the parameters of the method NAME, or the solvers.

    \b
    saddlesynth methods
    saddlesynth methods independent
    saddlesynth methods --solvers
    """
    if solvers:
        found = _solvers()
    elif name:
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
    """Parameters of a method: what each means, in a sentence, and its default."""
    asked = method(name)
    meanings = asked.meanings()
    return {
        known: f"{meanings.get(known, '')} [default: {value!r}]".strip()
        for known, value in asked.defaults().items()
    }


def _solvers() -> dict[str, str]:
    """Every known oracle: whether it works here, and if not, how to get it."""
    from saddlesynth.oracles.registry import availability

    return {
        row.name: f"{row.what} ({'usable ' + row.version if row.usable else row.how})".strip()
        for row in availability()
    }
