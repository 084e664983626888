"""``oracle generate``: instance files, random or planted or from a game on a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from saddlesynth.synthesis.cli.options import FORCE, QUIET
from saddlesynth.synthesis.cli.oracle import PATH, refusals
from saddlesynth.synthesis.cli.oracle_race import INDEX
from saddlesynth.synthesis.cli.talk import say

if TYPE_CHECKING:
    from saddlesynth.oracles.instances import Instance


@click.command(short_help="Make instances: random, planted, or of a game.")
@click.option(
    "--kind", type=click.Choice(["random", "planted"]), default="random", show_default=True
)
@click.option("--count", type=int, default=10, show_default=True)
@click.option("--attributes", type=int, default=14, show_default=True)
@click.option("--values", type=int, default=10, show_default=True, help="Of each attribute.")
@click.option("--queries", type=int, default=60, show_default=True)
@click.option("--literals", type=int, default=3, show_default=True, help="Of each query.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Mean random cost.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--out", type=PATH, required=True, help="Folder to write.")
@FORCE
@QUIET
def generate(kind: str, count: int, out: Path, force: bool, quiet: bool, **options: Any) -> None:
    """Write a folder of instance files.

    random: queries drawn uniformly, half of them negated, exponential costs.  planted: the optimum
    is known and stands in the file.

    \b
    saddlesynth oracle generate --kind planted --count 5 --queries 200 --out set
    """
    from saddlesynth.synthesis.aside import folder_aside

    with refusals():
        made = list(_made(kind, count, options))
    with folder_aside(out, force=force, marker=INDEX) as folder:
        for name, instance in made:
            (folder / name).write_text(instance.to_json() + "\n", encoding="utf-8")
        index = {"kind": kind, "instances": [name for name, _ in made], **options}
        (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    say(f"wrote {len(made)} instances to {out}", quiet)


def _made(kind: str, count: int, options: dict[str, Any]) -> Iterator[tuple[str, Instance]]:
    from saddlesynth.oracles.generate import Size, planted_instance, random_instance

    if count < 1:
        raise ValueError(f"count is {count}; it must be at least 1")
    size = Size(*(options[name] for name in ("attributes", "values", "queries", "literals")))
    for i, stream in enumerate(np.random.default_rng(options["seed"]).spawn(count)):
        if kind == "planted":
            instance = planted_instance(size, stream)
        else:
            instance = random_instance(size, stream, scale=options["scale"])
        yield f"{kind}-{i:03}.json", instance
