"""Figures of gap over time and error over epsilon at size tiny; the frame for other packages."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(script, *arguments, monkeypatch):
    monkeypatch.setattr(sys, "argv", [script, *map(str, arguments)])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return runpy.run_path(str(BENCHMARKS / script), run_name="__main__")


@pytest.fixture
def inputs(tmp_path):
    """A table of four columns, the first two equal."""
    codes = np.random.default_rng(0).integers(0, 3, (400, 4))
    codes[:, 1] = codes[:, 0]
    table, domain = tmp_path / "t.csv", tmp_path / "domain.json"
    np.savetxt(table, codes, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    domain.write_text(json.dumps(dict.fromkeys("abcd", 3)))
    return table, domain


def test_the_gap_closes_and_is_drawn(inputs, tmp_path, capsys, monkeypatch):
    figure = tmp_path / "gap.svg"
    run("gap.py", *inputs, "--columns", 2, 3, "--out", figure, monkeypatch=monkeypatch)
    assert "<svg" in figure.read_text()
    for line in capsys.readouterr().out.splitlines()[2:]:
        misfit, proven = (float(cell) for cell in line.split(" | ")[5:7])
        assert proven <= misfit * (1 + 1e-9) and misfit - proven < 1e-6 * (1 + misfit)


def test_runs_become_a_figure_and_a_table(inputs, tmp_path, capsys, monkeypatch):
    lines, figure = tmp_path / "runs.jsonl", tmp_path / "error.svg"
    run("accuracy.py", *inputs, "--methods", "independent", "--runs", 2, "--epsilon", 1, 2,
        "--json", lines, monkeypatch=monkeypatch)  # fmt: skip
    run("figures.py", lines, "--out", figure, monkeypatch=monkeypatch)
    assert "<svg" in figure.read_text()
    capsys.readouterr()
    run("figures.py", lines, lines, "--table", monkeypatch=monkeypatch)
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[1:4] for row in rows] == [[e, "independent", "2"] for e in "12"]


PEER = "frame.sample(frac=1.0, random_state=seed).to_csv(out, index=False)"


def test_a_peer_runs_in_a_process_of_its_own_on_the_same_metrics(inputs, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import peers

    monkeypatch.setitem(peers.PEERS, "shuffle", PEER)
    lines = tmp_path / "peers.jsonl"
    peers.main([*map(str, inputs), "--peers", "shuffle", "--python", sys.executable,
                "--epsilon", "1", "--json", str(lines)])  # fmt: skip
    (line,) = [json.loads(text) for text in lines.read_text().splitlines()]
    assert (line["table"], line["method"], line["2-way"]) == ("t", "shuffle", 0.0)
    assert line["CPU s"] > 0


def test_a_peer_that_fails_is_no_figure(inputs, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import peers

    monkeypatch.setitem(peers.PEERS, "broken", "raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="broken failed"):
        peers.synthetic("broken", Path(sys.executable), [*map(str, inputs), "1", "0", "0"], "abcd")
