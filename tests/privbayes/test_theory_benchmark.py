"""The theory's figure at size tiny."""

from __future__ import annotations

import csv
import runpy
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "theory.py"


def test_it_draws_a_figure_and_every_measured_distance_is_below_its_bound(
    tmp_path, capsys, monkeypatch
):
    figure, table = tmp_path / "theory.png", tmp_path / "theory.csv"
    arguments = [
        "--attributes", "4", "--degrees", "0", "2", "--rows", "500", "5000", "--runs", "2",
        "--out", str(figure), "--table", str(table),
    ]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert figure.read_bytes().startswith(b"\x89PNG")
    with table.open(encoding="utf-8") as file:
        points = list(csv.DictReader(file))
    assert len(points) == 2 * 2 * 2
    for point in points:
        assert 0 < float(point["measured"]) <= float(point["upper"])
        assert 0 < float(point["full_domain"]) <= float(point["full_domain_upper"])
        assert float(point["lower"]) <= float(point["upper"])
    assert capsys.readouterr().out.count("slope") == 4
