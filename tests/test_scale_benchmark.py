"""The scale benchmark at size tiny."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "scale.py"


def test_it_prints_a_line_for_each_method_and_size(capsys, monkeypatch):
    arguments = ["--rows", "200", "400", "--methods", "independent"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == ["200", "400"]
    assert all(float(line.split(" | ")[2]) > 0 for line in lines)
