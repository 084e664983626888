"""Sensitivities by brute force: every small table, every neighbour, both relations.

The constants in the code must bound what is found, and be reached or approached.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.independence import (
    GRID,
    PER_ROW,
    DependenceScore,
    deviation,
    independence_difference,
)
from saddlesynth.games.privacy.information import InformationScore
from saddlesynth.games.privacy.max_information import MaximumInformationScore
from saddlesynth.games.privacy.sensitivity import keys, l1, largest, squared_l2
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts

RELATIONS = list(Relation)
SHAPES = [((2, 2), 6), ((2, 3), 4), ((3, 3), 3)]  # shape, and the most rows tried


def tables(shape, rows):
    """All tables of counts with so many rows."""
    cells = int(np.prod(shape))
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        edges = (-1, *bars, rows + cells - 1)
        yield np.diff(edges).reshape(shape) - 1


def additions(table):
    """The table with one row more, in every way."""
    for cell in np.ndindex(table.shape):
        more = table.copy()
        more[cell] += 1
        yield more


def neighbours(relation, shape, rows):
    """All pairs of neighbouring tables; ``rows`` is the size of the one that others are made of."""
    for table in tables(shape, rows):
        grown = list(additions(table))
        if relation is Relation.ADD_REMOVE:
            yield from ((table, other) for other in grown)
        else:  # replacing: two ways to add to the same rest
            yield from itertools.combinations(grown, 2)


def units(size, most):
    """All sets of at most ``most`` rows, as counts over the cells of a domain."""
    for rows in range(most + 1):
        for chosen in itertools.combinations_with_replacement(range(size), rows):
            yield np.bincount(np.array(chosen, dtype=int), minlength=size)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_unit_moves_a_marginal_by_exactly_the_stated_sensitivity(relation, k):
    ledger = Ledger(1.0, 1e-9, relation, rows_per_unit=k)
    zero = [np.zeros(4, dtype=int)]
    before = zero if relation is Relation.ADD_REMOVE else list(units(4, k))
    moves = [new - old for old in before for new in units(4, k)]
    assert max((m**2).sum() for m in moves) == squared_l2(ledger)
    assert max(np.abs(m).sum() for m in moves) == l1(ledger)
    assert max((m != 0).sum() for m in moves) == min(4, keys(ledger))
    assert max(np.abs(m).max() for m in moves) == largest(ledger)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_row_moves_every_marginal_of_a_table_alike(relation):
    """Whatever the attributes: projections of a row are one cell."""
    domain, ledger = Domain(("a", "b"), (2, 3)), Ledger(1.0, 1e-9, relation)
    rest = np.array([[0, 0], [1, 2]])
    rows = [np.array(cell) for cell in np.ndindex(domain.sizes)]
    for attributes in [(), (0,), (1,), (0, 1), (1, 0)]:
        with_row = [
            marginal_counts(domain, [attributes], np.vstack([rest, row]))[0] for row in rows
        ]
        without = marginal_counts(domain, [attributes], rest)[0]
        pairs = [(without, t) for t in with_row]
        if relation is Relation.REPLACE_ONE:
            pairs = list(itertools.product(with_row, repeat=2))
        found = max(((a - b) ** 2).sum() for a, b in pairs)
        assert found == (squared_l2(ledger) if attributes or relation == "add_remove" else 0)


@pytest.mark.parametrize("shape, most", SHAPES)
def test_adding_a_row_moves_independence_by_four_n_over_n_plus_one(shape, most):
    for rows in range(1, most + 1):
        pairs = neighbours(Relation.ADD_REMOVE, shape, rows)
        moved = max(abs(deviation(b) / (rows + 1) - deviation(a) / rows) for a, b in pairs)
        assert moved == pytest.approx(4 * rows / (rows + 1))


@pytest.mark.parametrize("shape, most", SHAPES)
def test_replacing_a_row_moves_independence_by_at_most_six_minus_two_over_n(shape, most):
    for rows in range(1, most + 1):
        pairs = neighbours(Relation.REPLACE_ONE, shape, rows - 1)
        moved = max(abs(deviation(a) - deviation(b)) / rows for a, b in pairs)
        assert moved <= 6 - 2 / rows + 1e-12


def test_replacing_a_row_can_move_independence_by_more_than_four():
    """So the constant for adding a row is not enough; found by climbing from random tables."""
    generator = np.random.default_rng(0)
    best = 0.0
    for _ in range(40):
        rest = generator.multinomial(29, generator.dirichlet(np.full(9, 0.3))).reshape(3, 3)
        for _ in range(60):
            options = [rest]
            if rest.any():
                full = np.argwhere(rest > 0)
                moved = rest.copy()
                moved[tuple(full[generator.integers(len(full))])] -= 1
                moved[tuple(generator.integers(3, size=2))] += 1
                options.append(moved)
            gaps = [_largest_gap(option) for option in options]
            rest = options[int(np.argmax(gaps))]
            best = max(best, *gaps)
    assert 4.5 < best < PER_ROW[Relation.REPLACE_ONE]


def _largest_gap(rest):
    values = [deviation(t) / t.sum() for t in additions(rest)]
    return max(values) - min(values)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape, most", SHAPES)
def test_rounded_scores_keep_their_sensitivity(relation, shape, most):
    score = DependenceScore(((0, (1,)),))
    for rows in range(most + 1):
        for a, b in neighbours(relation, shape, rows):
            exact = abs(independence_difference(a) - independence_difference(b))
            assert exact <= PER_ROW[relation] * GRID
            halves = abs(score.scores([a])[0] - score.scores([b])[0])
            assert halves <= score.sensitivity(relation)


def test_independence_is_what_its_formula_says():
    generator = np.random.default_rng(1)
    for _ in range(50):
        table = generator.integers(0, 40, size=(3, 4))
        n = table.sum()
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
        exact = np.abs(table - expected).sum()
        assert independence_difference(table) / GRID == pytest.approx(exact, abs=0.51 / GRID)
        assert 0 <= exact < 2 * n
    assert independence_difference(np.zeros((2, 2), dtype=np.int64)) == 0


def test_large_tables_do_not_overflow():
    table = np.array([[10**9, 0], [0, 10**9]], dtype=np.int64)
    assert independence_difference(table) == 2 * 10**9 * GRID


def test_a_dependence_score_takes_several_parents_as_one():
    score = DependenceScore(((2, (0, 1)), (2, ())))
    assert score.marginals == [(2, 0, 1), (2,)]
    table = np.zeros((2, 2, 2), dtype=np.int64)
    table[0, 0, 0] = table[1, 1, 1] = 5
    scores = score.scores([table, table.sum(axis=(1, 2))])
    assert scores.tolist() == [5.0, 0.0]


ONE = ((0, (1,)),)
EVEN = [((2, 2), 6), ((2, 3), 4), ((3, 3), 4)]  # shape, and an even number of common rows


def largest_move(score, pairs):
    """How far a score moves between neighbours, at most."""
    first, second = zip(*pairs, strict=True)
    return float(np.abs(score.scores(first) - score.scores(second)).max())


@pytest.mark.parametrize("shape, most", EVEN)
def test_information_moves_by_its_sensitivity_when_a_row_is_added(shape, most):
    score = InformationScore(ONE, rows=most + 1)
    for rows in range(most + 1):
        moved = largest_move(score, neighbours(Relation.ADD_REMOVE, shape, rows))
        assert moved <= score.sensitivity(Relation.ADD_REMOVE)
    assert moved == pytest.approx(score.sensitivity(Relation.ADD_REMOVE), abs=3 / GRID)


@pytest.mark.parametrize("shape, most", EVEN)
def test_information_moves_by_the_published_sensitivity_when_a_row_is_replaced(shape, most):
    score = InformationScore(ONE, rows=most + 1, public=True, binary=2 in shape)
    moved = largest_move(score, neighbours(Relation.REPLACE_ONE, shape, most))
    n = most + 1
    published = (
        np.log2(n) / n + (n - 1) / n * np.log2(n / (n - 1))
        if 2 in shape
        else 2 / n * np.log2((n + 1) / 2) + (n - 1) / n * np.log2((n + 1) / (n - 1))
    )
    assert moved / n == pytest.approx(published, abs=2 / GRID)
    assert moved <= score.sensitivity(Relation.REPLACE_ONE) <= n * published + 3 / GRID


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape, most", EVEN)
def test_information_keeps_its_sensitivity_however_many_rows_there_are(relation, shape, most):
    """N is 3, the tables have up to seven rows."""
    score = InformationScore(ONE, rows=3)
    moves = [largest_move(score, neighbours(relation, shape, rows)) for rows in range(most + 1)]
    assert max(moves) <= score.sensitivity(relation)
    if relation is Relation.ADD_REMOVE or shape == (3, 3):
        assert max(moves) == pytest.approx(score.sensitivity(relation), abs=3 / GRID)


def test_information_is_the_mutual_information_of_the_table():
    generator = np.random.default_rng(0)
    for _ in range(20):
        table = generator.integers(0, 30, size=(3, 4))
        n, p = table.sum(), table / table.sum()
        product = np.outer(p.sum(axis=1), p.sum(axis=0))
        bits = n * (p[p > 0] * np.log2(p[p > 0] / product[p > 0])).sum()
        assert InformationScore(ONE, n).scores([table])[0] == pytest.approx(bits, abs=0.51 / GRID)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape, most", [((2, 2), 6), ((2, 3), 5), ((2, 4), 3)])
def test_the_distance_to_full_information_moves_by_one_at_most(relation, shape, most):
    score = MaximumInformationScore(ONE)
    moves = [largest_move(score, neighbours(relation, shape, rows)) for rows in range(most + 1)]
    assert max(moves) == 1 == score.sensitivity(relation)


def test_the_distance_to_full_information_is_the_best_division_of_the_parents_values():
    generator = np.random.default_rng(0)
    for _ in range(50):
        table = generator.integers(0, 9, size=(2, 5))
        n = table.sum()
        distances = []
        for division in itertools.product((0, 1), repeat=5):
            agree = [sum(table[x, p] for p in range(5) if division[p] == x) for x in (0, 1)]
            distances.append(sum(max(n / 2 - k, 0) for k in agree))
        assert MaximumInformationScore(ONE).scores([table])[0] == -min(distances)


def test_the_distance_to_full_information_needs_two_values():
    with pytest.raises(ValueError, match="two values, not 3"):
        MaximumInformationScore(ONE).scores([np.ones((3, 2), dtype=np.int64)])
