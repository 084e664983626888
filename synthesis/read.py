"""Tables in: CSV (text first), Parquet, pandas, Arrow, and whatever speaks Arrow's protocols.

A ``Table`` yields Arrow record batches, again and again, in bounded memory.  CSV cells stay text:
the schema, not the reader, gives them meaning, so leading zeros, big integers and ``NA`` survive.
Private data pass through here: no message quotes a cell, and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH_ROWS = 65_536
TEXT = {b"saddlesynth.text": b"1"}  # Arrow schema metadata of a table whose cells are all text
CSV_ENDINGS = (".csv", ".csv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """A table that can be read several times.

    ``schema`` is Arrow's, stripped of metadata (pandas writes the number of rows there) but for
    the mark of a text table; ``kind`` is "csv", "parquet", "pandas" or "arrow"; ``dtypes`` are the
    pandas dtypes by column, for pandas alone.
    """

    schema: pa.Schema
    kind: ClassVar[str]

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def text(self) -> bool:
        """Whether every column was read as text (CSV)."""
        return is_text(self.schema)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Record batches of these columns (default: all), in order; can be called again."""
        raise NotImplementedError


def is_text(schema: pa.Schema | None) -> bool:
    """Whether a table with this Arrow schema holds text cells whose meaning the schema gives."""
    return schema is None or (schema.metadata or {}).get(b"saddlesynth.text") == b"1"


def open_table(source: Any) -> Table:
    """Open a table for repeated, streamed reading.

    Parameters
    ----------
    source
        Path of a CSV (``.csv``, ``.csv.gz``) or Parquet file (``.parquet``, ``.pq``), a pandas
        DataFrame, an Arrow table, or an object with ``__arrow_c_stream__`` or ``__dataframe__``
        (polars and others, which are not imported).

    Raises
    ------
    InputError
        No such file, wrong ending, a folder, an empty file, no rows, no UTF-8, a row with too
        few or too many cells (by line), a column name that occurs twice, mixed types in a column.

    >>> import pandas as pd
    >>> open_table(pd.DataFrame({"sex": ["F", "M"]})).names
    ['sex']
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return _open_file(Path(source))
    return _open_object(source)


# ---------------------------------------------------------------------- files
def _open_file(path: Path) -> Table:
    name = path.name.lower()
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one CSV or Parquet file")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if not name.endswith(CSV_ENDINGS + PARQUET_ENDINGS):
        endings = ", ".join(CSV_ENDINGS + PARQUET_ENDINGS)
        raise InputError(f"{path}: the name must end in one of {endings}")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty; a header line and rows are expected")
        if name.endswith(PARQUET_ENDINGS):
            return ParquetTable.open(path)
        from saddlesynth.synthesis.read_csv import CsvTable

        return CsvTable.open(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or 'damaged'})") from None


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Refuse column names that are not text, or that occur twice."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"{where}: column name {name!r} is not text; use df.columns.astype(str)"
            )
        if name in seen:
            raise InputError(
                f"{where}: column name {name!r} occurs more than once; names must be distinct"
            )
        seen.add(name)
    if not seen:
        raise InputError(f"{where} has no columns")


@dataclass(frozen=True)
class ParquetTable(Table):
    """A Parquet file; text columns come as dictionaries, so each value is looked at once."""

    path: Path
    kind: ClassVar[str] = "parquet"

    @classmethod
    def open(cls, path: Path) -> ParquetTable:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(path) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
        except pa.ArrowInvalid:
            raise InputError(f"{path} is not a Parquet file, or is damaged") from None
        refuse_duplicates(schema.names, str(path))
        if not rows:
            raise InputError(f"{path} has no rows")
        kept = [f.remove_metadata() for f in schema if not f.name.startswith("__index_level_")]
        views = {pa.string_view(): pa.string()}  # like all text, these come as dictionaries
        return cls(pa.schema([f.with_type(views.get(f.type, f.type)) for f in kept]), path)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = self.names if columns is None else list(columns)
        text = [n for n in wanted if _is_string(self.schema.field(n).type)]
        try:
            with pq.ParquetFile(self.path, read_dictionary=text) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=wanted):
                    yield batch.select(wanted)
        except (pa.ArrowException, OSError):
            raise InputError(f"{self.path}: the Parquet data are damaged") from None


def _is_string(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# ---------------------------------------------------------------------- tables in memory
@dataclass(frozen=True)
class ArrowTable(Table):
    """A table in memory."""

    data: pa.Table
    kind: ClassVar[str] = "arrow"

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        data = self.data if columns is None else self.data.select(list(columns))
        yield from data.to_batches(max_chunksize=BATCH_ROWS)


@dataclass(frozen=True)
class PandasTable(ArrowTable):
    """A pandas DataFrame; its index is no column and is left out."""

    dtypes: tuple[str, ...] = ()
    kind: ClassVar[str] = "pandas"


def _open_object(source: Any) -> Table:
    import pyarrow as pa

    module = type(source).__module__.partition(".")[0]
    if module == "pandas" and hasattr(source, "columns"):
        return _open_pandas(source)
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.RecordBatchReader):
        source = source.read_all()
    if not isinstance(source, pa.Table):
        source = _arrow_of(source)
    refuse_duplicates(source.column_names, "the table")
    if not source.num_rows:
        raise InputError("the table has no rows")
    data = pa.table({name: _plain(source.column(name)) for name in source.column_names})
    return ArrowTable(data.schema, data)


def _arrow_of(source: Any) -> pa.Table:
    """Ask an object for its rows by the protocols that table libraries share."""
    import pyarrow as pa

    try:
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        if hasattr(source, "__dataframe__"):
            from pyarrow.interchange import from_dataframe

            return from_dataframe(source)
    except pa.ArrowInvalid:  # one column, not a table of columns
        pass
    raise InputError(
        f"data is of type {type(source).__name__}; give a path, a DataFrame or an Arrow table"
    )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """String views, which few Arrow functions know, as large strings."""
    import pyarrow as pa

    return column.cast(pa.large_string()) if column.type == pa.string_view() else column


def _open_pandas(frame: pd.DataFrame) -> PandasTable:
    import pyarrow as pa

    refuse_duplicates(list(frame.columns), "the DataFrame")
    if not len(frame):
        raise InputError("the DataFrame has no rows")
    data = pa.table({str(name): _from_series(frame[name]) for name in frame.columns})
    return PandasTable(data.schema, data, tuple(str(dtype) for dtype in frame.dtypes))


def _without_traces(
    cells: pa.Array | pa.ChunkedArray, *, inferred: bool
) -> pa.Array | pa.ChunkedArray:
    """The cells, of a type that does not tell how many categories or how large numbers there are.

    ``inferred`` says that Arrow took the type from the values, as it does for objects.
    """
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_dictionary(kind) and isinstance(cells, pa.Array):
        kind = pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    elif inferred and pa.types.is_null(kind):
        kind = pa.string()
    elif inferred and pa.types.is_decimal128(kind):
        kind = pa.decimal128(38, kind.scale)
    elif inferred and pa.types.is_decimal256(kind):
        kind = pa.decimal256(76, kind.scale)
    return cells if kind == cells.type else cells.cast(kind)


def _from_series(series: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    try:
        return _without_traces(pa.array(series, from_pandas=True), inferred=series.dtype == object)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        kinds = sorted({type(value).__name__ for value in series.dropna()})
        raise InputError(
            f"column {series.name!r} holds values that fit no single type ({', '.join(kinds)}); "
            "make them one type, for instance text with .astype(str)"
        ) from None
