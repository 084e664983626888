"""Projection as a method: what it spends, what it keeps, how well it does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.projection.method import Projection


def table(rows=3000, seed=0):
    """b equals a nine times in ten, c is noise."""
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 6, rows)
    b = np.where(generator.random(rows) < 0.9, a, generator.integers(0, 6, rows))
    return pd.DataFrame({"a": a, "b": b, "c": generator.integers(0, 3, rows)})


def schema(**sizes):
    columns = {k: {"type": "categorical", "values": list(range(v))} for k, v in sizes.items()}
    return {"columns": columns}


SCHEMA = schema(a=6, b=6, c=3)


def distance(real, synthetic, columns):
    p = real.value_counts(columns, normalize=True)
    q = synthetic.value_counts(columns, normalize=True)
    return float(p.sub(q, fill_value=0).abs().sum() / 2)


def test_pairs_are_kept_at_high_epsilon_and_lost_at_low():
    data = table()
    errors = {}
    for epsilon in (10.0, 0.01):
        method = Projection(epsilon, 1e-6, schema=SCHEMA, random_state=1).fit(data)
        errors[epsilon] = distance(data, method.sample(3000).astype(int), ["a", "b"])
    assert errors[10.0] < 0.05
    assert errors[0.01] > errors[10.0] + 0.1


def test_ledger_has_one_line_a_marginal_and_stays_within_the_budget():
    method = Projection(1.0, 1e-6, schema=SCHEMA, random_state=1).fit(table(200))
    assert len(method.ledger_.lines) == 3 + 3
    assert 0.999 < method.ledger_.spent_epsilon <= 1.0


def test_a_pool_that_is_not_the_whole_domain_works_too():
    wide = {f"x{i}": 5 for i in range(8)}
    generator = np.random.default_rng(0)
    first = generator.integers(0, 5, 4000)
    noise = generator.integers(0, 5, (4000, 8))
    data = pd.DataFrame(
        np.where(generator.random((4000, 8)) < 0.7, first[:, None], noise), columns=list(wide)
    )
    method = Projection(5.0, 1e-6, schema=schema(**wide), random_state=0, pool=20_000).fit(data)
    synthetic = method.sample(4000).astype(int)
    assert 15_000 < method.manifest_["facts"]["pool"] <= 20_000
    assert distance(data, synthetic, ["x0", "x5"]) < 0.05
    triple = ["x1", "x2", "x3"]
    assert distance(data, synthetic, triple) < 0.2


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_tables_of_hardly_any_rows(rows, relation):
    method = Projection(1.0, 1e-6, schema=SCHEMA, relation=relation, random_state=0)
    assert len(method.fit(table(rows + 5).head(max(rows, 1))).sample(7)) == 7


def test_one_column_and_constant_columns():
    data = pd.DataFrame({"a": [0, 1, 1, 0], "k": [0, 0, 0, 0]})
    for names in (["a"], ["k"], ["a", "k"]):
        sizes = {n: {"a": 2, "k": 1}[n] for n in names}
        method = Projection(1.0, 1e-6, schema=schema(**sizes), random_state=0).fit(data[names])
        assert list(method.sample(3).columns) == names


def test_impossible_rows_do_not_come_out():
    rules = {**SCHEMA, "impossible": [{"a": 0, "b": 1}, {"a": 2, "c": 2}]}
    data = table()
    data = data[~((data.a == 0) & (data.b == 1)) & ~((data.a == 2) & (data.c == 2))]
    out = Projection(2.0, 1e-6, schema=rules, random_state=0).fit(data).sample(5000).astype(int)
    assert not (((out.a == 0) & (out.b == 1)) | ((out.a == 2) & (out.c == 2))).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [("one_way", 0), ("one_way", 1.0), ("temperature", 0), ("temperature", -1), ("pool", 3),
     ("sweeps", 0), ("iterations", 2.5), ("exponent", float("nan"))],
)  # fmt: skip
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InputError, match=name):
        Projection(1.0, 1e-6, schema=SCHEMA, **{name: value}).fit(table(10))


def test_plan_counts_the_queries_of_all_pairs():
    plan = Projection(1.0, 1e-6, schema=SCHEMA).plan(n_rows=1000)
    assert plan.queries == 6 + 6 + 3 + 36 + 18 + 18
    assert [step["marginals"] for step in plan.steps] == [3, 3]


def test_the_exact_master_fits_closest_and_proves_it():
    settings = {"schema": SCHEMA, "random_state": 3, "certificate": True}
    exact = Projection(1.0, 1e-6, master="exact", rounds=300, **settings).fit(table())
    smooth = Projection(1.0, 1e-6, **settings).fit(table())
    facts, other = exact.manifest_["facts"], smooth.manifest_["facts"]
    assert facts["gap_at_most"] < 1e-4
    assert facts["misfit"] <= other["misfit"]
    cells = exact.plan(n_rows=1).queries
    assert other["gap_at_most"] >= (other["misfit"] - facts["misfit"]) * cells / 2 - 0.01 * cells
    assert exact.ledger_.lines == smooth.ledger_.lines


def test_a_solver_that_cannot_be_used_is_refused_before_data_are_read():
    for settings in ({"solver": "gurobbi"}, {"time_limit": -1.0}):
        method = Projection(1.0, 1e-6, schema=SCHEMA, certificate=True, **settings)
        with pytest.raises(InputError, match=next(iter(settings))):
            method.fit("no such file.csv")


def spread(columns=7, rows=4000):
    """The first two columns are equal, the others independent of all."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 4, (rows, columns))
    codes[:, 1] = codes[:, 0]
    return pd.DataFrame(codes, columns=[f"x{i}" for i in range(columns)])


