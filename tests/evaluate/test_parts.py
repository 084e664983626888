"""Grouping of marginals, the noise floor, shares for plots, and schemas read off tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.evaluate import evaluate
from saddlesynth.synthesis.evaluate.floor import noise_floor
from saddlesynth.synthesis.evaluate.marginals import choose, k_way
from saddlesynth.synthesis.evaluate.metrics import NotComputable
from saddlesynth.synthesis.evaluate.read_off import read_off
from saddlesynth.synthesis.evaluate.shares import column_shares
from saddlesynth.synthesis.read import open_table

DOMAIN = Domain(("a", "b", "c"), (2, 2, 2))
REAL = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
MADE = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]])  # a-b is lost, b-c is new


def test_measured_and_other_pairs_are_told_apart_by_hand():
    found = k_way(REAL, MADE, DOMAIN, 2, measured=[(2, 0), (1,)])
    # a-b: real 1/2 0 0 1/2, made 1/4 each: 1/2.  a-c: equal.  b-c: as a-b: 1/2.
    assert [e.tvd for e in found.errors] == [0.5, 0.0, 0.5]
    assert (found.inside.marginals, found.inside.mean) == (1, 0.0)
    assert (found.outside.marginals, found.outside.mean, found.outside.max) == (2, 0.5, 0.5)
    assert (found.mean, found.max, found.max_error) == (pytest.approx(1 / 3), 0.5, 0.25)
    assert found.worst[0].columns == ("a", "b")


def test_a_subset_of_a_measured_marginal_counts_as_measured():
    found = k_way(REAL, MADE, DOMAIN, 2, measured=[(0, 1, 2)])
    assert found.inside.marginals == 3 and found.outside is None


def test_the_ten_worst_marginals_come_worst_first():
    generator = np.random.default_rng(0)
    domain = Domain(tuple(f"x{i}" for i in range(7)), (3,) * 7)
    real, made = (generator.integers(0, 3, (50, 7)) for _ in range(2))
    found = k_way(real, made, domain, 2)
    distances = [e.tvd for e in found.worst]
    assert len(distances) == 10 and distances == sorted(e.tvd for e in found.errors)[::-1][:10]
    assert found.quantile95 == np.quantile([e.tvd for e in found.errors], 0.95)


def test_marginals_that_are_too_large_are_left_out_with_a_note():
    domain = Domain(("a", "b", "huge"), (2, 2, 20_000_000))
    assert choose(domain, 2, 100, 0) == (
        [(0, 1)], ("2 2-way marginals of more than 16,777,216 cells left out",)
    )  # fmt: skip
    with pytest.raises(NotComputable, match="more than"):
        choose(Domain(("huge",), (20_000_000,)), 1, 100, 0)


# ---------------------------------------------------------------------- noise floor
def test_the_floor_is_zero_without_noise_and_grows_with_it():
    floors = [
        noise_floor(REAL, MADE, DOMAIN, [((0, 1), sigma)]).floor for sigma in (1e-9, 0.2, 0.6)
    ]
    assert floors[0] == pytest.approx(0, abs=1e-8)
    assert floors[0] < floors[1] < floors[2]


def test_the_floor_of_a_coin_is_the_mean_absolute_noise_of_half_a_difference():
    """Two cells far from 0: projection halves the noise's difference, E|z1 - z2| / 2 = sigma/√π."""
    domain = Domain(tuple(f"x{i}" for i in range(400)), (2,) * 400)
    rows = np.repeat(np.array([[0], [1]]), 500, axis=0) * np.ones((1, 400), dtype=int)
    floor = noise_floor(rows, rows, domain, [((a,), 20.0) for a in range(400)])
    assert floor.floor == pytest.approx(20 / 1000 / np.sqrt(np.pi), rel=0.1)
    assert floor.achieved == 0


def test_two_measurements_of_one_marginal_count_as_one_of_joint_precision():
    found = noise_floor(REAL, MADE, DOMAIN, [((0, 1), 3.0), ((1, 0), 3.0), ((), 9.0)])
    (row,) = found.rows
    assert row.columns == ("a", "b") and row.sigma == pytest.approx(3 / np.sqrt(2))
    assert row.achieved == 0.5


def test_a_release_that_measured_nothing_has_no_floor():
    with pytest.raises(NotComputable, match="measured no marginal"):
        noise_floor(REAL, MADE, DOMAIN, [((), 1.0)])


