"""Marginals are sums of residuals, and their variances follow."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.baselines.lattice import (
    assemble,
    closure,
    residual,
    shrinkage_matrix,
    subsets,
)

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def domain_of(sizes: tuple[int, ...]) -> Domain:
    return Domain(tuple(f"x{i}" for i in range(len(sizes))), sizes)


@given(shapes, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_table_is_the_sum_of_its_residuals(sizes: tuple[int, ...], seed: int) -> None:
    domain, every = domain_of(sizes), tuple(range(len(sizes)))
    table = np.random.default_rng(seed).normal(size=sizes)
    parts = {t: residual(table, every, t) for t in subsets(every, domain)}
    np.testing.assert_allclose(assemble(parts, every, domain), table, atol=1e-9)


@given(shapes, st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_residuals_of_a_marginal_are_those_of_the_whole_table(
    sizes: tuple[int, ...], seed: int
) -> None:
    domain, every = domain_of(sizes), tuple(range(len(sizes)))
    table = np.random.default_rng(seed).normal(size=sizes)
    for marginal in itertools.combinations(every, max(1, len(every) - 1)):
        others = tuple(a for a in every if a not in marginal)
        summed = table.sum(axis=others)
        for part in subsets(marginal, domain):
            np.testing.assert_allclose(
                residual(summed, marginal, part), residual(table, every, part), atol=1e-9
            )


def test_the_variance_of_a_cell_is_that_of_the_linear_map() -> None:
    """Push unit noise on one residual through ``assemble`` and look at the exact covariance."""
    domain, marginal = domain_of((2, 3, 4)), (0, 1, 2)
    parts = closure([marginal], domain)
    matrix = shrinkage_matrix([marginal], parts, domain).toarray()[0]
    for part, expected in zip(parts, matrix, strict=True):
        columns = []
        for cell in range(domain.cells(part)):
            unit = np.zeros(domain.cells(part))
            unit[cell] = 1.0
            noisy = {t: np.zeros(domain.shape(t)) for t in parts}
            noisy[part] = residual(unit.reshape(domain.shape(part)), part, part)
            columns.append(assemble(noisy, marginal, domain).ravel())
        variances = (np.array(columns) ** 2).sum(axis=0)
        np.testing.assert_allclose(variances, expected)


def test_attributes_with_one_value_have_no_residual() -> None:
    assert closure([(0, 1)], domain_of((2, 1))) == [(), (0,)]
