"""Theta-usefulness by hand, maximal sets of parents by brute force, the cap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.synthesis.privbayes.candidates import (
    Limits,
    binary_degree,
    candidates,
    crowded,
    growing,
    maximal_sets,
    random_chain,
    single_parents,
    useful,
)
from saddlesynth.synthesis.privbayes.spending import Share

NO_LIMIT = Limits(1e9, 99, 1000)


def laplace(epsilon, l1=2):
    return Share(epsilon, True, l1, 1.0)


@pytest.mark.parametrize(
    "n, epsilon, degree",
    [
        # d = 16, theta = 4, replace-one: the largest k with n epsilon >= 4 (16 - k) 2^(k+2)
        (21_574, 0.7, 6),  # 15,102 >= 4 * 10 * 256 = 10,240, but < 4 * 9 * 512 = 18,432
        (21_574, 0.07, 2),  # 1,510 >= 4 * 14 * 16 = 896, but < 4 * 13 * 32 = 1,664
        (1000, 0.35, 0),  # 350 < 4 * 15 * 8 = 480
        (480, 1.0, 1),  # 480 = 480
    ],
)
def test_the_binary_rule_on_hand_worked_cases(n, epsilon, degree):
    assert binary_degree(16, n, laplace(epsilon), theta=4.0) == degree


def test_a_private_number_of_rows_halves_the_noise_of_the_binary_rule():
    """Add/remove has sensitivity 1: what n records allow under it, 2 n allow under replace-one."""
    for n in (300, 1000, 5000, 40_000):
        one = binary_degree(12, n, laplace(0.5, l1=1), 4.0)
        assert one == binary_degree(12, 2 * n, laplace(0.5, l1=2), 4.0)


def test_the_general_rule_on_a_hand_worked_case(domain):
    """n epsilon / (2 d theta) = 4,800 / (2 * 3 * 4) = 200 cells."""
    limits = useful(domain(2, 3, 40), 4800, laplace(1.0), 4.0, NO_LIMIT)
    assert limits.cells == pytest.approx(200)
    assert list(maximal_sets([0, 1], domain(2, 3, 40), 200 / 40, 99)) == [(0,), (1,)]


def test_gaussian_noise_counts_by_its_mean_size(domain):
    """sigma = sqrt(3 / (2 rho)) for three tables of add/remove; E |noise| = sigma sqrt(2/pi)."""
    share = Share(0.015, False, 1, 1.0)
    limits = useful(domain(2, 3, 40), 4800, share, 4.0, NO_LIMIT)
    assert limits.cells == pytest.approx(4800 / (4 * 10 * np.sqrt(2 / np.pi)))


def test_columns_of_one_value_do_not_count(domain):
    with_constant = useful(domain(2, 3, 40, 1), 4800, laplace(1.0), 4.0, NO_LIMIT)
    assert with_constant == useful(domain(2, 3, 40), 4800, laplace(1.0), 4.0, NO_LIMIT)
    assert useful(domain(1, 1), 10, laplace(1.0), 4.0, NO_LIMIT) == NO_LIMIT


@pytest.mark.parametrize("room", [0.5, 1, 2, 5, 6, 11, 12, 24, 100])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 5])
def test_maximal_sets_are_those_of_the_definition(domain, room, most):
    where = domain(3, 2, 2, 4, 5)
    feasible = {
        s
        for size in range(most + 1)
        for s in itertools.combinations(range(5), size)
        if where.cells(s) <= max(1, room)
    }
    expected = {s for s in feasible if not any(set(s) < set(o) for o in feasible)}
    found = list(maximal_sets(range(5), where, room, most))
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_a_random_chain_ends_with_a_maximal_set_and_reaches_all(domain):
    where, generator = domain(3, 2, 2, 4, 5), np.random.default_rng(0)
    every = set(maximal_sets(range(5), where, 12, 3))
    chains = [random_chain(range(5), where, 12, 3, generator) for _ in range(200)]
    assert {chain[-1] for chain in chains} == every
    for chain in chains:
        assert [len(chosen) for chosen in chain] == list(range(len(chain)))
        assert all(set(a) < set(b) for a, b in itertools.pairwise(chain))


def test_sets_grow_from_the_first_parent_within_the_limits(domain):
    where, limits = domain(*[2] * 8), Limits(16.0, 3, 12)
    found = growing((7, (2,)), range(7), where, limits, np.random.default_rng(0))
    assert found[0] == (7, (2,))
    assert len(found) == len(set(found)) == 12
    for x, parents in found:
        assert x == 7 and 2 in parents and 7 not in parents
        assert len(parents) <= 3 and where.cells((x, *parents)) <= 16
    assert {len(parents) for _, parents in found} == {1, 2, 3}


def test_single_parents_are_those_that_fit(domain):
    where = domain(2, 3, 4, 5)
    pairs = single_parents([0, 1], [2, 3], where, Limits(12.0, 2, 100))
    assert pairs == [(2, (0,)), (2, (1,)), (3, (0,))]
    assert single_parents([0, 1], [2, 3], where, Limits(12.0, 0, 100)) == []


def test_only_wide_tables_are_crowded(domain):
    from saddlesynth.oracles.domain import Domain

    wide = Domain(tuple(f"x{i}" for i in range(40)), (2,) * 40)
    assert crowded(wide, Limits(8.0, 2, 400))
    assert not crowded(wide, Limits(4.0, 1, 400))
    assert not crowded(domain(2, 3, 4), Limits(1e6, 5, 400))
    assert not crowded(domain(1, 1), Limits(1e6, 5, 400))


def test_too_many_candidates_are_capped_at_random(domain):
    where = domain(*[2] * 8)
    limits = Limits(16.0, 3, 20)
    found = candidates(range(6), [6, 7], where, limits, np.random.default_rng(0))
    assert 2 <= len(found) <= 20
    assert len(set(found)) == len(found)
    assert all(len(parents) == 3 and {x} <= {6, 7} for x, parents in found)
    again = candidates(range(6), [6, 7], where, limits, np.random.default_rng(0))
    assert found == again
    everything = candidates(range(6), [6, 7], where, Limits(16.0, 3, 500), np.random.default_rng(0))
    assert len(everything) == 2 * 20  # all sets of 3 out of 6


def test_where_nothing_is_useful_an_attribute_has_no_parents(domain):
    found = candidates([0], [1, 2], domain(4, 5, 6), Limits(7.0, 3, 100), np.random.default_rng(0))
    assert found == [(1, ()), (2, ())]