def pairs_measured(method):
    return [m.attributes for m in method.release_.fit.measured if len(m.attributes) == 2]


def test_pairs_that_noise_would_drown_are_left_out_and_the_scores_are_charged():
    data = spread()
    sizes = schema(**dict.fromkeys(data, 4))
    chosen = Projection(1.0, 1e-6, schema=sizes, random_state=0, pool=5000).fit(data)
    every = Projection(1.0, 1e-6, schema=sizes, random_state=0, pool=5000, bar=0).fit(data)
    assert (0, 1) in pairs_measured(chosen)
    assert len(pairs_measured(chosen)) < 15 < len(pairs_measured(every)) == 21
    steps = [line.step for line in chosen.ledger_.lines]
    assert [s for s in steps if s.startswith("dependence")] == ["dependence: 21 pairs"]
    assert not any(line.step.startswith("dependence") for line in every.ledger_.lines)
    assert max(chosen.ledger_.spent_epsilon, every.ledger_.spent_epsilon) <= 1.0


def test_with_little_noise_no_dependent_pair_is_left_out():
    data = spread()
    for column in range(2, 7):
        data[f"x{column}"] = (data["x0"] + (data[f"x{column}"] > 2)) % 4
    method = Projection(50.0, 1e-6, schema=schema(**dict.fromkeys(data, 4)), random_state=0)
    assert len(pairs_measured(method.fit(data))) == 21


def test_at_least_the_most_dependent_pair_is_measured_whatever_the_bar():
    data = spread()
    data["x1"] = np.where(np.arange(4000) % 3, data["x2"], data["x0"])  # no pair passes
    sizes = schema(**dict.fromkeys(data, 4))
    method = Projection(10.0, 1e-6, schema=sizes, bar=1e6, random_state=0, pool=5000)
    assert pairs_measured(method.fit(data)) == [(1, 2)]


def test_wide_columns_get_more_of_the_budget_of_the_single_ones():
    method = Projection(1.0, 1e-6, schema=schema(a=6, b=6, c=3), random_state=0).fit(table(200))
    a, _, c = method.ledger_.lines[:3]
    assert float(a.rho) / float(c.rho) == pytest.approx(2 ** (2 / 3))


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"bar": -1}, "bar is -1"), ({"select": 0}, "select is 0"), ({"select": 0.8}, "leave some")],
)
def test_settings_of_the_choice_are_checked(settings, words):
    with pytest.raises(InputError, match=words):
        Projection(1.0, 1e-6, schema=SCHEMA, **settings).fit(table(10))
