"""CSV in: UTF-8 text, comma-separated, one header line, every cell kept as it stands.

Quoted commas, quotes and line breaks, a byte-order mark, CRLF and gzip are understood.  In a file
of one column an empty line is a row whose value is missing; in others it is no row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.read import BATCH_ROWS, TEXT, Table, refuse_duplicates

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 << 20  # what the parser looks at in one go; no row may be longer


@dataclass(frozen=True)
class CsvTable(Table):
    """A CSV file."""

    path: Path
    kind: ClassVar[str] = "csv"

    @classmethod
    def open(cls, path: Path) -> CsvTable:
        import pyarrow as pa

        with _text(path) as lines:
            rows = csv.reader(lines)
            names = next(rows, [])
            # In one column an empty line is a row; in several it is none.
            first = next((row for row in rows if row or len(names) == 1), None)
        if not names:
            raise InputError(f"{path} starts with an empty line; a header line is expected")
        refuse_duplicates(names, str(path))
        if first is None:
            raise InputError(f"{path} has a header but no rows")
        if len(names) == 1 and _marks(names) == _marks(first) != [0, 0, 0]:
            raise InputError(
                f"{path} has one column, {names[0]!r}, whose cells seem to be separated by another "
                "mark than a comma; save it with commas"
            )
        return cls(pa.schema([(name, pa.string()) for name in names], metadata=TEXT), path)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv

        wanted = self.names if columns is None else list(columns)
        cells = pa.dictionary(pa.int32(), pa.string())
        try:
            packed = "gzip" if _is_packed(self.path) else None
            with pa.input_stream(str(self.path), compression=packed) as stream:
                reader = pa.csv.open_csv(
                    stream,
                    pa.csv.ReadOptions(block_size=BLOCK_BYTES, encoding="utf8"),
                    pa.csv.ParseOptions(
                        newlines_in_values=True, ignore_empty_lines=len(self.names) > 1
                    ),
                    pa.csv.ConvertOptions(
                        column_types={name: cells for name in self.names},
                        include_columns=wanted,
                        strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    for start in range(0, batch.num_rows, BATCH_ROWS):
                        yield batch.slice(start, BATCH_ROWS)
        except (pa.ArrowException, OSError):  # the message may quote a row: look for ourselves
            _explain(self.path, len(self.names))


def _marks(row: list[str]) -> list[int]:
    """How often a one-column row has what other files have between their cells."""
    return ["".join(row).count(mark) for mark in ";\t|"]


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def _text(path: Path) -> Iterator[io.TextIOBase]:
    """The file as text, unpacked; ``InputError`` if it is not UTF-8 or damaged."""
    import gzip
    import zlib

    opened = gzip.open(path) if _is_packed(path) else path.open("rb")
    try:
        with opened as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save it as CSV with encoding UTF-8") from None
    except csv.Error:
        raise InputError(f"{path} is not CSV that can be read; check its quotes") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path} is not a whole gzip file") from None


def _explain(path: Path, columns: int) -> NoReturn:
    """Find out, without quoting a cell, why the file could not be parsed."""
    with _text(path) as lines:
        rows = csv.reader(lines)
        for row in rows:
            if row and len(row) != columns:
                raise InputError(
                    f"{path}, line {rows.line_num}: {len(row)} cells, but the header has {columns}"
                ) from None
    raise InputError(
        f"{path} cannot be parsed; check its quotes, and that no row is longer than "
        f"{BLOCK_BYTES >> 20} MiB"
    ) from None
