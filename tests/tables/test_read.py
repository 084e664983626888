"""Whatever is in the file is read as it stands; whatever cannot be read is refused in one line."""

from __future__ import annotations

import gzip
import resource
import traceback
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.read import Table, open_table


def rows(table: Table, columns: list[str] | None = None) -> dict[str, list[object]]:
    """All rows as lists."""
    return pa.Table.from_batches(table.batches(columns)).to_pydict()


def message(source: object) -> str:
    with pytest.raises(InputError) as caught:
        list(open_table(source).batches())
    text = str(caught.value)
    assert "\n" not in text
    return text


# ---------------------------------------------------------------------- CSV
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n007,NA\n", {"a": ["007"], "b": ["NA"]}),
        ("a,b\n9007199254740993,\n", {"a": ["9007199254740993"], "b": [""]}),
        ('\ufeffa,b\n1,"x,y"\n', {"a": ["1"], "b": ["x,y"]}),
        ('a,b\r\n1,"say ""hi"""\r\n', {"a": ["1"], "b": ['say "hi"']}),
        ('a,b\n1,"two\nlines"\n\n\n', {"a": ["1"], "b": ["two\nlines"]}),
        ("a,b\n null ,true\n", {"a": [" null "], "b": ["true"]}),
        ("a,b\n1,2", {"a": ["1"], "b": ["2"]}),
    ],
)
def test_csv_cells_stay_as_they_stand(csv, text: str, expected: dict[str, list[str]]) -> None:
    assert rows(open_table(csv(text))) == expected


def test_an_empty_line_in_a_one_column_file_is_a_missing_value(csv) -> None:
    assert rows(open_table(csv("a\n\nx\n\n"))) == {"a": ["", "x", ""]}
    assert rows(open_table(csv("a\n\n"))) == {"a": [""]}


def test_an_empty_line_in_a_wider_file_is_no_row(csv) -> None:
    assert rows(open_table(csv("a,b\n\n1,2\n\n"))) == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize("name", ["in.csv.gz", "IN.CSV.GZ"])
def test_a_gzipped_file_reads_the_same(csv, name: str) -> None:
    assert rows(open_table(csv(gzip.compress(b"a\nx\n"), name))) == {"a": ["x"]}


def test_awkward_names_survive(csv) -> None:
    names = ["größe (cm)", "😀 score", "select", 'the "x"', "a,b", "two\nlines", " pad ", ""]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = open_table(csv(header + "\n" + ",".join("12345678") + "\n"))
    assert table.names == names
    assert rows(table, ["a,b", "select"]) == {"a,b": ["5"], "select": ["3"]}


def test_a_semicolon_in_the_name_of_a_single_column_is_just_that(csv) -> None:
    assert rows(open_table(csv("a;b\nx\n"))) == {"a;b": ["x"]}


def test_a_table_can_be_read_twice_and_by_columns_in_any_order(csv) -> None:
    table = open_table(csv("a,b,c\n1,2,3\n"))
    assert rows(table, ["c", "a"]) == {"c": ["3"], "a": ["1"]}
    assert rows(table) == rows(table)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("in.csv", b"", "is empty"),
        ("in.csv", b"a,b\n", "no rows"),
        ("in.csv", b"a,b\n\n\n", "no rows"),
        ("in.csv", b"\n1,2\n", "header"),
        ("in.csv", b"a;b\nsecret;2\n", "save it with commas"),
        ("in.csv", b"a,b,a\n1,2,3\n", "'a' occurs more than once"),
        ("in.csv", b"a,b\n1,2\nsecret,2,3\n", "line 3: 3 cells, but the header has 2"),
        ("in.csv", b'a,b\n"1\n1",2\nsecret\n', "line 4: 1 cells, but the header has 2"),
        ("in.csv", "a,b\nsecret-é,2\n".encode("latin-1"), "not UTF-8"),
        ("in.csv", b"a,b\n1,2\n" * 9 + b"secret\xff,2\n", "not UTF-8"),
        ("in.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
        ("in.csv.gz", b"a,b\n1,2\n", "not a whole gzip file"),
        ("in.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-9], "not a whole gzip file"),
        ("in.parquet", b"a,b\n1,2\n", "not a Parquet file"),
        ("in.xlsx", b"a,b\n1,2\n", "must end in"),
        ("in", b"a,b\n1,2\n", "must end in"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(csv, name, content, expected: str) -> None:
    text = message(csv(content, name))
    assert expected in text
    assert name in text
    assert "secret" not in text


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "no such file" in message(tmp_path / "none.csv")
    assert "folder" in message(str(tmp_path))


def test_a_csv_file_needs_bounded_memory(csv) -> None:
    path = csv("a,b\n" + "some text,more text\n" * 2_000_000)  # 40 MB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen = sum(batch.num_rows for batch in open_table(path).batches())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert seen == 2_000_000
    assert grown < 100 * 1024  # KiB, however long the file


# ---------------------------------------------------------------------- Parquet
def test_parquet_keeps_types_and_reads_text_as_dictionaries(tmp_path: Path) -> None:
    data = pa.table({"a.b": [1, None], "a": ["x", "y"], "c": [True, False]})
    pq.write_table(data, tmp_path / "in.parquet")
    table = open_table(tmp_path / "in.parquet")
    assert table.schema.types == data.schema.types
    batch = next(table.batches(["c", "a", "a.b"]))
    assert batch.schema.names == ["c", "a", "a.b"]
    assert pa.types.is_dictionary(batch.column(1).type)
    assert not table.text


def test_text_that_polars_writes_to_parquet_is_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array(["x", None], pa.string_view())}), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    assert table.schema.field("a").type == pa.string()
    assert rows(table) == {"a": ["x", None]}


def test_the_number_of_rows_that_pandas_notes_in_parquet_is_dropped(tmp_path: Path) -> None:
    pd.DataFrame({"a": range(12345)}).to_parquet(tmp_path / "in.parquet")
    assert b"12345" in pq.read_schema(tmp_path / "in.parquet").metadata[b"pandas"]
    schema = open_table(tmp_path / "in.parquet").schema
    assert schema.metadata is None
    assert all(field.metadata is None for field in schema)


def test_a_pandas_index_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 7])
    frame.to_parquet(tmp_path / "in.parquet")
    assert open_table(tmp_path / "in.parquet").names == ["a"]
    assert open_table(frame).names == ["a"]


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "in.parquet")
    assert "no rows" in message(tmp_path / "in.parquet")


