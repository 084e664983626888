"""Marginals come from what was measured, with the right standard error, else from the model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.estimates import estimate
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.noisy import expected_distance, fractions, rows_estimate

DOMAIN = Domain(("a", "b", "c"), (2, 3, 2))
POOL = RecordModel(DOMAIN, np.array([[0, 0, 0], [0, 1, 1], [1, 2, 1], [1, 2, 1]]))
PAIR = Measurement((0, 1), np.arange(6.0).reshape(2, 3), sigma=2.0, rho=0.1)
SINGLE = Measurement((1,), np.array([3.0, 5.0, 7.0]), sigma=3.0, rho=0.05)
FIT = Fit(POOL, rows=40.0, measured=(PAIR, SINGLE))


def test_a_measured_marginal_is_given_as_it_is() -> None:
    found = estimate(FIT, (0, 1))
    assert found.counts.tolist() == PAIR.counts.tolist()
    assert (found.standard_error, found.source) == (2.0, "measured")


def test_axes_come_in_the_order_asked() -> None:
    assert estimate(FIT, (1, 0)).counts.tolist() == PAIR.counts.T.tolist()


def test_a_part_of_a_measured_marginal_is_summed() -> None:
    found = estimate(FIT, (0,))
    assert found.counts.tolist() == [3.0, 12.0]
    assert found.standard_error == pytest.approx(2.0 * math.sqrt(3))
    assert found.source == "summed from a x b"


def test_the_measurement_with_the_smallest_error_is_used() -> None:
    assert estimate(FIT, (1,)).standard_error == pytest.approx(min(3.0, 2.0 * math.sqrt(2)))


def test_an_unmeasured_marginal_comes_from_the_model_without_an_error() -> None:
    found = estimate(FIT, (0, 2))
    assert found.counts.tolist() == [[10.0, 10.0], [0.0, 20.0]]
    assert found.standard_error is None
    assert "model" in found.source


def test_the_number_of_rows_is_the_empty_marginal() -> None:
    assert float(estimate(FIT, ()).counts) == 15.0


@pytest.mark.statistical
def test_standard_errors_are_those_of_the_noise() -> None:
    """Chi-square of 2,000 draws with 4,000 cells: outside 6 % by chance less than once in 10^6."""
    generator = np.random.default_rng(0)
    noise = generator.normal(0, PAIR.sigma, (2000, 2, 3))
    seen = np.sqrt(np.mean(noise.sum(axis=2) ** 2))
    expected = estimate(FIT, (0,)).standard_error
    assert expected is not None
    assert seen == pytest.approx(expected, rel=0.06)


def test_rows_are_weighed_by_inverse_variance() -> None:
    measured = [
        Measurement((0,), np.array([10.0, 0.0]), 1.0, 0.1),
        Measurement((1,), np.array([20.0, 0.0, 0.0]), 2.0, 0.1),
    ]
    weights = np.array([1 / 2, 1 / 12])
    expected = float(weights @ [10, 20] / weights.sum())
    assert rows_estimate(measured) == pytest.approx(expected)


def test_rows_are_at_least_one() -> None:
    assert rows_estimate([Measurement((0,), np.array([-9.0, 2.0]), 1.0, 0.1)]) == 1.0


@pytest.mark.parametrize("counts", [[0.0, 0.0, 0.0], [-5.0, -1.0, -2.0], [1e9, -1e9, 3.0], [0.2]])
def test_any_noisy_table_becomes_a_distribution(counts: list[float]) -> None:
    p = fractions(np.array(counts))
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1.0)


@pytest.mark.statistical
def test_expected_distance_is_that_of_gaussian_noise() -> None:
    """Mean of 4,000 half L1 norms; 2 % off by chance less than once in 10^6."""
    noise = np.random.default_rng(1).normal(0, 5.0, (4000, 8))
    seen = np.abs(noise).sum(axis=1).mean() / (2 * 1000)
    assert expected_distance(8, 5.0, 1000) == pytest.approx(seen, rel=0.02)
