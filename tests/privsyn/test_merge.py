"""Rare values: merged on noisy counts, told apart again at the end."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.privsyn.merge import Merge, merge_rare

DOMAIN = Domain(("job", "sex"), (6, 2))
JOB = Measurement((0,), np.array([500.0, 20.0, 300.0, -10.0, 28.0, 5.0]), 10.0, 0.005)
SEX = Measurement((1,), np.array([420.0, 423.0]), 10.0, 0.005)


@pytest.fixture
def merge() -> Merge:
    return merge_rare(DOMAIN, [JOB, SEX])


def test_values_below_three_deviations_become_the_last_one(merge: Merge) -> None:
    assert merge.maps[0].tolist() == [0, 2, 1, 2, 2, 2]
    assert merge.coarse.sizes == (3, 2)
    assert merge.merged_values == 4


def test_one_rare_value_is_left_alone() -> None:
    only = Measurement((0,), np.array([500.0, 20.0, 300.0]), 10.0, 0.005)
    assert merge_rare(Domain(("a",), (3,)), [only]).merged_values == 0


def test_a_threshold_of_zero_merges_nothing() -> None:
    assert merge_rare(DOMAIN, [JOB, SEX], threshold=0.0).coarse.sizes == (6, 2)


def test_all_values_rare_leaves_one() -> None:
    small = Measurement((0,), np.array([1.0, -3.0, 2.0]), 10.0, 0.005)
    merge = merge_rare(Domain(("a",), (3,)), [small])
    assert merge.coarse.sizes == (1,)
    assert merge.shares[0] == pytest.approx([1 / 3] * 3)


def test_coarse_counts_are_sums(merge: Merge) -> None:
    assert merge.coarsen(JOB).counts.tolist() == [500.0, 300.0, 43.0]
    assert merge.coarsen(JOB).rho == JOB.rho / 2


def test_expanding_keeps_sums_and_sizes(merge: Merge) -> None:
    coarse = Measurement((1, 0), np.array([[250.0, 150.0, 20.0], [250.0, 150.0, 23.0]]), 1.0, 1.0)
    fine = merge.expand(coarse)
    assert fine.counts.shape == (2, 6)
    assert fine.counts.sum(axis=1) == pytest.approx([420, 423])
    assert fine.counts[:, [1, 3, 4, 5]].sum() == pytest.approx(43)


def test_expanding_a_coarsened_table_gives_its_sums_and_budget_back(merge: Merge) -> None:
    back = merge.expand(merge.coarsen(JOB))
    assert back.counts.sum() == pytest.approx(JOB.counts.sum())
    assert back.rho == pytest.approx(JOB.rho)


def test_even_spread_is_as_published() -> None:
    assert merge_rare(DOMAIN, [JOB, SEX], spread="uniform").shares[0][1] == 0.25


def test_shares_follow_counts_only_beyond_the_noise(merge: Merge) -> None:
    rare = merge.shares[0][[1, 3, 4, 5]]
    assert rare.sum() == pytest.approx(1)
    assert rare[2] > rare[0] > rare[3] > rare[1]  # in the order of the noisy counts
    noise_only = Measurement((0,), np.array([500.0, 12.0, 300.0, 8.0, 10.0, 10.0]), 10.0, 0.005)
    assert merge_rare(DOMAIN, [noise_only, SEX]).shares[0][1] == 0.25


def test_spreading_gives_back_every_value(merge: Merge) -> None:
    coarse = np.repeat([0, 1, 2], [500, 300, 400]).astype(np.uint8)
    job, _ = merge.spread([coarse, np.zeros(1200, dtype=np.uint8)], np.random.default_rng(0))
    counts = np.bincount(job, minlength=6)
    assert counts[[0, 2]].tolist() == [500, 300]
    assert np.abs(counts - 400 * merge.shares[0])[[1, 3, 4, 5]].max() <= 1


def test_a_coarse_cell_is_impossible_only_if_all_its_cells_are(merge: Merge) -> None:
    fine = np.zeros((6, 2), dtype=bool)
    fine[[0, 1, 3], 0] = True
    assert merge.coarse_mask((0, 1), fine)[:, 0].tolist() == [True, False, False]
    fine[[4, 5], 0] = True
    assert merge.coarse_mask((0, 1), fine)[:, 0].tolist() == [True, False, True]


def test_undoing_brings_the_values_back(merge: Merge) -> None:
    assert merge.undo([0]).coarse.sizes == (6, 2)
    assert merge.undo([1]).coarse.sizes == (3, 2)
