"""CSV quotes only where it must and reads back as it was."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.write import (
    csv_line,
    csv_text,
    format_of,
    open_output,
    write_batches,
)

CELL = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=5)


def lines(text: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


@given(st.lists(st.tuples(CELL, CELL | st.none()), min_size=1, max_size=6))
def test_any_text_reads_back(rows: list[tuple[str, str | None]]) -> None:
    batch = pa.record_batch([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], ["a", "b"])
    assert lines(csv_text(batch)) == [["" if c is None else c for c in row] for row in rows]


def test_quotes_are_only_where_they_are_needed() -> None:
    batch = pa.record_batch(
        {"a": ["x", "x,y", 'say "hi"', "two\nlines", None], "b": [1, 2, 3, 4, 5]}
    )
    assert csv_text(batch) == b'x,1\n"x,y",2\n"say ""hi""",3\n"two\nlines",4\n,5\n'


def test_a_missing_cell_in_a_single_column_is_a_row() -> None:
    assert csv_text(pa.record_batch({"a": ["x", None, ""]})) == b'x\n""\n""\n'


def test_truth_dictionaries_and_slices_are_written_as_values() -> None:
    words = pa.array(["n", "y,es", "n", None]).dictionary_encode()
    batch = pa.record_batch({"t": [True, None, False, True], "w": words}).slice(1)
    assert csv_text(batch) == b',"y,es"\nFalse,n\nTrue,\n'


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_batches_become_one_file(format: str) -> None:
    schema = pa.schema({"größe": pa.int64()})
    batches = (pa.record_batch([[i]], schema=schema) for i in range(3))
    stream = io.BytesIO()
    write_batches(batches, schema, stream, format)
    stream.seek(0)
    read = {"csv": pa.csv.read_csv, "parquet": pa.parquet.read_table}[format]
    assert read(stream).to_pydict() == {"größe": [0, 1, 2]}


def test_a_header_is_quoted_where_it_must() -> None:
    assert csv_line(["a b", "c,d"]) == 'a b,"c,d"\n'


def test_the_format_follows_the_name_unless_told(tmp_path) -> None:
    assert format_of(tmp_path / "x.parquet") == "parquet"
    assert format_of(tmp_path / "x.txt") == "csv"
    assert format_of(tmp_path / "x.parquet", "csv") == "csv"
    with pytest.raises(InputError, match="format"):
        format_of(tmp_path / "x", "xlsx")


def test_a_name_in_gz_makes_a_packed_file_of_the_same_bytes_each_time(tmp_path) -> None:
    import gzip

    for name in ("a.csv.gz", "b.csv.gz", "c.csv"):
        with open_output(tmp_path / name) as stream:
            stream.write(b"x\n1\n")
    packed = (tmp_path / "a.csv.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "c.csv").read_bytes() == b"x\n1\n"
    assert packed == (tmp_path / "b.csv.gz").read_bytes()
