"""oracles <- games <- synthesis: each room imports only itself and those to its left."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "oracles": {"oracles"},
    "games": {"oracles", "games"},
    "synthesis": {"oracles", "games", "synthesis"},
}
# What a layer must never touch, by top-level module.
FORBIDDEN = {
    "oracles": {"pandas", "pyarrow", "opendp", "click"},
    "games": {"pandas", "pyarrow", "click", "ortools", "pulp", "cvxpy", "highspy"},
    "synthesis": set(),
}
FILES = [p for layer in ALLOWED for p in sorted((ROOT / layer).rglob("*.py"))]

pytestmark = pytest.mark.skipif(not FILES, reason="the tests run beside an installed copy")


def imported(source: str) -> Iterator[str]:
    """Dotted names of everything a module imports, wherever in it; relative imports as ``.``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "."
            elif node.module == "saddlesynth":
                yield from (f"saddlesynth.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def wrong_imports(source: str, layer: str) -> list[str]:
    wrong = []
    for name in imported(source):
        head, _, rest = name.partition(".")
        if head == "saddlesynth":
            if rest.split(".")[0] not in ALLOWED[layer]:
                wrong.append(name)
        elif head in FORBIDDEN[layer] | set(ALLOWED) | {"tests", "benchmarks"} or name == ".":
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_leftwards(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    assert wrong_imports(path.read_text(encoding="utf-8"), layer) == []


@pytest.mark.parametrize(
    "source",
    [
        "from saddlesynth.synthesis.errors import InputError",
        "from saddlesynth import synthesis",
        "import games",
        "def f():\n    import pandas as pd",
        "from . import base",
    ],
)
def test_a_wrong_import_would_be_found(source: str) -> None:
    assert wrong_imports(source, "games")


def test_privacy_noise_is_drawn_in_one_place() -> None:
    """Only mechanisms.py talks to OpenDP's samplers; conversion.py uses its conversion."""
    users = {
        str(path.relative_to(ROOT))
        for path in FILES
        if any(name.split(".")[0] == "opendp" for name in imported(path.read_text("utf-8")))
    }
    assert users <= {"games/privacy/mechanisms.py", "games/privacy/conversion.py"}
