"""The network model against the joint distribution it stands for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.synthesis.privbayes import model as module
from saddlesynth.synthesis.privbayes.model import NetworkModel
from saddlesynth.synthesis.privbayes.network import Node

SIZES = (2, 3, 2, 4)
NETWORK = (Node(2), Node(0, (2,)), Node(3, (0, 2)), Node(1, (3,)))


@pytest.fixture
def model(domain):
    generator = np.random.default_rng(0)
    where = domain(*SIZES)
    tables = []
    for node in NETWORK:
        table = generator.random(where.shape((*node.parents, node.attribute)))
        table[..., 0] *= generator.random(table.shape[:-1]) > 0.3  # some zeros
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return NetworkModel(where, NETWORK, tuple(tables))


@pytest.fixture
def joint(model):
    """Cell by cell, from the definition."""
    table = np.ones(SIZES)
    for cell in np.ndindex(SIZES):
        for node, own in zip(model.network, model.tables, strict=True):
            table[cell] *= own[tuple(cell[a] for a in (*node.parents, node.attribute))]
    return table


def test_marginals_are_those_of_the_joint(model, joint):
    for size in range(5):
        for attributes in itertools.permutations(range(4), size):
            others = tuple(a for a in range(4) if a not in attributes)
            summed = joint.sum(axis=others)
            kept = [a for a in range(4) if a in attributes]
            expected = summed.transpose([kept.index(a) for a in attributes])
            assert model.marginal(attributes) == pytest.approx(expected)


@pytest.mark.statistical  # false with probability 1e-6; the seed is fixed
def test_a_row_has_the_distribution_of_the_joint(model, joint, agrees):
    generator = np.random.default_rng(1)
    seen = np.zeros(SIZES)
    for _ in range(4000):
        (row,) = next(model.sample(1, generator))
        seen[tuple(row)] += 1
    assert agrees(seen, joint)


def test_many_rows_follow_their_parents_closer_than_independent_ones_would(model, joint):
    rows = np.concatenate(list(model.sample(100_000, np.random.default_rng(2))))
    seen = np.zeros(SIZES)
    np.add.at(seen, tuple(rows.T), 1 / len(rows))
    independent = np.sqrt(joint * (1 - joint) / len(rows)).sum()
    assert np.abs(seen - joint).sum() < independent


def test_rows_stream_in_blocks_of_bounded_size(model):
    blocks = [len(b) for b in model.sample(150_000, np.random.default_rng(0))]
    assert sum(blocks) == 150_000
    assert max(blocks) <= 65_536


def test_arrays_say_everything(model, domain):
    arrays = model.to_arrays()
    assert all(isinstance(a, np.ndarray) and a.dtype != object for a in arrays.values())
    again = NetworkModel.from_arrays(domain(*SIZES), arrays)
    assert again.network == model.network
    assert again.marginal((3, 0)) == pytest.approx(model.marginal((3, 0)))


def test_marginals_that_would_need_large_tables_are_simulated(model, joint, monkeypatch):
    monkeypatch.setattr(module, "EXACT_CELLS", 5)
    found = model.marginal((1, 0))
    assert found == pytest.approx(joint.sum(axis=(2, 3)).T, abs=5e-3)
    assert found.sum() == pytest.approx(1)
    assert (model.marginal((1, 0)) == found).all()
    assert (found * module.SIMULATED_ROWS % 1 == 0).all()


def test_attributes_beyond_what_is_asked_are_summed_out_early(domain):
    """A chain of 60 attributes: its joint has 2^60 cells, the tables needed have 4."""
    from saddlesynth.oracles.domain import Domain

    where = Domain(tuple(f"x{i}" for i in range(60)), (2,) * 60)
    stay = np.array([[0.9, 0.1], [0.1, 0.9]])
    network = (Node(0), *(Node(i, (i - 1,)) for i in range(1, 60)))
    chain = NetworkModel(where, network, (np.array([1.0, 0.0]), *[stay] * 59))
    assert chain.marginal((59,))[0] == pytest.approx((1 + 0.8**59) / 2)
    ends = chain.marginal((0, 59))
    assert ends[0] == pytest.approx(chain.marginal((59,)))