# ---------------------------------------------------------------------- shares for plots
def test_many_bins_are_joined_and_many_values_shortened_but_the_distance_stays_exact():
    generator = np.random.default_rng(0)
    domain = Domain(("bins", "values"), (250, 250))
    real, made = (generator.integers(0, 250, (900, 2)) for _ in range(2))
    labels = [[f"v{i}" for i in range(250)]] * 2
    bins, values = column_shares(real, made, domain, labels, [True, False])
    assert len(bins.labels) == 84 and "3 neighbouring bins" in bins.note
    assert len(values.labels) == 100 and values.labels[-1] == "151 others"
    for column, a in ((bins, 0), (values, 1)):
        assert sum(column.real) == pytest.approx(1) == sum(column.synthetic)
        (exact,) = k_way(real[:, [a]], made[:, [a]], Domain(("x",), (250,)), 1).errors
        assert column.tvd == pytest.approx(exact.tvd)


# ---------------------------------------------------------------------- no schema
def frames():
    real = pd.DataFrame(
        {
            "word": ["x", "y", None, "x"],
            "whole": [1, 2, 3, 4],
            "real": [0.5, 1.25, 2.0, 3.0],
            "flag": [True, False, True, True],
            "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-03-02"]),
            "same": [1.5] * 4,
        }
    )
    made = real.assign(word=["x", "z", "z", "y"], whole=[0, 2, 3, 9], real=[0.1, 1, 2, 9.5])
    return real, made


def test_a_schema_read_off_the_tables_holds_every_value_of_both():
    found = evaluate(*frames())
    assert found.validity.valid_share == 1 and found.validity.real_invalid == {}
    assert found.columns[0].labels == ("x", "y", "z", "(missing)")
    assert found.notes[0].startswith("no schema was given")


def test_a_schema_read_off_tables_is_a_draft():
    schema, _ = read_off([open_table(frame) for frame in frames()])
    assert schema.draft
    kinds = {name: column.type for name, column in schema.columns.items()}
    assert kinds == {
        "word": "categorical", "whole": "categorical", "real": "float", "flag": "boolean",
        "day": "datetime", "same": "float",
    }  # fmt: skip


def test_texts_of_csv_files_get_the_meaning_that_all_their_cells_have(tmp_path):
    (tmp_path / "a.csv").write_text(
        "zip,n,ok,day\n00501,7,true,2024-01-05\n10013,,false,2024-01-06\n"
    )
    schema, _ = read_off([open_table(tmp_path / "a.csv")] * 2)
    columns = schema.columns
    assert columns["zip"].values == ["00501", "10013"]
    assert columns["n"].nullable and columns["n"].values == [7]
    assert columns["ok"].true == "true" and columns["day"].max == "2024-01-06"


@pytest.mark.parametrize("values", [[0, 1], [0, 99_999], [0.5, 1.5], [-0.1, 7.0]])
def test_two_numbers_are_told_apart_however_near_or_far(values):
    real, made = (pd.DataFrame({"x": [values[i] for i in order]}) for order in ((0, 1), (1, 1)))
    (column,) = evaluate(real, made).columns
    assert column.tvd == 0.5 and len(column.real) == 2


def test_skewed_numbers_are_binned_by_quantiles():
    skewed = pd.DataFrame({"x": np.concatenate([np.arange(990) / 1000, [1e6] * 10])})
    (column,) = evaluate(skewed, skewed).columns
    assert 30 < len(column.real) < 36 and max(column.real) < 0.06


def test_columns_that_only_one_table_has_are_named_and_not_compared():
    real, made = frames()
    found = evaluate(real, made.drop(columns="day").assign(more=1))
    assert found.validity.missing_columns == ("day",)
    assert found.validity.extra_columns == ("more",)
    assert "day" not in [column.name for column in found.columns]


def test_free_text_is_left_out_with_a_note_and_alone_is_refused():
    words = pd.DataFrame(
        {"text": [f"word {i}" for i in range(1001)], "n": [1, 2, 3] * 333 + [1, 2]}
    )
    found = evaluate(words, words)
    assert [column.name for column in found.columns] == ["n"]
    assert any("left out" in note and "text" in note for note in found.notes)
    with pytest.raises(InputError, match="give a schema"):
        evaluate(words[["text"]], words[["text"]])


def test_the_largest_whole_numbers_do_not_overflow():
    big = pd.DataFrame({"code": [2**63 - 1, 2**63 - 3, -(2**63) + 1], "x": list("abc")})
    assert evaluate(big, big).validity.valid_share == 1
