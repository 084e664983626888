"""The accuracy benchmark at size tiny."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "accuracy.py"


def test_it_prints_a_line_for_each_method_and_epsilon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=400)
    rows = np.column_stack(
        [first, (first + (rng.random(400) < 0.1)) % 3, rng.integers(2, size=400)]
    )
    table, domain = tmp_path / "table.csv", tmp_path / "domain.json"
    np.savetxt(table, rows, fmt="%d", delimiter=",", header="a,b,c", comments="")
    domain.write_text(json.dumps({"a": 3, "b": 3, "c": 2}))
    arguments = [str(table), str(domain), "--epsilon", "1", "100", "--runs", "2"]
    arguments += ["--methods", "projection", "privsyn", "independent", "--overlap", "--label", "c"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [line[0] for line in lines] == ["| projection"] * 2 + ["| privsyn"] * 2 + [
        "| independent"
    ] * 2
    for loose, tight in (lines[:2], lines[2:4]):
        assert float(tight[3]) < float(loose[3])
