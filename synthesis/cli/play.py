"""Walk through a game on a toy or a public table: ``play``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saddlesynth.synthesis.cli.options import FORCE, JSON, QUIET
from saddlesynth.synthesis.cli.talk import say
from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    from saddlesynth.synthesis.lesson import Exhibit, Lesson
    from saddlesynth.synthesis.lesson.polytope import TwoBits

TWO_BITS, PROJECTION = "two-bits", "projection"
COPIES, COPIES_OF_BITS = 100, 4  # with more records the noise on two bits could not be seen
PAGE, TRANSCRIPT = ".html", ".csv"


@click.command(short_help="Walk through a game, round by round.")
@click.argument("table", metavar="TOY|DATA")
@click.option("--public", is_flag=True, help="Everybody may see every row of DATA.")
@click.option(
    "--game", help="fem (default), sepfem, dualquery, dqrs, mwem, pmw; projection for two-bits."
)
@click.option("--rounds", type=int, default=30, show_default=True)
@click.option(
    "--samples", type=int, default=5, show_default=True, help="Records or queries a round."
)
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="For the whole game.")
@click.option("--delta", type=float, default=1e-9, show_default=True)
@click.option("--no-noise", is_flag=True, help="See the game without its noise: not private.")
@click.option(
    "--copies",
    type=int,
    help="Take each record of a toy so often: the same game, but noise matters less "
    f"[default: {COPIES}; two-bits: {COPIES_OF_BITS}].",
)
@click.option("--schema", type=click.Path(path_type=Path), help="Of DATA [default: read off it].")
@click.option("--workload", help="Queries on DATA: all:K, random:N:K:SEED, FILE.json.")
@click.option("--solver", help="The data player's; 'local' shows what a proof buys.")
@click.option("--seed", type=int, help="The same seed plays the same game.")
@click.option("--step", is_flag=True, help="Wait after every round (on a terminal).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="FILE.html: a page to step through. FILE.csv: the rounds as a table.",
)
@FORCE
@QUIET
@JSON
def play(
    table: str,
    public: bool,
    game: str | None,
    no_noise: bool,
    copies: int | None,
    schema: Path | None,
    workload: str | None,
    step: bool,
    out: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Play a game round by round and explain every move.

    TOY is coin, colors or forbidden: tiny tables whose game can be checked by hand; or two-bits,
    for the projection of noisy marginals.  DATA is a table of your own that is public: a lesson
    shows exact numbers.

    \b
    saddlesynth play coin
    saddlesynth play colors --step --seed 1
    saddlesynth play forbidden --game dualquery --no-noise
    saddlesynth play colors --seed 1 --rounds 60 --out lesson.html
    saddlesynth play two-bits --game projection --seed 4 --out polytope.html
    saddlesynth play people.csv --public --rounds 50 --epsilon 2 --out people.html
    """
    _check_out(out, table, no_noise, force)
    solver = options.pop("solver")
    made: Lesson | TwoBits
    if table == TWO_BITS or game == PROJECTION:
        made = _two_bits(table, game, copies, not no_noise, options)
        _show_steps(made, as_json, quiet, step)
    else:
        from saddlesynth.synthesis.lesson import Lesson

        exhibit = _exhibit(table, public, copies, schema, workload)
        chosen = {} if solver is None else {"solver": solver}
        made = Lesson(exhibit, game or "fem", noise=not no_noise, **chosen, **options)
        _show_rounds(made, as_json, quiet, step)
    _write(made, out, force, quiet)


# ---------------------------------------------------------------------- what to play on
def _exhibit(
    table: str, public: bool, copies: int | None, schema: Path | None, workload: str | None
) -> Exhibit:
    """A toy by its name, or a table that was declared public."""
    from saddlesynth.games.toys import TOYS
    from saddlesynth.synthesis.lesson import from_table, from_toy

    if table in TOYS:
        for option, given in (("--schema", schema), ("--workload", workload)):
            if given is not None:
                raise InputError(f"{option} is for tables of your own; toy {table!r} has its own")
        return from_toy(table, COPIES if copies is None else copies)
    if not Path(table).exists():
        toys = ", ".join([*TOYS, TWO_BITS])
        raise InputError(f"{table} is no file, and no toy either; toys are: {toys}")
    if copies is not None:
        raise InputError("--copies is for toys; a table of your own is played as it is")
    return from_table(table, schema, workload, public=public)


