"""The whole evaluation: what is read, what is computed, what is skipped and why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.errors import InputError, SchemaError
from saddlesynth.synthesis.evaluate import evaluate
from saddlesynth.synthesis.evaluate.classify import ClassifierErrors
from saddlesynth.synthesis.evaluate.metrics import WorkloadError
from saddlesynth.synthesis.evaluate.result import KWay, NoiseFloor, RangeErrors, Skipped


def test_a_table_has_no_error_against_itself(people, schema):
    found = evaluate(people(), people(), schema)
    assert found.validity.valid_share == 1
    assert [part.max for part in found.marginals] == [0, 0, 0]
    assert found.ranges.max == 0 and found.workloads[0].max_error == 0
    assert all(column.tvd == 0 for column in found.columns)


def test_a_release_folder_brings_its_rows_schema_noise_and_budget(evaluation):
    assert isinstance(evaluation.floor, NoiseFloor) and isinstance(evaluation.ranges, RangeErrors)
    assert len(evaluation.floor.rows) == 5
    assert evaluation.release.method == "independent"
    assert sum(share for _, share, _ in evaluation.release.budget) == pytest.approx(1)
    assert evaluation.release.epsilon == 5.0
    one, two = evaluation.k_way(1), evaluation.k_way(2)
    assert one.inside.marginals == 5 and one.outside is None
    assert two.outside.marginals == 10 and two.inside is None


def test_a_release_may_be_given_beside_other_rows(release, people):
    found = evaluate(people(), people(200, seed=5), release=release)
    assert found.synthetic_rows == 200 and found.release is not None


def test_two_files_of_different_kind_are_compared(tmp_path, people, schema):
    people().to_parquet(tmp_path / "real.parquet")
    people(200, 1).to_csv(tmp_path / "made.csv", index=False)
    found = evaluate(tmp_path / "real.parquet", tmp_path / "made.csv", schema)
    assert found.validity.valid_share == 1
    assert found.validity.columns[2].synthetic_type == "text"
    assert all(column.same_type for column in found.validity.columns)


def test_a_schema_that_differs_from_the_releases_is_refused(release, people, schema):
    other = {"columns": {**schema["columns"], "sex": {"type": "categorical", "values": ["M", "F"]}}}
    with pytest.raises(InputError, match="leave schema out"):
        evaluate(people(), release, other)


def test_a_release_without_rows_says_how_to_make_some(tmp_path, people, schema):
    from saddlesynth.synthesis.independent import Independent

    method = Independent(random_state=1).fit(people(), schema=schema)
    folder = method.save(tmp_path / "rel", synthetic=False)
    with pytest.raises(InputError, match="make some with 'saddlesynth sample"):
        evaluate(people(), folder)


def test_a_real_table_without_a_column_of_the_schema_is_refused(people, schema):
    with pytest.raises(SchemaError, match="real table has no column 'age'"):
        evaluate(people().drop(columns="age"), people(), schema)


# ---------------------------------------------------------------------- labels and classifiers
def test_the_default_label_is_the_last_listed_column_with_few_values(evaluation):
    assert evaluation.classifiers.label == "rich"
    assert any("label 'rich'" in note for note in evaluation.notes)


def test_a_named_label_is_used_and_an_unknown_one_refused(people, schema):
    found = evaluate(people(), people(), schema, label="job")
    assert found.classifiers.label == "job"
    assert not any("label" in note for note in found.notes)
    with pytest.raises(InputError, match="label is 'salary'; the columns are sex, job"):
        evaluate(people(), people(), schema, label="salary")


def test_held_out_rows_are_the_test_rows(people, schema):
    found = evaluate(people(), people(200, 1), schema, test=people(50, 2))
    assert found.classifiers.held_out and found.classifiers.test_rows == 50


def test_no_label_that_suits_is_a_reason_not_an_error(people, schema):
    rules = {"columns": {n: schema["columns"][n] for n in ("age", "pay")}}
    found = evaluate(people()[["age", "pay"]], people()[["age", "pay"]], rules)
    assert isinstance(found.classifiers, Skipped) and "name a label" in found.classifiers.reason


# ---------------------------------------------------------------------- odd tables
def test_a_constant_column_has_a_defined_score_and_nothing_is_nan():
    real = pd.DataFrame({"country": ["XX"] * 40, "grade": list("ABCA") * 10})
    columns = {
        "country": {"type": "categorical", "values": ["XX"]},
        "grade": {"type": "categorical", "values": ["A", "B", "C"]},
    }
    found = evaluate(real, real.iloc[::-1], {"columns": columns})
    assert found.k_way(1).mean == 0 and found.k_way(2).mean == 0
    assert {part.what for part in found.skipped} >= {"3-way marginals", "range queries"}
    json.loads(found.to_json(), parse_constant=pytest.fail)  # NaN and infinity would fail


def test_a_constant_label_skips_the_classifiers_with_a_reason():
    real = pd.DataFrame({"grade": list("ABCA") * 10, "country": ["XX"] * 40})
    columns = {
        "grade": {"type": "categorical", "values": ["A", "B", "C"]},
        "country": {"type": "categorical", "values": ["XX", "YY"]},
    }
    found = evaluate(real, real, {"columns": columns})
    assert found.classifiers.reason == "label 'country' is the same in all real rows"


@pytest.mark.parametrize("real_rows, made_rows", [(1, 1), (1, 30), (30, 1)])
def test_tables_of_one_row_are_evaluated(real_rows, made_rows, people, schema):
    found = evaluate(people(real_rows), people(made_rows, 1), schema)
    assert (found.real_rows, found.synthetic_rows) == (real_rows, made_rows)
    assert 0 <= found.k_way(2).mean <= 1
    assert isinstance(found.classifiers, ClassifierErrors if real_rows > 1 else Skipped)
    json.loads(found.to_json(), parse_constant=pytest.fail)


def test_a_skipped_workload_does_not_stop_the_others(people, schema):
    found = evaluate(people(1), people(1), schema)
    assert all(isinstance(part, Skipped) for part in found.workloads)
    assert isinstance(found.k_way(3), KWay)


def test_a_wide_table_is_sampled_with_a_note():
    generator = np.random.default_rng(0)
    wide = pd.DataFrame({f"q{i:02}": generator.integers(0, 3, 60) for i in range(30)})
    columns = {name: {"type": "integer", "min": 0, "max": 2} for name in wide}
    found = evaluate(wide, wide, {"columns": columns}, max_marginals=50)
    assert (found.k_way(2).total, found.k_way(2).computed) == (435, 50)
    assert found.k_way(2).notes == ("50 of 435 2-way marginals, chosen at random",)
    assert len({error.columns for error in found.k_way(3).errors}) == 50


def test_max_marginals_is_checked(people, schema):
    with pytest.raises(InputError, match="max_marginals"):
        evaluate(people(), people(), schema, max_marginals=0)


def test_the_seed_moves_the_queries_and_nothing_else(people, schema):
    def run(seed):
        return evaluate(people(), people(200, 1), schema, random_state=seed)

    first, again, other = run(0), run(0), run(1)
    assert first == again
    assert first.ranges != other.ranges and first.marginals == other.marginals


# ---------------------------------------------------------------------- what it says
def test_the_summary_says_first_that_it_is_not_private(evaluation):
    lines = str(evaluation).splitlines()
    assert "NOT differentially private" in lines[0]
    assert any(line.startswith("2-way TVD") for line in lines)
    assert "skipped: every 5-way marginal has more cells than there are real rows" in lines[-2]


def test_the_json_holds_the_same_numbers_and_the_warning(evaluation):
    read = json.loads(evaluation.to_json())
    assert read["differentially_private"] is False and "REAL data" in read["warning"]
    assert read["marginals"][1]["mean"] == evaluation.k_way(2).mean
    assert read["columns"][0]["real"] == list(evaluation.columns[0].real)
    assert list(read)[:2] == ["warning", "differentially_private"]


def test_progress_is_told_in_shares_of_each_step(people, schema):
    said = []
    evaluate(people(50), people(50), schema, progress=lambda step, done: said.append((step, done)))
    assert {step for step, _ in said} == {"reading", "marginals", "queries", "classifiers"}
    assert all(0 <= done <= 1 for _, done in said)


def test_the_metrics_of_the_tables_are_those_of_their_codes(people, schema):
    """k = 1: the distance of the sex column by hand, from two frames."""
    real, made = people(), people(200, 1)
    found = evaluate(real, made, schema)
    by_hand = abs((real.sex == "F").mean() - (made.sex == "F").mean())
    assert found.columns[0].tvd == pytest.approx(by_hand)
    assert found.k_way(1).errors[0].tvd == pytest.approx(by_hand)
    assert isinstance(found.workloads[0], WorkloadError)


def test_evaluating_does_not_import_matplotlib_or_write_anything(tmp_path, monkeypatch):
    import subprocess
    import sys

    monkeypatch.chdir(tmp_path)
    code = (
        "import sys, pandas as pd\n"
        "from saddlesynth.synthesis.evaluate import evaluate\n"
        "import saddlesynth.synthesis.report\n"
        "frame = pd.DataFrame({'a': ['x', 'y'] * 9, 'b': [1, 2, 3] * 6})\n"
        "evaluate(frame, frame)\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert not list(Path(tmp_path).iterdir())
