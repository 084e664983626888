"""The theory's calculator on the command line."""

from __future__ import annotations

import pytest

SETTING = ["--rows", "100000", "--attributes", "6", "--degree", "1", "--epsilon", "1"]


def test_distances_are_those_of_the_formulas(shell):
    found = shell("theory", "distance", *SETTING, "--json").json
    assert found["normalise"]["mean_tv"] == pytest.approx(4 * 2 * 36 / 100_000)
    assert found["full domain, normalise"]["mean_tv"] == pytest.approx(64 / 100_000)
    assert found["normalise"]["tv"] > found["normalise"]["mean_tv"]
    assert set(found) >= {"project", "full domain, project", "any method, at least"}


def test_tables_for_people_name_every_bound(shell):
    out = shell("theory", "distance", *SETTING, "--relation", "replace_one").out
    assert [line.split()[0] for line in out.splitlines()][:2] == ["normalise", "project"]
    assert "mean_tv 0.00576" in out


def test_utility_adds_up(shell):
    found = shell("theory", "utility", "--loss", "hinge", "--distance", "0.1", "--radius", "2",
                  "--regularisation", "0.5", "--synthetic-rows", "1000", "--json").json  # fmt: skip
    assert found["distribution"] == pytest.approx(2 * 3 * 0.1)
    assert found["regularisation"] == pytest.approx(1.0)
    assert found["total"] == pytest.approx(sum(found.values()) - found["total"])


def test_a_simulation_stands_beside_its_bounds(shell):
    found = shell(
        "theory", "simulate", *SETTING, "--runs", "2", "--loss", "logistic", "--json"
    ).json
    for how in ("normalise", "project"):
        row = found[how]
        for measured, bound in (("mean_tv", "bound_tv"), ("mean_l2", "bound_l2")):
            assert 0 < row[measured] < row[bound]
        assert 0 <= row["mean_gap"] < row["bound_gap"]


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_hinge_loss_is_trained_where_its_kinks_stop_the_solver_short(shell, seed):
    setting = "--rows 20000 --attributes 6 --degree 1 --epsilon 1 --loss hinge --runs 3".split()
    assert shell("theory", "simulate", *setting, "--seed", seed).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["distance", *SETTING[:-1], "0"],
        ["distance", *SETTING, "--relation", "both"],
        ["distance", *SETTING, "--failure", "2"],
        ["utility", "--distance", "0.1", "--loss", "zero-one"],
        ["simulate", *SETTING, "--runs", "0"],
        ["simulate", "--rows", "10"],
    ],
)
def test_what_makes_no_sense_ends_with_2_in_one_line(refused, arguments):
    refused("theory", *arguments)
