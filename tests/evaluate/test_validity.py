"""Does the synthetic table have the shape that the schema promises?"""

from __future__ import annotations

import pandas as pd
import pytest

from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.evaluate import evaluate


@pytest.fixture
def check(people, schema):
    def call(made, rules=schema, real=None):
        return evaluate(people() if real is None else real, made, rules)

    return call


def test_values_outside_the_schema_and_missing_ones_are_counted_apart(check, people):
    made = people(100, 1)
    made.loc[:2, "job"] = "astronaut"
    made.loc[3:4, "sex"] = None
    found = check(made).validity
    sex, job, *_ = found.columns
    assert (sex.nulls, sex.outside, job.nulls, job.outside) == (2, 0, 0, 3)
    assert found.valid_share == 0.95


def test_an_allowed_missing_value_is_valid(check, people):
    made = people(100, 1).assign(job=None)
    assert check(made.astype({"job": object})).validity.columns[1].nulls == 0


def test_numbers_beyond_the_range_are_invalid_in_the_synthetic_table_alone(check, people):
    real = people()
    real.loc[0, "age"] = 99  # input beyond the range counts as its end
    made = people(100, 1)
    made.loc[:3, "age"] = [17, 68, 18, 67]
    made["pay"] = made["pay"].astype(float)
    made.loc[4, "pay"] = 100.5
    found = check(made, real=real).validity
    assert [c.outside for c in found.columns] == [0, 0, 2, 1, 0]
    assert found.real_invalid == {}


def test_text_cells_beyond_the_range_are_found_too(tmp_path, check, people):
    people(100, 1).assign(age=["90", "18", *["40"] * 98]).to_csv(tmp_path / "m.csv", index=False)
    assert check(tmp_path / "m.csv").validity.columns[2].outside == 1


@pytest.mark.parametrize("as_text", [True, False])
def test_dates_beyond_the_range_are_invalid_and_the_last_day_is_not(as_text, check):
    rule = {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "bins": 12}
    rules = {"columns": {"seen": {**rule, "nullable": True}}}
    days = pd.Series(["2024-01-01", "2024-12-31", "2025-01-01", "2023-12-31", None])
    made = pd.DataFrame({"seen": days if as_text else pd.to_datetime(days)})
    found = check(made, rules, real=made.iloc[:2])
    assert found.validity.columns[0].outside == 2
    assert found.validity.valid_share == 0.6


def test_a_null_token_is_not_a_number_beyond_the_range(tmp_path, check):
    rule = {"type": "integer", "min": 0, "max": 9, "nullable": True, "null_tokens": ["-1"]}
    (tmp_path / "t.csv").write_text("n\n3\n-1\n12\n")
    found = check(tmp_path / "t.csv", {"columns": {"n": rule}}, real=tmp_path / "t.csv")
    assert found.validity.columns[0].outside == 1


def test_impossible_rows_are_counted(check, people):
    made = people(100, 1)
    made["sex"], made["job"] = "F", "clerk"
    made.loc[:6, "job"] = "driver"
    found = check(made).validity
    assert found.impossible_rows == 7 and found.valid_share == 0.93


def test_a_missing_column_is_invalid_in_every_row_and_named(check, people):
    found = check(people(100, 1).drop(columns="age"))
    assert found.validity.missing_columns == ("age",)
    assert found.validity.valid_share == 0
    assert found.columns[2].tvd == 1 and found.columns[0].tvd < 0.2


def test_extra_columns_order_and_types_are_reported(check, people):
    made = people(100, 1)[["job", "sex", "age", "pay", "rich"]].assign(note="x")
    made["age"] = made["age"].astype("int8")
    found = check(made).validity
    assert found.extra_columns == ("note",) and not found.same_order
    assert [c.name for c in found.columns if not c.same_type] == ["age"]
    assert found.valid_share == 1


def test_an_identifier_may_be_left_out_of_the_output(check, people, schema):
    rules = {"columns": {**schema["columns"], "name": {"type": "id"}}}
    real = people().assign(name=[f"n{i}" for i in range(300)])
    found = check(people(100, 1), rules, real=real).validity
    assert found.missing_columns == () and found.valid_share == 1


def test_cells_of_the_real_table_that_do_not_fit_are_reported_not_refused(check, people):
    real = people()
    real.loc[:4, "job"] = "astronaut"
    found = check(people(100, 1), real=real)
    assert found.validity.real_invalid == {"job": 5}
    assert found.columns[1].real_invalid == pytest.approx(5 / 300)


def test_a_synthetic_column_of_an_unsuitable_type_is_refused_by_name(check, people):
    with pytest.raises(SchemaError, match="synthetic table: column 'job' was read as numbers"):
        check(people(100, 1).assign(job=7))


def test_a_lenient_schema_hides_nothing_from_an_evaluation(check, people, schema):
    real = people()
    real.loc[:8, "job"] = "astronaut"
    found = check(people(100, 1), {**schema, "lenient": True}, real=real)
    assert found.validity.real_invalid == {"job": 9}
