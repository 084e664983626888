"""The demo goes all the way, and says what it spent and found."""

from __future__ import annotations

import json

import pytest


@pytest.mark.slow
def test_the_demo_goes_from_the_embedded_table_to_a_report(shell, refused, tmp_path) -> None:
    ran = shell("demo", "--out", tmp_path / "demo", "--seed", 1)
    assert (ran.code, ran.out) == (0, "")
    for word in ("spent epsilon", "pairs of columns", "range queries", "report.html"):
        assert word in ran.err
    release, report = tmp_path / "demo" / "release", tmp_path / "demo" / "report"
    assert (release / "synthetic.csv").read_text().count("\n") > 40_000
    assert "NOT differentially private" in (report / "report.html").read_text()
    found = json.loads((report / "evaluation.json").read_text())
    assert found["differentially_private"] is False
    assert "exists" in refused("demo", "--out", tmp_path / "demo")
