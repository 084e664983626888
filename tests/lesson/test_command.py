"""The command ``play``: golden playthroughs, what it writes, what it refuses."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from saddlesynth.synthesis.cli import run

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("golden", HERE / "golden.py")
golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(golden)


@pytest.fixture
def shell(capsys):
    def call(*arguments):
        capsys.readouterr()
        code = run(["play", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


@pytest.mark.parametrize(("toy", "game"), golden.NAMES)
def test_a_seeded_play_is_the_golden_one(toy, game):
    """If it may change: ``python tests/lesson/golden.py``, and say in the commit why."""
    expected = (golden.FOLDER / f"{toy}-{game}.txt").read_text("utf-8")
    assert golden.playthrough(toy, game) == expected


def test_a_game_is_told_round_by_round(shell):
    code, out, _ = shell("coin", "--rounds", 3, "--seed", 1)
    assert code == 0
    assert out.count("\nround ") == 3 and "heads      -0.250" in out
    assert "exact value 0.000000" in out and "at most value + gap" in out


def test_json_keeps_released_and_exact_apart(shell):
    code, out, _ = shell("colors", "--rounds", 2, "--seed", 1, "--json")
    scene = json.loads(out)
    assert code == 0 and len(scene["rounds"]) == 2
    assert "payoff" in scene["rounds"][0]["exact"]
    assert not set(scene["rounds"][0]["released"]) & {"payoff", "error", "candidates"}


def test_the_same_seed_writes_the_same_page(shell, tmp_path):
    for name in ("a.html", "b.html"):
        assert shell("forbidden", "--seed", 3, "--quiet", "--out", tmp_path / name)[0] == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_no_noise_says_that_it_is_not_private(shell):
    code, out, _ = shell("coin", "--no-noise", "--rounds", 2)
    assert code == 0 and "not private" in out and "epsilon" not in out


def test_two_bits_are_projected_step_by_step(shell):
    code, out, _ = shell("two-bits", "--game", "projection", "--seed", 5)
    assert code == 0 and "step 1: start at the corner" in out and "this is the projection" in out


def test_a_public_table_of_ones_own_is_played(shell, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("sex,pay\n" + "F,low\nM,high\nM,low\n" * 40)
    page = tmp_path / "people.html"
    code, out, _ = shell(table, "--public", "--rounds", 4, "--seed", 1, "--out", page)
    assert code == 0 and "120 records" in out and page.exists()


def test_stepping_needs_no_key_where_there_is_no_terminal(shell):
    assert shell("coin", "--rounds", 2, "--seed", 1, "--step")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chess",), "no toy"),
        ((__file__,), "--public"),
        (("coin", "--schema", "s.json"), "--schema"),
        (("coin", "--game", "privsyn"), "game"),
        (("coin", "--game", "projection"), "two-bits"),
        (("two-bits", "--game", "fem"), "two-bits"),
        (("coin", "--out", "release"), "never a release"),
        (("coin", "--no-noise", "--out", "rounds.csv"), "nothing is private"),
        (("two-bits", "--out", "rounds.csv"), "no rounds"),
        (("coin", "--rounds", "0"), "rounds is 0"),
        (("coin", "--copies", "0"), "copies is 0"),
        (("coin", "--epsilon", "-1"), "epsilon"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(shell, arguments, said):
    code, out, err = shell(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_help_names_every_game_and_answers_at_once():
    from saddlesynth.synthesis.lesson.games import GAMES

    code = (
        "from saddlesynth.synthesis.cli import run; run(['play', '--help']);"
        "import sys; print({'pandas', 'ortools', 'jinja2', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip().endswith("set()"), done.stdout[-200:]
    assert all(name in done.stdout for name in GAMES)