def _two_bits(
    table: str, game: str | None, copies: int | None, noise: bool, options: dict[str, Any]
) -> TwoBits:
    from saddlesynth.synthesis.lesson.polytope import two_bits

    if table != TWO_BITS or game not in (None, PROJECTION):
        raise InputError(f"--game {PROJECTION} is shown on {TWO_BITS}, and nothing else there")
    return two_bits(
        copies=COPIES_OF_BITS if copies is None else copies,
        epsilon=options["epsilon"],
        delta=options["delta"],
        seed=options["seed"],
        noise=noise,
    )


# ---------------------------------------------------------------------- on the terminal
def _show_rounds(lesson: Lesson, as_json: bool, quiet: bool, step: bool) -> None:
    from saddlesynth.synthesis.lesson import words
    from saddlesynth.synthesis.lesson.scene import game_scene

    talk = not (as_json or quiet)
    if talk:
        click.echo(words.opening(lesson))
    while (seen := lesson.step()) is not None:
        if talk:
            click.echo(f"\n{words.round_words(lesson, seen)}")
            _wait(step and not lesson.over)
    if talk:
        click.echo(f"\n{words.closing(lesson)}")
    if as_json:
        click.echo(json.dumps(game_scene(lesson), ensure_ascii=False))


def _show_steps(lesson: TwoBits, as_json: bool, quiet: bool, step: bool) -> None:
    from saddlesynth.synthesis.lesson import polytope
    from saddlesynth.synthesis.lesson.scene import polytope_scene

    if as_json:
        click.echo(json.dumps(polytope_scene(lesson), ensure_ascii=False))
    elif not quiet:
        click.echo(polytope.opening(lesson))
        for number in range(1, len(lesson.steps) + 1):
            click.echo(f"\nstep {number}: {polytope.step_words(lesson, number)}")
            _wait(step and number < len(lesson.steps))
        click.echo(f"\n{polytope.closing(lesson)}")


def _wait(wanted: bool) -> None:
    """Until a key is pressed; at once where nobody could press one."""
    if wanted:
        click.pause(info="[a key for more, Ctrl-C to stop]", err=True)


# ---------------------------------------------------------------------- in a file
def _check_out(out: Path | None, table: str, no_noise: bool, force: bool) -> None:
    """Refuse before playing what could not be written."""
    from saddlesynth.synthesis.aside import check_destination

    if out is None:
        return
    if out.suffix not in (PAGE, TRANSCRIPT):
        raise InputError(
            f"--out {out}: play writes a page ({PAGE}) or a transcript ({TRANSCRIPT}), never a "
            "release; 'saddlesynth synthesize' makes those"
        )
    if no_noise and out.suffix == TRANSCRIPT:
        raise InputError(
            "--no-noise: without noise nothing is private, so no transcript to hand out is "
            f"written; write a page ({PAGE}), or play with noise"
        )
    if table == TWO_BITS and out.suffix == TRANSCRIPT:
        raise InputError(f"{TWO_BITS} has no rounds to write as {TRANSCRIPT}; write a {PAGE} page")
    check_destination(out, force=force)


def _write(made: Lesson | TwoBits, out: Path | None, force: bool, quiet: bool) -> None:
    from saddlesynth.synthesis.aside import file_aside
    from saddlesynth.synthesis.lesson import Lesson, render

    if out is None:
        return
    if out.suffix == PAGE:
        page = render(made)
        with file_aside(out, force=force) as aside:
            aside.write_text(page, encoding="utf-8")
    elif isinstance(made, Lesson):
        made.transcript().save(out, force=force)
    say(f"written: {out}", quiet)
