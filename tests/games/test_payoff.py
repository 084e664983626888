"""Queries as blocks of marginals, payoffs, and the three toys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.games.equilibrium import solve
from saddlesynth.games.payoff import all_records, max_error, payoff_matrix, payoffs
from saddlesynth.games.query_class import Block, Kind, QueryClass
from saddlesynth.games.toys import TOYS, toy
from saddlesynth.oracles.domain import Domain

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
KINDS = st.lists(st.sampled_from(list(Kind)), min_size=2, max_size=2)


def _records(seed, rows=25):
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(size, size=rows) for size in DOMAIN.sizes], axis=1)


@given(KINDS, st.permutations([0, 1, 2]), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_answers_by_tables_equal_answers_one_query_at_a_time(kinds, order, seed):
    workload = QueryClass(DOMAIN, (Block(tuple(order[:2]), tuple(kinds)), Block(tuple(order[2:]))))
    records = _records(seed)
    flat = np.concatenate([table.ravel() for table in workload.answers_on(records)])
    for i in range(workload.size):
        assert workload.query(i).evaluate(records).mean() == pytest.approx(flat[i])
        negation = workload.query(workload.size + i).evaluate(records).mean()
        assert negation == pytest.approx(1 - flat[i])


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_payoff_is_antisymmetric_in_data_and_play(seed):
    workload = QueryClass.of(DOMAIN, [(0, 1), (2,)])
    one, two = (workload.answers_on(_records(seed + i)) for i in (0, 1))
    for forth, back in zip(payoffs(workload, one, two), payoffs(workload, two, one), strict=True):
        np.testing.assert_allclose(forth, -back)


def test_relabelling_attributes_changes_no_error():
    order = [2, 0, 1]
    swapped = Domain(tuple(DOMAIN.names[a] for a in order), tuple(DOMAIN.sizes[a] for a in order))
    data, play = _records(1), _records(2)
    here = QueryClass.of(DOMAIN, [(0, 2)])
    there = QueryClass.of(swapped, [(1, 0)])
    assert max_error(here, here.answers_on(data), here.answers_on(play)) == pytest.approx(
        max_error(there, there.answers_on(data[:, order]), there.answers_on(play[:, order]))
    )


def test_a_weight_scales_the_payoff_of_its_block():
    half = QueryClass(DOMAIN, (Block((0,), weight=0.5),))
    full = QueryClass.of(DOMAIN, [(0,)])
    data, play = full.answers_on(_records(1)), full.answers_on(_records(2))
    assert max_error(half, data, play) == pytest.approx(max_error(full, data, play) / 2)


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_has_the_value_it_claims(name):
    game = solve(toy(name).matrix().values)
    assert game.value == pytest.approx(toy(name).value, abs=1e-6)
    assert game.gap < 1e-6


def test_the_colors_are_matched_at_one_point_only():
    np.testing.assert_allclose(solve(toy("colors").matrix().values).data_mix, [1 / 2, 1 / 3, 1 / 6])


def test_the_matrix_prints_as_a_table():
    lines = str(toy("coin").matrix()).splitlines()
    assert lines[0].split()[0] == "face=heads"
    assert lines[1].split()[:3] == ["heads", "-0.250", "+0.250"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: QueryClass(DOMAIN, ()),
        lambda: QueryClass.of(DOMAIN, [(0, 3)]),
        lambda: Block((0, 0)),
        lambda: Block((0,), weight=0.0),
        lambda: Block((0,), weight=1.5),
        lambda: Block((0, 1), (Kind.CELL,)),
        lambda: all_records(Domain(("a", "b"), (2000, 2000))),
        lambda: payoff_matrix(
            QueryClass.of(Domain(("a",), (2000,)), [(0,)]),
            [np.zeros(2000)],
            np.zeros((2000, 1), dtype=int),
        ),
        lambda: toy("chess"),
    ],
)
def test_what_does_not_fit_is_refused(make):
    with pytest.raises(ValueError, match=r"\d|unknown|at least|only once"):
        make()
