"""Residuals and distances: their sensitivities by brute force, and what the curator charges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.distance import MarginalDistance
from saddlesynth.games.privacy.residuals import scaled_residual, squared_sensitivity
from saddlesynth.oracles.domain import Domain

SHAPES = [(2,), (3,), (2, 2), (2, 3), (3, 4), (2, 2, 3)]


def units(shape: tuple[int, ...], most: int) -> list[np.ndarray]:
    """Every table of at most ``most`` rows: what one unit can have."""
    cells = math.prod(shape)
    found = []
    for size in range(most + 1):
        for chosen in itertools.combinations_with_replacement(range(cells), size):
            found.append(np.bincount(chosen, minlength=cells).reshape(shape).astype(np.int64))
    return found


@pytest.mark.parametrize("shape", [*SHAPES, ()])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_sensitivity_of_a_residual_is_what_brute_force_finds(shape, rows) -> None:
    moved = [scaled_residual(table) for table in units(shape, rows)]
    added = max(int((r * r).sum()) for r in moved)
    replaced = max(int(((a - b) ** 2).sum()) for a in moved for b in moved)
    for relation, found in ((Relation.ADD_REMOVE, added), (Relation.REPLACE_ONE, replaced)):
        ledger = Ledger(1.0, 1e-9, relation, rows_per_unit=rows)
        assert squared_sensitivity(shape, ledger) == found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_residual_sums_to_zero_along_every_axis(shape) -> None:
    table = np.random.default_rng(0).integers(0, 50, shape)
    for axis in range(len(shape)):
        assert not scaled_residual(table).sum(axis=axis).any()


@pytest.mark.parametrize("relation", list(Relation))
def test_the_sensitivity_of_a_distance_is_what_brute_force_finds(relation) -> None:
    generator = np.random.default_rng(1)
    expected = [generator.uniform(0, 3, 3), generator.uniform(0, 3, (3, 2))]
    score = MarginalDistance([(0,), (0, 1)], expected, np.array([1.0, 0.5]), np.array([0.0, 0.7]))
    domain = Domain(("a", "b"), (3, 2))
    cells = list(itertools.product(range(3), range(2)))
    worst = 0.0
    for rows in itertools.combinations_with_replacement(cells, 3):
        for new in cells:
            kept = list(rows[:-1] if relation is Relation.REPLACE_ONE else rows)
            before, after = _scores(score, list(rows)), _scores(score, [*kept, new])
            worst = max(worst, float(np.abs(before - after).max()))
    assert len(domain) == 2
    assert 0.5 < worst <= score.sensitivity(relation)


def _scores(score: MarginalDistance, rows: list[tuple[int, int]]) -> np.ndarray:
    table = np.zeros((3, 2), dtype=np.int64)
    for row in rows:
        table[row] += 1
    return score.scores([table.sum(axis=1), table])


def test_a_weight_above_one_is_refused_since_it_would_raise_the_sensitivity() -> None:
    with pytest.raises(ValueError, match="weights"):
        MarginalDistance([(0,)], [np.zeros(2)], np.array([1.5]))


def test_residuals_are_charged_before_the_draw(records, watching) -> None:
    ledger = Ledger(1.0, 1e-6)
    noise = watching(ledger)
    curator = Curator(records(np.array([[0, 1], [1, 2]])), ledger, noise)
    curator.measure_residuals("residual", [(), (0,), (0, 1)], [ledger.rho / 4] * 3)
    assert noise.seen and min(noise.seen) == 3
    with pytest.raises(BudgetExceeded):
        curator.measure_residuals("residual", [(0,)], [ledger.rho])
    assert len(ledger.lines) == 3 and len(noise.seen) <= 3


def test_the_noise_on_a_residual_has_the_deviation_that_its_line_states(records, watching) -> None:
    """200 draws of 6 cells: the sample deviation is within 10 % but once in 10^5 runs."""
    ledger = Ledger(50.0, 1e-6)
    curator = Curator(records(np.array([[0, 1]] * 5)), ledger, watching(ledger))
    drawn = curator.measure_residuals("residual", [(0, 1)] * 200, [1e-3] * 200)
    exact = np.array([[0, 5, 0], [0, 0, 0]]) @ np.diag([1, 1, 1])
    centred = scaled_residual(exact) / 6
    errors = np.concatenate([(r.counts - centred).ravel() for r in drawn])
    assert ledger.lines[0].noise == pytest.approx(drawn[0].sigma)
    assert errors.std() == pytest.approx(drawn[0].sigma, rel=0.1)
    line = ledger.lines[0]
    assert line.rho == pytest.approx(line.sensitivity**2 / (2 * line.noise**2))
