"""The audit itself, and the curator's histogram under it: honest noise passes, slips are caught.

Two neighbours of six rows, one row replaced: (a, 0) becomes (c, 1).  The statistic is the share of
(c, 1) minus the share of (a, 0), and the events are fixed: above or below -0.8, -0.7, ... 0.8.
17 thresholds make 68 comparisons, each false with probability at most 2e-3; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.oracles.domain import Domain

DOMAIN = Domain(("v", "w"), (3, 2))
COMMON = [[1, 1], [0, 1], [2, 0], [1, 0], [0, 0]]
NEIGHBOURS = ([[0, 0], *COMMON], [[2, 1], *COMMON])
THRESHOLDS = np.arange(-8, 9) / 10
RUNS = 2_000

pytestmark = pytest.mark.statistical


class Scaled(Seeded):
    """Broken noise: a fraction of what was asked."""

    def __init__(self, generator, factor):
        super().__init__(generator)
        self.factor = factor

    def discrete_laplace(self, counts, scale):
        return super().discrete_laplace(counts, scale * self.factor)

    def discrete_gaussian(self, counts, sigma):
        return super().discrete_gaussian(counts, sigma * self.factor)


def _runs(records, rows, release, factor, ledger):
    noise = Scaled(np.random.default_rng(len(rows) + rows[0][0]), factor)
    values = []
    for _ in range(RUNS):
        curator = Curator(records(rows, DOMAIN), Ledger(*ledger, "replace_one"), noise)
        shares = np.clip(release(curator).counts, 0, None) / len(rows)
        values.append(shares[2, 1] - shares[0, 0])
    return values


def laplace(curator):
    return curator.measure_laplace("h", [(0, 1)], [1.0])[0]


def gaussian(curator):
    return curator.measure("h", [(0, 1)], [curator.ledger.remaining_rho])[0]


def _verdict(audit, records, release, factor, ledger):
    one, two = (_runs(records, rows, release, factor, ledger) for rows in NEIGHBOURS)
    return audit.audit(one, two, THRESHOLDS, *ledger)


@pytest.mark.parametrize("release, delta", [(laplace, 0.0), (gaussian, 1e-6)])
def test_an_honest_histogram_passes(release, delta, audit, records):
    assert not _verdict(audit, records, release, 1.0, (1.0, delta)).refuted


@pytest.mark.parametrize("factor", [1 / 2, 1 / 6])
def test_half_the_noise_and_noise_over_n_are_caught(factor, audit, records):
    verdict = _verdict(audit, records, laplace, factor, (1.0, 0.0))
    assert verdict.refuted
    assert verdict.epsilon > 1.0


def test_gaussian_noise_over_n_is_caught(audit, records):
    assert _verdict(audit, records, gaussian, 1 / 6, (1.0, 1e-6)).refuted


def test_the_bounds_are_those_of_clopper_and_pearson(audit):
    low, high = audit.clopper_pearson(np.array([0, 5, 10]), 10, 0.975)
    assert low == pytest.approx([0.0, 0.18709, 0.69150], abs=1e-5)
    assert high == pytest.approx([0.30850, 0.81291, 1.0], abs=1e-5)


def test_randomized_response_is_audited_to_near_its_epsilon(audit):
    """Truth with probability 3/4: epsilon is ln 3, neither more nor much less is found."""
    generator = np.random.default_rng(0)
    truth = [(generator.random(20_000) < p).astype(float) for p in (0.75, 0.25)]
    verdict = audit.audit(*truth, [0.5], math.log(3), 0.0)
    assert not verdict.refuted
    assert 1.0 < verdict.epsilon < math.log(3)
    assert audit.audit(*truth, [0.5], 0.9, 0.0).refuted


def test_the_runs_must_be_as_many(audit):
    with pytest.raises(ValueError, match="as many"):
        audit.audit([1.0], [1.0, 2.0], [0.5], 1.0, 0.0)
