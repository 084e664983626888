"""The games' benchmarks run at size tiny."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("games.py", ["--games", "fem", "dualquery", "mwem"]),
        ("games_tuning.py", ["crossover"]),
        pytest.param("games_tuning.py", ["mwem"], marks=pytest.mark.slow),
    ],
)
def test_a_benchmark_runs_and_writes_its_lines(script, arguments, tmp_path):
    out = tmp_path / "lines.csv"
    runpy.run_path(str(BENCHMARKS / script))["main"]([*arguments, "--tiny", "--out", str(out)])
    with out.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    errors = [float(line.get("max_error") or line["error"]) for line in lines]
    assert errors and all(0 <= error <= 1 for error in errors)


def test_the_speed_of_fem_is_measured_with_every_oracle():
    main = runpy.run_path(str(BENCHMARKS / "fem_speed.py"))["main"]
    seconds = main(["--tiny"])
    assert "ours" in seconds and any(name.startswith("published") for name in seconds)
    assert all(value > 0 for value in seconds.values())


def test_the_wide_table_is_made_and_run_from_the_command_line():
    script = runpy.run_path(str(BENCHMARKS / "wide.py"))
    assert len(script["sizes"]()) == 48 and sum(script["sizes"]()) == 4427
    (line,) = script["main"](["--tiny"])
    assert 0 <= line["error"] <= 1 and line["memory"] > 0


def test_both_figures_are_drawn_from_what_was_measured(tmp_path):
    lines = tmp_path / "lines.csv"
    games = runpy.run_path(str(BENCHMARKS / "games.py"))["main"]
    games(["--tiny", "--games", "fem", "hdmm-pure", "--out", str(lines)])
    figure = tmp_path / "figures" / "games.svg"
    draw = runpy.run_path(str(BENCHMARKS / "games_figures.py"))["main"]
    draw([str(lines), str(lines), str(figure)])
    drawn = figure.read_text(encoding="utf-8")
    assert "HDMM, Laplace" in drawn and "epsilon" in drawn and "DualQuery" not in drawn
    assert len(drawn) < 100_000
