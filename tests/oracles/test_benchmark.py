"""The oracle benchmark at size tiny."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "oracles.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the tests run beside an installed copy")
def test_it_prints_fem_and_dual_query_lines_proven_optimal(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--tiny"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    fem, dual_query = capsys.readouterr().out.strip().split("\n\n")
    lines = [line.split(" | ") for line in fem.splitlines()]
    assert lines[2][0] == "| 2-way, round 12" and lines[2][2] == "100%"
    assert len(lines) == 4 and len({len(line) for line in (lines[0], *lines[2:])}) == 1
    assert dual_query.splitlines()[2].startswith("| s = 20, round 2 |")
    assert "| optimal |" in dual_query
