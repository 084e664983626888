"""The exponential mechanism over a workload: its exact law, and its charge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.exponential import Exponential, bernoulli
from saddlesynth.games.privacy.mechanisms import Secure, Seeded
from saddlesynth.games.query_class import Block, Kind, QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts

DOMAIN = Domain(("a", "b"), (2, 3))
RECORDS = np.array([[0, 0]] * 5 + [[0, 1]] * 2 + [[1, 2]] * 4)
PLAY = np.array([[0, 0], [1, 1], [1, 1]])
DRAWS = 6_000


class Table:
    domain = DOMAIN

    def count(self, marginals):
        return marginal_counts(DOMAIN, marginals, RECORDS)


class NoDraw(Seeded):
    def below(self, n):
        raise AssertionError("something was drawn")


def _curator(noise=None, epsilon=1e9, **ledger):
    noise = noise or Seeded(np.random.default_rng(0))
    return Curator(Table(), Ledger(epsilon, 1e-6, **ledger), noise)


def _law(workload, coefficient):
    """The mechanism's probabilities, one query at a time."""
    queries = [workload.query(i) for i in range(workload.candidates)]
    scores = [
        q.weight * (q.evaluate(RECORDS).sum() - len(RECORDS) * q.evaluate(PLAY).mean())
        for q in queries
    ]
    mass = np.exp(coefficient * np.array(scores))
    return mass / mass.sum()


def _agrees(draws, law):
    """Pearson's statistic below its 1 - 1e-6 quantile; cells that expect under 5 are merged."""
    from scipy.stats import chi2

    expected = law * len(draws)
    seen = np.bincount(draws, minlength=len(law))
    small = expected < 5
    expected = np.append(expected[~small], expected[small].sum())
    seen = np.append(seen[~small], seen[small].sum())
    filled = expected > 0
    statistic = ((seen[filled] - expected[filled]) ** 2 / expected[filled]).sum()
    return statistic < chi2.ppf(1 - 1e-6, filled.sum() - 1)


WORKLOADS = {
    "cells": QueryClass.of(DOMAIN, [(0, 1), (1,)]),
    "weights": QueryClass(DOMAIN, (Block((0,), weight=0.25), Block((0, 1), weight=0.5))),
    "ranges": QueryClass(DOMAIN, (Block((1, 0), (Kind.RANGE, Kind.PREFIX)),)),
}


@pytest.mark.statistical  # three checks, each false with probability 1e-6; the seed is fixed
@pytest.mark.parametrize("name", WORKLOADS)
def test_queries_are_drawn_with_the_probabilities_of_the_formula(name):
    workload = WORKLOADS[name]
    answers = workload.answers_on(PLAY)
    draws = _curator().select_query("s", workload, answers, 0.6, DRAWS)
    assert _agrees(np.array(draws), _law(workload, 0.3))


@pytest.mark.statistical  # false alarm 2e-6; the sampler is seeded, OpenDP's draws are not
def test_the_fast_sampler_has_the_law_of_the_gumbel_noisy_max():
    exponents = np.array([0.0, 1.0, -2.0, 1.5, 0.25])
    law = np.exp(exponents) / np.exp(exponents).sum()
    sampler = Exponential(
        exponents,
        lambda g: Fraction(float(exponents[g])),
        np.ones(5, dtype=np.int64),
        Seeded(np.random.default_rng(1)).below,
    )
    assert _agrees(np.array([sampler.draw() for _ in range(DRAWS)]), law)
    gumbel = [Secure().noisy_max(exponents, 1.0) for _ in range(2_000)]
    assert _agrees(np.array(gumbel), law)


@pytest.mark.statistical  # false alarm 1e-6
def test_a_multiplicity_counts_as_that_many_candidates():
    sampler = Exponential(
        np.array([0.0, 50.0, 1.0]),
        lambda g: Fraction([0, 50, 1][g]),
        np.array([6, 0, 2]),
        Seeded(np.random.default_rng(2)).below,
    )
    weights = np.array([6, 0, 2 * np.e])
    assert _agrees(np.array([sampler.draw() for _ in range(DRAWS)]), weights / weights.sum())


def test_wrong_floats_change_how_often_it_retries_but_not_the_law():
    """Proposals that are too large are thinned: the exact exponent decides."""
    right, wrong = np.array([0.0, 0.0]), np.array([0.0, 0.05])
    generator = np.random.default_rng(3)
    sampler = Exponential(
        wrong, lambda g: Fraction(float(right[g])), np.array([1, 1]), Seeded(generator).below, 0.05
    )
    draws = np.array([sampler.draw() for _ in range(DRAWS)])
    assert abs(draws.mean() - 0.5) < 5 * 0.5 / np.sqrt(DRAWS)


@pytest.mark.statistical  # four checks, each false with probability 6e-7 (five sigma)
@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(-1, 3), Fraction(-2), Fraction(-9)])
def test_bernoulli_has_an_exponential_probability(exponent):
    below = Seeded(np.random.default_rng(4)).below
    p = 0.75 * np.exp(float(exponent))
    hits = np.mean([bernoulli(exponent, Fraction(3, 4), below) for _ in range(6_000)])
    assert abs(hits - p) < 5 * np.sqrt(p * (1 - p) / 6_000) + 1e-12


def test_selection_is_charged_before_the_draw():
    curator = _curator(NoDraw(np.random.default_rng(0)), epsilon=0.1)
    workload = WORKLOADS["cells"]
    with pytest.raises(BudgetExceeded):
        curator.select_query("s", workload, workload.answers_on(PLAY), 5.0)
    assert curator.ledger.lines == []


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("rows", [1, 3])
def test_a_selection_costs_an_eighth_of_its_square(relation, rows):
    curator = _curator(relation=relation, rows_per_unit=rows)
    workload = WORKLOADS["cells"]
    curator.select_query("s", workload, workload.answers_on(PLAY), 0.4, draws=5)
    (line,) = curator.ledger.lines
    assert line.rho == pytest.approx(5 * 0.4**2 / 8)
    assert (line.epsilon, line.sensitivity) == (pytest.approx(2.0), rows)
    assert line.noise == pytest.approx(2 * rows / 0.4)


def test_one_record_moves_no_score_by_more_than_one():
    """Brute force over what may be added, for a workload of every kind."""
    workload = QueryClass(DOMAIN, tuple(b for w in WORKLOADS.values() for b in w.blocks))
    answers = np.concatenate([t.ravel() for t in workload.answers_on(PLAY)])
    weights = np.concatenate([np.full(np.prod(b.shape(DOMAIN)), b.weight) for b in workload.blocks])

    def scores(records):
        tables = workload.answers(marginal_counts(DOMAIN, workload.marginals, records))
        counts = np.concatenate([t.ravel() for t in tables])
        return weights * (counts - len(records) * answers)

    for record in np.ndindex(DOMAIN.sizes):
        moved = np.abs(scores(np.vstack([RECORDS, record])) - scores(RECORDS)).max()
        assert 0 < moved <= 1


def test_only_a_public_curator_shows_exact_tables():
    with pytest.raises(PermissionError, match="public"):
        _curator().exact([(0,)])
    shown = Curator(Table(), Ledger(1.0, 1e-6), Secure(), public=True).exact([(0,)])
    assert shown[0].tolist() == [7, 4]
