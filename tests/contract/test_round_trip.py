"""What goes in comes out in the same form: nulls, codes, ids, unicode, dates, big numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from saddlesynth.synthesis.errors import InputError, SchemaError

BIG = {"9007199254740993", "9007199254740995", "9223372036854775807"}


def cells(path: Path, column: str) -> set[str]:
    """All cell strings of one column, read as text."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {row[column] for row in csv.DictReader(lines)}


def frame_of(case, **dtypes: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(case.text), dtype=dtypes)


def test_missing_whole_numbers_and_booleans_stay_what_they_are(fast, nullable, tmp_path) -> None:
    made = fast(schema=nullable.schema).fit(nullable.write(tmp_path))
    out = made.release_.sample_to(tmp_path / "out.csv", 500)
    assert cells(out, "beds") <= {"1", "2", "3", "4", ""}
    assert cells(out, "smoker") <= {"True", "False", ""}
    assert cells(out, "ward") <= {"N", "S", "E"}


def test_missing_whole_numbers_have_a_nullable_dtype_in_python(fast, nullable) -> None:
    frame = frame_of(nullable, beds="Int64", smoker="boolean")
    out = fast(schema=nullable.schema).fit(frame).sample(500)
    assert out.dtypes.equals(frame.dtypes)
    assert set(out["beds"].dropna()) <= {1, 2, 3, 4}
    assert fast.coarse or out["beds"].isna().any()


def test_whole_numbers_read_as_floats_for_their_gaps_come_back_whole(fast, nullable) -> None:
    frame = frame_of(nullable)
    assert frame["beds"].dtype == "float64"
    out = fast(schema=nullable.schema).fit(frame).sample(200)
    assert set(map(str, out["beds"].dropna().unique())) <= {"1", "2", "3", "4", "1.0", "2.0"} | {
        "3.0",
        "4.0",
    }


def test_leading_zeros_survive(fast, zips, tmp_path) -> None:
    made = fast(schema=zips.schema).fit(zips.write(tmp_path))
    out = made.release_.sample_to(tmp_path / "out.csv", 200)
    assert cells(out, "zip") <= set(zips.schema["columns"]["zip"]["values"])
    again = fast(schema=zips.schema).fit(frame_of(zips, zip="str")).sample(200)
    assert set(again["zip"]) <= set(zips.schema["columns"]["zip"]["values"])


def test_numbers_where_the_schema_says_text_are_refused(fast, zips) -> None:
    frame = frame_of(zips)
    assert frame["zip"].dtype == "int64"
    with pytest.raises(SchemaError, match="zip.*zeros"):
        fast(schema=zips.schema).fit(frame)


def test_ids_are_left_out_or_made_afresh(fast, ids, tmp_path) -> None:
    made = fast(schema=ids.schema).fit(ids.write(tmp_path))
    made.save(tmp_path / "rel")
    everything = b"".join(p.read_bytes() for p in (tmp_path / "rel").iterdir())
    assert b"REC-" not in everything
    assert not any("record_id" in line.step for line in made.ledger_.lines)


def test_a_column_that_the_schema_does_not_name_is_refused(fast, ids, tmp_path) -> None:
    del ids.schema["columns"]["record_id"]
    with pytest.raises(SchemaError, match="record_id"):
        fast(schema=ids.schema).fit(ids.write(tmp_path))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [["XX"], ["XX", "YY"]])
def test_a_constant_column_is_no_trouble(fast, constant, values, tmp_path) -> None:
    constant.schema["columns"]["country"]["values"] = values
    out = fast(schema=constant.schema).fit(constant.write(tmp_path)).sample(100)
    assert set(out["country"]) <= set(values)


def test_one_row_is_enough(fast, one_row, tmp_path) -> None:
    path = one_row.write(tmp_path)
    seen = set()
    for seed in range(20):
        made = fast(schema=one_row.schema, epsilon=1.0, random_state=seed).fit(path)
        out = made.sample(10)
        assert set(out["sex"]) <= {"F", "M"}
        assert set(out["band"]) <= {"0-29", "30-39", "40+"}
        seen |= set(zip(out["sex"], out["band"], strict=True))
    assert seen != {("F", "30-39")}


def test_a_value_beyond_the_bounds_is_clipped(fast, incomes, tmp_path) -> None:
    path = (
        fast(schema=incomes.schema)
        .fit(incomes.write(tmp_path))
        .release_.sample_to(tmp_path / "out.csv", 300)
    )
    text = cells(path, "income")
    assert all(0 <= float(cell) <= 100_000 for cell in text)
    assert all(len(cell.partition(".")[2]) <= 2 for cell in text)


def test_names_and_values_in_any_script_survive(fast, unicode, tmp_path) -> None:
    made = fast(schema=unicode.schema).fit(unicode.write(tmp_path))
    out = made.release_.sample_to(tmp_path / "out.csv", 50)
    header = unicode.text.partition("\n")[0]
    assert out.read_bytes().startswith(header.encode() + b"\n")
    assert cells(out, "città") <= {"Zürich", "São Paulo", "東京"}


