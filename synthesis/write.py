"""Rows out, streamed: CSV that quotes only where it must, or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "parquet")


def format_of(path: Path, asked: str | None = None) -> str:
    """The format to write: what was asked, else by the file's ending, else CSV."""
    if asked is not None:
        if asked not in FORMATS:
            raise InputError(f"format is {asked!r}; it must be one of {', '.join(FORMATS)}")
        return asked
    return "parquet" if path.suffix.lower() in (".parquet", ".pq") else "csv"


@contextmanager
def open_output(path: Path) -> Iterator[IO[bytes]]:
    """A file to write bytes to; packed if its name ends in ``.gz``, always to the same bytes."""
    import gzip

    with path.open("wb") as raw:
        if path.suffix.lower() != ".gz":
            yield raw
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)


def write_batches(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: IO[bytes], format: str
) -> None:
    """Write batches of this schema to a binary stream as they come; bounded memory."""
    if format == "parquet":
        _write_parquet(batches, schema, stream)
    else:
        stream.write(csv_line(schema.names).encode())
        for batch in batches:
            stream.write(csv_text(batch))


def _write_parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def csv_line(cells: Iterable[str]) -> str:
    """One CSV line; used for the header.

    >>> csv_line(["größe (cm)", "a,b"])
    'größe (cm),"a,b"\\n'
    """
    import pyarrow as pa

    line = ",".join(_quoted(pa.array(list(cells), pa.string())).to_pylist())
    return (line or '""') + "\n"


def csv_text(batch: pa.RecordBatch) -> bytes:
    """All rows of a batch as CSV lines; missing values are empty cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not batch.num_rows:
        return b""
    columns = [_csv_cells(column) for column in batch.columns]
    if len(columns) == 1:  # an empty line would be read as no row
        columns = [pc.if_else(pc.equal(columns[0], ""), '""', columns[0])]
    lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
    one_list = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    text: bytes = pc.binary_join(one_list, "\n")[0].as_buffer().to_pybytes()
    return text + b"\n"


def _csv_cells(column: pa.Array) -> pa.Array:
    """The column as text, quoted where a reader needs it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return _csv_cells(column.dictionary).take(column.indices).fill_null("")
    if pa.types.is_boolean(column.type):
        text = pc.if_else(column, "True", "False")
    else:
        text = column.cast(pa.string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = _quoted(text)
    return text.fill_null("")


def _quoted(text: pa.Array) -> pa.Array:
    """Quotes around the cells that have a comma, a quote or a line break."""
    import pyarrow.compute as pc

    content = b"" if (buffer := text.buffers()[2]) is None else buffer.to_pybytes()
    if not any(character in content for character in (b",", b'"', b"\r", b"\n")):
        return text  # the usual case, found at the speed of memory
    special = pc.match_substring_regex(text, '[",\r\n]')
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), text)
