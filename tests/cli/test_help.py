"""Help is quick, complete, and shows an example to copy."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys

import pytest

from saddlesynth.synthesis.cli import COMMANDS, cli, run
from saddlesynth.synthesis.methods import METHODS, method


def command_paths() -> list[tuple[str, ...]]:
    """Every command and sub-command that there is."""
    import click

    found: list[tuple[str, ...]] = []
    context = click.Context(cli)
    for name in COMMANDS:
        found.append((name,))
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            found += [(name, inner) for inner in command.list_commands(context)]
    return found


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_every_command_has_help_with_an_example(shell, path) -> None:
    ran = shell(*path, "--help")
    assert ran.code == 0
    assert f"saddlesynth {path[0]}" in ran.out.partition("\n\n")[2]


def test_help_costs_less_than_half_a_second_of_cpu() -> None:
    script = "from saddlesynth.synthesis.cli import main; main(['--help'])"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


@pytest.mark.parametrize("arguments", [["synthesise"], ["--nonsense"], ["sample"], ["marginals"]])
def test_wrong_usage_ends_with_2_in_one_line(refused, arguments) -> None:
    refused(*arguments)


@pytest.mark.parametrize("arguments", [[], ["schema"], ["oracle"]])
def test_a_group_alone_shows_its_help(shell, arguments) -> None:
    ran = shell(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Commands:" in ran.err


def test_the_version_is_told(shell) -> None:
    from importlib.metadata import version

    assert version("saddlesynth") in shell("--version").out


def test_an_error_of_ours_is_one_line_too(shell, monkeypatch, people) -> None:
    from saddlesynth.synthesis.independent import Independent

    def broken(self, session):
        raise RuntimeError("a private value")

    monkeypatch.setattr(Independent, "_fit", broken)
    out = people.parent / "rel"
    ran = shell("synthesize", people, "--schema", people.parent / "schema.json", "--out", out,
                "--method", "independent")  # fmt: skip
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "private value" not in ran.err
    assert not out.exists()


def test_methods_are_listed_with_their_parameters(shell) -> None:
    assert "independent" in shell("methods").out
    found = shell("methods", "privbayes", "--json").json
    assert found["theta"].startswith("A joint is useful")
    assert found["theta"].endswith("[default: 4.0]")


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_every_method_has_a_sentence_in_its_docstring(name) -> None:
    asked = method(name)
    assert list(asked.meanings()) == list(asked.defaults())
    assert all(meaning.endswith((".", ")")) for meaning in asked.meanings().values())


def test_listing_solvers_says_nothing_else() -> None:
    """HiGHS greets once a process on file descriptor 1, so a fresh process has to be asked."""
    script = "from saddlesynth.synthesis.cli import main; main(['methods', '--solvers', '--json'])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "highs" in json.loads(ran.stdout)
    assert ran.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "synthesize {} --out rel",
        "synthesize {people} --schema {} --out rel",
        "synthesize {people} --config {} --out rel",
        "synthesize {people} --method fem --workload {} --schema {schema} --out rel",
        "synthesize {people} --method privbayes --set network={} --schema {schema} --out rel",
        "fit-marginals {} --schema {schema} --out rel",
        "evaluate {people} {}",
        "sample {} --rows 5 --out rows.csv",
        "ledger {}",
        "schema check {people} --schema {}",
        "schema import {}",
        "oracle solve {}",
        "play {} --public",
    ],
)
def test_a_file_that_is_missing_is_named_in_plain_words(
    refused, people, tmp_path, monkeypatch, arguments
) -> None:
    monkeypatch.chdir(tmp_path)
    known = {"people": people, "schema": people.parent / "schema.json"}
    line = refused(*(part.format("missing.json", **known) for part in arguments.split()))
    assert "missing.json" in line
    assert any(words in line for words in ("no such", "does not exist", "is no file"))
    assert "Errno" not in line


def test_no_module_of_a_command_hides_a_function_of_the_package() -> None:
    """Importing ``cli.x`` sets ``cli.x``: a function of that name would be gone afterwards."""
    from saddlesynth.synthesis import cli as package

    command_paths()  # imports every module
    assert all(callable(getattr(package, name)) for name in ("run", "main", "cli"))


def test_a_full_disk_is_told_with_what_to_do(monkeypatch, capsys) -> None:
    def write(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cli, "main", write)
    assert run(["methods"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: writing the output: No space left") and "free some" in line
