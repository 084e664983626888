"""``play``: a game on a toy or a public table, a round at a time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saddlesynth.synthesis.cli.options import FORCE, QUIET
from saddlesynth.synthesis.cli.talk import say
from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    from saddlesynth.games.toys import Toy
    from saddlesynth.synthesis.query_release.lesson import Playthrough

HEAD = "round   payoff  average   error   bound  epsilon  asked"


@click.command(short_help="Play a game on a toy or public table, round by round.")
@click.argument("table", metavar="TOY|DATA")
@click.option("--public", is_flag=True, help="The table is public: exact payoffs may be shown.")
@click.option("--game", default="fem", show_default=True, help="fem, dualquery, mwem, ...")
@click.option("--rounds", type=int, default=20, show_default=True, help="Rounds to play.")
@click.option("--samples", type=int, help="Records (or drawn queries) a round.")
@click.option("--epsilon", type=float, default=5.0, show_default=True)
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option("--no-noise", is_flag=True, help="The game without privacy noise.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--schema", type=click.Path(path_type=Path), help="Meaning of DATA's columns.")
@click.option("--workload", default="all:2", show_default=True, help="Queries about DATA.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page that steps through it.")
@click.option(
    "--trace", type=click.Path(path_type=Path), help="Write the releasable columns (CSV)."
)
@click.option("--step", is_flag=True, help="Wait for the Enter key after each round.")
@FORCE
@QUIET
def play(table: str, **options: Any) -> None:
    """Play a game round by round, and show payoffs, regrets and the way to equilibrium.

    TOY is coin, colors or forbidden; DATA is a table that everybody may see.

    \b
    saddlesynth play colors --rounds 30
    saddlesynth play forbidden --no-noise --html lesson.html
    saddlesynth play people.csv --public --schema people.schema.json --workload all:2
    """
    made = _playthrough(table, options)
    quiet = options["quiet"]
    _introduce(made, quiet)
    say(HEAD, quiet)
    while made.step() is not None:
        say(_line(made), quiet)
        if options["step"] and click.prompt("", default="", show_default=False, err=True) == "q":
            break
    say(_summary(made), quiet)
    if options["trace"] is not None:
        _write_trace(made, options["trace"], options["force"])
        say(f"trace without private columns: {options['trace']}", quiet)
    if options["html"] is not None:
        from saddlesynth.synthesis.query_release.page import write_lesson

        write_lesson(made, options["html"], force=options["force"])
        say(f"page: {options['html']}", quiet)


def _playthrough(table: str, options: dict[str, Any]) -> Playthrough:
    from saddlesynth.synthesis.query_release.lesson import Playthrough, game_class

    settings: dict[str, Any] = {}
    known = game_class(options["game"]).parameter_names()
    wanted = {name: options["rounds"] for name in ("rounds", "updates")}
    for name, value in {**wanted, "samples": options["samples"]}.items():
        if value is not None and name in known:
            settings[name] = value
    return Playthrough(
        _table(table, options),
        options["game"],
        noise=not options["no_noise"],
        epsilon=options["epsilon"],
        delta=options["delta"],
        random_state=options["seed"],
        **settings,
    )


def _table(table: str, options: dict[str, Any]) -> Toy:
    from saddlesynth.games.toys import TOYS
    from saddlesynth.synthesis.query_release.lesson import public_table

    if table in TOYS:
        return TOYS[table]
    if not Path(table).exists():
        raise InputError(f"{table!r} is neither a file nor a toy; toys are {', '.join(TOYS)}")
    if not options["public"]:
        raise InputError(
            f"play shows exact payoffs of {table}; if everybody may see that table, say --public"
        )
    if options["schema"] is None:
        raise InputError("play of a file needs --schema, the public meaning of its columns")
    return public_table(table, options["schema"], options["workload"])


def _introduce(made: Playthrough, quiet: bool) -> None:
    say(f"{made.table.name}: {made.table.story}", quiet)
    if not made.noise:
        say("without noise: NOT private", quiet)
    matrix, solved = made.matrix(), made.equilibrium()
    if matrix is not None and solved is not None:
        say(f"payoffs (rows: data player, columns: query player)\n{matrix}", quiet)
        rows = zip(matrix.record_names(), solved.data_mix, strict=True)
        best = ", ".join(f"{name} {share:.3f}" for name, share in rows)
        say(f"value {solved.value:.4f}; the data player's optimal mix: {best}", quiet)


def _line(made: Playthrough) -> str:
    from saddlesynth.synthesis.query_release.lesson import in_words

    last, exact = made.rounds[-1], made.exact[-1]
    asked = in_words(last.queries, made.table.domain.names, made.table.labels)
    asked = asked if len(asked) <= 60 else asked[:57] + "..."
    return (
        f"{last.number:5d}  {exact.payoff:+7.3f}  {exact.mean_payoff:+7.3f}  "
        f"{exact.mean_error:6.3f}  {made.table.value + exact.gap:6.3f}  "
        f"{made.spent_now:7.3f}  {asked}"
    )


def _summary(made: Playthrough) -> str:
    if not made.exact:
        return "no round was played"
    exact = made.exact[-1]
    return (
        f"after {len(made.rounds)} rounds the average play is off by at most "
        f"{exact.mean_error:.3f}; regrets {exact.data_regret:+.3f} (data player) and "
        f"{exact.query_regret:+.3f} (query player) promise {made.table.value + exact.gap:.3f}"
    )


def _write_trace(made: Playthrough, path: Path, force: bool) -> None:
    from saddlesynth.synthesis.aside import file_aside

    with file_aside(path, force=force) as scratch:
        made.save(scratch)
