"""Nothing is learnt for free, and what is released stays within the claim."""

from __future__ import annotations

import json

import numpy as np
import pytest

from saddlesynth.synthesis.errors import InputError, NotPrivateWarning, SchemaError


def test_an_unlisted_value_is_refused_unless_the_schema_has_a_place_for_it(
    fast, rare, tmp_path
) -> None:
    rare.schema["columns"]["occupation"].pop("other")
    with pytest.raises(SchemaError, match="occupation") as caught:
        fast(schema=rare.schema).fit(rare.write(tmp_path))
    assert "lighthouse" not in str(caught.value)


def test_an_unlisted_value_goes_to_the_place_the_schema_names(fast, rare, tmp_path) -> None:
    out = fast(schema=rare.schema).fit(rare.write(tmp_path)).sample(500)
    assert set(out["occupation"]) <= {"clerk", "driver", "nurse", "other"}


def test_a_draft_schema_makes_a_release_that_claims_no_privacy(fast, rare, tmp_path) -> None:
    rare.schema["draft"] = "read from data: not private"
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    assert made.manifest_["dp"] is False
    with pytest.warns(NotPrivateWarning, match="NOT differentially private"):
        made.sample(5)


def test_without_a_schema_the_domain_is_found_at_a_charge(fast, rare, tmp_path) -> None:
    header, *rows = rare.text.splitlines()
    common = [row for row in rows if "lighthouse" not in row]
    (tmp_path / "many.csv").write_text("\n".join([header, *rows, *common * 40]) + "\n")
    made = fast(epsilon=1.0, delta=1e-6).fit(tmp_path / "many.csv")
    assert any(line.delta > 0 for line in made.ledger_.lines)
    assert made.ledger_.spent_epsilon <= 1.0
    assert made.ledger_.spent_delta <= 1e-6
    assert "privately" in made.manifest_["schema"]
    folder = made.save(tmp_path / "rel")
    assert not any(b"lighthouse" in p.read_bytes() for p in folder.iterdir())
    assert b"driver" in (folder / "schema.json").read_bytes()


def test_too_few_rows_for_a_schema_are_refused_and_what_was_spent_is_told(
    fast, rare, tmp_path
) -> None:
    made = fast(epsilon=1.0, delta=1e-6)
    with pytest.raises(SchemaError, match="occupation.*has spent epsilon") as caught:
        made.fit(rare.write(tmp_path))
    assert "lighthouse" not in str(caught.value)
    assert 0 < made.ledger_.spent_epsilon < 1.0


def test_a_number_without_bounds_is_refused_not_given_the_extremes(fast, incomes, tmp_path) -> None:
    incomes.schema["columns"]["income"] = {"type": "float", "decimals": 2}
    with pytest.raises(SchemaError, match="income.*min and max") as caught:
        fast(schema=incomes.schema).fit(incomes.write(tmp_path))
    assert "8750000" not in str(caught.value)


def test_bin_edges_come_from_the_schema_alone(fast, incomes, tmp_path) -> None:
    path = incomes.write(tmp_path)
    kept = [line for line in incomes.text.splitlines() if not line.startswith("8750000")]
    (tmp_path / "without.csv").write_text("\n".join(kept) + "\n")
    labels = [
        fast(schema=incomes.schema).fit(data).marginals("income")["income"].tolist()
        for data in (path, tmp_path / "without.csv")
    ]
    assert labels[0] == labels[1]


def test_the_ledger_is_the_same_whatever_the_rows_say(fast, pair, tmp_path) -> None:
    """Steps, noise and costs may depend on public things and released values, not on rows."""
    other = "left,right,noise\n" + "a,a,0\n" * 1200
    (tmp_path / "other.csv").write_text(other)
    made = [
        fast(schema=pair.schema, relation="replace_one").fit(data).ledger_
        for data in (pair.write(tmp_path), tmp_path / "other.csv")
    ]
    assert made[0].spent_rho == pytest.approx(made[1].spent_rho)


def test_more_budget_learns_more(fast, pair, tmp_path) -> None:
    """On a column that is far from uniform, which is what a method without budget might guess."""
    values = ["bcd"[i % 3] if i % 20 < 3 else "a" for i in range(1200)]
    (tmp_path / "skewed.csv").write_text(
        "\n".join(["left,right,noise", *(f"{v},{v},{i % 2}" for i, v in enumerate(values))]) + "\n"
    )

    def error(epsilon: float) -> float:
        errors = []
        for seed in range(3):
            made = fast(schema=pair.schema, epsilon=epsilon, random_state=seed)
            found = made.fit(tmp_path / "skewed.csv").sample(5000)["left"]
            shares = found.value_counts(normalize=True)
            errors.append(sum(abs(shares.get(v, 0.0) - values.count(v) / 1200) for v in "abcd"))
        return float(np.mean(errors))

    assert error(0.001) > error(50.0) + 0.1


def test_a_person_with_many_rows_counts_as_one_unit(fast, tmp_path) -> None:
    rows = ["who,what,where"] + [f"p{i % 40},{'xy'[i % 2]},{'uvw'[i % 3]}" for i in range(400)]
    (tmp_path / "visits.csv").write_text("\n".join(rows) + "\n")
    listed = {"what": ["x", "y"], "where": ["u", "v", "w"]}
    schema = {
        "columns": {
            "who": {"type": "id"},
            **{name: {"type": "categorical", "values": v} for name, v in listed.items()},
        }
    }
    made = fast(schema=schema, epsilon=1000.0, unit="who", max_rows_per_unit=3)
    made.fit(tmp_path / "visits.csv")
    assert (made.manifest_["unit"], made.manifest_["rows_per_unit"]) == ("who", 3)
    once = fast(schema=schema, epsilon=1000.0).fit(tmp_path / "visits.csv")
    three, one = (max(line.sensitivity for line in m.ledger_.lines) for m in (made, once))
    assert three == pytest.approx(3 * one)
    assert made.manifest_["rows"] == pytest.approx(120, abs=20)
    assert "p1" not in (made.save(tmp_path / "rel") / "synthetic.csv").read_text()


def test_a_unit_that_is_not_a_column_is_refused(fast, rare, tmp_path) -> None:
    with pytest.raises(InputError, match="unit"):
        fast(schema=rare.schema, unit="person").fit(rare.write(tmp_path))


@pytest.mark.statistical
def test_neighbours_cannot_be_told_apart_beyond_epsilon(fast, neighbours, tmp_path, audit) -> None:
    """The whole way from a file to the model, so that no step scales noise wrongly.

    17 thresholds, 4 comparisons each, each false by chance at most 2 times in 1,000; the seeds are
    fixed.
    """
    thresholds = np.arange(-8, 9) / 10
    statistics = []
    for i, case in enumerate(neighbours):
        path = case.write(tmp_path, f"{i}.csv")
        settings = {"schema": case.schema, "epsilon": 1.0, "relation": "replace_one"}
        fits = (fast(random_state=s, **settings).fit(path) for s in range(fast.audits))
        tables = [fit.release_.fit.model.marginal((0, 1)) for fit in fits]
        statistics.append([table[2, 1] - table[0, 0] for table in tables])
    assert not audit.audit(*statistics, thresholds, 1.0, 1e-6).refuted


def test_the_ledger_file_has_a_line_for_every_step(fast, rare, tmp_path) -> None:
    folder = fast(schema=rare.schema).fit(rare.write(tmp_path)).save(tmp_path / "rel")
    for line in json.loads((folder / "ledger.json").read_text())["lines"]:
        assert line["step"] and line["mechanism"]
        assert line["relation"] == "add_remove"
        assert line["rho"] > 0
