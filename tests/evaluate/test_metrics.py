"""Distances of coded tables, against values worked out by hand."""

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.evaluate import metrics
from saddlesynth.synthesis.evaluate.metrics import (
    NotComputable,
    RangeQueries,
    answer_ranges,
    marginal_errors,
    random_marginals,
    range_errors,
    range_queries,
    two_way_tvd,
    workload_error,
)

PAIR = Domain(("a", "b"), (2, 3))
REAL = np.array([[0, 0], [0, 1], [1, 2], [1, 2]])  # a: 1/2 1/2; b: 1/4 1/4 1/2


def test_one_way_errors_are_half_the_l1_distance():
    synthetic = np.array([[0, 0], [0, 0], [0, 0], [1, 2]])  # a: 3/4 1/4; b: 3/4 0 1/4
    a, b = marginal_errors(REAL, synthetic, PAIR, [(0,), (1,)])
    assert (a.tvd, a.max_error, a.cells) == (0.25, 0.25, 2)
    assert (b.tvd, b.max_error, b.cells) == (0.5, 0.5, 3)


def test_two_way_error_sees_a_broken_relation_that_one_way_errors_miss():
    real = np.array([[0, 0], [1, 1]])
    synthetic = np.array([[0, 1], [1, 0]])
    square = Domain(("a", "b"), (2, 2))
    assert [e.tvd for e in marginal_errors(real, synthetic, square, [(0,), (1,)])] == [0, 0]
    assert two_way_tvd(real, synthetic, square).tolist() == [1.0]


def test_tables_of_different_length_are_compared_as_shares():
    synthetic = np.repeat(REAL, 3, axis=0)
    assert two_way_tvd(REAL, synthetic, PAIR).tolist() == [0.0]


def test_one_row_is_compared_with_four():
    (error,) = marginal_errors(REAL, np.array([[0, 0]]), PAIR, [(0,)])
    assert error.tvd == 0.5


def test_a_constant_attribute_has_error_zero_and_no_nan():
    domain = Domain(("constant", "b"), (1, 3))
    real = np.array([[0, 0], [0, 2]])
    errors = marginal_errors(real, real, domain, [(0,), (0, 1)])
    assert [e.tvd for e in errors] == [0.0, 0.0]


@pytest.mark.parametrize("invalid", [-1, 3, 200])
def test_an_invalid_code_falls_into_one_extra_cell(invalid):
    synthetic = np.array([[0, 0], [0, invalid], [1, 2], [1, invalid]])
    a, b, ab = marginal_errors(REAL, synthetic, PAIR, [(0,), (1,), (0, 1)])
    assert a.tvd == 0.0  # the other attribute is not touched
    # b: real 1/4 1/4 1/2 and 0 invalid; synthetic 1/4 0 1/4 and 1/2 invalid
    assert b.tvd == 0.5 and b.max_error == 0.5
    assert ab.tvd == 0.5 and ab.cells == 6


def test_invalid_rows_are_one_cell_however_many_attributes_are_invalid():
    synthetic = np.array([[9, 0], [0, 9], [9, 9], [1, 2]])
    (error,) = marginal_errors(REAL, synthetic, PAIR, [(0, 1)])
    # real: 1/4 1/4 1/2; synthetic: 1/4 at (1, 2), 3/4 invalid
    assert (error.tvd, error.max_error) == (0.75, 0.75)


def test_columns_and_a_matrix_give_the_same_answer():
    columns = [REAL[:, 0].astype(np.uint8), REAL[:, 1].astype(np.int16)]
    assert two_way_tvd(columns, REAL, PAIR).tolist() == [0.0]


def test_the_workload_takes_all_small_marginals_when_they_are_few():
    domain = Domain(tuple("abc"), (2, 3, 7))
    assert random_marginals(domain, 2, rows=14) == [(0, 1), (0, 2)]


