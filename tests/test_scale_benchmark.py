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


def test_a_generated_table_of_other_columns_can_be_used(capsys, monkeypatch):
    arguments = ["--rows", "300", "--columns", "4", "--methods", "independent"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    (line,) = capsys.readouterr().out.splitlines()[2:]
    assert 0 < float(line.rstrip(" |").split(" | ")[-1]) < 1
