"""Run the command line in this process, as a shell would see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from saddlesynth.synthesis.cli import run

SCHEMA = {
    "columns": {
        "sex": {"type": "categorical", "values": ["F", "M"]},
        "age": {"type": "integer", "min": 0, "max": 99, "bins": 10},
    }
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shell = Callable[..., Ran]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(shell: Shell) -> Callable[..., str]:
    """Run what must be refused in one line; returns the line."""

    def call(*arguments: object, code: int = 2) -> str:
        ran = shell(*arguments)
        assert (ran.code, ran.out) == (code, "")
        assert ran.err.startswith("Error: ")
        assert ran.err.count("\n") == 1
        return ran.err

    return call


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table and, beside it, its schema."""
    rows = [f"{'FM'[i % 2]},{i % 90}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age", *rows]) + "\n")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path / "people.csv"


@pytest.fixture
def release(shell: Shell, people: Path) -> Path:
    folder = people.parent / "rel"
    ran = shell("synthesize", people, "--schema", people.parent / "schema.json", "--out", folder)
    assert ran.code == 0, ran.err
    return folder
