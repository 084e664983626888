"""rho and (epsilon, delta): against published figures, OpenDP, dp-accounting and our own script."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.conversion import LARGE, epsilon_from_rho, rho_from_epsilon

TABLE = {  # (epsilon, delta) -> rho, by the tight conversion
    (0.2, 1e-5): 1.5588e-3,
    (1.0, 1e-5): 3.0557e-2,
    (1.0, 1e-9): 1.4973e-2,
    (2.0, 3e-11): 4.7271e-2,
    (4.0, 1e-5): 0.37314,
}
GRID = [(rho, delta) for rho in (1e-6, 1e-3, 0.02, 0.5, 8.0, 300.0) for delta in (1e-12, 1e-6, 0.1)]


@pytest.mark.parametrize("budget", TABLE)
def test_rho_agrees_with_known_values(budget):
    assert rho_from_epsilon(*budget) == pytest.approx(TABLE[budget], rel=5e-5)


@pytest.mark.parametrize("rho, delta", GRID)
def test_epsilon_agrees_with_opendp_and_is_never_smaller(rho, delta):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=float)
    gaussian = dp.m.make_gaussian(*space, scale=1.0)
    theirs = dp.c.make_zCDP_to_approxDP(gaussian).map(math.sqrt(2 * rho)).epsilon(delta=delta)
    assert theirs <= epsilon_from_rho(rho, delta) <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("rho, delta", [g for g in GRID if g[0] <= 8])
def test_epsilon_agrees_with_an_independent_accountant(rho, delta):
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=1 + np.logspace(-2, 6, 4_000))
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    theirs = accountant.get_epsilon(delta)
    assert epsilon_from_rho(rho, delta) == pytest.approx(theirs, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("rho, delta", GRID)
def test_the_script_outside_the_package_agrees(rho, delta, recompute):
    assert recompute.epsilon_of(rho, delta) == pytest.approx(
        epsilon_from_rho(rho, delta), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 1, 10, 100, 9e3, 1e6])
@pytest.mark.parametrize("delta", [1e-30, 1e-9, 1e-6, 0.5])
def test_rho_never_buys_more_than_was_asked_and_nothing_is_left_over(epsilon, delta):
    rho = rho_from_epsilon(epsilon, delta)
    assert rho > 0
    assert epsilon_from_rho(rho, delta) <= epsilon
    assert epsilon_from_rho(rho * (1 + 1e-9), delta) > epsilon * (1 - 1e-9)


def test_budgets_too_small_for_any_number_buy_nothing():
    assert rho_from_epsilon(1e-300, 1e-300) == 0.0


def test_epsilon_grows_with_rho_also_where_the_formula_changes():
    around = [1e-260, 1e-250, 1e-9, LARGE * (1 - 1e-9), LARGE, LARGE * (1 + 1e-9), 1e7]
    found = [epsilon_from_rho(rho, 1e-9) for rho in around]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1e7, rel=0.01)


@pytest.mark.parametrize("rho, delta", [(-1.0, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.0)])
def test_what_is_no_cost_is_refused(rho, delta):
    with pytest.raises(ValueError, match="rho is|delta is"):
        epsilon_from_rho(rho, delta)