def test_big_whole_numbers_keep_every_digit(fast, big, tmp_path) -> None:
    made = fast(schema=big.schema).fit(big.write(tmp_path))
    assert cells(made.release_.sample_to(tmp_path / "out.csv", 300), "code") <= BIG | {""}
    out = fast(schema=big.schema).fit(frame_of(big, code="Int64")).sample(300)
    assert out["code"].dtype == "Int64"
    assert set(map(str, out["code"].dropna())) <= BIG


def test_a_name_that_occurs_twice_is_refused(fast, tmp_path) -> None:
    path = tmp_path / "dup.csv"
    path.write_text("age_band,sex,age_band\n65+,M,18-64\n")
    with pytest.raises(InputError, match="age_band"):
        fast(schema={"columns": {"sex": {"type": "categorical", "values": ["M"]}}}).fit(path)


def test_dates_keep_their_format(fast, dates, tmp_path) -> None:
    made = fast(schema=dates.schema).fit(dates.write(tmp_path))
    for cell in cells(made.release_.sample_to(tmp_path / "out.csv", 300), "admitted"):
        assert pd.to_datetime(cell, format="%Y-%m-%d").year == 2024
        assert len(cell) == 10


def test_dates_keep_their_dtype_and_are_whole_days(fast, dates) -> None:
    frame = frame_of(dates)
    frame["admitted"] = pd.to_datetime(frame["admitted"])
    out = fast(schema=dates.schema).fit(frame).sample(300)
    assert out["admitted"].dtype == frame["admitted"].dtype
    assert (out["admitted"] == out["admitted"].dt.normalize()).all()
    text = fast(schema=dates.schema).fit(frame_of(dates)).sample(10)
    assert set(map(len, text["admitted"])) == {10}


def test_mixed_spellings_survive_as_text(fast, mixed, tmp_path) -> None:
    made = fast(schema=mixed.schema).fit(mixed.write(tmp_path))
    out = made.release_.sample_to(tmp_path / "out.csv", 300)
    assert cells(out, "lab") <= set(mixed.schema["columns"]["lab"]["values"])


def test_text_where_the_schema_says_number_is_refused_with_the_count_alone(
    fast, mixed, tmp_path
) -> None:
    mixed.schema["columns"]["lab"] = {"type": "float", "min": 0, "max": 10, "bins": 5}
    bad = sum(line.startswith(("<1", "pos")) for line in mixed.text.splitlines())
    made = fast(schema=mixed.schema)
    with pytest.raises(SchemaError, match=rf"lab.*\b{bad}\b") as caught:
        made.fit(mixed.write(tmp_path))
    assert "pos" not in str(caught.value)
    assert made.ledger_.lines == []


def test_one_and_its_text_are_not_mixed_up(fast) -> None:
    frame = pd.DataFrame({"lab": pd.Series([1, "1", 2.5, "pos"], dtype=object)})
    schema = {"columns": {"lab": {"type": "categorical", "values": ["1", "2.5", "pos"]}}}
    with pytest.raises(InputError, match="lab"):
        fast(schema=schema).fit(frame)


def test_a_frame_comes_back_with_its_dtypes_and_order(fast) -> None:
    frame = pd.DataFrame(
        {
            "band": pd.Categorical(["low", "high"] * 20, ["low", "high"], ordered=True),
            "small": np.tile([1, 2], 20).astype("int8"),
            "flag": [True, False] * 20,
            "size": np.linspace(0, 1, 40),
        }
    )
    schema = {
        "columns": {
            "size": {"type": "float", "min": 0, "max": 1, "bins": 4},
            "flag": {"type": "boolean"},
            "small": {"type": "categorical", "values": [1, 2]},
            "band": {"type": "categorical", "values": ["low", "high"]},
        }
    }
    out = fast(schema=schema).fit(frame).sample(30)
    assert out.dtypes.equals(frame.dtypes)
    assert list(out.columns) == list(frame.columns)


def test_an_arrow_table_gives_an_arrow_table(fast, zips, tmp_path) -> None:
    table = pa.Table.from_pandas(frame_of(zips, zip="str"), preserve_index=False)
    out = fast(schema=zips.schema).fit(table).sample(20)
    assert isinstance(out, pa.Table)
    assert out.schema.names == table.schema.names
    assert out.schema.types == table.schema.types


def test_parquet_in_parquet_out(fast, zips, tmp_path) -> None:
    frame = frame_of(zips, zip="str")
    frame.to_parquet(tmp_path / "in.parquet")
    made = fast(schema=zips.schema).fit(tmp_path / "in.parquet")
    made.save(tmp_path / "rel")
    out = pd.read_parquet(tmp_path / "rel" / "synthetic.parquet")
    assert out.dtypes.equals(frame.dtypes)


def test_a_frame_with_dates_is_released_as_csv_in_the_format_of_the_schema(
    fast, dates, tmp_path
) -> None:
    frame = frame_of(dates)
    frame["admitted"] = pd.to_datetime(frame["admitted"])
    made = fast(schema=dates.schema).fit(frame)
    made.save(tmp_path / "rel")
    assert set(map(len, cells(tmp_path / "rel" / "synthetic.csv", "admitted"))) == {10}
    packed = made.release_.sample_to(tmp_path / "out.csv.gz", 50)
    again = fast(schema=dates.schema).fit(packed)
    assert again.sample(5).shape == (5, 2)
