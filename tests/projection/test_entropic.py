"""The entropic master: the right optimum, the right sampler, a temperature that fits the noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.projection.entropic import (
    Effort,
    Target,
    choose,
    improve,
    path,
    settle,
    start,
)
from saddlesynth.synthesis.projection.field import Field, independent_records
from saddlesynth.synthesis.projection.pool import Cells, Pool


def all_pairs(sizes):
    d = len(sizes)
    marginals = [(a,) for a in range(d)] + list(itertools.combinations(range(d), 2))
    return Cells(Domain(tuple(f"a{i}" for i in range(d)), sizes), tuple(marginals))


def everything(cells):
    sizes = cells.domain.sizes
    return Pool(cells, np.indices(sizes).reshape(len(sizes), -1).T)


def noisy(sizes, seed, sigma=0.02, concentration=0.3):
    """A random distribution's marginals with noise: cells, the pool of all records, p, target."""
    generator = np.random.default_rng(seed)
    cells = all_pairs(sizes)
    pool = everything(cells)
    p = generator.dirichlet(np.full(len(pool.records), concentration))
    sigmas = np.full(len(cells), sigma)
    truth = pool.marginals(p)
    return (
        cells,
        pool,
        truth,
        Target(cells, truth + sigmas * generator.normal(size=len(cells)), sigmas),
    )


def test_cells_and_incidence_agree_with_counting_by_hand():
    cells = all_pairs((2, 3))
    pool = Pool(cells, np.array([[0, 2], [1, 0], [1, 0]]))
    table = pool.marginals(np.array([0.5, 0.25, 0.25]))
    assert table.tolist() == [0.5, 0.5, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0]
    assert pool.scores(np.arange(11.0)).tolist() == [0 + 4 + 7, 1 + 2 + 8, 1 + 2 + 8]


def test_independent_records_have_the_wanted_marginals_up_to_rounding():
    shares = (np.array([0.2, 0.8]), np.array([0.5, 0.0, 0.5]))
    records = independent_records(shares, 1001, np.random.default_rng(0))
    for a, share in enumerate(shares):
        counts = np.bincount(records[:, a], minlength=len(share))
        assert np.abs(counts - 1001 * share).max() <= 1


def test_gibbs_sampling_reaches_the_field_s_own_distribution():
    """Chi-square over 12 cells on 40,000 records; false alarm rate below 1e-6 (fixed seed)."""
    from scipy.stats import chi2

    generator = np.random.default_rng(3)
    cells = all_pairs((2, 3, 2))
    shares = tuple(generator.dirichlet(np.full(s, 2.0)) for s in cells.domain.sizes)
    field = Field(cells, shares, generator.normal(size=len(cells)))
    pool = everything(cells)
    weights = np.exp(pool.scores(field.potentials))
    for a, share in enumerate(shares):
        weights = weights * share[pool.records[:, a]]
    drawn = field.resample(independent_records(shares, 40_000, generator), 25, generator)
    counts = np.bincount(np.ravel_multi_index(drawn.T, cells.domain.sizes), minlength=12)
    expected = 40_000 * weights / weights.sum()
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 11)


def test_gibbs_sampling_never_makes_an_impossible_combination():
    cells = all_pairs((3, 3, 2))
    rules = ({0: 0, 1: 1}, {0: 2, 2: 1}, {1: 0, 2: 0})
    field = Field(cells, tuple(np.full(s, 1 / s) for s in (3, 3, 2)), np.zeros(len(cells)), rules)
    begin = independent_records(field.shares, 5000, np.random.default_rng(0))
    drawn = field.resample(begin, 4, np.random.default_rng(1))
    assert Pool(cells, drawn).valid(rules).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_whole_domain_s_optimum_is_cvxpy_s(seed):
    import cvxpy

    cells, pool, _, target = noisy((2, 3, 2), seed)
    shares = tuple(np.full(s, 1 / s) for s in cells.domain.sizes)
    begin = start(cells, shares, 100, np.random.default_rng(0))
    temperature = 30.0
    stage, _ = settle(begin, target, temperature, Effort(iterations=300), np.random.default_rng(0))
    p = cvxpy.Variable(len(pool.records))
    fit = cvxpy.sum_squares((pool._incidence.T @ p - target.fractions) / target.sigmas)
    entropy = cvxpy.sum(cvxpy.kl_div(p, np.full(len(pool.records), 1 / len(pool.records))))
    problem = cvxpy.Problem(cvxpy.Minimize(fit / 2 + temperature * entropy), [cvxpy.sum(p) == 1])
    problem.solve(solver=cvxpy.CLARABEL)
    assert stage.complete
    assert np.abs(stage.weights - p.value).max() < 1e-4


def test_pool_and_whole_domain_lead_to_the_same_marginals():
    cells, _, _, target = noisy((3, 4, 3, 2), 1)
    shares = tuple(np.full(s, 1 / s) for s in cells.domain.sizes)
    effort, generator = Effort(20_000, 3, 60), np.random.default_rng(2)
    whole, _ = settle(start(cells, shares, 1, generator), target, 50.0, effort, generator)
    records = independent_records(shares, 20_000, generator)
    from saddlesynth.synthesis.projection.entropic import _stage

    sampled = _stage(np.inf, whole.field, Pool(cells, records), np.zeros(len(records)))
    sampled = _stage(
        np.inf,
        Field(cells, shares, np.zeros(len(cells))),
        sampled.pool,
        np.zeros(len(records)),
    )
    pooled, _ = settle(sampled, target, 50.0, effort, generator)
    assert not pooled.complete
    assert np.abs(pooled.marginals - whole.marginals).max() < 0.01


def test_thinned_halves_have_independent_noise_of_twice_the_variance():
    cells = all_pairs((30, 30))
    target = Target(cells, np.zeros(len(cells)), np.full(len(cells), 0.1))
    noise = np.random.default_rng(0).normal(size=len(cells)) * 0.1
    one, two = Target(cells, noise, target.sigmas).thinned(np.random.default_rng(1))
    assert np.isclose(one.fractions.std(), 0.1 * np.sqrt(2), rtol=0.1)
    assert abs(np.corrcoef(one.fractions, two.fractions)[0, 1]) < 0.1
    assert np.allclose(one.sigmas, 0.1 * np.sqrt(2))


def test_the_chosen_temperature_is_close_to_the_best_one_with_hindsight():
    cells, _, truth, target = noisy((4, 5, 4, 3), 4, sigma=0.01)
    shares = tuple(np.full(s, 1 / s) for s in cells.domain.sizes)
    generator = np.random.default_rng(0)
    begin = start(cells, shares, 1, generator)
    chosen, curve = choose(begin, target, Effort(iterations=100), generator)
    temperature = np.sqrt(2) * chosen.temperature
    grid = [400 / 2**k for k in range(12)]
    errors = {
        s.temperature: np.abs(s.marginals - truth).sum()
        for s in path(begin, target, [*grid, temperature], Effort(iterations=100), generator)
    }
    assert len(curve) >= 2
    assert errors[temperature] < 1.15 * min(errors.values())


def test_lower_temperature_fits_closer():
    cells, _, _, target = noisy((3, 3, 3), 5)
    shares = tuple(np.full(3, 1 / 3) for _ in range(3))
    begin = start(cells, shares, 1, np.random.default_rng(0))
    misfits = [target.misfit(improve(begin, target, t, 200).marginals) for t in (1e4, 100.0, 1.0)]
    assert misfits == sorted(misfits, reverse=True)
