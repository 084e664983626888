"""Queries as arrays agree with queries read one at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions, cell_index, marginal_counts

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
ROWS = st.lists(
    st.dictionaries(st.integers(0, 2), st.integers(0, 1), max_size=3), min_size=1, max_size=6
)


def records(n, seed=0):
    g = np.random.default_rng(seed)
    return np.column_stack([g.integers(size, size=n) for size in DOMAIN.sizes])


@given(ROWS, st.integers(0, 99))
def test_evaluation_is_the_definition(rows, seed):
    flags = np.random.default_rng(seed).random(len(rows)) < 0.5
    found = Conjunctions.of(rows, flags).evaluate(records(7, seed))
    for i, record in enumerate(records(7, seed)):
        for j, row in enumerate(rows):
            holds = all(record[a] == v for a, v in row.items())
            assert found[i, j] == (holds != flags[j])


def test_counts_of_a_marginal_are_the_sums_of_its_cells():
    some = records(50)
    for attributes in [(0,), (2, 0), (0, 1, 2), ()]:
        (table,) = marginal_counts(DOMAIN, [attributes], some)
        cells = Conjunctions.cells(DOMAIN, attributes)
        assert np.array_equal(table.ravel(), cells.evaluate(some).sum(axis=0))
        assert table.shape == DOMAIN.shape(attributes)


def test_cell_index_is_numpys_flat_index():
    some = records(20)
    expected = np.ravel_multi_index((some[:, 2], some[:, 1]), (4, 3))
    assert np.array_equal(cell_index(DOMAIN, (2, 1), some), expected)


def test_concatenation_and_selection_keep_queries():
    one, two = Conjunctions.of([{0: 1}]), Conjunctions.of([{1: 2, 2: 3}, {}], [True, False])
    both = Conjunctions.concatenate([one, two])
    some = records(30)
    expected = np.hstack([one.evaluate(some), two.evaluate(some)])
    assert np.array_equal(both.evaluate(some), expected)
    assert np.array_equal(both.take([2, 0]).evaluate(some), expected[:, [2, 0]])
    assert np.array_equal(both.negate().evaluate(some), ~expected)
    assert len(both.take([])) == 0 and len(Conjunctions.concatenate([])) == 0


@pytest.mark.parametrize(
    ("attributes", "values", "message"),
    [
        ([[0, 0]], [[1, 0]], "only once"),
        ([[-2]], [[0]], "non-negative"),
        ([[0]], [[-1]], "non-negative"),
        ([[0]], [[0, 1]], "one shape"),
    ],
)
def test_malformed_queries_are_refused(attributes, values, message):
    with pytest.raises(ValueError, match=message):
        Conjunctions(np.array(attributes), np.array(values), np.zeros(1, dtype=bool))


@pytest.mark.parametrize(
    ("rows", "weights", "impossible", "message"),
    [
        ([{3: 0}], [1.0], [], "names attribute 3"),
        ([{1: 3}], [1.0], [], "code 3 of attribute 'b'"),
        ([{1: 1}], [1.0, 2.0], [], "weights has shape"),
        ([{1: 1}], [np.nan], [], "weights must be finite"),
        ([], [], [{}], "would forbid every record"),
        ([], [], [{2: 4}], "code 4 of attribute 'c'"),
    ],
)
def test_problems_that_do_not_fit_are_refused(rows, weights, impossible, message):
    with pytest.raises(ValueError, match=message):
        Problem(DOMAIN, Conjunctions.of(rows), weights, impossible)


def test_perturbations_of_another_shape_are_refused():
    problem = Problem(DOMAIN, Conjunctions.of([]), [])
    for bad in (np.zeros(8), np.zeros((2, 10)), np.full(9, np.inf), np.zeros((1, 1, 9))):
        with pytest.raises(ValueError, match="perturbation"):
            problem.check_perturbations(bad)


def test_allowed_means_in_range_and_possible():
    problem = Problem(DOMAIN, Conjunctions.of([]), [], [{0: 1, 2: 3}])
    some = np.array([[1, 0, 3], [1, 0, 2], [0, 3, 0], [0, -1, 0]])
    assert problem.allowed(some).tolist() == [False, True, False, False]
