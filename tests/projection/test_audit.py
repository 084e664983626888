"""Projection on neighbours: the same answers give the same release, and lose at most rho."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.projection.method import Projection

EPSILON, DELTA = 2.0, 0.2  # where Gaussian noise is told apart with the fewest fits
DOMAIN = Domain(tuple("abcdef"), (2, 3, 2, 2, 3, 2))
COMMON = [[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 2, 0, 1, 2, 0], [1, 0, 1, 0, 2, 1]]
NEIGHBOURS = {
    Relation.REPLACE_ONE: ([*COMMON, [0, 0, 1, 1, 0, 1]], [*COMMON, [1, 2, 0, 0, 1, 0]]),
    Relation.ADD_REMOVE: (COMMON, [*COMMON, [1, 2, 0, 0, 1, 0]]),
}
both_relations = pytest.mark.parametrize("relation", list(Relation))


class Records:
    domain = DOMAIN

    def __init__(self, rows):
        self.rows = np.array(rows)

    def count(self, marginals):
        return marginal_counts(self.domain, marginals, self.rows)


def measure(rows, relation, noise):
    """The method and everything that it asks of the table."""
    method = Projection(EPSILON, DELTA, relation=relation.value)
    curator = Curator(Records(rows), Ledger(EPSILON, DELTA, relation), noise)
    public = len(rows) if relation is Relation.REPLACE_ONE else None
    session = Session(curator, DOMAIN, np.random.default_rng(0), public_rows=public)
    return method, session


@pytest.fixture
def losses(replay):
    """Losses of measurements on the first or second neighbour, in favour of the first."""

    def play(relation, first, times, factor=1.0):
        tables, found = NEIGHBOURS[relation], []
        for seed in range(times):
            recorded = replay.Recording(2 * seed + first, factor)
            again = replay.Replaying(recorded)
            for table, noise in ((tables[first], recorded), (tables[1 - first], again)):
                method, session = measure(table, relation, noise)
                method._measure(session)
            assert again.left == 0
            found.append(again.loss if first == 0 else -again.loss)
        return found

    return play


@both_relations
def test_the_same_noisy_answers_give_the_same_release(relation, replay):
    one, two = NEIGHBOURS[relation]
    recorded = replay.Recording(0)
    again, fits = replay.Replaying(recorded), []
    for table, noise in ((one, recorded), (two, again)):
        method, session = measure(table, relation, noise)
        fits.append(method._fit(session))
    assert again.left == 0
    assert len(fits[0].measured) < 6 + 15  # a choice was made, and the same
    assert fits[0].rows == fits[1].rows and fits[0].facts == fits[1].facts
    for a, b in zip(fits[0].measured, fits[1].measured, strict=True):
        np.testing.assert_array_equal(a.counts, b.counts)
        np.testing.assert_array_equal(a.errors, b.errors)


@both_relations
@pytest.mark.statistical  # 4 standard errors: a false alarm in 30,000 tests
def test_the_mean_loss_is_at_most_rho(relation, losses):
    rho = Ledger(EPSILON, DELTA, relation).rho
    seen = np.array(losses(relation, 0, 60))
    assert rho / 3 < seen.mean() <= rho + 4 * np.sqrt(2 * rho / len(seen))


@both_relations
@pytest.mark.slow
@pytest.mark.statistical  # 9 thresholds, 36 comparisons, each false with probability 2e-4
def test_half_the_noise_is_caught_and_the_right_noise_passes(relation, losses, audit):
    thresholds = np.arange(-4, 5) / 2
    for factor, caught in ((1.0, False), (0.5, True)):
        one, two = (losses(relation, first, 400, factor) for first in (0, 1))
        found = audit.audit(one, two, thresholds, EPSILON, DELTA, confidence=0.9999)
        assert found.refuted == caught
