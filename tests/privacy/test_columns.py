"""Raw columns: formats, histograms and frequent values, at a charge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.columns import ColumnCurator
from saddlesynth.games.privacy.mechanisms import Secure, Seeded, key_threshold

GENEROUS = {"epsilon": 1e9, "delta": 1e-6, "reserved_delta": 5e-7}


def tail(sigma, least):
    """P(Z >= least) for the discrete Gaussian, summed exactly enough."""
    z = np.arange(-math.ceil(40 * sigma) - 5, math.ceil(40 * sigma) + 6)
    log = -0.5 * (z / sigma) ** 2
    return math.fsum(np.exp(log[z >= least])) / math.fsum(np.exp(log))


@pytest.mark.parametrize("sigma", [0.4, 1.0, 2.0, 10.0, 70.5])
@pytest.mark.parametrize("delta", [1e-5, 1e-9, 3e-12])
@pytest.mark.parametrize("keys, largest", [(1, 1), (2, 1), (6, 3)])
def test_new_values_reach_the_threshold_with_probability_at_most_delta(sigma, delta, keys, largest):
    threshold = key_threshold(sigma, delta, keys, largest)
    reached = -math.expm1(keys * math.log1p(-tail(sigma, threshold - largest)))
    assert reached <= delta
    slack = -math.expm1(keys * math.log1p(-tail(sigma, threshold - largest - 3)))
    assert slack > delta or threshold == largest + 2  # not much higher than it has to be


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("k", [1, 4])
def test_thresholds_grow_with_what_a_unit_may_hold(relation, k, columns):
    ledger = Ledger(1.0, 1e-6, relation, rows_per_unit=k, reserved_delta=1e-7)
    curator = ColumnCurator(columns({"x": ["a"]}), ledger, Seeded(np.random.default_rng(0)))
    found = curator.values("v", {"x": 1e-3}, {"x": 1e-8})["x"]
    (line,) = ledger.lines
    assert line.delta == 1e-8
    assert line.noise == found.sigma == pytest.approx(line.sensitivity / math.sqrt(2e-3))
    factor = 2 if relation is Relation.REPLACE_ONE else 1
    assert line.sensitivity == pytest.approx(k * math.sqrt(factor))
    bare = key_threshold(found.sigma, 1e-8, factor * k, k)
    assert found.threshold == bare + math.floor(found.sigma / 10)


def test_frequent_values_are_found_and_rare_ones_are_not(columns):
    cells = ["b"] * 400 + ["a"] * 300 + [f"rare {i}" for i in range(200)] + ["few"] * 20
    ledger = Ledger(**GENEROUS)
    curator = ColumnCurator(columns({"x": cells}), ledger, Secure())
    found = curator.values("v", {"x": 1 / 200}, {"x": 1e-7})["x"]  # sigma 10, threshold near 54
    assert list(found.counts) == ["a", "b"]
    assert found.counts["a"] == pytest.approx(300, abs=80)
    assert 40 < found.threshold < 70


@pytest.mark.statistical  # delta 1e-6: a false alarm in 200 runs has probability 2e-4
def test_a_value_that_occurs_once_is_never_found(columns):
    cells = ["clerk"] * 60 + ["nurse"] * 39 + ["lighthouse-keeper"]
    noise = Seeded(np.random.default_rng(0))
    for _ in range(200):
        ledger = Ledger(5.0, 2e-6, reserved_delta=1e-6)
        curator = ColumnCurator(columns({"x": cells}), ledger, noise)
        found = curator.values("v", {"x": ledger.rho}, {"x": ledger.remaining_delta})["x"]
        assert "lighthouse-keeper" not in found.counts
        assert "clerk" in found.counts
        assert [line.delta for line in ledger.lines] == [1e-6]


def test_lowering_counts_is_undone_in_what_is_released(columns):
    """Without noise a found value has its own count, and the threshold is in the same counts."""

    class Silent(Seeded):
        def gaussian_threshold(self, counts, sigma, threshold):
            return {i: int(c) for i, c in enumerate(counts) if c >= threshold}

    noise = Silent(np.random.default_rng(0))
    curator = ColumnCurator(columns({"x": ["a"] * 5_000}), Ledger(**GENEROUS), noise)
    found = curator.values("v", {"x": 1 / 20_000}, {"x": 1e-10})["x"]
    assert math.floor(found.sigma / 10) == 10
    assert found.counts == {"a": 5_000.0}
    least = ["b"] * int(found.threshold)
    for cells, names in [(least, ["b"]), (least[1:], [])]:
        curator = ColumnCurator(columns({"x": cells}), Ledger(**GENEROUS), noise)
        assert list(curator.values("v", {"x": 1 / 20_000}, {"x": 1e-10})["x"].counts) == names


def test_values_need_a_delta_set_aside(columns):
    ledger = Ledger(1.0, 1e-6)
    curator = ColumnCurator(columns({"x": ["a"]}), ledger, Secure())
    with pytest.raises(BudgetExceeded, match="delta"):
        curator.values("v", {"x": 1e-3}, {"x": 1e-9})
    assert ledger.lines == []


def test_histograms_count_what_lies_between_edges(columns):
    curator = ColumnCurator(
        columns({"x": [-9, 0, 1, 1, 5, 9, 10, 99], "y": [0.5]}), Ledger(**GENEROUS), Secure()
    )
    edges = {"x": np.array([0.0, 1.0, 5.0, 10.0]), "y": np.array([0.0, 1.0])}
    found = curator.histogram("h", edges, {"x": 1e5, "y": 1e5, "unused": 1.0})
    assert found["x"].counts.tolist() == [1, 2, 2]
    assert found["y"].counts.tolist() == [1]
    assert [line.step for line in curator.ledger.lines] == ["h: x", "h: y"]
