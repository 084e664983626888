"""The ledger: exact sums, never above what was asked, all charges or none."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.games.privacy.budget import BudgetExceeded, Cost, Ledger, Relation, split
from saddlesynth.games.privacy.calibrate import (
    gaussian_sigma,
    laplace_scale,
    pure_rho,
    round_down,
    round_up,
    selection_rho,
)

BUDGETS = [(e, d) for e in (0.1, 1, 10) for d in (1e-9, 1e-6)]
positive = st.floats(1e-9, 1e9)


def _spend(ledger, parts):
    for rho in split(ledger.remaining_rho, [1.0] * parts):
        ledger.charge("s", "m", 1.0, 1.0, rho=rho)


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
@pytest.mark.parametrize("parts", [1, 3, 49])
def test_a_ledger_that_spends_everything_stays_within_what_was_asked(
    epsilon, delta, parts, recompute
):
    ledger = Ledger(epsilon, delta)
    _spend(ledger, parts)
    assert 0.999 * epsilon < ledger.spent_epsilon <= epsilon
    assert ledger.spent_delta == delta
    assert ledger.remaining_rho < 1e-9 * ledger.rho
    again = recompute.recompute(ledger.as_dict())
    assert again[0] == pytest.approx(ledger.spent_epsilon, rel=1e-9)
    assert again[0] <= epsilon and again[1] <= delta


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_delta_is_the_conversions_and_the_lines_own(epsilon, delta, recompute):
    ledger = Ledger(epsilon, delta, reserved_delta=delta / 3)
    assert ledger.spent_delta == 0.0
    ledger.charge("s", "m", 1.0, 1.0, rho=ledger.rho, delta=delta / 7)
    exact = Fraction(ledger.conversion_delta) + Fraction(delta / 7)
    assert exact <= Fraction(ledger.spent_delta) <= Fraction(delta)
    assert ledger.spent_delta == pytest.approx(float(exact), rel=1e-15)
    with pytest.raises(BudgetExceeded, match="delta"):
        ledger.charge("s", "m", 1.0, 1.0, rho=1e-300, delta=delta / 3)
    assert recompute.recompute(ledger.as_dict())[1] <= delta


def test_a_charge_too_many_is_refused_and_leaves_no_line():
    ledger = Ledger(1.0, 1e-9)
    _spend(ledger, 5)
    with pytest.raises(BudgetExceeded, match="needs rho"):
        ledger.charge("one more", "m", 1.0, 1.0, rho=ledger.rho * 1e-6)
    assert len(ledger.lines) == 5


def test_not_the_smallest_number_more_than_everything_can_be_charged():
    ledger, pure = Ledger(1.0, 1e-9), Ledger(1.0, 0.0)
    with pytest.raises(BudgetExceeded):
        ledger.charge("s", "m", 1.0, 1.0, rho=math.nextafter(ledger.rho, 1.0))
    ledger.charge("s", "m", 1.0, 1.0, rho=ledger.rho)
    pure.charge("s", "m", 1.0, 1.0, rho=0.5, epsilon=1.0)
    for spent in (ledger, pure):
        with pytest.raises(BudgetExceeded):
            spent.charge("s", "m", 1.0, 1.0, rho=5e-324, epsilon=5e-324)
        assert len(spent.lines) == 1


def test_several_charges_are_made_all_or_none():
    ledger = Ledger(1.0, 1e-9)
    costs = [Cost("s", "m", 1.0, 1.0, rho=ledger.rho * 0.4)] * 3
    with pytest.raises(BudgetExceeded):
        ledger.charge_all(costs)
    assert ledger.lines == []
    ledger.charge_all(costs[:2])
    assert len(ledger.lines) == 2


def test_a_pure_budget_adds_epsilons_and_takes_nothing_else(recompute):
    ledger = Ledger(1, 0)
    for epsilon in split(1, [1, 1, 1]):
        ledger.charge("s", "m", 1.0, 1.0, rho=pure_rho(epsilon), epsilon=epsilon)
    assert 1 - 1e-12 < ledger.spent_epsilon <= 1
    assert ledger.spent_delta == 0
    with pytest.raises(BudgetExceeded, match="not pure"):
        Ledger(1, 0).charge("s", "discrete Gaussian", 1.0, 1.0, rho=0.01)
    with pytest.raises(BudgetExceeded, match="epsilon"):
        ledger.charge("s", "m", 1.0, 1.0, rho=1e-6, epsilon=1e-3)
    assert recompute.recompute(ledger.as_dict()) == (ledger.spent_epsilon, 0.0)


@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, math.inf])
def test_a_cost_that_is_no_positive_number_is_refused(rho):
    ledger = Ledger(1.0, 1e-9)
    with pytest.raises(ValueError, match="rho of step 's'"):
        ledger.charge("s", "m", 1.0, 1.0, rho=rho)
    with pytest.raises(ValueError, match="epsilon of step 's'"):
        Ledger(1.0, 0.0).charge("s", "m", 1.0, 1.0, rho=0.1, epsilon=rho)
    assert ledger.lines == []


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", True, None])
def test_an_epsilon_that_means_nothing_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon is"):
        Ledger(epsilon, 1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 1.0},
        {"delta": math.nan},
        {"delta": 0.1, "reserved_delta": 0.1},
        {"delta": 0.1, "rows_per_unit": 0},
        {"delta": 0.1, "relation": "neither"},
    ],
)
def test_other_parameters_are_checked(wrong):
    with pytest.raises(ValueError):
        Ledger(1.0, **wrong)


def test_a_thousand_charges_are_summed_quickly_and_exactly():
    ledger = Ledger(1.0, 1e-9)
    for rho in split(ledger.rho, [1.0] * 2_000):
        ledger.charge("s", "m", 1.0, 1.0, rho=rho)
    exact = sum(Fraction(line.rho) for line in ledger.lines)
    assert exact <= Fraction(ledger.spent_rho) <= Fraction(ledger.rho)


def test_delta_is_never_a_function_of_the_rows(records, watching):
    """The same ledger, whatever the number of rows: nothing else knows it."""
    from saddlesynth.games.privacy.curator import Curator

    ledgers = []
    for rows in ([[0, 0]], [[1, 2]] * 500):
        ledger = Ledger(1.0, 1e-9)
        curator = Curator(records(rows), ledger, watching(ledger))
        curator.measure("m", [(0,)], [1e-3])
        ledgers.append(ledger.as_dict())
    assert ledgers[0] == ledgers[1]


@given(positive, st.lists(st.floats(0, 1e6), min_size=1).filter(any))
def test_the_parts_of_a_split_never_exceed_the_whole(total, shares):
    parts = split(total, shares)
    assert sum(map(Fraction, parts)) <= Fraction(total)
    assert sum(parts) == pytest.approx(total, rel=1e-9)


@given(st.integers(1, 1000), positive)
def test_noise_never_costs_more_than_its_charge(sensitivity, budget):
    sigma = Fraction(gaussian_sigma(sensitivity, budget))
    assert Fraction(sensitivity) / (2 * sigma**2) <= Fraction(budget)
    scale = Fraction(laplace_scale(sensitivity, budget))
    assert Fraction(sensitivity) / scale <= Fraction(budget)
    assert Fraction(budget) ** 2 / 2 <= Fraction(pure_rho(budget))
    assert Fraction(budget) ** 2 / 8 <= Fraction(selection_rho(budget))


@given(st.fractions(-1000, 1000))
def test_rounding_goes_the_way_it_says(value):
    assert Fraction(round_down(value)) <= value <= Fraction(round_up(value))
    assert round_up(value) - round_down(value) <= 2 * math.ulp(float(value))


def test_relations_are_known_by_their_names():
    assert Ledger(1.0, 0.1, relation="replace_one").relation is Relation.REPLACE_ONE
