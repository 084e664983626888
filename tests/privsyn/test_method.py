"""The whole method: what it charges, what it makes of odd tables, what it promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import rho_from_epsilon
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import RecordModel
from saddlesynth.synthesis.privsyn import method as module
from saddlesynth.synthesis.privsyn.method import PrivSyn

pytestmark = pytest.mark.filterwarnings("error")

Fitting = Callable[..., Any]
SIZES = (4, 4, 2, 3)


def table(rows: int = 3000, seed: int = 1) -> np.ndarray:
    """The second column mostly repeats the first, the third depends on both, the last on none."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=rows)
    second = np.where(rng.random(rows) < 0.9, first, rng.integers(4, size=rows))
    third = ((first + second) % 2 == 0) & (rng.random(rows) < 0.8)
    return np.column_stack([first, second, third, rng.integers(3, size=rows)]).astype(np.int64)


def records_of(fit: Any) -> np.ndarray:
    assert isinstance(fit.model, RecordModel)
    return fit.model.records


# ---------------------------------------------------------------------- quality
def test_a_large_budget_reproduces_all_pairs(fit_to: Fitting, distance: Fitting) -> None:
    data = table()
    fit, _ = fit_to(data, SIZES)
    for pair in ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)):
        assert distance(records_of(fit), data, SIZES, pair) < 0.03
    assert fit.rows == pytest.approx(3000, abs=2)


def test_a_small_budget_is_worse(fit_to: Fitting, distance: Fitting) -> None:
    data = table()
    near = distance(records_of(fit_to(data, SIZES)[0]), data, SIZES, (0, 1))
    far = distance(records_of(fit_to(data, SIZES, epsilon=0.01)[0]), data, SIZES, (0, 1))
    assert far > near + 0.1


@pytest.mark.parametrize(
    "choices",
    [
        {"selection": "greedy"},
        {"combine_cells": 0},
        {"budget": "equal"},
        {"budget": "minimax"},
        {"non_negativity": "norm-sub"},
        {"non_negativity": "none"},
        {"spread": "uniform"},
        {"merge_sigmas": 0.0},
        {"strategy": "mcf"},
        {"schedule": "linear"},
        {"append_attributes": False},
        {"separate_and_join": False},
        {"records": 2500},
        {"relation": "replace_one"},
        {"unit": "person", "max_rows_per_unit": 3},
    ],
    ids=str,
)
def test_every_choice_works(choices: dict[str, Any], fit_to: Fitting, distance: Fitting) -> None:
    data = table()
    fit, ledger = fit_to(data, SIZES, **choices)
    assert distance(records_of(fit), data, SIZES, (0, 1)) < 0.05
    assert ledger.spent_rho <= ledger.rho
    assert len(records_of(fit)) == choices.get("records", len(records_of(fit)))


# ---------------------------------------------------------------------- odd tables
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (200, (3,)),  # one attribute
        (200, (1,)),  # one value
        (200, (1, 1)),
        (200, (1, 4, 2)),  # a constant column
        (1, (2, 3)),  # one row
        (0, (2, 3)),  # none
        (500, (2, 2)),  # one pair
    ],
)
def test_odd_tables_work(
    epsilon: float, rows: int, sizes: tuple[int, ...], fit_to: Fitting
) -> None:
    data = np.random.default_rng(0).integers(sizes, size=(rows, len(sizes)))
    fit, ledger = fit_to(data, sizes, epsilon=epsilon)
    assert ledger.spent_rho == pytest.approx(ledger.rho)
    assert fit.rows >= 1
    assert (records_of(fit) < np.array(sizes)).all()
    for measured in fit.measured:
        assert measured.counts.shape == tuple(sizes[a] for a in measured.attributes)
        assert np.isfinite(measured.counts).all() and (measured.counts >= 0).all()


