"""The counting benchmark at size tiny."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "counting.py"


def test_it_counts_every_row_in_each_setting(tmp_path: Path) -> None:
    lines = runpy.run_path(str(SCRIPT))["run"](tmp_path, rows=3000, threads=(1,))
    assert [(line["kind"], line["codes"]) for line in lines] == [
        ("int", "streamed"), ("int", "kept"), ("str", "streamed"), ("str", "kept"),
    ]  # fmt: skip
    assert all(line["rows"] == 3000 and line["MB"] > 0 for line in lines)
    assert not list(tmp_path.iterdir())
