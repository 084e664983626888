"""Choosing pairs from noisy scores."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.privsyn.select import all_pairs, select_pairs

DOMAIN = Domain(tuple("abcdef"), (2, 3, 4, 5, 6, 7))
PAIRS = all_pairs(DOMAIN)


def scores(seed: int, scale: float = 800.0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.exponential(scale, len(PAIRS)) + rng.normal(0, 100, len(PAIRS))


def test_exact_is_never_worse_than_greedy_and_says_by_how_much() -> None:
    for seed in range(30):
        exact = select_pairs(scores(seed), PAIRS, DOMAIN, rho=0.003)
        greedy = select_pairs(scores(seed), PAIRS, DOMAIN, rho=0.003, method="greedy")
        assert exact.proven
        assert exact.objective <= greedy.objective
        assert exact.greedy_gap == greedy.greedy_gap
        assert greedy.objective == pytest.approx(exact.bound * (1 + greedy.greedy_gap))


def test_attributes_in_no_pair_are_kept_alone() -> None:
    strong = np.zeros(len(PAIRS))
    strong[PAIRS.index((1, 3))] = 5000.0
    picked = select_pairs(strong, PAIRS, DOMAIN, rho=0.1)
    assert picked.pairs == ((1, 3),)
    assert picked.isolated == ((0,), (2,), (4,), (5,))
    assert picked.marginals == ((1, 3), (0,), (2,), (4,), (5,))


def test_pure_noise_selects_nothing() -> None:
    picked = select_pairs(np.full(len(PAIRS), -1.0), PAIRS, DOMAIN, rho=1.0)
    assert picked.pairs == ()
    assert len(picked.isolated) == len(DOMAIN)


def test_more_budget_selects_more_pairs() -> None:
    sizes = [len(select_pairs(scores(0), PAIRS, DOMAIN, rho=r).pairs) for r in (1e-5, 1e-3, 1e-1)]
    assert sizes == sorted(set(sizes))


def test_selection_repeats() -> None:
    assert select_pairs(scores(1), PAIRS, DOMAIN, 0.01) == select_pairs(
        scores(1), PAIRS, DOMAIN, 0.01
    )


def test_order_of_the_pairs_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(len(PAIRS))
    straight = select_pairs(scores(2), PAIRS, DOMAIN, 0.003)
    shuffled = select_pairs(scores(2)[order], [PAIRS[i] for i in order], DOMAIN, 0.003)
    assert set(straight.pairs) == set(shuffled.pairs)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="'exact' or 'greedy'"):
        select_pairs(scores(0), PAIRS, DOMAIN, 0.1, method="best")  # type: ignore[arg-type]
