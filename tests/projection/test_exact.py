"""The exact master and its certificate, against cvxpy on domains that can be listed."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.oracles.oracle import Limits
from saddlesynth.oracles.portfolio import Portfolio
from saddlesynth.synthesis.projection.exact import certificate, column_generation
from saddlesynth.synthesis.projection.pricing import Pricer

from .test_entropic import everything, noisy

SHAPES = [(3,), (1, 1), (2, 2), (3, 4), (2, 1, 4), (3, 3, 2, 2), (4, 4, 3)]


def best_fit(pool, target):
    """cvxpy's optimum over the whole domain."""
    import cvxpy

    p = cvxpy.Variable(len(pool.records), nonneg=True)
    residual = (pool._incidence.T @ p - target.fractions) / target.sigmas
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(residual) / 2), [cvxpy.sum(p) == 1])
    return float(problem.solve(solver=cvxpy.CLARABEL))


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_column_generation_reaches_cvxpy_s_optimum_and_closes_the_gap(sizes):
    cells, pool, _, target = noisy(sizes, sum(sizes))
    pricer = Pricer(cells, (), Portfolio())
    *_, last = column_generation(target, pricer, np.random.default_rng(0))
    assert last.objective == pytest.approx(best_fit(pool, target), abs=1e-6, rel=1e-6)
    assert last.gap is not None and last.gap < 1e-6 * (1 + last.objective)
    assert last.weights.min() > 0 and last.weights.sum() == pytest.approx(1)


def test_objective_never_rises():
    _, _, _, target = noisy((3, 3, 3), 2)
    pricer = Pricer(target.cells, (), Portfolio())
    values = [f.objective for f in column_generation(target, pricer, np.random.default_rng(1))]
    assert all(b <= a + 1e-9 for a, b in zip(values, values[1:], strict=False))


def test_certificate_is_never_below_the_true_gap_on_200_problems():
    """Against the whole domain's own optimum, found by column generation to 1e-8."""
    for seed in range(200):
        generator = np.random.default_rng(seed)
        sizes = tuple(int(s) for s in generator.integers(1, 4, generator.integers(1, 4)))
        cells, pool, _, target = noisy(sizes, seed)
        weights = generator.dirichlet(np.ones(len(pool.records)))
        pricer = Pricer(cells, (), Portfolio())
        objective, gap, _ = certificate(target, pool.marginals(weights), pricer)
        *_, best = column_generation(target, pricer, generator)
        assert gap is not None and gap >= objective - best.objective - 1e-7


def test_without_an_oracle_there_is_no_gap():
    _, _, _, target = noisy((2, 3), 0)
    fits = list(column_generation(target, Pricer(target.cells), np.random.default_rng(0)))
    assert fits[-1].gap is None
    with pytest.raises(ValueError, match="needs an oracle"):
        Pricer(target.cells).prove(np.zeros(len(target.cells)))


def test_a_stopped_oracle_still_gives_a_true_bound():
    cells, pool, _, target = noisy((4, 4, 4, 4), 3)
    stopped = Pricer(cells, (), Portfolio(limits=Limits(deterministic_time=1e-6), states=1))
    uniform = np.full(len(pool.records), 1 / len(pool.records))
    objective, gap, _ = certificate(target, pool.marginals(uniform), stopped)
    *_, best = column_generation(target, Pricer(cells, (), Portfolio()), np.random.default_rng(0))
    assert gap is None or gap >= objective - best.objective - 1e-7


def test_impossible_records_are_never_held():
    cells, _, _, target = noisy((3, 3), 1)
    rules = ({0: 0, 1: 0}, {0: 1, 1: 2})
    pricer = Pricer(cells, rules, Portfolio())
    *_, last = column_generation(target, pricer, np.random.default_rng(0))
    held = {tuple(int(v) for v in r) for r in last.records}
    assert not held & {(0, 0), (1, 2)}


def test_local_search_and_oracle_price_alike_on_a_small_domain():
    cells, pool, _, _ = noisy((3, 4, 2), 0)
    gradient = np.random.default_rng(5).normal(size=len(cells))
    pricer = Pricer(cells, (), Portfolio())
    lowest = pool.scores(gradient).min()
    assert pricer.search(gradient, np.random.default_rng(0)).score == pytest.approx(lowest)
    proven = pricer.prove(gradient)
    assert proven.score == pytest.approx(lowest)
    assert proven.bound is not None and proven.bound <= lowest
    assert everything(cells).scores(gradient).min() == lowest