def test_damaged_parquet_data_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[4:3000] = bytes(2996)
    path.write_bytes(content)
    assert "damaged" in message(path)


# ---------------------------------------------------------------------- in memory
class Stream:
    """A frame of some other library that speaks Arrow's C stream protocol."""

    def __init__(self, data: pa.Table) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._data.__arrow_c_stream__(requested_schema)


class Interchange:
    """A frame that speaks the DataFrame interchange protocol alone."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __dataframe__(self, *args: object, **kwargs: object) -> object:
        return self._frame.__dataframe__(*args, **kwargs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_frames_of_other_libraries_are_read_by_protocol() -> None:
    data = pa.table({"a": pa.array(["x", None], pa.string_view()), "b": [1, 2]})
    assert rows(open_table(Stream(data))) == {"a": ["x", None], "b": [1, 2]}
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.5, 2]})
    assert rows(open_table(Interchange(frame))) == {"a": ["x", "y"], "b": [1.5, 2.0]}


def test_arrow_data_that_can_be_read_once_are_read_twice() -> None:
    batch = pa.record_batch({"a": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    table = open_table(reader)
    assert rows(table) == rows(table) == {"a": [1, 2]}


def test_missing_values_of_pandas_become_nulls() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], "Int64"),
            "real": [1.5, float("nan")],
            "flag": pd.array([True, None], "boolean"),
            "text": ["x", None],
            "seen": pd.to_datetime(["2024-01-01", None]),
        }
    )
    assert [rows(open_table(frame))[name][1] for name in frame] == [None] * 5


@pytest.mark.parametrize(
    ("some", "others"),
    [
        (pd.Categorical(["x"]), pd.Categorical([str(i) for i in range(200)])),
        ([Decimal("1.25")], [Decimal("8750000.00")]),
        ([None], ["x"]),
    ],
    ids=["categories", "decimals", "nothing"],
)
def test_the_type_of_a_pandas_column_does_not_tell_of_its_values(some, others) -> None:
    frames = [pd.DataFrame({"x": pd.Series(cells, dtype=getattr(cells, "dtype", object))})
              for cells in (some, others)]  # fmt: skip
    one, other = (open_table(frame) for frame in frames)
    assert one.schema == other.schema
    assert rows(other)["x"] == list(others)


@pytest.mark.parametrize("values", [[1, "1", 2.5], [True, "x"], [{"a": 1}, 2], [2**70, 1]])
def test_a_column_of_mixed_types_is_refused_by_name(values: list[object]) -> None:
    frame = pd.DataFrame({"ok": range(len(values)), "lab": pd.Series(values, dtype=object)})
    assert "'lab'" in message(frame)


def test_no_error_quotes_a_cell_not_even_in_its_traceback(csv) -> None:
    secret = str(2**61)  # the traceback shows this line, so it must not hold the cell
    with pytest.raises(InputError) as caught:
        list(open_table(csv(f"a,b\nx,y\n{secret},x,y\n")).batches())
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_what_is_no_table_is_refused() -> None:
    assert "list" in message([1, 2])
    assert "Series" in message(pd.Series(["a"], name="x"))
    assert "no rows" in message(pd.DataFrame({"a": []}))
    assert "no columns" in message(pd.DataFrame(index=[1, 2]))
    assert "not text" in message(pd.DataFrame({0: [1]}))
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert "'a' occurs more than once" in message(twice)
    assert "more than once" in message(pa.Table.from_arrays([[1], [2]], names=["b", "b"]))
