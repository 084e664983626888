"""Strategies of marginals: least squares, optimality, covers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.games.privacy.residuals import squared_sensitivity
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.baselines.covering import cover
from saddlesynth.synthesis.baselines.hdmm import least_squares
from saddlesynth.synthesis.baselines.lattice import assemble, closure, shrinkage_matrix, subsets
from saddlesynth.synthesis.baselines.residual_budget import residual_shares
from saddlesynth.synthesis.baselines.strategy import Strategy, Workload, best_strategy


def domain_of(*sizes: int) -> Domain:
    return Domain(tuple(f"x{i}" for i in range(len(sizes))), sizes)


DOMAIN = domain_of(2, 3, 4)
PAIRS = tuple(itertools.combinations(range(3), 2))
WORKLOAD = Workload(DOMAIN, PAIRS, (1.0, 1.0, 1.0))


def matrix_of(marginal: Attributes, domain: Domain) -> np.ndarray:
    """The marginal as a 0/1 matrix on the whole domain."""
    every = np.indices(domain.sizes).reshape(len(domain), -1)
    cell = np.zeros(every.shape[1], dtype=int)
    for a in marginal:
        cell = cell * domain.sizes[a] + every[a]
    return (cell == np.arange(domain.cells(marginal))[:, None]).astype(float)


def variances(workload: Workload, strategy: Strategy, power: int) -> np.ndarray:
    """Variance of a cell of each marginal at unit budget, noise of variance 1/theta^2."""
    held = dict.fromkeys(workload.parts, 0.0)
    for marginal, share in zip(strategy.marginals, strategy.shares, strict=True):
        for part in subsets(marginal, workload.domain):
            if part in held:
                ratio = workload.domain.cells(part) / workload.domain.cells(marginal)
                held[part] += share ** (2 / power) * ratio
    matrix = shrinkage_matrix(workload.marginals, workload.parts, workload.domain)
    return np.asarray(matrix @ (1 / np.array(list(held.values()))))


def objective(workload: Workload, strategy: Strategy, power: int, kind: str) -> float:
    weighted = workload.importance(kind) * variances(workload, strategy, power)
    return float(weighted.sum() if kind == "total" else weighted.max())


def test_answers_are_the_least_squares_solution_on_the_whole_domain() -> None:
    generator = np.random.default_rng(0)
    sigmas = {(0, 1): 2.0, (1, 2): 1.0, (0, 1, 2): 5.0, (0, 2): 0.7}
    measured = [
        Measurement(m, generator.normal(9, s, DOMAIN.shape(m)), s, 1.0) for m, s in sigmas.items()
    ]
    weighted = np.vstack([matrix_of(m.attributes, DOMAIN) / m.sigma for m in measured])
    wanted = np.concatenate([m.counts.ravel() / m.sigma for m in measured])
    best = np.linalg.pinv(weighted) @ wanted
    inverse = np.linalg.pinv(weighted.T @ weighted)
    parts = closure(PAIRS, DOMAIN)
    residuals, noise = least_squares(measured, parts, DOMAIN)
    told = shrinkage_matrix(PAIRS, parts, DOMAIN) @ noise
    for pair, variance in zip(PAIRS, told, strict=True):
        rows = matrix_of(pair, DOMAIN)
        answers = assemble(residuals, pair, DOMAIN).ravel()
        np.testing.assert_allclose(answers, rows @ best, atol=1e-8)
        np.testing.assert_allclose(np.diag(rows @ inverse @ rows.T), variance)


@pytest.mark.parametrize("kind", ["total", "max"])
def test_the_gaussian_strategy_is_the_optimum_that_cvxpy_finds(kind) -> None:
    import cvxpy

    strategy = best_strategy(WORKLOAD, 2, kind)
    parts, candidates = WORKLOAD.parts, closure([(0, 1, 2)], DOMAIN)
    information = np.array(
        [
            [DOMAIN.cells(t) / DOMAIN.cells(s) if set(t) <= set(s) else 0.0 for s in candidates]
            for t in parts
        ]
    )
    shares = cvxpy.Variable(len(candidates), nonneg=True)
    inverse = cvxpy.inv_pos(information @ shares)
    matrix = shrinkage_matrix(PAIRS, parts, DOMAIN).toarray()
    errors = cvxpy.multiply(WORKLOAD.importance(kind), matrix @ inverse)
    aim = cvxpy.sum(errors) if kind == "total" else cvxpy.max(errors)
    problem = cvxpy.Problem(cvxpy.Minimize(aim), [cvxpy.sum(shares) == 1])
    problem.solve()
    assert objective(WORKLOAD, strategy, 2, kind) == pytest.approx(problem.value, rel=0.01)


@pytest.mark.parametrize("kind", ["total", "max"])
def test_shares_of_residuals_are_the_optimum_that_cvxpy_finds(kind) -> None:
    import cvxpy

    ledger = Ledger(1.0, 1e-6)
    squares = np.array(
        [
            squared_sensitivity(DOMAIN.shape(t), ledger) / DOMAIN.cells(t) ** 2
            for t in WORKLOAD.parts
        ]
    )
    matrix = shrinkage_matrix(PAIRS, WORKLOAD.parts, DOMAIN).toarray() * squares
    weights = WORKLOAD.importance(kind)

    def value(errors: np.ndarray) -> float:
        return float((weights * errors).sum() if kind == "total" else (weights * errors).max())

    shares = cvxpy.Variable(len(squares), nonneg=True)
    errors = cvxpy.multiply(weights, matrix @ cvxpy.inv_pos(shares))
    aim = cvxpy.sum(errors) if kind == "total" else cvxpy.max(errors)
    problem = cvxpy.Problem(cvxpy.Minimize(aim), [cvxpy.sum(shares) == 1])
    problem.solve()
    found = residual_shares(WORKLOAD, list(squares), kind)
    assert found.sum() == pytest.approx(1)
    assert value(matrix @ (1 / found)) == pytest.approx(problem.value, rel=0.01)


def test_residual_planning_beats_every_strategy_of_marginals() -> None:
    ledger = Ledger(1.0, 1e-6)
    squares = [
        squared_sensitivity(DOMAIN.shape(t), ledger) / DOMAIN.cells(t) ** 2 for t in WORKLOAD.parts
    ]
    shares = residual_shares(WORKLOAD, squares)
    matrix = shrinkage_matrix(PAIRS, WORKLOAD.parts, DOMAIN)
    planned = WORKLOAD.importance("total") @ (matrix @ (np.array(squares) / shares))
    assert planned < objective(WORKLOAD, best_strategy(WORKLOAD, 2), 2, "total")


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("kind", ["total", "max"])
def test_the_strategy_is_better_than_measuring_the_workload_evenly(power, kind) -> None:
    domain = domain_of(2, 2, 2, 2, 2, 7)
    pairs = tuple(itertools.combinations(range(6), 2))
    workload = Workload(domain, pairs, (1.0,) * len(pairs))
    evenly = Strategy(pairs, (1 / len(pairs),) * len(pairs))
    best = best_strategy(workload, power, kind)
    assert math.fsum(best.shares) == pytest.approx(1)
    assert objective(workload, best, power, kind) < objective(workload, evenly, power, kind)


def test_a_weight_draws_budget_to_its_marginal() -> None:
    heavy = Workload(DOMAIN, PAIRS, (100.0, 1.0, 1.0))
    even = variances(WORKLOAD, best_strategy(WORKLOAD, 2), 2)
    drawn = variances(heavy, best_strategy(heavy, 2), 2)
    assert drawn[0] < even[0] and drawn[2] > even[2]


def test_a_public_number_of_rows_is_not_measured() -> None:
    known = Workload(domain_of(3, 1), ((0,), (1,)), (1.0, 1.0), known_total=True)
    assert known.parts == [(0,)]
    assert best_strategy(known, 1).marginals == ((0,),)


@pytest.mark.parametrize(("columns", "size"), [(8, 2), (16, 2), (12, 3)])
def test_every_wanted_set_lies_in_a_view_of_the_allowed_size(columns, size) -> None:
    domain = domain_of(*(2,) * columns)
    wanted = list(itertools.combinations(range(columns), size))
    views = cover(wanted, domain, 256)
    assert all(domain.cells(view) <= 256 for view in views)
    assert all(any(set(w) <= set(view) for view in views) for w in wanted)
    # Schoenheim's lower bound on covering designs.
    least = math.ceil(columns / 8 * math.ceil((columns - 1) / 7))
    if size == 2:
        assert len(views) <= 2 * least


def test_a_set_that_is_too_large_is_a_view_of_its_own() -> None:
    assert cover([(0, 1), (1, 2), (0, 2)], domain_of(50, 50, 2), 200) == [(0, 1), (0, 2), (1, 2)]


def test_no_view_is_superfluous() -> None:
    domain = domain_of(2, 3, 4, 5, 6, 7)
    wanted = list(itertools.combinations(range(6), 2))
    views = cover(wanted, domain, 60)
    for view in views:
        others = [set(v) for v in views if v != view]
        assert not all(any(set(w) <= o for o in others) for w in wanted if set(w) <= set(view))
