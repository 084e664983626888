"""The games as methods of synthesis: recipes, refusals, solvers, scale."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pandas as pd
import pytest

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.synthesis.errors import BudgetError, InputError, SizeError
from saddlesynth.synthesis.methods import make

GAMES = ["fem", "sepfem", "dualquery", "dqrs", "mwem", "pmw", "smalldb"]
QUICK = {
    "fem": {"rounds": 6, "samples": 5},
    "sepfem": {"rounds": 6, "samples": 5},
    "dualquery": {"rounds": 8},
    "dqrs": {"rounds": 8},
    "mwem": {"rounds": 3},
    "pmw": {"updates": 3},
    "smalldb": {"size": 2},
}
SCHEMA = {
    "columns": {
        "a": {"type": "categorical", "values": ["x", "y"]},
        "b": {"type": "categorical", "values": ["u", "v", "w"]},
    }
}
every = pytest.mark.parametrize("game", GAMES)


@pytest.fixture
def frame():
    generator = np.random.default_rng(0)
    a = generator.choice(["x", "y"], 300, p=[0.7, 0.3])
    return pd.DataFrame({"a": a, "b": np.where(a == "x", "u", generator.choice(["v", "w"], 300))})


def _quick(game, **more):
    return make(game, **{"delta": 1e-6, "random_state": 0, **QUICK[game], **more})


# ---------------------------------------------------------------------- manual settings (A17 c)
def test_settings_that_no_accountant_allows_are_refused_before_data_are_read():
    wrong = make("fem", rounds=50, selection_epsilon=0.2, epsilon=1.0, delta=1e-6)
    with pytest.raises(BudgetError, match="50 rounds of selection_epsilon 0.2 needs rho"):
        wrong.fit("no such file.csv", SCHEMA)


def test_settings_that_fit_are_accepted_and_spend_what_they_say(frame):
    made = make("fem", rounds=10, selection_epsilon=0.05, epsilon=1.0, delta=1e-6, samples=2)
    made.fit(frame, SCHEMA)
    chosen = [line for line in made.ledger_.lines if "select" in line.step]
    assert len(chosen) == 10
    assert sum(line.rho for line in chosen) == pytest.approx(10 * 0.05**2 / 8)
    assert made.ledger_.spent_epsilon <= 1.0


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("fem", {"selection_epsilon": 9.0}),
        ("dualquery", {"rounds": 400, "eta": 50.0}),
        ("dqrs", {"rounds": 400, "eta": 50.0}),
    ],
)
def test_a_budget_in_which_not_one_round_fits_is_refused(game, settings, frame):
    with pytest.raises(BudgetError):
        make(game, epsilon=0.1, delta=1e-6, **settings).fit(frame, SCHEMA)


@pytest.mark.parametrize(
    ("game", "name", "value"),
    [
        ("fem", "rounds", 0), ("fem", "samples", 0), ("fem", "multiple", -1.0),
        ("fem", "tail", 0.0), ("fem", "tail", 1.5), ("fem", "start", "elsewhere"),
        ("fem", "recent", 0),
        ("fem", "start_share", 0.0), ("fem", "selection_epsilon", 0.0), ("fem", "max_cells", 0),
        ("fem", "count_share", 1.0), ("fem", "solver", "abacus"), ("fem", "time_limit", 0.0),
        ("sepfem", "start", "1-way"), ("dualquery", "eta", 0.0), ("dqrs", "slack", 0.0),
        ("dqrs", "cap", 2.0), ("mwem", "measure", "all"), ("mwem", "sweeps", 0),
        ("pmw", "updates", 0), ("mwem", "cells", 0), ("smalldb", "size", 0),
        ("fem", "workload", "all:0"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named_before_data_are_read(game, name, value):
    with pytest.raises(InputError, match=name):
        make(game, **{name: value}).fit("no such file.csv", SCHEMA)


# ---------------------------------------------------------------------- budgets and relations
@every
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_every_game_stays_within_its_budget_pure_or_not(game, relation, delta, frame):
    made = _quick(game, epsilon=1.0, delta=delta, relation=relation).fit(frame, SCHEMA)
    ledger = made.ledger_
    assert 0 < ledger.spent_epsilon <= 1.0
    assert ledger.spent_delta <= delta
    total = sum(line.epsilon for line in ledger.lines) if delta == 0 else None
    if total is not None:
        assert total == pytest.approx(ledger.spent_epsilon)


@every
def test_the_ledger_does_not_depend_on_the_rows(game, frame):
    """Under replace-one n is public, so every charge is fixed before the data are looked at."""
    other = pd.DataFrame({"a": ["y"] * 300, "b": ["w"] * 300})
    made = [
        _quick(game, epsilon=1.0, relation="replace_one").fit(data, SCHEMA).ledger_.as_dict()
        for data in (frame, other)
    ]
    if game == "pmw":  # how many updates happen is released
        made = [{"lines": ledger["lines"][:2]} for ledger in made]
    assert made[0] == made[1]


@every
def test_a_garbage_oracle_changes_no_ledger(game, frame, garbage_oracle, monkeypatch):
    ledgers = []
    for oracle in (None, garbage_oracle):
        made = _quick(game, epsilon=1.0)
        if oracle is not None:
            monkeypatch.setattr(made, "_oracle", partial(lambda given: given, oracle))
        ledgers.append(made.fit(frame, SCHEMA).ledger_.as_dict())
    assert ledgers[0] == ledgers[1]


def test_the_number_of_rows_is_never_used_where_it_is_private(frame, monkeypatch):
    """Rounds follow from the noisy number of rows, which the release holds."""
    from saddlesynth.synthesis.query_release.fem import calibrated_rounds

    made = make("fem", epsilon=1.0, delta=1e-6, samples=2, start="uniform", random_state=1)
    made.fit(frame, SCHEMA)
    rho = Ledger(1.0, 1e-6).rho * (1 - made.count_share)
    rows = made.release_.fit.rows
    assert rows != 300
    assert made.release_.fit.facts["rounds"] == calibrated_rounds(rows * np.sqrt(rho))


# ---------------------------------------------------------------------- solvers, threads, size
@pytest.mark.parametrize("solver", ["portfolio", "exact", "local", "cp-sat", "highs"])
def test_a_game_runs_on_every_kind_of_solver(solver, frame):
    made = _quick("fem", solver=solver, rounds=3, samples=2).fit(frame, SCHEMA)
    assert sum(made.release_.fit.facts["solver"].values()) == 6


def test_threads_do_not_change_the_answer(frame):
    records = [
        _quick("fem", n_jobs=jobs, solver="exact").fit(frame, SCHEMA).release_.fit.model.records
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*records)


def test_marginals_of_the_workload_come_with_a_bound_that_holds(frame):
    made = make("sepfem", epsilon=50.0, delta=1e-6, rounds=60, samples=20, random_state=0)
    found = made.fit(frame, SCHEMA).marginals(("a", "b"))
    assert found["source"].str.contains("95% confidence").all()
    fact = made.release_.fit.facts["error_bound"]
    true = frame.value_counts(normalize=True)
    for row in found.itertuples():
        real = true.get((row.a, row.b), 0.0)
        assert abs(row.estimate / made.release_.fit.rows - real) <= fact["bound"]


def test_small_db_refuses_a_large_table_with_the_reason_and_spends_nothing(frame):
    wide = {"columns": {f"c{i}": {"type": "integer", "min": 0, "max": 9, "bins": 10}
                        for i in range(6)}}  # fmt: skip
    made = make("smalldb", delta=1e-6)
    table = pd.DataFrame({f"c{i}": [1, 2] for i in range(6)})
    with pytest.raises(SizeError, match="toys.*Smaller"):
        made.fit(table, wide)
    assert made.ledger_.lines == []


@pytest.mark.slow
def test_a_table_of_48_attributes_and_4427_values_is_planned_and_played():
    sizes = [2 + (i * 37) % 181 for i in range(47)]
    sizes.append(4427 - sum(sizes))
    assert sizes[-1] > 1 and sum(sizes) == 4427
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {f"c{i}": np.minimum(generator.geometric(0.3, 3000), s) - 1 for i, s in enumerate(sizes)}
    )
    schema = {
        "columns": {
            f"c{i}": {"type": "categorical", "values": list(range(s))} for i, s in enumerate(sizes)
        }
    }
    start = time.process_time()
    made = make(
        "fem", workload="random:64:3:0", max_cells=40_000, rounds=5, samples=10, random_state=0
    )
    assert made.plan(schema, 3000).memory < 2**30
    made.fit(frame, schema)
    assert made.sample(20).shape == (20, 48)
    assert time.process_time() - start < 90
