"""It learns, it obeys the rules, it refuses what is too large."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.errors import SchemaError, SizeError
from saddlesynth.synthesis.methods import METHODS


def test_every_method_has_a_row(rows_of_the_suite) -> None:
    assert {row.name for row in rows_of_the_suite} == set(METHODS)


def distance(real: pd.DataFrame, made: pd.DataFrame, names: list[str]) -> float:
    """Total variation distance of two tables on some columns, as text."""
    shares = [t[names].astype(str).value_counts(normalize=True) for t in (real, made)]
    return float(shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2)


def test_it_learns_a_coupled_pair_and_less_with_less_budget(fast, pair, tmp_path) -> None:
    path = pair.write(tmp_path)
    real = pd.read_csv(path)

    def mean_distance(epsilon: float) -> float:
        found = [
            fast(schema=pair.schema, epsilon=epsilon, random_state=seed).fit(path).sample(5000)
            for seed in range(5)
        ]
        return float(np.mean([distance(real, table, ["left", "right"]) for table in found]))

    rich, poor = mean_distance(50.0), mean_distance(0.01)
    assert rich < fast.pairs
    if fast.pairs < 0.5:
        assert poor > rich + 0.1


def test_no_row_is_impossible_and_rules_cost_nothing(fast, children, tmp_path) -> None:
    path = children.write(tmp_path)
    made = fast(schema=children.schema).fit(path)
    out = made.sample(2000)
    assert not ((out["agegrp"] == "child") & (out["job"] != "none")).any()
    assert set(out["agegrp"]) == {"child", "adult"}
    counts = made.marginals(("agegrp", "job")).set_index(["agegrp", "job"])
    assert counts.loc[("child", "full"), "estimate"] == 0
    free = fast(schema={"columns": children.schema["columns"]}).fit(path)
    assert made.ledger_.as_dict()["total"] == free.ledger_.as_dict()["total"]


def test_an_input_row_that_breaks_a_rule_is_no_crash(fast, children, tmp_path) -> None:
    path = children.write(tmp_path)
    path.write_text(path.read_text() + "child,full,u\n")
    out = fast(schema=children.schema).fit(path).sample(500)
    assert not ((out["agegrp"] == "child") & (out["job"] != "none")).any()


def test_rules_that_leave_no_record_are_refused(fast, children, tmp_path) -> None:
    children.schema["impossible"] = [{"area": "u"}, {"area": "r"}]
    with pytest.raises(SchemaError, match="impossible"):
        fast(schema=children.schema).fit(children.write(tmp_path))


def test_a_run_that_would_be_too_large_is_refused_before_it_starts(fast, pair, tmp_path) -> None:
    start = time.monotonic()
    with pytest.raises(SizeError, match=r"queries.*MiB.*Smaller"):
        fast(schema=pair.schema, max_queries=5).fit(pair.write(tmp_path))
    assert time.monotonic() - start < 5


def test_a_wide_schema_is_planned_without_its_product_domain(fast) -> None:
    entry = {"type": "integer", "min": 0, "max": 49, "bins": 50}
    schema = {"columns": {f"q{i:02}": entry for i in range(12)}}
    if not fast.wide:
        with pytest.raises(SizeError, match="Smaller"):
            fast().plan(schema, 1000)
        return
    plan = fast().plan(schema, 1000)
    assert 600 <= plan.queries < 50**12
    assert plan.memory < 2**30


def test_a_plan_costs_nothing_and_foretells_the_error(fast, pair, tmp_path) -> None:
    made = fast(schema=pair.schema, epsilon=1.0)
    plan = made.plan(n_rows=1200)
    assert plan.rho == pytest.approx(made._new_ledger().rho)
    assert 0 < plan.expected_error < 1
    assert sum(step["rho"] for step in plan.steps) <= plan.rho * (1 + 1e-9)
    assert fast(epsilon=0.1).plan(pair.schema, 1200).expected_error > plan.expected_error
    assert fast(epsilon=1.0).plan(pair.schema, 12_000).expected_error < plan.expected_error


def test_progress_is_told_from_nought_to_one(fast, pair, tmp_path) -> None:
    seen: list[tuple[str, float]] = []
    fast(schema=pair.schema, progress=lambda *step: seen.append(step)).fit(pair.write(tmp_path))
    assert seen
    assert all(0 <= done <= 1 for _, done in seen)
