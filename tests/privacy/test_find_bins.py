"""From noisy histograms to bins: exact sums on small examples, and laws that always hold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.games.privacy.columns import NoisyCounts
from saddlesynth.synthesis.find_bins import coarse_edges, quantile_edges, refine, sure_range
from saddlesynth.synthesis.find_columns import inclusive


def _noisy(counts, sigma=1.0):
    return NoisyCounts(np.array(counts, dtype=np.float64), sigma)


def test_buckets_cover_every_integer_once():
    edges = coarse_edges(63)
    assert edges == sorted(set(edges))
    assert (edges[0], edges[-1]) == (-(2**63) + 1, 2**63)
    assert {0, 1, 2} <= set(edges)


def test_a_far_bucket_needs_more_than_noise_to_count():
    edges = coarse_edges(4)
    counts = np.zeros(len(edges) - 1)
    counts[edges.index(2)] = 100
    counts[-1] = 4.0  # four standard deviations
    first, past = sure_range(edges, _noisy(counts))
    assert (edges[first], edges[past]) == (2, 4)
    assert sure_range(edges, _noisy(counts, sigma=50.0)) is None
    assert refine(edges, _noisy(counts, sigma=50.0), 1.0) == []


def test_full_buckets_are_cut_finer_than_empty_ones():
    cells = refine([0, 1, 64, 128, 256], _noisy([50, 640, 0, 100]), 1.0)
    widths = {low: high - low for low, high in pairwise(cells)}
    assert widths[0] == 1
    assert widths[1] == 1 and widths[64] == 64
    assert max(w for low, w in widths.items() if low >= 128) <= 8


def test_a_spike_keeps_a_bin_of_its_own():
    edges = quantile_edges([0, 1, 10, 20, 30], _noisy([9_000, 100, 100, 100], 2.0), 10)
    assert edges[:2] == [0, 1]
    inside = quantile_edges([0, 100, 200], _noisy([500, 500]), 4, frequent=[40])
    assert {40, 41} <= set(inside)


def test_bins_share_the_rows_out():
    cells = list(range(0, 1001))
    edges = quantile_edges(cells, _noisy([100] * 1000), 10)
    assert len(edges) == 11
    assert {high - low for low, high in pairwise(edges)} == {100}


def test_bins_hold_more_than_noise():
    edges = quantile_edges(list(range(101)), _noisy([10] * 100, sigma=20.0), 50)
    held = [10 * (high - low) for low, high in pairwise(edges)]
    assert min(held[:-1]) >= 5 * 20 and held[-1] >= 5 * 20 / 2  # the last takes what is left


def test_outer_cells_that_are_all_noise_are_dropped():
    edges = quantile_edges([0, 10, 20, 30, 40], _noisy([2, 500, 500, -1]), 4)
    assert (edges[0], edges[-1]) == (10, 30)


def test_a_thin_spread_tail_is_kept():
    """No cell stands out, their sum does."""
    edges = quantile_edges(list(range(0, 130, 10)), _noisy([500, 500] + [2.5] * 10), 4)
    assert edges[-1] > 60


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=30),
    st.lists(st.floats(-50, 1e5), min_size=30, max_size=30),
    st.integers(1, 40),
    st.sets(st.integers(0, 300), max_size=3),
)
def test_edges_rise_and_stay_within_the_cells(widths, counts, bins, frequent):
    cells = [0, *np.cumsum(widths).tolist()]
    edges = quantile_edges(cells, _noisy(counts[: len(widths)], 10.0), bins, frequent)
    assert len(edges) >= 2 and edges == sorted(set(edges))
    assert cells[0] <= edges[0] and edges[-1] <= cells[-1]
    whole = inclusive(edges)
    assert whole == sorted(set(whole))
    assert (whole[0], whole[-1]) == (edges[0], edges[-1] - 1)


@pytest.mark.parametrize("edges, whole", [([3, 4], [3]), ([3, 4, 5], [3, 4]), ([0, 9], [0, 8])])
def test_the_last_edge_is_the_last_value(edges, whole):
    assert inclusive(edges) == whole
