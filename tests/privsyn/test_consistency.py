"""Agreement and non-negativity of noisy marginals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.convex.reference import cvxpy, solve
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.privsyn.agreement import Agreement, shared_sets
from saddlesynth.synthesis.privsyn.consistency import NonNegativity, make_consistent
from saddlesynth.synthesis.privsyn.nonnegativity import norm_cut, norm_sub

DOMAIN = Domain(("a", "b", "c", "d"), (3, 4, 2, 5))
MARGINALS: list[Attributes] = [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (2, 0), (0, 1, 3)]
MODES = [mode for mode in get_args(NonNegativity) if mode != "none"]


def truth(seed: int, rows: int = 5000) -> NDArray[np.int64]:
    """A full table of counts."""
    rng = np.random.default_rng(seed)
    cells = DOMAIN.cells(range(len(DOMAIN)))
    return rng.multinomial(rows, rng.dirichlet(np.full(cells, 0.3))).reshape(DOMAIN.sizes)


def project(table: NDArray[Any], attributes: Attributes) -> NDArray[Any]:
    return np.einsum(table, range(table.ndim), attributes)


def measure(
    marginals: Sequence[Attributes], table: NDArray[np.int64], noise: float, seed: int
) -> list[Measurement]:
    """Marginals with uneven budgets and ``noise`` times the noise that belongs to them."""
    rng = np.random.default_rng(seed)
    result = []
    for attributes in marginals:
        rho = rng.uniform(0.1, 2.0)
        sigma = 1 / np.sqrt(2 * rho)
        exact = project(table, attributes).astype(float)
        counts = exact + noise * rng.normal(0, sigma, exact.shape)
        result.append(Measurement(attributes, counts, sigma, rho))
    return result


def disagreement(measurements: Sequence[Measurement]) -> float:
    """Largest difference between the projections of any two marginals on what they share."""
    worst = 0.0
    for first, second in itertools.combinations(measurements, 2):
        shared = tuple(a for a in first.attributes if a in second.attributes)
        left, right = (
            np.einsum(m.counts, m.attributes, shared) if shared else m.counts.sum()
            for m in (first, second)
        )
        worst = max(worst, float(np.abs(left - right).max()))
    return worst


# ------------------------------------------------------------------ agreement
def test_one_pass_makes_all_shared_projections_agree() -> None:
    noisy = measure(MARGINALS, truth(0), noise=0.5, seed=1)
    agreed, total = make_consistent(noisy, DOMAIN, non_negativity="none")
    assert disagreement(noisy) > 1
    assert disagreement(agreed) < 1e-9
    assert all(m.counts.sum() == pytest.approx(total, abs=1e-9) for m in agreed)


def test_weights_are_budget_over_cells_summed() -> None:
    noisy = [
        Measurement((0,), np.array([10.0, 20.0, 30.0]), 1.0, 0.5),
        Measurement((0, 1), np.arange(12.0).reshape(3, 4), 1.0, 3.0),
    ]
    agreed, total = make_consistent(noisy, DOMAIN, total=60.0, non_negativity="none")
    # Both totals are 60 already or moved there evenly, 4 cells above each value of a.
    pair = noisy[1].counts + (60 - 66) / 12
    weight = np.array([0.5 / 1, 3.0 / 4])
    target = (weight[0] * noisy[0].counts + weight[1] * pair.sum(axis=1)) / weight.sum()
    np.testing.assert_allclose(agreed[0].counts, target)
    np.testing.assert_allclose(agreed[1].counts, pair + ((target - pair.sum(axis=1)) / 4)[:, None])
    assert total == 60.0


def test_private_total_is_the_inverse_variance_average() -> None:
    noisy = measure(MARGINALS, truth(0), noise=3.0, seed=2)
    _, total = make_consistent(noisy, DOMAIN, non_negativity="none")
    weight = np.array([m.rho / m.counts.size for m in noisy])
    totals = np.array([m.counts.sum() for m in noisy])
    assert total == pytest.approx(weight @ totals / weight.sum())


def test_one_pass_is_the_least_squares_projection() -> None:
    noisy = measure(MARGINALS, truth(3), noise=2.0, seed=3)
    agreed, total = make_consistent(noisy, DOMAIN, non_negativity="none")
    cp = cvxpy()
    # Tables agree if and only if they are the marginals of one (signed) full table.
    full = cp.Variable(DOMAIN.cells(range(4)))
    unit = np.eye(DOMAIN.cells(range(4))).reshape(-1, *DOMAIN.sizes)
    loss = 0
    for m in noisy:
        matrix = np.stack([project(table, m.attributes).ravel() for table in unit], axis=1)
        loss += m.rho * cp.sum_squares(matrix @ full - m.counts.ravel())
    best = solve(cp.Problem(cp.Minimize(loss), [cp.sum(full) == total]), "CLARABEL")
    ours = sum(
        m.rho * np.square(m.counts - n.counts).sum() for m, n in zip(agreed, noisy, strict=True)
    )
    assert ours == pytest.approx(best, rel=1e-6)


def test_consistent_tables_are_left_alone() -> None:
    exact = measure(MARGINALS, truth(4), noise=0.0, seed=4)
    for mode in get_args(NonNegativity):
        agreed, total = make_consistent(exact, DOMAIN, non_negativity=mode)
        assert total == pytest.approx(5000)
        for before, after in zip(exact, agreed, strict=True):
            np.testing.assert_allclose(after.counts, before.counts, atol=1e-8)


def test_averaging_brings_marginals_nearer_to_the_truth() -> None:
    # 30 repetitions, seeds fixed; the mean ratio is about 0.6, so a failure means a broken average.
    ratios = []
    for seed in range(30):
        table = truth(seed)
        noisy = measure(MARGINALS, table, noise=4.0, seed=seed)
        agreed, _ = make_consistent(noisy, DOMAIN, non_negativity="none")
        errors = [
            sum(np.square(m.counts - project(table, m.attributes)).sum() for m in each)
            for each in (agreed, noisy)
        ]
        ratios.append(errors[0] / errors[1])
    assert np.mean(ratios) < 0.9


@given(
    st.lists(
        st.sets(st.integers(0, 6), max_size=4).map(lambda s: tuple(sorted(s))),
        min_size=1,
        max_size=7,
    )
)
def test_shared_sets_are_the_closed_intersections(marginals: list[Attributes]) -> None:
    expected = {
        frozenset.intersection(*map(frozenset, group))
        for size in range(2, len(marginals) + 1)
        for group in itertools.combinations(marginals, size)
    }
    found = shared_sets(marginals)
    assert set(map(frozenset, found)) == {s for s in expected if s}
    assert [len(s) for s in found] == sorted(len(s) for s in found)


# ------------------------------------------------------------------ non-negativity
@pytest.mark.parametrize("mode", MODES)
def test_tables_are_non_negative_with_one_total_and_nearly_agree(mode: NonNegativity) -> None:
    noisy = measure(MARGINALS, truth(5), noise=40.0, seed=5)
    agreed, total = make_consistent(noisy, DOMAIN, non_negativity=mode, rounds=2000)
    assert all(m.counts.min() >= 0 for m in agreed)
    assert all(m.counts.sum() == pytest.approx(total) for m in agreed)
    assert disagreement(agreed) < 10 < disagreement(noisy)


@pytest.mark.parametrize("mode", MODES)
def test_one_round_is_enough_to_be_valid(mode: NonNegativity) -> None:
    noisy = measure(MARGINALS, truth(5), noise=40.0, seed=6)
    agreed, total = make_consistent(noisy, DOMAIN, total=4000.0, non_negativity=mode, rounds=1)
    assert total == 4000.0
    assert all(m.counts.min() >= 0 for m in agreed)
    assert all(m.counts.sum() == pytest.approx(4000.0) for m in agreed)


def test_top_down_keeps_the_bias_of_sparse_tables_from_small_ones() -> None:
    # Fixed seeds; the error of 1-way tables is about a third lower, that of pairs a few percent.
    domain = Domain(("a", "b", "c"), (30, 40, 50))
    marginals: list[Attributes] = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    errors = {"top-down": np.zeros(2), "norm-sub": np.zeros(2)}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        a = rng.integers(0, 30, 20_000)
        table = np.zeros(domain.sizes)
        np.add.at(table, (a, a * a % 40, np.minimum(49, rng.geometric(0.15, 20_000))), 1)
        exact = [project(table, m) for m in marginals]
        noisy = [
            Measurement(m, t + rng.normal(0, 10, t.shape), 10.0, 0.005)
            for m, t in zip(marginals, exact, strict=True)
        ]
        for mode in errors:
            agreed, _ = make_consistent(noisy, domain, non_negativity=mode)  # type: ignore[arg-type]
            off = [np.abs(m.counts - t).sum() for m, t in zip(agreed, exact, strict=True)]
            errors[mode] += [sum(off[:3]), sum(off[3:])]
    assert errors["top-down"][0] < 0.8 * errors["norm-sub"][0]
    assert errors["top-down"][1] < errors["norm-sub"][1]


@settings(max_examples=50)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=10).map(np.array), st.floats(0.1, 100))
def test_norm_cut_keeps_the_largest_and_the_total(values: NDArray[Any], total: float) -> None:
    result = norm_cut(values, total)
    assert (result >= 0).all()
    assert result.sum() == pytest.approx(total)
    if np.maximum(values, 0).sum() >= total:
        kept = result > 0
        assert (result <= np.maximum(values, 0) + 1e-9).all()
        assert np.count_nonzero(np.abs(result - values)[kept] > 1e-9) <= 1
        assert not kept.any() or values[kept].min() >= values[~kept].max(initial=-np.inf) - 1e-9
    else:
        np.testing.assert_allclose(result, norm_sub(np.maximum(values, 0), total))


# ------------------------------------------------------------------ known zeros
def impossible_masks(marginals: Sequence[Attributes]) -> list[NDArray[np.bool_]]:
    """The cells that remain empty if a = 0 goes with b = 0 alone."""
    full = np.zeros(DOMAIN.sizes, dtype=bool)
    full[0, 1:] = True
    return [~project(~full, m).astype(bool) for m in marginals]


@pytest.mark.parametrize("mode", get_args(NonNegativity))
def test_known_zeros_stay_zero(mode: NonNegativity) -> None:
    masks = impossible_masks(MARGINALS)
    noisy = measure(MARGINALS, truth(7), noise=10.0, seed=7)
    agreed, total = make_consistent(noisy, DOMAIN, zeros=masks, non_negativity=mode)
    for m, mask in zip(agreed, masks, strict=True):
        assert (m.counts[mask] == 0).all()
        assert m.counts.sum() == pytest.approx(total)


def test_what_one_marginal_rules_out_is_ruled_out_in_all() -> None:
    noisy = measure(MARGINALS, truth(8), noise=1.0, seed=8)
    masks: list[NDArray[np.bool_] | None] = [None] * len(MARGINALS)
    masks[0] = np.array([True, False, False])  # a = 0 does not exist
    agreed, _ = make_consistent(noisy, DOMAIN, zeros=masks)
    for m in agreed:
        if 0 in m.attributes:
            assert np.take(m.counts, 0, axis=m.attributes.index(0)).sum() == 0
    assert disagreement(agreed) < 10


def test_zeros_make_the_rest_more_precise() -> None:
    """Where a value of a leaves one cell of b, that cell is worth as much as the 1-way count."""
    noisy = [
        Measurement((0,), np.array([10.0, 20.0, 30.0]), 1.0, 1.0),
        Measurement((0, 1), np.full((3, 4), 20.0), 1.0, 1.0),
    ]
    only_diagonal = ~np.eye(3, 4, dtype=bool)
    agreed, total = make_consistent(noisy, DOMAIN, zeros=[None, only_diagonal])
    assert total == pytest.approx(60.0)
    np.testing.assert_allclose(agreed[0].counts, [15.0, 20.0, 25.0])
    np.testing.assert_allclose(agreed[1].counts, np.eye(3, 4) * [[15.0], [20.0], [25.0]])


def test_tables_with_zeros_agree_after_enough_passes() -> None:
    marginals: list[Attributes] = [(0,), (1,), (0, 1), (1, 2), (0, 2)]
    masks = impossible_masks(marginals)
    noisy = measure(marginals, truth(11), noise=5.0, seed=11)
    agreed, _ = make_consistent(noisy, DOMAIN, zeros=masks, non_negativity="none")
    assert disagreement(agreed) < 1e-5


# ------------------------------------------------------------------ forms of input
def test_order_of_axes_does_not_matter() -> None:
    noisy = measure(MARGINALS, truth(9), noise=20.0, seed=9)
    turned = [Measurement(m.attributes[::-1], m.counts.transpose(), m.sigma, m.rho) for m in noisy]
    for one, other in zip(
        make_consistent(noisy, DOMAIN)[0], make_consistent(turned, DOMAIN)[0], strict=True
    ):
        assert other.attributes == one.attributes[::-1]
        np.testing.assert_allclose(other.counts.transpose(), one.counts, atol=1e-8)


def test_a_marginal_measured_twice_is_averaged() -> None:
    noisy = [
        Measurement((0,), np.array([10.0, 20.0, 30.0]), 1.0, 1.0),
        Measurement((0,), np.array([14.0, 24.0, 22.0]), 1.0, 3.0),
    ]
    agreed, _ = make_consistent(noisy, DOMAIN)
    for m in agreed:
        np.testing.assert_allclose(m.counts, [13.0, 23.0, 24.0])


def test_inputs_are_not_changed() -> None:
    noisy = measure(MARGINALS, truth(1), noise=30.0, seed=1)
    before = [m.counts.copy() for m in noisy]
    make_consistent(noisy, DOMAIN)
    for m, counts in zip(noisy, before, strict=True):
        np.testing.assert_array_equal(m.counts, counts)


def test_hopeless_noise_still_gives_valid_tables() -> None:
    noisy = measure(MARGINALS, truth(2, rows=3), noise=1e4, seed=2)
    agreed, total = make_consistent(noisy, DOMAIN)
    assert total >= 1
    assert all(np.isfinite(m.counts).all() and m.counts.min() >= 0 for m in agreed)
    assert all(m.counts.sum() == pytest.approx(total) for m in agreed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"non_negativity": "clip"}, "must be one of"),
        ({"rounds": 0}, "rounds is 0"),
        ({"total": 0.0}, "total is 0"),
        ({"zeros": []}, "0 masks"),
        ({"zeros": [np.zeros(4, dtype=bool)]}, "have shape"),
        ({"zeros": [np.ones(3, dtype=bool)]}, "without any possible cell"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    noisy = [Measurement((0,), np.ones(3), 1.0, 0.5)]
    with pytest.raises(ValueError, match=message):
        make_consistent(noisy, DOMAIN, **options)


def test_no_measurements_are_refused() -> None:
    with pytest.raises(ValueError, match="no measurements"):
        make_consistent([], DOMAIN)


def test_agreement_measures_its_own_disagreement() -> None:
    agreement = Agreement([(0,), (0, 1)], [1.0, 1.0], [(2,), (2, 2)], [None, None])
    tables = [np.array([3.0, 1.0]), np.array([[1.0, 1.0], [1.0, 1.0]])]
    assert agreement.disagreement(tables) == 1.0
