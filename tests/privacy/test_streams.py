"""Two streams of randomness, never shared, and never the global ones."""

from __future__ import annotations

import random

import numpy as np

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Secure, Seeded, noise_source, streams

COUNTS = np.zeros(50, dtype=np.int64)


def _draw(random_state):
    return noise_source(random_state).discrete_gaussian(COUNTS, 100.0).tolist()


def test_without_a_seed_noise_is_secure_and_with_one_it_is_marked():
    assert isinstance(noise_source(None), Secure) and not noise_source(None).seeded
    assert isinstance(noise_source(3), Seeded) and noise_source(3).seeded


def test_a_seed_repeats_the_noise_and_another_changes_it():
    assert _draw(1) == _draw(1)
    assert _draw(1) != _draw(2)
    assert _draw(np.random.default_rng(1)) == _draw(np.random.default_rng(1))


def test_without_a_seed_two_runs_differ_whatever_the_global_seeds_are():
    drawn = []
    for _ in range(2):
        np.random.seed(0)
        random.seed(0)
        drawn.append((_draw(None), streams(None)[1].random(5).tolist()))
    assert drawn[0][0] != drawn[1][0]
    assert drawn[0][1] != drawn[1][1]


def test_the_global_generators_are_left_alone(records):
    np.random.seed(0)
    random.seed(0)
    before = np.random.get_state()[1].copy(), random.getstate()
    for random_state in (None, 5):
        noise = noise_source(random_state)
        curator = Curator(records([[0, 0], [1, 2]]), Ledger(1.0, 1e-6), noise)
        curator.measure("m", [(0,)], [1e-3])
        curator.measure_laplace("l", [(0,)], [1e-3])
        curator.independence_differences("i", [(0, 1)], 1e-3)
        noise.below(10)
    assert (np.random.get_state()[1] == before[0]).all()
    assert random.getstate() == before[1]


def test_draws_on_one_stream_do_not_shift_the_other():
    noise, other = streams(7)
    noise.random(1_000)
    assert other.random() == streams(7)[1].random()
    assert streams(7)[0].random() != streams(7)[1].random()
