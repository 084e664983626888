"""The three root folders are one package, and nothing called "games" is installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("oracles", "games", "synthesis")

pytestmark = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").exists(), reason="the tests run beside an installed copy"
)


def packages_on_disk() -> set[str]:
    """Every folder under the three roots that has an ``__init__.py``."""
    found = (init.parent for folder in FOLDERS for init in (ROOT / folder).rglob("__init__.py"))
    return {"saddlesynth." + ".".join(path.relative_to(ROOT).parts) for path in found}


def test_every_sub_package_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert set(settings["packages"]) == packages_on_disk()


def test_nothing_called_games_is_installed() -> None:
    names = (distribution("saddlesynth").read_text("top_level.txt") or "").split()
    assert names == ["saddlesynth"]


def test_each_root_folder_is_typed() -> None:
    assert all((ROOT / folder / "py.typed").exists() for folder in FOLDERS)


HEAVY = "pandas opendp ortools pydantic pulp cvxpy highspy sklearn matplotlib pyarrow".split()


@pytest.mark.parametrize(
    "code",
    [
        "import saddlesynth.synthesis",
        "import saddlesynth.synthesis.methods, saddlesynth.synthesis.base",
        "from saddlesynth.synthesis.cli import run; assert run(['--help']) == 0",
        "from saddlesynth.synthesis.cli import run; assert run(['synthesize', '--help']) == 0",
    ],
)
def test_heavy_packages_wait_until_they_are_needed(code: str) -> None:
    script = f"{code}\nimport sys; print(*(set(sys.modules) & set({HEAVY})), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (0, "")
