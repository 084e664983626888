"""The command line.  Sub-commands are imported only when they are called (``COMMANDS``)."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module
from typing import Any, TextIO

import click

from saddlesynth.synthesis.errors import DataWarning, SaddlesynthError

# One row a command: name -> (module:attribute, what --help says).
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "From an embedded table to a report, in about a minute."),
    "synthesize": ("synthesize:synthesize", "From a private table to a release folder."),
    "fit": ("synthesize:fit", "The same without rows: ledger, marginals, model."),
    "plan": ("synthesize:plan", "What a run would do and cost; reads no data, spends nothing."),
    "fit-marginals": (
        "fit_marginals:fit_marginals",
        "Rows from noisy marginals made elsewhere; no private data, no charge.",
    ),
    "sample": ("releases:sample", "Make rows from a release."),
    "marginals": ("releases:marginals", "Counts with standard errors from a release."),
    "ledger": ("releases:ledger", "Show a release's privacy ledger and add it up again."),
    "evaluate": ("evaluate:evaluate", "Compare synthetic with real rows (not private)."),
    "schema": ("schema:schema", "Draft, check and import schemas."),
    "play": ("play:play", "Play a game on a toy or public table, round by round."),
    "methods": ("methods:methods", "Methods and solvers that can be used here."),
    "theory": ("theory:theory", "Bounds on the error of marginal-based synthesis."),
    "oracle": ("oracle:oracle", "Solve, make, export and race integer programs."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        return getattr(import_module(f"{__name__}.{module}"), attribute)  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from saddlesynth.synthesis.methods import unknown

            raise click.UsageError(unknown("command", args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="saddlesynth")
def cli() -> None:
    """Differentially private synthetic tables, computed by optimisation.

    \b
    Try it:    saddlesynth demo
    Your data: saddlesynth synthesize people.csv --epsilon 1 --out release

    Exit codes: 0 fine, 2 usage or input, 3 budget, 4 solver, 5 size, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; ends the process with an exit code, never with a traceback."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # UTF-8 whatever the locale says
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(run(arguments))


def _open_closed_streams() -> None:
    """Lead standard streams that the caller closed to nowhere, lest a file takes their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))


def run(arguments: list[str] | None) -> int:
    """Run one command; returns the exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _warn
            result = cli.main(arguments, prog_name="saddlesynth", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2: the message is the help
            click.echo(error.format_message(), err=True)
            return error.exit_code
        path = error.ctx.command_path if error.ctx else "saddlesynth"
        return _complain(f"{error.format_message()} See '{path} --help'", error.exit_code)
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted; nothing half-written is left", 130)
    except SaddlesynthError as error:
        return _complain(str(error), error.exit_code)
    except SystemExit:  # how click answers a reader that has gone, as in "| head": all is well
        return 0
    except MemoryError:
        return _complain("out of memory; use fewer rows, values or bins", 5)
    except OSError as error:
        full = error.errno == errno.ENOSPC
        advice = (
            "; free some, or choose another --out: nothing half-written is left" if full else ""
        )
        where = error.filename or ("writing the output" if full else "input or output")
        return _complain(f"{where}: {error.strerror}{advice}", 2)
    except Exception as error:
        if os.environ.get("SADDLESYNTH_DEBUG"):
            raise
        return _complain(
            f"internal error ({type(error).__name__}); run again with SADDLESYNTH_DEBUG=1 for "
            "the place, and please report it",
            1,
        )


def _complain(message: str, code: int) -> int:
    click.echo("Error: " + " ".join(message.split()), err=True)
    return code


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Tell what is worth telling about the data; commands say themselves what is not private."""
    if issubclass(category, DataWarning):
        click.echo(f"Warning: {message}", err=True)
