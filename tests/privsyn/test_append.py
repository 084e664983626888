"""Stripping, appending, and components."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.synthesis.privsyn.append import Stripped, append, components, strip
from saddlesynth.synthesis.privsyn.build import build_pool
from saddlesynth.synthesis.privsyn.gum import Updating


def exact(attributes: tuple[int, ...], counts: np.ndarray) -> Measurement:
    return Measurement(attributes, np.asarray(counts, dtype=np.float64), 1.0, 1.0)


def margins(joint: np.ndarray, marginals: list[tuple[int, ...]]) -> list[Measurement]:
    return [exact(m, np.einsum(joint, range(joint.ndim), list(m))) for m in marginals]


def test_a_forest_leaves_nothing_for_gum() -> None:
    core = strip([(0, 1), (1, 2), (1, 3), (4, 5)])
    assert core.marginals == ()
    assert len(core.stripped) == 4


def test_a_cycle_stays() -> None:
    triangle = [(0, 1), (1, 2), (0, 2)]
    assert strip(triangle).marginals == tuple(enumerate(triangle))


def test_a_larger_marginal_shrinks_to_what_others_know() -> None:
    core = strip([(0, 1, 2), (1, 3), (2, 3)])
    assert core.stripped == (Stripped(0, (1, 2), 0),)
    assert core.marginals == ((0, (1, 2)), (1, (1, 3)), (2, (2, 3)))


def test_a_shrunken_marginal_inside_another_is_dropped() -> None:
    core = strip([(0, 1, 2), (1, 2, 3), (1, 4), (2, 4), (3, 4)])
    assert [i for i, _ in core.marginals] == [1, 2, 3, 4]


def test_appended_values_follow_the_conditional_of_their_group() -> None:
    rng = np.random.default_rng(0)
    pool = [rng.integers(2, size=4000, dtype=np.uint8), np.zeros(4000, dtype=np.uint8)]
    append(pool, Stripped(1, (0,), 0), np.array([[9.0, 1.0, 0.0], [0.0, 5.0, 5.0]]), rng)
    for group, shares in ((0, [0.9, 0.1, 0.0]), (1, [0.0, 0.5, 0.5])):
        drawn = np.bincount(pool[1][pool[0] == group], minlength=3)
        assert np.abs(drawn - np.array(shares) * drawn.sum()).max() <= 1


def test_a_group_that_the_table_does_not_know_takes_the_whole_column() -> None:
    pool = [np.repeat([0, 1], 100).astype(np.uint8), np.zeros(200, dtype=np.uint8)]
    table = np.array([[30.0, 10.0], [0.0, 0.0]])
    append(pool, Stripped(1, (0,), 0), table, np.random.default_rng(0))
    assert np.bincount(pool[1][100:]).tolist() == [75, 25]


def test_components_join_what_shares_an_attribute() -> None:
    assert components([(5, 6), (0, 1), (2, 3), (1, 2)]) == [{0, 1, 2, 3}, {5, 6}]


@pytest.mark.parametrize("appending", [True, False])
def test_a_tree_is_met_to_within_rounding(appending: bool) -> None:
    joint = np.random.default_rng(1).dirichlet(np.full(3**4, 0.3)).reshape(3, 3, 3, 3) * 1000
    tree = margins(joint, [(0, 1), (1, 2), (1, 3)])
    singles = margins(joint, [(0,), (1,), (2,), (3,)])
    built = build_pool(
        singles, tree, 5000, Updating(), np.random.default_rng(2), append_attributes=appending
    )
    assert built.error < 0.01
    assert built.appended == (3 if appending else 0)


def dependence(first: np.ndarray, second: np.ndarray) -> float:
    """L1 distance of a pair of columns to independence, as a fraction."""
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1 / len(first))
    return float(np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum())


def test_updating_components_apart_keeps_them_independent() -> None:
    rng = np.random.default_rng(3)
    one, other = (rng.dirichlet(np.full(27, 0.3)).reshape(3, 3, 3) for _ in range(2))
    joint = np.multiply.outer(one, other) * 10_000
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    found = {}
    for separate in (True, False):
        built = build_pool(
            margins(joint, [(a,) for a in range(6)]), margins(joint, pairs), 10_000, Updating(),
            rng, separate_and_join=separate,
        )  # fmt: skip
        assert built.components == (2 if separate else 1)
        assert built.error < 0.01
        found[separate] = dependence(built.pool[0], built.pool[3])
    assert found[True] < 0.03
    assert found[True] < found[False]  # duplicates carry the other component's values along
