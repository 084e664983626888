"""What the README tells people to type works as it is written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.cli import cli, run
from saddlesynth.synthesis.methods import METHODS

README = Path(__file__).parent.parent / "README.md"

pytestmark = pytest.mark.skipif(not README.exists(), reason="beside an installed copy")


def blocks(language: str) -> list[str]:
    text = README.read_text("utf-8") if README.exists() else ""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def commands() -> list[str]:
    lines = "\n".join(blocks("bash")).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line.startswith("saddlesynth ")]


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people.csv, as a newcomer would have it."""
    generator = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "sex": generator.choice(["F", "M"], 3000),
            "age": generator.integers(0, 90, 3000),
            "job": generator.choice(["none", "part", "full"], 3000),
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", commands())
def test_every_command_and_option_exists(line: str) -> None:
    words = shlex.split(line)[1:]
    context = click.Context(cli)
    command = cli.get_command(context, words.pop(0))
    while isinstance(command, click.Group):
        command = command.get_command(context, words.pop(0))
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_five_lines_of_shell_work(at_home: Path) -> None:
    for line in next(b for b in blocks("bash") if "people.csv" in b).splitlines():
        assert run(shlex.split(line, comments=True)[1:]) == 0
    assert (at_home / "more.csv").exists()
    assert (at_home / "report" / "report.html").exists()


def test_the_five_lines_of_python_work(at_home: Path) -> None:
    names: dict[str, object] = {"people": pd.read_csv("people.csv")}
    exec(blocks("python")[0], names)
    assert len(names["rows"]) == 1000  # type: ignore[arg-type]
    assert {"estimate", "standard_error"} <= set(names["counts"])  # type: ignore[call-overload]
    assert (at_home / "release-from-python" / "manifest.json").exists()


def test_the_example_of_a_schema_works(tmp_path: Path) -> None:
    (tmp_path / "people.schema.json").write_text(blocks("json")[0])
    rows = [f"{'FM'[i % 2]},{i},none,2024-02-{i % 28 + 1:02},p{i}" for i in range(100)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age,job,visit,person", *rows]) + "\n")
    where = ["--schema", str(tmp_path / "people.schema.json"), "--out", str(tmp_path / "release")]
    assert run(["fit", str(tmp_path / "people.csv"), "--method", "independent", *where]) == 0


def test_every_method_is_named_in_the_table() -> None:
    first_cells = re.findall(r"^\| (`[^|]*`) \|", README.read_text("utf-8"), re.M)
    named = [name for cell in first_cells for name in re.findall(r"`([a-z0-9-]+)`", cell)]
    assert sorted(named) == sorted(METHODS)
