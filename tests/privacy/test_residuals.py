"""Residuals and distances: their sensitivities by brute force, and what the curator charges."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.distance import MarginalDistance
from saddlesynth.games.privacy.mechanisms import Seeded
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


CLOSE = ([[0, 0], [1, 1], [0, 2]], [[0, 1], [1, 1], [0, 2]])  # one value of one attribute differs
EVENTS = np.arange(-6, 7) / 2


def statistics(records, factor: float) -> list[list[float]]:
    """The noisy residual along the difference of two neighbours, 2,000 times for each."""

    class Scaled(Seeded):
        """A fraction of the noise that was asked."""

        def discrete_gaussian(self, counts, sigma):
            return super().discrete_gaussian(counts, factor * sigma)

    along = scaled_residual(np.array([[-1, 1, 0], [0, 0, 0]])) / 6
    found = []
    for rows in CLOSE:
        noise, values = Scaled(np.random.default_rng(rows[0][1])), []
        for _ in range(2_000):
            curator = Curator(records(rows), Ledger(1.0, 1e-6, "replace_one"), noise)
            (drawn,) = curator.measure_residuals("r", [(0, 1)], [curator.ledger.remaining_rho])
            values.append(float((drawn.counts * along).sum()))
        found.append(values)
    return found


@pytest.mark.statistical
def test_neighbours_cannot_be_told_apart_by_a_residual(audit, records) -> None:
    """13 thresholds make 52 comparisons, each false with probability at most 2e-3; fixed seeds."""
    assert not audit.audit(*statistics(records, 1.0), EVENTS, 1.0, 1e-6).refuted


@pytest.mark.statistical
def test_a_sixth_of_a_residuals_noise_is_caught(audit, records) -> None:
    assert audit.audit(*statistics(records, 1 / 6), EVENTS, 1.0, 1e-6).refuted


@pytest.mark.statistical
def test_neighbours_cannot_be_told_apart_by_a_choice_of_the_farthest_marginal(
    audit, records
) -> None:
    """Whether (0,) is chosen rather than (1,); honest noise passes, a third of it is caught."""
    far = ([[0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 2]])
    score = MarginalDistance([(0,), (1,)], [np.zeros(2), np.array([3.0, 0.0, 0.0])])

    def chosen(claimed: float, used: float) -> bool:
        runs = []
        for rows in far:
            noise, values = Seeded(np.random.default_rng(len(runs))), []
            for _ in range(4_000):
                ledger = Ledger(10.0, 0.0, "replace_one")
                curator = Curator(records(rows), ledger, noise)
                values.append(float(curator.select("s", score, used)))
            runs.append(values)
        return audit.audit(*runs, [0.5], claimed, 0.0).refuted

    assert not chosen(1.0, 1.0)
    assert chosen(0.2, 3.0)
