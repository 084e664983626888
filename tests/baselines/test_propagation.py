"""Fitting between rounds: the tree's tables by brute force, mbi's optimum, a start from before."""

from __future__ import annotations

import itertools
from functools import reduce
from importlib.util import find_spec

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.baselines.graphical import fit_graphical
from saddlesynth.synthesis.baselines.margins import added, sums
from saddlesynth.synthesis.baselines.propagation import Tree, merge, propagate
from saddlesynth.synthesis.errors import SizeError

DOMAIN = Domain(("a", "b", "c", "d", "e"), (2, 3, 2, 4, 2))
NODES = [(0, 1, 2), (1, 2, 3), (4,)]
MARGINALS = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (4,), (3,)]

needs_mbi = pytest.mark.skipif(
    find_spec("mbi") is None, reason="graphical models need mbi: pip install saddlesynth[pgm]"
)


def table_of(joint: np.ndarray, attributes: tuple[int, ...]) -> np.ndarray:
    return joint.sum(axis=tuple(a for a in range(5) if a not in attributes))


@pytest.fixture(scope="module")
def measured() -> list[Measurement]:
    """Noisy marginals that no distribution has exactly."""
    generator = np.random.default_rng(3)
    joint = 1000 * generator.dirichlet(np.ones(96)).reshape(DOMAIN.sizes)
    tables = [table_of(joint, m) for m in MARGINALS]
    return [
        Measurement(m, t + generator.normal(0, sigma, t.shape), sigma, 0.1)
        for m, t, sigma in zip(MARGINALS, tables, (5, 5, 9, 7, 5, 3, 12), strict=True)
    ]


def loss(measured: list[Measurement], tables: list[np.ndarray]) -> float:
    return sum(
        ((1000 * t - m.counts) ** 2).sum() / m.sigma**2
        for m, t in zip(measured, tables, strict=True)
    )


def test_the_nodes_tables_are_those_of_the_product() -> None:
    generator = np.random.default_rng(0)
    logarithms = [9 * generator.normal(size=DOMAIN.shape(node)) for node in NODES]
    tree = Tree(DOMAIN, NODES)
    whole = reduce(
        np.add,
        [
            own.reshape([DOMAIN.sizes[a] if a in node else 1 for a in range(5)])
            for own, node in zip(logarithms, NODES, strict=True)
        ],
    )
    product = np.exp(whole - whole.max())
    product /= product.sum()
    for node, table in zip(NODES, tree.beliefs(logarithms), strict=True):
        np.testing.assert_allclose(table, table_of(product, node), rtol=1e-9, atol=1e-15)


def test_margins_of_one_table_are_those_taken_one_by_one() -> None:
    axes, shape = (1, 3, 4, 6), (2, 3, 4, 2)
    table = np.random.default_rng(1).random(shape)
    wanted = [m for k in range(5) for m in itertools.combinations(axes, k)]
    found = sums(table, axes, wanted)
    assert set(found) == set(wanted)
    whole = np.zeros(shape)
    for attributes in wanted:
        others = tuple(i for i, a in enumerate(axes) if a not in attributes)
        np.testing.assert_allclose(found[attributes], table.sum(axis=others))
        whole += table.sum(axis=others, keepdims=True)
    np.testing.assert_allclose(added(axes, found), whole)


def test_a_node_whose_values_hardly_ever_meet_the_rest_does_no_harm() -> None:
    tree = Tree(Domain(("a", "b", "c"), (2, 2, 2)), [(0, 1), (1, 2)])
    far = np.array([[0.0, -2000.0], [-2000.0, -2000.0]])
    tables = tree.beliefs([far, far.T])
    assert all(np.isfinite(table).all() for table in tables)
    assert [table.sum() for table in tables] == pytest.approx([1.0, 1.0])


def test_measurements_of_one_marginal_are_averaged_by_inverse_variance() -> None:
    first = Measurement((0,), np.array([10.0, 20.0]), 1.0, 0.5)
    second = Measurement((0,), np.array([20.0, 10.0]), 2.0, 0.125)
    (both,) = merge([first, Measurement((), np.array(31.0), 1.0, 0.1), second])
    np.testing.assert_allclose(both.counts, [12.0, 18.0])
    assert both.sigma == pytest.approx(0.8**0.5)
    assert both.rho == pytest.approx(0.625)


@needs_mbi
def test_the_optimum_is_the_one_that_mbi_finds(measured) -> None:
    ours = propagate(DOMAIN, measured, 1000.0, iterations=3000).model
    theirs = fit_graphical(DOMAIN, measured, 1000.0, iterations=3000)
    own, other = (model.marginals(MARGINALS) for model in (ours, theirs))
    assert loss(measured, own) == pytest.approx(loss(measured, other), rel=0.01)
    for one, two in zip(own, other, strict=True):
        assert np.abs(one - two).sum() < 0.02


@needs_mbi
def test_a_fit_that_starts_from_the_last_one_is_quicker(measured) -> None:
    before = propagate(DOMAIN, measured[:-1], 1000.0, iterations=1000)
    few = [
        loss(
            measured,
            propagate(DOMAIN, measured, 1000.0, b, iterations=8).model.marginals(MARGINALS),
        )
        for b in (before, None)
    ]
    assert few[0] < 0.5 * few[1]


@needs_mbi
def test_a_tree_that_would_be_too_large_is_refused(measured) -> None:
    with pytest.raises(SizeError, match="max_model_size"):
        propagate(DOMAIN, measured, 1000.0, limit=1e-6)