def test_a_forest_of_pairs_needs_no_updates(fit_to: Fitting, distance: Fitting) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(5, size=4000), rng.integers(3, size=4000)
    data = np.column_stack([left, right, left, (right + 1) % 3])
    fit, _ = fit_to(data, (5, 3, 5, 3), epsilon=2.0)
    assert fit.facts["appended_attributes"] >= 2
    assert fit.facts["sweeps"] == 0
    assert distance(records_of(fit), data, (5, 3, 5, 3), (0, 2)) < 0.05


def test_one_row_is_not_copied_for_every_seed(fit_to: Fitting) -> None:
    data = np.array([[0, 1]])
    constant = [
        len(np.unique(records_of(fit_to(data, (2, 3), epsilon=1.0, seed=s)[0]), axis=0)) == 1
        for s in range(10)
    ]
    assert not all(constant)


def test_impossible_cells_are_zero_targets(fit_to: Fitting) -> None:
    data = table()
    data = data[~((data[:, 0] == 0) & (data[:, 1] == 1))]
    rule = {0: 0, 1: 1}
    fit, with_rule = fit_to(data, SIZES, epsilon=1.0, impossible=(rule,))
    _, without = fit_to(data, SIZES, epsilon=1.0)
    pool = records_of(fit)
    assert ((pool[:, 0] == 0) & (pool[:, 1] == 1)).mean() < 0.001
    assert with_rule.as_dict() == without.as_dict()
    for measured in fit.measured:
        if measured.attributes == (0, 1):
            assert measured.counts[0, 1] == 0


def test_rare_values_come_back(fit_to: Fitting) -> None:
    rng = np.random.default_rng(3)
    rare = np.where(
        rng.random(5000) < 0.02, rng.integers(2, 40, size=5000), rng.integers(2, size=5000)
    )
    data = np.column_stack([rare, rare % 2, rng.integers(2, size=5000)])
    fit, _ = fit_to(data, (40, 2, 2), epsilon=1.0)
    assert fit.facts["merged_values"] >= 30
    assert len(np.unique(records_of(fit)[:, 0])) > 10
    assert fit.measured[0].counts.shape == (40,)


# ---------------------------------------------------------------------- privacy
def test_the_budget_is_split_as_said(fit_to: Fitting) -> None:
    _, ledger = fit_to(table(), SIZES, epsilon=1.0, split=(0.2, 0.3, 0.5))
    spent = {"1-way": 0.0, "InDif": 0.0, "marginal": 0.0}
    for line in ledger.lines:
        spent[line.step.split(":")[0]] += line.rho
    assert np.array(list(spent.values())) / ledger.rho == pytest.approx([0.2, 0.3, 0.5])
    assert ledger.spent_epsilon <= 1.0


def test_noise_follows_the_published_formulas(fit_to: Fitting) -> None:
    _, ledger = fit_to(table(), SIZES, epsilon=1.0)
    rho = rho_from_epsilon(1.0, 1e-9)
    one_way = next(line for line in ledger.lines if line.step.startswith("1-way"))
    difference = next(line for line in ledger.lines if line.step.startswith("InDif"))
    assert one_way.noise == pytest.approx(np.sqrt(4 / (2 * 0.1 * rho)))
    assert difference.noise == pytest.approx(np.sqrt(8 * 6 / (0.1 * rho)), rel=1e-3)