def test_the_workload_draw_is_the_one_of_the_fem_authors():
    domain = Domain(tuple(f"x{i}" for i in range(10)), (2,) * 10)
    from itertools import combinations

    everything = list(combinations(range(10), 3))
    chosen = np.random.RandomState(0).choice(120, 64, replace=False)
    assert random_marginals(domain, 3, rows=8) == [everything[i] for i in chosen]


def test_the_workload_error_is_the_largest_cell_of_all():
    synthetic = np.array([[0, 0], [0, 0], [0, 0], [1, 2]])
    error = workload_error(REAL, synthetic, PAIR, 1)
    # a (2 cells) is off by 1/4; b (3 cells) by 1/2
    assert (error.marginals, error.queries, error.max_error, error.tvd) == (2, 5, 0.5, 0.375)


def test_a_workload_without_marginals_says_why():
    with pytest.raises(NotComputable, match="more cells than there are real rows"):
        workload_error(REAL[:1], REAL, PAIR, 2)
    with pytest.raises(NotComputable, match="no 3-way marginals of 2"):
        workload_error(REAL, REAL, PAIR, 3)


def test_a_range_is_closed_at_both_ends_and_excludes_invalid_codes():
    domain = Domain(tuple("abc"), (5, 2, 2))
    rows = np.array([[1, 0, 0], [3, 0, 0], [4, 0, 0], [5, 0, 0], [2, 1, 0]])
    query = RangeQueries(np.array([[0, 1, 2]]), np.array([[1, 0, 0]]), np.array([[3, 0, 1]]))
    assert answer_ranges(rows, domain, query).tolist() == [2 / 5]


def test_range_answers_do_not_depend_on_the_block_size(monkeypatch):
    generator = np.random.default_rng(3)
    domain = Domain(tuple("abcd"), (4, 5, 6, 7))
    rows = np.column_stack([generator.integers(0, s, 101) for s in domain.sizes])
    queries = range_queries(domain, 50)
    whole = answer_ranges(rows, domain, queries)
    monkeypatch.setattr(metrics, "BLOCK_ROWS", 7)
    assert np.array_equal(answer_ranges(rows, domain, queries), whole)


def test_range_queries_are_seeded_distinct_and_inside_the_domain():
    domain = Domain(tuple("abcd"), (1, 5, 6, 70))
    queries = range_queries(domain, 200)
    assert all(len(set(row)) == 3 for row in queries.attributes.tolist())
    assert (queries.low <= queries.high).all() and (queries.low >= 0).all()
    assert (queries.high < np.array(domain.sizes)[queries.attributes]).all()
    assert np.array_equal(queries.high, range_queries(domain, 200).high)
    assert not np.array_equal(queries.high, range_queries(domain, 200, seed=1).high)


def test_equal_tables_have_no_error_on_any_metric():
    domain = Domain(tuple("abc"), (2, 3, 2))
    rows = np.random.default_rng(0).integers(0, 2, (40, 3))
    assert two_way_tvd(rows, rows[::-1], domain).max() == 0
    assert workload_error(rows, rows[::-1], domain, 3).max_error == 0
    assert range_errors(rows, rows[::-1], domain).max() == 0


def test_an_empty_table_and_a_huge_marginal_are_refused_with_a_reason():
    with pytest.raises(NotComputable, match="no rows"):
        two_way_tvd(REAL[:0], REAL, PAIR)
    wide = Domain(("a", "b"), (10_000, 10_000))
    with pytest.raises(NotComputable, match="100,000,000 cells"):
        two_way_tvd(REAL, REAL, wide)


def test_many_marginals_are_counted_in_small_groups(monkeypatch):
    generator = np.random.default_rng(1)
    domain = Domain(tuple("abcde"), (3, 4, 5, 2, 6))
    real, synthetic = (
        np.column_stack([generator.integers(0, s, 60) for s in domain.sizes]) for _ in range(2)
    )
    together = two_way_tvd(real, synthetic, domain)
    monkeypatch.setattr(metrics, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr(metrics, "BLOCK_ROWS", 7)
    assert np.array_equal(two_way_tvd(real, synthetic, domain), together)
