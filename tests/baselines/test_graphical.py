"""Graphical models, where mbi is installed: inference, sampling, size, JAX left as it was."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.baselines.graphical import (
    Graphical,
    check_tree,
    fit_graphical,
    tree_size,
)
from saddlesynth.synthesis.errors import InputError, SizeError

pytest.importorskip("mbi", reason="graphical models need mbi: pip install saddlesynth[pgm]")

DOMAIN = Domain(("a", "b", "c", "d", "e"), (2, 3, 2, 4, 2))
CLIQUES = [(0, 1), (1, 2), (2, 3), (4,)]


@pytest.fixture(scope="module")
def joint() -> np.ndarray:
    """A distribution with the independences of the cliques: a chain, and e apart."""
    generator = np.random.default_rng(0)
    chain = generator.dirichlet(np.ones(2))[:, None] * generator.dirichlet(np.ones(3), 2)
    for size in (2, 4):
        given = generator.dirichlet(np.ones(size), chain.shape[-1])
        chain = chain[..., None] * given
    return chain[..., None] * generator.dirichlet(np.ones(2))


@pytest.fixture(scope="module")
def model(joint) -> Graphical:
    return fit_graphical(DOMAIN, measured(joint), 1000.0)


def table_of(joint: np.ndarray, attributes: tuple[int, ...]) -> np.ndarray:
    return joint.sum(axis=tuple(a for a in range(5) if a not in attributes))


def measured(joint: np.ndarray) -> list[Measurement]:
    return [Measurement(c, 1000 * table_of(joint, c), 1.0, 0.5) for c in CLIQUES]


def test_every_marginal_of_the_model_is_that_of_the_joint_distribution(model, joint) -> None:
    wanted = [m for k in (1, 2, 3) for m in itertools.combinations(range(5), k)]
    for attributes, table in zip(wanted, model.marginals(wanted), strict=True):
        np.testing.assert_allclose(table, table_of(joint, attributes), atol=5e-3)
    (turned,) = model.marginals([(3, 0)])
    np.testing.assert_allclose(turned, model.marginals([(0, 3)])[0].T)


def test_records_have_the_marginals_of_the_model(model) -> None:
    records = model.records(20_000, np.random.default_rng(0))
    for pair in itertools.combinations(range(5), 2):
        held = np.zeros(DOMAIN.shape(pair))
        np.add.at(held, tuple(records[:, a] for a in pair), 1 / len(records))
        np.testing.assert_allclose(held, model.marginals([pair])[0], atol=0.012)


def test_a_junction_tree_that_would_explode_is_refused_before_it_is_built() -> None:
    wide = Domain(tuple(f"x{i}" for i in range(30)), (10,) * 30)
    pairs = list(itertools.combinations(range(30), 2))
    assert tree_size(wide, pairs) > 1e20
    with pytest.raises(SizeError, match="joins 30 columns.*Smaller"):
        check_tree(wide, pairs, 16.0)


def test_jax_is_left_as_it_was_found_and_numpys_generator_untouched(joint) -> None:
    import jax

    names = ("jax_enable_x64", "jax_disable_most_optimizations", "jax_enable_compilation_cache")
    before = [jax.config.values[name] for name in names]
    state = np.random.get_state()[1].copy()
    fit_graphical(DOMAIN, measured(joint)[:1], 10.0, iterations=50).records(
        5, np.random.default_rng(0)
    )
    assert [jax.config.values[name] for name in names] == before
    assert (np.random.get_state()[1] == state).all()


def test_a_tree_joins_all_columns_by_pairs(fitted) -> None:
    made = fitted("mst", epsilon=20.0)
    pairs = [m.attributes for m in made.release_.fit.measured if len(m.attributes) == 2]
    assert len(pairs) == 2
    assert {a for pair in pairs for a in pair} == {0, 1, 2}
    assert (0, 1) in pairs  # the pair that depends
    assert made.ledger_.spent_epsilon > 19.9


def test_aim_measures_the_dependent_pair_and_spends_all(fitted) -> None:
    made = fitted("aim", epsilon=20.0)
    assert (0, 1) in [m.attributes for m in made.release_.fit.measured]
    assert 19.9 < made.ledger_.spent_epsilon <= 20.0
    with pytest.raises(InputError, match="rounds is 3.*above 3"):
        fitted("aim", rounds=3)


def test_mwem_plays_its_rounds(fitted) -> None:
    made = fitted("mwem-pgm", rounds=2)
    steps = [line.step.partition(":")[0] for line in made.ledger_.lines]
    assert steps == ["number of rows", "select", "marginal", "select", "marginal"]


def test_chosen_marginals_are_measured_also_with_a_pure_budget(fitted) -> None:
    made = fitted("pgm", workload=[["x0", "x1"], ["x2"]], delta=0.0)
    assert [line.step for line in made.ledger_.lines] == ["marginal: x0 x x1", "marginal: x2"]
    with pytest.raises(SizeError, match="max_model_size"):
        fitted("pgm", workload="all:3", max_model_size=1e-6)
