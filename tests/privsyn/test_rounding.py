"""Whole numbers keep sums."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.synthesis.privsyn.initialise import independent_columns, whole_counts
from saddlesynth.synthesis.privsyn.rounding import largest_remainder, systematic_rows

VALUES = st.lists(st.floats(0, 100), min_size=1, max_size=20).filter(lambda v: sum(v) > 0.01)


@given(VALUES)
def test_largest_remainder_keeps_the_sum_and_moves_less_than_one(values: list[float]) -> None:
    total = round(sum(values))
    rounded = largest_remainder(np.array(values), total)
    assert rounded.sum() == total
    assert (np.abs(rounded - values) <= 1).all()


@given(VALUES, st.integers(1, 1000))
def test_zero_cells_stay_zero_in_whole_counts(values: list[float], records: int) -> None:
    counts = whole_counts(np.array(values), records)
    assert counts.sum() == records
    assert (counts[np.array(values) == 0] == 0).all()


def test_a_table_without_positive_counts_becomes_even() -> None:
    assert whole_counts(np.array([-1.0, 0.0]), 4).tolist() == [2, 2]


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_systematic_rows_keep_their_totals(rows: int, values: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(values, 0.3), size=rows)
    totals = rng.integers(0, 50, size=rows)
    counts = systematic_rows(shares, totals, rng)
    assert (counts >= 0).all()
    assert counts.sum(axis=1).tolist() == totals.tolist()
    assert (np.abs(counts - shares * totals[:, None]) <= 1 + 1e-9).all()


def test_single_records_are_not_pulled_to_the_most_frequent_value() -> None:
    shares = np.tile([0.6, 0.4], (1000, 1))
    counts = systematic_rows(shares, np.ones(1000, dtype=np.int64), np.random.default_rng(0))
    assert 590 <= counts[:, 0].sum() <= 610


def test_columns_have_their_marginals_in_the_smallest_type() -> None:
    counts = [np.array([5.0, 3.0, 2.0]), np.full(300, 1.0)]
    columns = independent_columns(counts, 600, np.random.default_rng(0))
    assert [c.dtype for c in columns] == [np.uint8, np.uint16]
    assert np.bincount(columns[0]).tolist() == [300, 180, 120]
