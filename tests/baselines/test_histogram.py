"""The histogram of the whole domain: empty cells too, small domains only."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.synthesis.baselines import histogram as module
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.methods import make


def test_empty_cells_get_noise_like_all_others(fitted, frame) -> None:
    """x2 = 3 never occurs; at this epsilon some of its 6 cells come out positive."""
    assert not (frame["x2"] == 3).any()
    held = [
        fitted("histogram", epsilon=0.3, random_state=seed).release_.fit.model.marginal((2,))[3]
        for seed in range(10)
    ]
    assert max(held) > 0


def test_a_domain_above_the_stated_size_is_refused_before_data_are_read(schema, tmp_path) -> None:
    absent = tmp_path / "absent.csv"
    with pytest.raises(SizeError, match="24 cells.*max_cells = 23"):
        make("histogram", schema=schema, max_cells=23).plan(n_rows=10)
    path = tmp_path / "table.csv"
    path.write_text("x0,x1,x2\nnot,read,yet\n")
    with pytest.raises(SizeError, match="max_cells"):
        make("histogram", schema=schema, max_cells=23).fit(path)
    assert not absent.exists()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_it_is_one_measurement_of_every_cell(delta, fitted) -> None:
    made = fitted("histogram", delta=delta)
    (line,) = made.ledger_.lines
    assert line.mechanism == ("discrete Gaussian" if delta else "discrete Laplace")
    assert made.manifest_["facts"]["cells"] == 24


def test_both_ways_to_a_distribution_give_one(fitted) -> None:
    made = {d: fitted("histogram", distribute=d) for d in ("projection", "normalise")}
    tables = {d: m.release_.fit.model.marginal((0, 1, 2)) for d, m in made.items()}
    for table in tables.values():
        assert table.min() >= 0 and table.sum() == pytest.approx(1)
    assert np.count_nonzero(tables["projection"]) <= np.count_nonzero(tables["normalise"])


def test_large_histograms_are_told_in_pairs_with_the_errors_of_their_sums(
    monkeypatch, fitted
) -> None:
    whole = fitted("histogram")
    monkeypatch.setattr(module, "TOLD_WHOLE", 10)
    pairs = fitted("histogram")
    told = pairs.release_.fit.measured
    assert [m.attributes for m in told] == list(itertools.combinations(range(3), 2))
    for columns in (["x0", "x1"], ["x1", "x2"]):
        one, two = whole.marginals(columns), pairs.marginals(columns)
        np.testing.assert_allclose(one["estimate"], two["estimate"])
        np.testing.assert_allclose(one["standard_error"], two["standard_error"])


def test_impossible_records_have_no_share(schema, fitted) -> None:
    schema["impossible"] = [{"x0": 0, "x1": 1}]
    table = fitted("histogram").release_.fit.model.marginal((0, 1))
    assert table[0, 1] == 0


def test_an_unknown_way_is_refused(fitted) -> None:
    with pytest.raises(InputError, match="did you mean 'projection'"):
        fitted("histogram", distribute="projecting")
