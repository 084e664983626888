"""Cells become codes and cells again, in the input's types, spelling, order and categories."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.errors import SchemaError, SizeError
from saddlesynth.synthesis.read import TEXT, open_table
from saddlesynth.synthesis.schema import Schema
from saddlesynth.synthesis.write import write_batches


def codec(cells: pa.Array, column: dict[str, Any], **more: Any) -> Codec:
    schema = Schema.parse({"columns": {"x": column}, **more})
    return Codec(schema, pa.schema([("x", cells.type)]))


def text_codec(column: dict[str, Any], **more: Any) -> Codec:
    return Codec(Schema.parse({"columns": {"x": column}, **more}))


def encode(made: Codec, cells: pa.Array) -> list[int]:
    return made.encode(pa.record_batch({"x": cells}))[0].tolist()


def decode(made: Codec, codes: list[int], seed: int = 0) -> pa.Array:
    rows = made.decode(np.array(codes).reshape(-1, 1), np.random.default_rng(seed))
    return rows.column(0)


def refusal(cells: pa.Array, column: dict[str, Any], **more: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        encode(codec(cells, column, **more), cells)
    assert "\n" not in str(caught.value)
    assert "'x'" in str(caught.value)
    return str(caught.value)


def text(*cells: str) -> pa.Array:
    return pa.array(cells, pa.string())


CATEGORIES = {"type": "categorical", "values": ["low", "high"]}


# ---------------------------------------------------------------------- types come back
@pytest.mark.parametrize(
    ("cells", "column"),
    [
        (pa.array(["low", "high"]), CATEGORIES),
        (pa.array(["low", "high"], pa.large_string()), CATEGORIES),
        (pa.array(["low", "high"]).dictionary_encode(), CATEGORIES),
        (
            pa.DictionaryArray.from_arrays(
                pa.array([1, 0], pa.int8()), pa.array(["high", "low"]), ordered=True
            ),
            CATEGORIES,
        ),
        (pa.array([3, 7], pa.int8()), {"type": "categorical", "values": [3, 7]}),
        (pa.array([3, 7], pa.uint64()), {"type": "categorical", "values": [3, 7]}),
        (pa.array([3.0, 7.5]), {"type": "categorical", "values": [3, 7.5]}),
        (
            pa.array([Decimal("1.50"), Decimal("2.00")]),
            {"type": "categorical", "values": [1.5, 2]},
        ),
        (pa.array([False, True]), {"type": "categorical", "values": [False, True]}),
        (pa.array([False, True]), {"type": "boolean"}),
        (pa.array([0, 1], pa.int8()), {"type": "boolean"}),
        (pa.array([0.0, 1.0]), {"type": "boolean"}),
        (pa.array(["False", "True"]), {"type": "boolean"}),
        (pa.array([2, 9], pa.int16()), {"type": "integer", "min": 0, "max": 9, "bins": 2}),
        (pa.array([2, 9], pa.uint8()), {"type": "float", "min": 0, "max": 9, "bins": 2}),
        (pa.array([2.0, 9.0]), {"type": "integer", "min": 0, "max": 9, "bins": 2}),
        (pa.array(["2", "9"]), {"type": "integer", "min": 0, "max": 9, "bins": 2}),
        (pa.array([2.5, 9.0]), {"type": "float", "min": 0, "max": 9, "bins": 2}),
        (
            pa.array([2.5, 9.0], pa.float32()),
            {"type": "float", "min": 0, "max": 9, "bins": 2, "decimals": 1},
        ),
        (pa.array(["2.5", "9"]), {"type": "float", "min": 0, "max": 9, "bins": 2}),
        (
            pa.array([Decimal("2.50"), Decimal("9.00")]),
            {"type": "float", "min": 0, "max": 9, "bins": 2},
        ),
        *(
            (
                pa.array([date(2024, 1, 5), date(2024, 9, 1)]).cast(kind),
                {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "bins": 2},
            )
            for kind in (
                pa.date32(),
                pa.date64(),
                pa.timestamp("s"),
                pa.timestamp("ns"),
                pa.timestamp("us", "Europe/Berlin"),
            )  # fmt: skip
        ),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else value["type"],
)
def test_type_and_codes_survive_a_round_trip(cells: pa.Array, column: dict[str, Any]) -> None:
    made = codec(cells, column)
    codes = encode(made, cells)
    assert codes == [0, 1]
    back = decode(made, codes)
    assert back.type == made.output_schema.field("x").type
    if pa.types.is_dictionary(cells.type):
        assert back.type.value_type == cells.type.value_type
        assert back.type.ordered == cells.type.ordered
    else:
        assert back.type == cells.type
    assert back.null_count == 0
    assert encode(made, back) == codes


@pytest.mark.parametrize(
    "column",
    [
        {"type": "categorical", "values": ["1", "2"]},
        {"type": "boolean"},
        {"type": "integer", "min": 0, "max": 9},
        {"type": "float", "min": 0, "max": 9, "decimals": 1},
        {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31"},
    ],
    ids=lambda column: column["type"],
)
def test_missing_is_one_more_value_of_every_kind_of_column(column: dict[str, Any]) -> None:
    column = {**column, "nullable": True}
    made = text_codec(column)
    code = made.domain.sizes[0] - 1
    assert encode(made, text("")) == [code]
    assert decode(made, [code, 0, code]).to_pylist()[::2] == ["", ""]
    typed = codec(text("1"), column)
    assert encode(typed, pa.array([None], pa.string())) == [code]
    assert decode(typed, [code]).null_count == 1
    assert made.labels("x")[-1] == "(missing)"


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("column", [{"type": "categorical", "values": [0, 1]}, {"type": "boolean"}])
def test_floats_of_any_width_are_looked_up_and_minus_zero_is_zero(
    kind: pa.DataType, column: dict[str, Any]
) -> None:
    cells = pa.array(np.array([-0.0, 0.0, 1.0], dtype=kind.to_pandas_dtype()))
    made = codec(cells, column)
    assert encode(made, cells) == [0, 0, 1]
    spelled = made.spelled(pa.record_batch({"x": decode(made, [0, 1])}))
    assert spelled.column(0).to_pylist() == made.columns["x"]._spellings()


def test_whole_numbers_with_gaps_that_pandas_made_floats_stay_so_and_are_spelled_whole() -> None:
    cells = pa.array([1.0, None, 4.0])
    for column in (
        {"type": "categorical", "values": [1, 4], "nullable": True},
        {"type": "integer", "min": 1, "max": 4, "nullable": True},
    ):
        made = codec(cells, column)
        back = decode(made, encode(made, cells))
        assert back.type == pa.float64()
        assert set(made.columns["x"].spell(back).to_pylist()) <= {"", "1", "2", "3", "4"}
        assert back.to_pylist()[1] is None


def test_a_float_nan_is_missing() -> None:
    made = codec(pa.array([1.5]), {"type": "float", "min": 0, "max": 2, "nullable": True})
    assert encode(made, pa.array([float("nan")])) == [32]


def test_a_column_without_any_value_is_missing_throughout() -> None:
    cells = pa.nulls(3)
    made = codec(cells, {**CATEGORIES, "nullable": True})
    assert encode(made, cells) == [2, 2, 2]


# ---------------------------------------------------------------------- spelling in text
def test_leading_zeros_and_na_are_text() -> None:
    made = text_codec({"type": "categorical", "values": ["00501", "NA", "null", " pad "]})
    cells = text("NA", "00501", "null", " pad ")
    assert decode(made, encode(made, cells)).equals(cells)


def test_big_whole_numbers_keep_every_digit_in_text_and_typed() -> None:
    numbers = [9007199254740993, 9007199254740995, 2**63 - 1]
    column = {"type": "categorical", "values": numbers}
    for cells in (text(*map(str, numbers)), pa.array(numbers)):
        made = codec(cells, column)
        assert encode(made, cells) == [0, 1, 2]
        assert decode(made, [0, 1, 2]).equals(cells)
    assert "exactly" in refusal(pa.array([9007199254740993.0]), column)


def test_whole_numbers_beyond_doubles_are_binned_exactly() -> None:
    low = 2**53
    column = {"type": "integer", "min": low, "max": low + 3}
    cells = text(*(str(low + i) for i in range(4)))
    for own in (cells, cells.cast(pa.int64())):
        made = codec(own, column)
        assert encode(made, own) == [0, 1, 2, 3]
        assert decode(made, [3, 2, 1, 0]).to_pylist() == own.to_pylist()[::-1]


def test_decimals_are_written_out() -> None:
    column = {"type": "float", "min": -1, "max": 1, "bins": [-1, 0, 1], "decimals": 2}
    cells = decode(text_codec(column), [0, 1] * 200).to_pylist()
    assert all(len(cell.partition(".")[2]) == 2 for cell in cells)
    assert all(cell.startswith("-") for cell in cells[::2])
    assert min(map(float, cells)) < -0.95


def test_booleans_are_spelled_as_the_schema_says() -> None:
    made = text_codec({"type": "boolean", "true": "ja", "false": "nein"})
    cells = text("nein", "ja")
    assert decode(made, encode(made, cells)).equals(cells)
    wrong = Codec(made.schema, pa.schema([("x", pa.string())], metadata=TEXT))
    with pytest.raises(SchemaError, match='1 cell is neither nein nor ja; .*"true"'):
        encode(wrong, text("True"))


def test_dates_keep_their_format() -> None:
    column = {"type": "datetime", "format": "%d.%m.%y %H:%M", "min": "01.01.24 00:00"}
    made = text_codec({**column, "max": "31.12.24 23:59", "bins": 4})
    cells = decode(made, [0, 1, 2, 3] * 20)
    assert encode(made, cells) == [0, 1, 2, 3] * 20
    assert all(datetime.strptime(c, column["format"]) for c in cells.to_pylist())


@pytest.mark.parametrize(
    ("format", "cells"),
    [
        (
            "%Y-%m-%d",
            ["2024-05-01 00:00:00", "20240501", "2024-W18-3", "2024-13-01", "2024-05-01Z"],
        ),
        ("%Y-%m-%d %H:%M:%S", ["2024-05-01", "2024-05-01T00:00:00", "2024-05-01 00:00:00.5"]),
        ("%Y-%m-%d %H:%M:%S", ["20240501T00:00:00.0", "2024-05-01 24:00:00", "2024-05-01 00:00"]),
    ],
)
def test_other_ways_to_write_a_date_are_misfits(format: str, cells: list[str]) -> None:
    low, high = datetime(2024, 1, 1).strftime(format), datetime(2024, 12, 31).strftime(format)
    made = text_codec({"type": "datetime", "format": format, "min": low, "max": high})
    with pytest.raises(SchemaError, match=f"{len(cells)} cells are not dates"):
        encode(made, text(*cells))


def test_dates_run_to_the_end_of_the_calendar_where_the_type_does() -> None:
    column = {"type": "datetime", "min": "0001-01-01", "max": "9999-12-31", "bins": 3}
    cells = text("0001-01-01", "9999-12-31")
    assert encode(text_codec(column), cells) == [0, 2]
    assert decode(text_codec(column), [0, 2]).to_pylist()[0] < "3334"
    assert codec(pa.array([date(1, 1, 1)]), column).domain.sizes == (3,)
    with pytest.raises(SchemaError, match="'x' is stored in nanoseconds"):
        codec(pa.array([0], pa.timestamp("ns")), column)


def test_null_tokens_are_read_as_missing_and_the_first_is_written() -> None:
    column = {**CATEGORIES, "nullable": True}
    made = text_codec(column, null_tokens=["?", "n/a"])
    assert encode(made, text("?", "n/a", "low")) == [2, 2, 0]
    assert decode(made, [2]).to_pylist() == ["?"]
    with pytest.raises(SchemaError, match="1 cell is not among"):
        encode(made, text(""))  # no longer a token
    own = text_codec({**column, "null_tokens": ["", "-"]}, null_tokens=["?"])
    assert encode(own, text("-", "")) == [2, 2]


def test_null_tokens_hold_for_numbers_and_dates_too() -> None:
    column = {"type": "integer", "min": 0, "max": 9, "nullable": True, "null_tokens": ["?"]}
    assert encode(text_codec(column), text("?", "7")) == [10, 7]


@pytest.mark.parametrize("kind", [pa.int16(), pa.float64(), pa.string()])
def test_a_number_can_mean_missing_in_every_kind_of_storage(kind: pa.DataType) -> None:
    tokens = ["-999", "?", "99999999"]
    column = {"type": "integer", "min": 0, "max": 9, "nullable": True, "null_tokens": tokens}
    cells = pa.array([-999, 3]).cast(kind)
    made = codec(cells, column)
    assert encode(made, cells) == [10, 3]
    assert decode(made, [10]).null_count == 1


def test_a_listed_empty_text_is_a_value_and_not_missing() -> None:
    column = {"type": "categorical", "values": ["", "a"], "nullable": True}
    assert encode(text_codec(column), text("", "a")) == [0, 1]
    with pytest.raises(SchemaError, match="both a value and in null_tokens"):
        text_codec({**column, "null_tokens": [""]})


def test_whole_numbers_written_with_a_point_are_whole() -> None:
    made = text_codec({"type": "integer", "min": 0, "max": 9})
    assert encode(made, text("3.0", "4", "1e0", "+7", "007")) == [3, 4, 1, 7, 7]


# ---------------------------------------------------------------------- what does not fit
@pytest.mark.parametrize(
    ("cells", "column", "expected"),
    [
        (text("low", "secret", "secret"), CATEGORIES, "2 cells are not among the values"),
        (text("low", "Low"), CATEGORIES, "1 cell is not among"),
        (pa.array(["low", None]), CATEGORIES, "1 cell is missing, but the column is not nullable"),
        (pa.array([501, 2116]), {"type": "categorical", "values": ["00501"]}, "leading zeros"),
        (pa.array([0.5]), {"type": "categorical", "values": ["0.5"]}, "read as numbers (double)"),
        (pa.array([1]), {"type": "categorical", "values": [1.5]}, "int64"),
        (pa.array([1]), {"type": "categorical", "values": [True]}, "int64"),
        (pa.array([1], pa.int8()), {"type": "categorical", "values": [1, 300]}, "int8"),
        (pa.array([True]), {"type": "categorical", "values": ["True"]}, "bool"),
        (pa.array([date(2024, 1, 1)]), CATEGORIES, '"type": "datetime"'),
        (pa.array([b"x"]), CATEGORIES, "binary"),
        (pa.array([["a"]]), CATEGORIES, "list"),
        (pa.array([1.5, 2.0]), {"type": "integer", "min": 0, "max": 9}, "1 cell is not whole"),
        (text("1.5", "x", "2"), {"type": "integer", "min": 0, "max": 9}, "2 cells are not whole"),
        (text("0x1F", "1_0", " 5"), {"type": "integer", "min": 0, "max": 9}, "3 cells are not"),
        (pa.array([True]), {"type": "integer", "min": 0, "max": 9}, "bool"),
        (text("<1", "1", "pos"), {"type": "float", "min": 0, "max": 9}, "2 cells are not numbers"),
        (text("nan", "inf", "1"), {"type": "float", "min": 0, "max": 9}, "2 cells are not"),
        (text("1,5"), {"type": "float", "min": 0, "max": 9}, "1 cell is not"),
        (text("maybe"), {"type": "boolean"}, "neither False nor True"),
        (pa.array([2]), {"type": "boolean"}, "neither 0 nor 1"),
        (pa.array([date(2024, 1, 1)]), {"type": "boolean"}, "date32"),
        (text("2024-02-30"), {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31"},
         "1 cell is not dates in the format '%Y-%m-%d'"),
        (pa.array([3]), {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31"}, "dates"),
        (pa.array([3], pa.int8()), {"type": "integer", "min": 0, "max": 300}, "int8"),
        (text("1"), {"type": "float"}, "no min and max"),
        (text("1"), {"type": "integer", "min": 0}, "no min and max"),
        (text("1"), {"type": "datetime", "max": "2024-01-01"}, "no min and max"),
        (text("1"), {"type": "float", "min": 0, "max": 1, "bins": 20, "decimals": 1}, "decimals"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_column_and_number_of_cells(
    cells: pa.Array, column: dict[str, Any], expected: str
) -> None:
    text = refusal(cells, column)
    assert expected in text
    assert "secret" not in text
    assert "pos" not in text


def test_an_unlisted_value_goes_to_the_named_bucket_only() -> None:
    made = text_codec({"type": "categorical", "values": ["nurse", "driver"], "other": "else"})
    assert made.domain.sizes == (3,)
    assert encode(made, text("keeper", "driver", "else")) == [2, 1, 2]
    assert decode(made, [2]).to_pylist() == ["else"]
    listed = text_codec({"type": "categorical", "values": ["nurse", "other"], "other": "other"})
    assert listed.domain.sizes == (2,)
    assert encode(listed, text("keeper", "nurse")) == [1, 0]


def test_outliers_are_clipped_in_every_type() -> None:
    column = {"type": "float", "min": 0, "max": 10, "bins": 2}
    assert encode(text_codec(column), text("-5", "1e300")) == [0, 1]
    cells = pa.array([float("-inf"), float("inf")])
    assert encode(codec(cells, column), cells) == [0, 1]
    whole = {"type": "integer", "min": 0, "max": 10, "bins": 2}
    for cells in (
        pa.array([-5, 2**63 - 1]),
        pa.array([0, 2**64 - 1], pa.uint64()),
        pa.array([-1e300, float("inf")]),
        text("-" + "9" * 30, "9" * 30),
    ):
        assert encode(codec(cells, whole), cells) == [0, 1]
    days = {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "bins": 2}
    assert encode(text_codec(days), text("1850-01-01", "2999-01-01")) == [0, 1]


# ---------------------------------------------------------------------- bins
def test_edges_are_a_function_of_the_schema_alone() -> None:
    column = {"type": "float", "min": 0, "max": 100_000, "bins": 20}
    made = [codec(pa.array(values), column) for values in ([1.0], [5e4, 8_750_000.0])]
    assert made[0].edges("x") == made[1].edges("x") == [5000.0 * i for i in range(21)]


@pytest.mark.parametrize(
    ("low", "high", "bins", "starts"),
    [
        ("2024-01-01", "2024-12-31", 12, [f"2024-{m:02}-01" for m in range(1, 13)]),
        ("2024-01-01", "2024-12-31", 4, ["2024-01-01", "2024-04-01", "2024-07-01", "2024-10-01"]),
        ("2023-07-01", "2024-06-30", 2, ["2023-07-01", "2024-01-01"]),
        ("2024-01-01", "2024-12-31", 3, ["2024-01-01", "2024-05-01", "2024-09-01"]),
        ("2024-01-01", "2024-01-10", 2, ["2024-01-01", "2024-01-06"]),
        ("2024-01-01", "2024-01-03", None, ["2024-01-01"]),
        ("2024-01-02", "2024-01-03", None, ["2024-01-02", "2024-01-03"]),
        ("2024-01-01", "2024-06-30", ["2024-03-01", "2024-05-01"],
         ["2024-01-01", "2024-03-01", "2024-05-01"]),
    ],
)  # fmt: skip
def test_bins_of_dates_follow_months_where_they_can(low, high, bins, starts) -> None:
    if low == "2024-01-01" and high == "2024-01-03":
        starts = ["2024-01-01", "2024-01-02", "2024-01-03"]
    column = {"type": "datetime", "min": low, "max": high, "bins": bins}
    assert text_codec(column).edges("x") == [*starts, high]


def test_bins_of_moments_follow_months_too() -> None:
    column = {"type": "datetime", "format": "%Y-%m-%dT%H:%M:%S", "bins": 12}
    ends = {"min": "2024-01-01T00:00:00", "max": "2024-12-31T23:59:59"}
    assert text_codec({**column, **ends}).edges("x")[1] == "2024-02-01T00:00:00"


def test_given_edges_are_stretched_to_min_and_max() -> None:
    column = {"type": "integer", "min": 0, "max": 99, "bins": [18, 65]}
    made = text_codec(column)
    assert made.labels("x") == ["0 to 17", "18 to 64", "65 to 99"]
    alone = text_codec({"type": "float", "bins": [0, 0.5, 2]})
    assert alone.labels("x") == ["[0, 0.5)", "[0.5, 2]"]


def test_labels_are_values_where_a_bin_has_one() -> None:
    made = text_codec({"type": "integer", "min": 3, "max": 5})
    assert made.labels("x") == [3, 4, 5]
    assert text_codec({"type": "boolean"}).labels("x") == [False, True]
    assert text_codec(CATEGORIES).edges("x") is None


def test_codes_are_small() -> None:
    for values, kind in ((256, np.uint8), (257, np.uint16)):
        made = text_codec({"type": "integer", "min": 0, "max": values - 1, "bins": values})
        assert made.encode(pa.record_batch({"x": text("1")}))[0].dtype == kind


# ---------------------------------------------------------------------- whole tables
TABLE = {
    "b": {"type": "categorical", "values": ["x", "y"]},
    "id": {"type": "id", "regenerate": True},
    "gone": {"type": "id"},
    "a": {"type": "boolean"},
}


def test_order_of_columns_is_that_of_the_data(csv, codec_of, rng) -> None:
    made = codec_of(csv("a,gone,id,b\nTrue,7,R-1,x\n"), TABLE)
    assert made.domain.names == ("a", "b")
    assert made.output_schema.names == ["a", "id", "b"]
    rows = made.decode(np.array([[0, 1], [1, 0]]), rng, first_row=10)
    assert rows.to_pydict() == {"a": ["False", "True"], "id": ["11", "12"], "b": ["y", "x"]}


def test_fresh_ids_have_the_type_of_the_old_where_it_holds_numbers(codec_of, rng) -> None:
    frame = pd.DataFrame({"a": [True], "gone": ["g"], "id": [77], "b": ["x"]})
    rows = codec_of(frame, TABLE).decode(np.array([[0, 1]]), rng)
    assert rows.column("id").to_pylist() == [1]
    assert rows.column("id").type == pa.int64()


def test_columns_that_only_one_side_has_are_refused_by_name(csv, codec_of) -> None:
    data = csv("a,b\nTrue,x\n")
    with pytest.raises(SchemaError, match=r"'b' of the data .* \"b\": {\"type\": \"id\"}"):
        codec_of(data, {"a": {"type": "boolean"}})
    with pytest.raises(SchemaError, match="'aa' of the schema is not in the data; did you mean"):
        codec_of(data, {"a": TABLE["a"], "b": TABLE["b"], "aa": TABLE["a"]})
    with pytest.raises(SchemaError, match="nothing to model"):
        codec_of(data, {"a": {"type": "id"}, "b": {"type": "id"}})


def test_a_codec_travels_to_other_processes(csv, codec_of) -> None:
    table = open_table(csv("a,gone,id,b,d,f\nTrue,7,R-1,x,2024-05-01,1.5\n"))
    dates = {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31"}
    numbers = {"type": "float", "min": 0, "max": 9, "decimals": 1}
    made = codec_of(table, {**TABLE, "d": dates, "f": numbers})
    again = pickle.loads(pickle.dumps(made))
    batch = next(table.batches())
    assert [c.tolist() for c in again.encode(batch)] == [c.tolist() for c in made.encode(batch)]


def test_rows_of_a_frame_are_spelled_as_a_csv_file_has_them(codec_of, rng) -> None:
    columns = {
        "seen": {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "nullable": True},
        "cost": {"type": "float", "min": 0, "max": 9, "decimals": 2},
        "flag": {"type": "boolean", "true": "yes", "false": "no"},
        "size": {"type": "categorical", "values": [0.5, 1.0]},
        "band": {"type": "categorical", "values": ["lo", "hi"]},
        "beds": {"type": "integer", "min": 0, "max": 9, "nullable": True, "null_tokens": ["?"]},
    }
    frame = pd.DataFrame(
        {
            "seen": pd.to_datetime(["2024-05-01", None]),
            "cost": [1.5, 2.0],
            "flag": [True, False],
            "size": [0.5, 1.0],
            "band": pd.Categorical(["lo", "hi"]),
            "beds": pd.array([3, None], "Int64"),
        }
    )
    made = codec_of(frame, columns)
    codes = np.stack(made.encode(next(open_table(frame).batches())), axis=1)
    rows = made.decode(codes, rng)
    spelled = made.spelled(rows)
    cells = spelled.to_pydict()
    assert len(cells["seen"][0]) == 10
    assert cells["seen"][1] == ""
    assert all(len(cell.partition(".")[2]) == 2 for cell in cells["cost"])
    assert (cells["flag"], cells["size"]) == (["yes", "no"], ["0.5", "1.0"])
    assert (cells["band"], cells["beds"]) == (["lo", "hi"], ["3", "?"])
    again = Codec(made.schema).encode(spelled)
    assert [own.tolist() for own in again] == codes.T.tolist()


def test_a_nested_type_is_refused_without_its_keys() -> None:
    for column in ({"type": "boolean"}, {"type": "integer", "min": 0, "max": 9}):
        with pytest.raises(SchemaError, match="read as struct, but") as caught:
            codec(pa.array([{"SECRET": 1}]), column)
        assert "SECRET" not in str(caught.value)


# ---------------------------------------------------------------------- impossible
def rules(*impossible: dict[str, Any]) -> list[dict[int, int]]:
    columns = {
        "group": {"type": "categorical", "values": ["child", "adult"]},
        "job": {"type": "categorical", "values": ["none", "part", "full"], "nullable": True},
        "age": {"type": "integer", "min": 0, "max": 99, "bins": [0, 16, 18, 65, 99]},
        "pay": {"type": "float", "min": 0, "max": 10, "bins": 2},
        "seen": {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "bins": 12},
    }
    schema = Schema.parse({"columns": columns, "impossible": list(impossible)})
    return [dict(rule) for rule in Codec(schema).impossible]


def test_impossible_values_become_codes() -> None:
    assert rules({"group": "child", "job": "part"}) == [{0: 0, 1: 1}]
    assert rules({"group": "child", "job": ["part", "full"]}) == [{0: 0, 1: 1}, {0: 0, 1: 2}]
    assert rules({"job": None, "group": "adult"}) == [{1: 3, 0: 1}]


def test_impossible_ranges_are_spelt_out_bin_by_bin() -> None:
    assert rules({"age": [0, 17], "job": "full"}) == [{2: 0, 1: 2}, {2: 1, 1: 2}]
    assert rules({"pay": [5, 10]}) == [{3: 1}]
    assert rules({"seen": ["2024-02-01", "2024-03-31"]}) == [{4: 1}, {4: 2}]


@pytest.mark.parametrize(
    "rule",
    [
        {"job": "half"}, {"group": None}, {"age": [0, 20]}, {"age": 7}, {"age": "7"},
        {"age": [1, 2, 3]}, {"pay": [0, 3]}, {"seen": "2024-02-01"}, {"seen": ["x", "y"]},
        {"seen": 3}, {"group": {"a": 1}},
    ],
)  # fmt: skip
def test_impossible_values_that_are_none_are_refused_by_column(rule: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=f"impossible: .*'{next(iter(rule))}'"):
        rules(rule)


@pytest.mark.parametrize(
    ("ages", "said"),
    [([0, 5], "cuts the bin 0 to 9"), ([20, 34], "cuts the bin 30 to 39"), (200, "lies outside")],
)
def test_a_range_that_is_no_whole_bins_is_told_which_it_cuts(ages: Any, said: str) -> None:
    columns = {"age": {"type": "integer", "min": 0, "max": 99, "bins": 10}}
    schema = Schema.parse({"columns": columns, "impossible": [{"age": ages}]})
    with pytest.raises(SchemaError, match=said):
        _ = Codec(schema).impossible


def test_too_many_impossible_combinations_are_refused() -> None:
    columns = {n: {"type": "integer", "min": 0, "max": 99, "bins": 100} for n in "abc"}
    schema = Schema.parse({"columns": columns, "impossible": [{n: [0, 99] for n in "abc"}]})
    with pytest.raises(SizeError, match="impossible"):
        _ = Codec(schema).impossible


# ---------------------------------------------------------------------- any schema
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
numbers = st.integers(-1000, 1000)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["categorical", "boolean", "integer", "float", "datetime"]))
    column: dict[str, Any] = {"type": kind, "nullable": draw(st.booleans())}
    if kind == "categorical":
        column["values"] = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    if kind in ("integer", "float"):
        low, width = draw(numbers), draw(st.integers(1, 500))
        column |= {"min": low, "max": low + width, "bins": draw(st.integers(1, 9))}
    if kind == "float":
        column["decimals"] = draw(st.sampled_from([None, 1, 3]))
    if kind == "datetime":
        low = date.fromordinal(draw(st.integers(700_000, 740_000)))
        high = date.fromordinal(low.toordinal() + draw(st.integers(0, 2000)))
        column |= {"min": str(low), "max": str(high), "bins": draw(st.integers(1, 12))}
    return column


KINDS = {
    "boolean": pa.bool_(), "integer": pa.int64(), "float": pa.float64(),
    "categorical": pa.large_string(), "datetime": pa.timestamp("ns"),
}  # fmt: skip


def round_trip(described: dict[str, Any], typed: pa.Schema | None, seed: int) -> tuple[Any, ...]:
    """A codec, random codes, and the rows decoded from them."""
    made = Codec(Schema.parse({"columns": described}), typed)
    generator = np.random.default_rng(seed)
    codes = np.stack([generator.integers(0, size, 40) for size in made.domain.sizes], axis=1)
    return made, codes, made.decode(codes, generator)


def again(made: Codec, rows: pa.RecordBatch) -> list[list[int]]:
    return np.stack(made.encode(rows), axis=1).tolist()


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, columns(), min_size=1, max_size=5), st.booleans(), st.integers(0, 9))
def test_codes_survive_decoding_and_encoding_in_any_table(
    described: dict[str, Any], text: bool, seed: int
) -> None:
    typed = pa.schema([(name, KINDS[column["type"]]) for name, column in described.items()])
    made, codes, rows = round_trip(described, None if text else typed, seed)
    assert rows.schema.names == list(described)
    assert again(made, rows) == codes.tolist()
    assert again(Codec(made.schema), made.spelled(rows)) == codes.tolist()


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(names, columns(), min_size=1, max_size=5), st.integers(0, 9))
def test_codes_survive_a_csv_file(
    tmp_path_factory: pytest.TempPathFactory, described: dict[str, Any], seed: int
) -> None:
    assume(len(described) > 1 or not set(next(iter(described))) & set(";\t|"))
    made, codes, rows = round_trip(described, None, seed)
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    with path.open("wb") as stream:
        write_batches([rows], made.output_schema, stream, "csv")
    (batch,) = open_table(path).batches()
    assert batch.schema.names == list(described)
    assert again(made, batch) == codes.tolist()
