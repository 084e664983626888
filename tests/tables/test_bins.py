"""Bins tile the range, are a function of the schema, and give back what they took."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.synthesis.bins import FEW_VALUES, FloatBins, IntegerBins

whole = st.integers(-(2**63), 2**63 - 1)


@given(whole, whole, st.integers(1, 200))
def test_equal_integer_bins_tile_the_range_evenly(one: int, other: int, count: int) -> None:
    low, high = min(one, other), max(one, other)
    bins = IntegerBins.equal(low, high, count)
    first, last = bins.first.tolist(), bins.last.tolist()
    assert (first[0], last[-1]) == (low, high)
    assert [end + 1 for end in last[:-1]] == first[1:]
    sizes = [b - a + 1 for a, b in zip(first, last, strict=True)]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1
    assert len(bins) == min(count, high - low + 1)


@given(whole, whole, st.integers(1, 50), st.integers(0, 99))
def test_a_number_drawn_from_an_integer_bin_lies_in_it(one, other, count, seed) -> None:
    bins = IntegerBins.equal(min(one, other), max(one, other), count)
    codes = np.arange(len(bins)).repeat(3)
    drawn = bins.decode(codes, np.random.default_rng(seed))
    assert (bins.encode(drawn) == codes).all()


def test_few_whole_numbers_get_a_bin_each_by_default() -> None:
    assert len(IntegerBins.equal(1, FEW_VALUES, None)) == FEW_VALUES
    assert len(IntegerBins.equal(0, FEW_VALUES, None)) == 32


def test_integers_are_drawn_uniformly_within_the_bin() -> None:
    bins = IntegerBins.from_edges([0, 4, 9])
    drawn = bins.decode(np.ones(60_000, dtype=int), np.random.default_rng(1))
    assert set(drawn) == {4, 5, 6, 7, 8, 9}
    assert np.bincount(drawn)[4:].std() < 300  # 10,000 each; standard deviation 91


def test_integers_beyond_the_ends_are_clipped_without_wrapping() -> None:
    bins = IntegerBins.equal(-5, 2**63 - 1, 3)
    ends = np.array([-(2**63), 2**63 - 1])
    assert bins.encode(ends).tolist() == [0, 2]


floats = st.floats(-1e9, 1e9, allow_nan=False)


@given(floats, floats, st.integers(1, 40), st.integers(0, 99))
def test_a_number_drawn_from_a_float_bin_lies_in_it(one, other, count, seed) -> None:
    low, high = min(one, other), max(one, other)
    if low == high:
        high = float(np.nextafter(low, np.inf))
    bins = FloatBins.equal(low, high, count)
    codes = np.arange(len(bins)).repeat(3)
    drawn = bins.decode(codes, np.random.default_rng(seed))
    assert (bins.encode(drawn) == codes).all()
    assert (drawn >= low).all()
    assert (drawn <= high).all()


@given(
    st.integers(-1000, 1000), st.integers(1, 1000), st.integers(1, 20), st.integers(0, 4),
    st.integers(0, 99),
)  # fmt: skip
def test_numbers_with_decimals_lie_on_the_grid_and_in_their_bin(
    low: int, width: int, count: int, decimals: int, seed: int
) -> None:
    try:
        bins = FloatBins.equal(low, low + width, count, decimals)
    except ValueError as error:
        assert "holds no number" in str(error)
        assert count > width * 10**decimals
        return
    codes = np.arange(len(bins)).repeat(3)
    drawn = bins.decode(codes, np.random.default_rng(seed))
    assert (bins.encode(drawn) == codes).all()
    assert (drawn == np.round(drawn, decimals)).all()


def test_both_ends_of_the_last_float_bin_can_be_drawn() -> None:
    bins = FloatBins(np.array([0.0, 0.5, 1.0]), decimals=1)
    drawn = bins.decode(np.ones(999, dtype=int), np.random.default_rng(0))
    assert set(drawn) == {0.5, 0.6, 0.7, 0.8, 0.9, 1.0}


def test_an_edge_that_is_no_binary_fraction_belongs_to_the_upper_bin() -> None:
    bins = FloatBins(np.array([0.0, 0.07, 0.29, 1.0]), decimals=2)
    assert bins.encode(np.array([0.06, 0.07, 0.28, 0.29])).tolist() == [0, 1, 1, 2]
    assert 0.07 in set(bins.decode(np.ones(999, dtype=int), np.random.default_rng(0)))


@pytest.mark.parametrize(
    ("high", "decimals", "count"), [(1, 1, 10), (9, 0, 9), (5, 1, 32), (0.05, 1, 1), (1, None, 32)]
)
def test_by_default_every_bin_holds_a_number(high: float, decimals: int, count: int) -> None:
    assert len(FloatBins.equal(0, high, None, decimals)) == count


@pytest.mark.parametrize(("high", "decimals"), [(1e9, 15), (1e300, 0)])
def test_decimals_that_do_not_fit_are_refused(high: float, decimals: int) -> None:
    with pytest.raises(ValueError, match="too many"):
        FloatBins.equal(0, high, 4, decimals)
