"""From noisy tables to conditional probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.convex.simplex import project_to_simplex_cvxpy
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.privbayes.joints import conditionals, post_process
from saddlesynth.synthesis.privbayes.network import Node

NOISY = np.array([[6.0, -1.0, 2.0], [3.0, 0.5, -2.0]])


def measured(table=NOISY, attributes=(0, 1)):
    return Measurement(attributes, table, 1.0, 0.5)


def free(where):
    return Constraints(where)


def test_normalising_clips_and_divides(domain):
    where = domain(2, 3)
    (table,), rows = post_process([measured()], where, "normalise", 10.0, free(where))
    assert rows == 10.0
    assert table.counts / 10 == pytest.approx(np.maximum(NOISY, 0) / 11.5)


def test_projecting_is_the_nearest_distribution(domain):
    where = domain(2, 3)
    (table,), _ = post_process([measured()], where, "project", 10.0, free(where))
    nearest = project_to_simplex_cvxpy(NOISY.ravel() / 10)
    assert table.counts.ravel() / 10 == pytest.approx(nearest, abs=1e-6)


@pytest.mark.parametrize("how", ["normalise", "project", "consistent"])
def test_impossible_cells_stay_empty(domain, how):
    where = domain(2, 3)
    rules = Constraints(where, ({0: 0, 1: 0}, {0: 1, 1: 2}))
    (table,), _ = post_process([measured()], where, how, 10.0, rules)
    assert table.counts[0, 0] == table.counts[1, 2] == 0
    assert table.counts.min() >= 0
    assert table.counts.sum() == pytest.approx(10)


@pytest.mark.parametrize("how", ["normalise", "project"])
def test_a_table_of_nothing_but_negatives_becomes_a_distribution(domain, how):
    where = domain(2, 3)
    empty = measured(np.full((2, 3), -5.0))
    (table,), rows = post_process([empty], where, how, None, free(where))
    assert rows == 1.0
    assert table.counts == pytest.approx(1 / 6)


def test_conditionals_divide_by_the_sum_over_the_attribute(domain):
    where = domain(2, 3)
    tables = [measured(np.array([[2.0, 1.0, 1.0], [0.0, 3.0, 3.0]]))]
    network = (Node(0), Node(1, (0,)))
    first, second = conditionals(network, tables, where, free(where))
    assert first == pytest.approx([0.4, 0.6])
    assert second == pytest.approx(np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]))


def test_empty_parents_give_every_value_the_same_chance(domain):
    where = domain(2, 3)
    tables = [measured(np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))]
    network = (Node(0), Node(1, (0,)))
    assert conditionals(network, tables, where, free(where))[1][1] == pytest.approx(1 / 3)
    rules = Constraints(where, ({0: 1, 1: 2},))
    fallback = conditionals(network, tables, where, rules)[1][1]
    assert fallback.tolist() == [0.5, 0.5, 0.0]


def test_axes_follow_the_parents(domain):
    where = domain(2, 3)
    network = (Node(1), Node(0, (1,)))
    table = np.array([[2.0, 1.0, 0.0], [2.0, 3.0, 4.0]])
    _, given_b = conditionals(network, [measured(table)], where, free(where))
    assert given_b == pytest.approx(np.array([[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]))
