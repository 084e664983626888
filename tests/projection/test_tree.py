"""The start at the tree of the strongest pairs, and what keeps a small pool from fooling itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.projection.entropic import (
    Effort,
    Target,
    improve,
    path,
    reachable,
    start,
)
from saddlesynth.synthesis.projection.pool import Cells
from saddlesynth.synthesis.projection.tree import pair_potentials, strongest_tree, tree_start

SIZE, COLUMNS = 6, 8
DOMAIN = Domain(tuple(f"x{i}" for i in range(COLUMNS)), (SIZE,) * COLUMNS)
PAIRS = tuple(itertools.combinations(range(COLUMNS), 2))
CELLS = Cells(DOMAIN, tuple((a,) for a in range(COLUMNS)) + PAIRS)


def chain(rows=200_000, keep=0.97):
    """Each column nearly repeats the one before."""
    g = np.random.default_rng(0)
    codes = g.integers(0, SIZE, (rows, COLUMNS))
    for column in range(1, COLUMNS):
        same = g.random(rows) < keep
        codes[same, column] = codes[same, column - 1]
    return codes


def target(codes, sigma):
    tables = []
    for m in CELLS.marginals:
        table = np.zeros(DOMAIN.shape(m))
        np.add.at(table, tuple(codes[:, a] for a in m), 1 / len(codes))
        tables.append(table.ravel())
    noise = np.random.default_rng(1).normal(0, sigma, len(CELLS))
    return Target(CELLS, np.concatenate(tables) + noise, np.full(len(CELLS), sigma))


@pytest.fixture(scope="module")
def sharp():
    """Little noise: independence is far away."""
    return target(chain(), 2e-4)


def shares(wanted):
    return tuple(
        np.maximum(t, 0) / np.maximum(t, 0).sum() for t in CELLS.split(wanted.fractions)[:COLUMNS]
    )


def independent(wanted, size=10_000):
    return start(CELLS, shares(wanted), size, np.random.default_rng(0))


def test_the_tree_is_the_chain_that_made_the_data(sharp):
    potentials = pair_potentials(sharp, [np.full(SIZE, 1 / SIZE)] * COLUMNS)
    worth = {pair: float(np.ptp(theta)) for pair, theta in potentials.items()}
    edges = {tuple(sorted(e)) for e in strongest_tree(COLUMNS, worth) if e[1] is not None}
    assert edges == {(i, i + 1) for i in range(COLUMNS - 1)}


def test_columns_without_worth_are_roots_of_their_own():
    assert strongest_tree(3, {(0, 2): 1.0}) == [(0, None), (2, 0), (1, None)]


def test_the_tree_fits_at_once_what_independence_cannot_reach(sharp):
    alone = independent(sharp)
    assert reachable(alone, sharp, 30) > sharp.hottest
    tree = tree_start(alone, sharp, np.random.default_rng(2))
    assert sharp.misfit(tree.marginals) < sharp.misfit(alone.marginals) / 100
    assert reachable(tree, sharp, 30) == sharp.hottest
    assert sharp.misfit(improve(tree, sharp, sharp.hottest, 30).marginals) < 2


def test_noise_makes_no_tree():
    wanted = target(np.random.default_rng(0).integers(0, SIZE, (100_000, COLUMNS)), 0.02)
    potentials = pair_potentials(wanted, list(shares(wanted)))
    moved = np.mean([np.mean(theta != 0) for theta in potentials.values()])
    assert moved < 0.01  # 3 standard deviations: 0.27 % of the cells


def test_a_cell_without_records_keeps_its_potential_unless_the_measurement_is_clear():
    stage = independent(target(chain(), 0.05), 60)
    wanted = target(chain(), 0.05)
    fitted = improve(stage, wanted, wanted.hottest, 10)
    unseen = (stage.pool.sizes == 0) & (wanted.fractions < 3 * wanted.sigmas)
    assert unseen.sum() > 10
    assert np.all(fitted.field.potentials[unseen] == 0)
    assert np.any(fitted.field.potentials[~unseen] != 0)


def test_a_fresh_pool_is_refused_where_the_field_learnt_its_pool_by_heart(sharp):
    tree = tree_start(independent(sharp, 1000), sharp, np.random.default_rng(2))
    fitted = improve(tree, sharp, sharp.hottest, 30)  # as many cells as records
    effort, generator = Effort(1000, 2, 30), np.random.default_rng(3)
    (cooled,) = path(fitted, sharp, [sharp.hottest / 2], effort, generator)
    assert cooled.pool is fitted.pool
    noisy = target(chain(keep=0.3), 0.003)
    smooth = improve(independent(noisy), noisy, noisy.hottest, 30)
    (cooled,) = path(smooth, noisy, [noisy.hottest / 2], Effort(10_000, 2, 30), generator)
    assert cooled.pool is not smooth.pool
