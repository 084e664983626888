"""An empirical audit of both variants: honest runs pass, runs with too little noise are caught.

Two neighbours of six rows, one row replaced: (0, 0) becomes (2, 1).  The statistic is the model's
share of (2, 1) minus its share of (0, 0), compared at -0.8, -0.7, ... 0.8: 68 comparisons, each
false with probability at most 2e-3; the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest

COMMON = [[1, 1], [0, 1], [2, 0], [1, 0], [0, 0]]
NEIGHBOURS = ([[0, 0], *COMMON], [[2, 1], *COMMON])
THRESHOLDS = np.arange(-8, 9) / 10
RUNS = 400
VARIANTS = {
    "improved": {"delta": 1e-6},
    "original": {"variant": "original", "delta": 0.0},
    "given network": {"variant": "original", "delta": 0.0, "network": {"b": ["a"]}},
}

pytestmark = [pytest.mark.statistical, pytest.mark.slow]


def statistics(fit_to, spent, settings):
    for table in NEIGHBOURS:
        values = []
        for seed in range(RUNS):
            fit, _ = fit_to(
                table, (3, 2), epsilon=spent, seed=seed, relation="replace_one", **settings
            )
            shares = fit.model.marginal((0, 1))
            values.append(shares[2, 1] - shares[0, 0])
        yield values


@pytest.mark.parametrize("name", VARIANTS)
def test_neighbours_cannot_be_told_apart_beyond_epsilon(fit_to, audit, name):
    settings = VARIANTS[name]
    one, two = statistics(fit_to, 1.0, settings)
    assert not audit.audit(one, two, THRESHOLDS, 1.0, settings["delta"]).refuted


@pytest.mark.parametrize("name", VARIANTS)
def test_a_claim_of_a_tenth_of_what_was_spent_is_refuted(fit_to, audit, name):
    settings = VARIANTS[name]
    one, two = statistics(fit_to, 10.0, settings)
    assert audit.audit(one, two, THRESHOLDS, 1.0, settings["delta"]).refuted