def test_garbage_instead_of_a_pool_leaves_the_ledger_as_it_is(
    fit_to: Fitting, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, honest = fit_to(table(), SIZES, epsilon=1.0)
    right = module.build_pool

    def garbage(*arguments: Any, **options: Any) -> Any:
        built = right(*arguments, **options)
        for column in built.pool:
            column[:] = 0
        return built

    monkeypatch.setattr(module, "build_pool", garbage)
    _, fooled = fit_to(table(), SIZES, epsilon=1.0)
    assert fooled.as_dict() == honest.as_dict()


def test_equal_seeds_give_equal_records(fit_to: Fitting) -> None:
    first, second = (records_of(fit_to(table(), SIZES, epsilon=1.0)[0]) for _ in range(2))
    assert (first == second).all()


def test_the_pool_has_the_noisy_number_of_rows(fit_to: Fitting) -> None:
    fit, _ = fit_to(table(), SIZES, epsilon=0.1)
    assert len(records_of(fit)) == round(fit.rows) != 3000
    public, _ = fit_to(table(), SIZES, epsilon=0.1, relation="replace_one")
    assert public.rows == 3000


def test_pairs_that_can_never_be_worth_their_noise_are_no_candidates(fit_to: Fitting) -> None:
    data = np.random.default_rng(0).integers((60, 60, 2), size=(1000, 3))
    fit, ledger = fit_to(data, (60, 60, 2), epsilon=1.0, merge_sigmas=0.0)
    assert fit.facts["candidate_pairs"] == 2
    assert any(line.step == "InDif: 2 pairs" for line in ledger.lines)


def test_without_candidates_their_budget_goes_to_single_columns(fit_to: Fitting) -> None:
    data = table(rows=50)
    fit, ledger = fit_to(data, SIZES, epsilon=0.01)
    assert fit.facts["candidate_pairs"] == 0
    assert ledger.spent_rho == pytest.approx(ledger.rho)


# ---------------------------------------------------------------------- before any data
@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"split": (0.5, 0.5)}, "split"),
        ({"split": (0.0, 0.5, 0.5)}, "split"),
        ({"selection": "best"}, "selection"),
        ({"threshold": 5.0}, "threshold"),
        ({"combine_cells": -1}, "combine_cells"),
        ({"budget": "best"}, "budget"),
        ({"non_negativity": "clip"}, "non_negativity"),
        ({"strategy": "best"}, "strategy"),
        ({"schedule": "best"}, "schedule"),
        ({"spread": "best"}, "spread"),
        ({"alpha": 0}, "alpha"),
        ({"sweeps": 1.5}, "sweeps"),
        ({"records": 0}, "records"),
        ({"merge_sigmas": float("nan")}, "merge_sigmas"),
    ],
)
def test_bad_parameters_are_named(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        PrivSyn(**wrong).check_parameters()


def test_the_plan_counts_noise_that_the_run_then_draws(fit_to: Fitting) -> None:
    domain = Domain(("a", "b", "c", "d"), SIZES)
    plan = PrivSyn(1.0)._plan(domain, 3000, rho_from_epsilon(1.0, 1e-9))
    _, ledger = fit_to(table(), SIZES, epsilon=1.0)
    assert sum(step["rho"] for step in plan.steps) == pytest.approx(ledger.spent_rho)
    assert plan.steps[0]["sigma"] == pytest.approx(ledger.lines[0].noise)
    assert plan.steps[1]["sigma"] == pytest.approx(
        next(line.noise for line in ledger.lines if line.step.startswith("InDif")), rel=1e-3
    )
    assert plan.queries == sum(SIZES) + 6 + plan.steps[2]["cells"]
    assert 0 < plan.expected_error < 1 and plan.seconds > 0 and plan.memory > 0


def test_a_plan_for_one_column_has_no_choice_of_pairs() -> None:
    plan = PrivSyn(1.0)._plan(Domain(("a",), (3,)), 10, 0.01)
    assert [step["step"] for step in plan.steps] == ["1-way", "marginals"]
    assert sum(step["rho"] for step in plan.steps) == pytest.approx(0.01)


def test_more_rows_mean_less_expected_error() -> None:
    domain = Domain(("a", "b"), (9, 9))
    errors = [PrivSyn(1.0)._plan(domain, n, 0.01).expected_error for n in (10**3, 10**4, 10**5)]
    assert errors == sorted(errors, reverse=True)


def test_facts_are_plain_numbers(fit_to: Fitting) -> None:
    facts = fit_to(table(), SIZES, epsilon=1.0)[0].facts
    assert facts["candidate_pairs"] == 6
    assert 0 < facts["selected_pairs"] <= 6
    assert facts["greedy_gap"] >= -1e-9 and facts["selection_proven"]
    assert 0 <= facts["update_error"] < 0.2
