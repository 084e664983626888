"""``oracle generate``: instance files, random or planted or from a game on a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from saddlesynth.synthesis.cli.options import FORCE, QUIET, method_from
from saddlesynth.synthesis.cli.oracle import PATH, refusals
from saddlesynth.synthesis.cli.oracle_race import INDEX
from saddlesynth.synthesis.cli.talk import progress_bar, say
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import METHODS, method, unknown

if TYPE_CHECKING:
    from saddlesynth.oracles.instances import Instance
    from saddlesynth.synthesis.base import Synthesizer

RANDOM = ("random", "planted")


@click.command(short_help="Make instances: random, planted, or of a game.")
@click.argument("data", type=PATH, required=False)
@click.option("--kind", default="random", show_default=True, help="random, planted, or a game.")
@click.option("--count", type=int, default=10, show_default=True)
@click.option("--attributes", type=int, default=14, show_default=True)
@click.option("--values", type=int, default=10, show_default=True, help="Of each attribute.")
@click.option("--queries", type=int, default=60, show_default=True)
@click.option("--literals", type=int, default=3, show_default=True, help="Of each query.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Mean random cost.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="Of a game.")
@click.option("--delta", type=float, default=1e-9, show_default=True, help="Of a game.")
@click.option("--schema", type=PATH, help="Of a game's table; without one it is found privately.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Of a game.")
@click.option("--seed", type=int, help="Repeats; a game then is not private.")
@click.option("--out", type=PATH, required=True, help="Folder to write.")
@FORCE
@QUIET
def generate(
    data: Path | None, kind: str, count: int, out: Path, force: bool, quiet: bool, **options: Any
) -> None:
    """Write a folder of instance files.

    random: queries drawn uniformly, half of them negated, exponential costs.  planted: the optimum
    is known and stands in the file.  A game (fem, sepfem, ...): it is played on the table DATA, and
    COUNT of its problems are kept, from the first to the last.  They hold what the game asked
    and released, so they are as private as its release: (epsilon, delta).

    \b
    saddlesynth oracle generate --kind planted --count 5 --queries 200 --out set
    saddlesynth oracle generate people.csv --kind fem --schema people.schema.json --out set
    """
    from saddlesynth.synthesis.aside import check_destination, folder_aside

    if count < 1:
        raise InputError(f"count is {count}; it must be at least 1")
    if (data is None) != (kind in RANDOM):
        need = "takes no table" if kind in RANDOM else "is played on a table: give DATA"
        raise InputError(f"--kind {kind} {need}")
    check_destination(out, force=force, marker=INDEX)
    with refusals():
        if data is None:
            made = list(_drawn(kind, count, options))
        else:
            made = list(_played(data, kind, count, quiet, options))
    with folder_aside(out, force=force, marker=INDEX) as folder:
        for name, instance in made:
            (folder / name).write_text(instance.to_json() + "\n", encoding="utf-8")
        index = {"kind": kind, "instances": [name for name, _ in made], **_said(data, options)}
        (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    say(f"wrote {len(made)} instances to {out}", quiet)


def _said(data: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """What the index says of how the instances were made; a game's seed is kept to oneself."""
    drawn = ("attributes", "values", "queries", "literals", "scale", "seed")
    names = drawn if data is None else ("epsilon", "delta", "settings")
    return {name: options[name] for name in names}


def _drawn(kind: str, count: int, options: dict[str, Any]) -> Iterator[tuple[str, Instance]]:
    from saddlesynth.oracles.generate import Size, planted_instance, random_instance

    size = Size(*(options[name] for name in ("attributes", "values", "queries", "literals")))
    for i, stream in enumerate(np.random.default_rng(options["seed"] or 0).spawn(count)):
        if kind == "planted":
            instance = planted_instance(size, stream)
        else:
            instance = random_instance(size, stream, scale=options["scale"])
        yield f"{kind}-{i:03}.json", instance


def _asks_oracles(klass: type[Synthesizer]) -> bool:
    """Whether a method is a game whose data player asks an oracle."""
    from saddlesynth.synthesis.query_release.method import GameMethod

    return issubclass(klass, GameMethod) and "solver" in klass.parameter_names()


def _played(
    data: Path, kind: str, count: int, quiet: bool, options: dict[str, Any]
) -> Iterator[tuple[str, Instance]]:
    """Play a game and keep some of its problems, each under its round's first perturbation.

    Privacy.  The fit charges as always; what is kept are released queries and public noise.
    """
    from saddlesynth.oracles.generate import Recorder
    from saddlesynth.oracles.instances import Instance

    games = [name for name in METHODS if _asks_oracles(method(name))]
    if kind not in games:
        raise InputError(unknown("kind", kind, [*RANDOM, *games]))
    defaults = dict(relation="add_remove", unit=None, max_rows_per_unit=1, solver=None)
    defaults |= dict(time_limit=None, engine="local", yes=True, method=kind)
    asked: list[tuple[Any, Any]] = []

    class Recorded(method(kind)):  # type: ignore[misc]
        """The game, with an oracle that tells what it is asked."""

        def _oracle(self) -> Recorder:
            tell = lambda problem, rows: asked.append((problem, rows[0]))  # noqa: E731
            return Recorder(super()._oracle(), tell)

    with progress_bar(quiet) as progress:
        game = method_from({**defaults, **options}, progress)
        Recorded(**game.get_params()).fit(data)
    if not asked:
        raise InputError(f"--kind {kind}: with these settings the game asked no oracle")
    kept = np.unique(np.linspace(0, len(asked) - 1, count).round().astype(int))
    for number in kept:
        problem, perturbation = asked[number]
        yield f"{kind}-{number + 1:04}.json", Instance.of(problem, perturbation)
