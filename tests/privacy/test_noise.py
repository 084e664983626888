"""Noise against the exact laws, from the operating system's entropy and from a seed.

Each check raises a false alarm with probability 1e-6 (chi-square at that level).  That the checks
are sharp is shown with broken noise: a slip of sqrt(2) in the scale is found every time.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.mechanisms import Secure, Seeded, draw_together

LEVEL = 1e-6
DRAWS = 20_000
SOURCES = {"secure": Secure, "seeded": lambda: Seeded(np.random.default_rng(7))}

pytestmark = pytest.mark.statistical


def _gaussian(sigma):
    z = np.arange(-math.ceil(12 * sigma), math.ceil(12 * sigma) + 1)
    mass = np.exp(-0.5 * (z / sigma) ** 2)
    return z, mass / mass.sum()


def _laplace(scale):
    z = np.arange(-math.ceil(45 * scale), math.ceil(45 * scale) + 1)
    mass = np.exp(-np.abs(z) / scale)
    return z, mass / mass.sum()


def _positions(noise, z):
    assert np.abs(noise).max() <= z[-1]
    return noise - z[0]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("sigma", [0.6, 3.0, 40.5])
def test_gaussian_noise_has_its_law(name, sigma, misfit):
    z, law = _gaussian(sigma)
    noise = SOURCES[name]().discrete_gaussian(np.zeros(DRAWS, dtype=np.int64), sigma)
    assert misfit(_positions(noise, z), law) > LEVEL


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("scale", [0.5, 4.0, 25.5])
def test_laplace_noise_has_its_law(name, scale, misfit):
    z, law = _laplace(scale)
    noise = SOURCES[name]().discrete_laplace(np.zeros(DRAWS, dtype=np.int64), scale)
    assert misfit(_positions(noise, z), law) > LEVEL


@pytest.mark.parametrize("slip", [1 / math.sqrt(2), math.sqrt(2), 0.9])
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_a_slip_in_the_scale_would_be_found(law, slip, misfit):
    noise = Seeded(np.random.default_rng(7))
    draw = noise.discrete_gaussian if law == "gaussian" else noise.discrete_laplace
    z, mass = (_gaussian if law == "gaussian" else _laplace)(3.0)
    drawn = np.clip(draw(np.zeros(DRAWS, dtype=np.int64), 3.0 * slip), z[0], z[-1])
    assert misfit(_positions(drawn, z), mass) < LEVEL


def test_wide_seeded_noise_is_a_rounded_normal():
    noise = Seeded(np.random.default_rng(7)).discrete_gaussian(np.zeros(DRAWS, np.int64), 1e5)
    assert abs(noise.std() / 1e5 - 1) < 5 / math.sqrt(2 * DRAWS)
    assert abs(noise.mean()) < 5 * 1e5 / math.sqrt(DRAWS)


@pytest.mark.parametrize("name", SOURCES)
def test_noise_is_added_to_the_counts(name):
    counts = np.array([[10**6, -5], [0, 10**12]])
    noisy = SOURCES[name]().discrete_gaussian(counts, 1.0)
    assert noisy.shape == counts.shape and noisy.dtype == np.int64
    assert np.abs(noisy - counts).max() < 12


@pytest.mark.parametrize("name", SOURCES)
def test_noisy_max_draws_candidates_by_their_exponential_weight(name, misfit):
    scores, scale = np.array([3.0, 2.5, 0.0, -1.0, 2.9]), 1.5
    law = np.exp(scores / scale) / np.exp(scores / scale).sum()
    noise = SOURCES[name]()
    drawn = np.array([noise.noisy_max(scores, scale) for _ in range(4_000)])
    assert misfit(drawn, law) > LEVEL
    twice = np.exp(2 * scores / scale) / np.exp(2 * scores / scale).sum()
    assert misfit(drawn, twice) < LEVEL  # epsilon used twice over would be found


@pytest.mark.parametrize("name", SOURCES)
def test_a_count_passes_the_threshold_as_often_as_its_noise_says(name, misfit):
    z, law = _gaussian(4.0)
    counts = np.full(DRAWS, 20, dtype=np.int64)
    passed = SOURCES[name]().gaussian_threshold(counts, 4.0, 23)
    assert min(passed.values()) == 23
    hits = np.zeros(DRAWS, dtype=np.int64)
    hits[list(passed)] = 1
    p = law[z >= 3].sum()
    assert misfit(hits, np.array([1 - p, p])) > LEVEL


@pytest.mark.parametrize("name", SOURCES)
def test_a_uniform_number_is_uniform(name, misfit):
    noise = SOURCES[name]()
    drawn = np.array([noise.below(7) for _ in range(DRAWS)])
    assert misfit(drawn, np.full(7, 1 / 7)) > LEVEL


def test_equal_scales_are_drawn_in_one_call():
    calls = []

    def draw(counts, scale):
        calls.append((counts.tolist(), scale))
        return counts + int(scale)

    tables = [np.array([[1, 2]]), np.array([3]), np.array(4)]
    noisy = draw_together(draw, tables, [10.0, 20.0, 10.0])
    assert calls == [([1, 2, 4], 10.0), ([3], 20.0)]
    assert [t.tolist() for t in noisy] == [[[11, 12]], [23], 14]
