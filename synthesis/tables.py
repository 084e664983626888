"""The public shape of the input table, and rows in that shape again.

Column names, order and storage types are public; values, categories and the number of rows are
not, so nothing else of the input is kept.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.formats import is_text

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from saddlesynth.synthesis.read import Table


@dataclass(frozen=True)
class Layout:
    """Arrow types of the input's columns, and which kind of table it was.

    ``kind`` is "pandas", "arrow", "csv" or "parquet"; ``dtypes`` are the pandas dtypes by column,
    where the input was a DataFrame.
    """

    kind: str
    schema: pa.Schema
    dtypes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    @property
    def format(self) -> str:
        """The file format that suits: Parquet for Parquet, CSV for all else."""
        return "parquet" if self.kind == "parquet" else "csv"

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "layout_kind": np.array(self.kind),
            "layout_schema": np.frombuffer(self.schema.serialize(), dtype=np.uint8),
            "layout_dtypes": np.array(self.dtypes, dtype=np.str_),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        import pyarrow as pa

        schema = pa.ipc.read_schema(pa.py_buffer(arrays["layout_schema"].tobytes()))
        dtypes = tuple(str(name) for name in arrays["layout_dtypes"])
        return cls(str(arrays["layout_kind"]), schema, dtypes)

    @classmethod
    def of(cls, table: Table, modelled: Container[str]) -> Self:
        """The layout of an opened table; identifiers count as whole numbers, or else as text.

        The type of an identifier that was inferred from its values may tell about them.
        """
        import pyarrow as pa

        dtypes = list(getattr(table, "dtypes", ()))
        fields = list(table.schema)
        for i, field in enumerate(fields):
            if field.name in modelled or pa.types.is_integer(field.type):
                continue
            fields[i] = field.with_type(pa.string())
            if dtypes and not (is_text(field.type) or pa.types.is_floating(field.type)):
                dtypes[i] = "str"
        return cls(table.kind, pa.schema(fields, metadata=table.schema.metadata), tuple(dtypes))


def to_kind(table: pa.Table, layout: Layout) -> Any:
    """Rows as the kind of table that was fitted: Arrow for Arrow, a DataFrame for all else.

    Whole numbers and booleans with missing values get pandas' nullable dtypes, so that 1 never
    becomes 1.0; where nothing is missing they have the input's dtype.
    """
    if layout.kind == "arrow":
        return table
    frame = table.to_pandas(types_mapper=_nullable().get)
    dtypes = dict(zip(layout.names, layout.dtypes, strict=False))
    for name in frame.columns:
        wanted = dtypes.get(name, _plain_dtype(str(frame[name].dtype)))
        if wanted.endswith("[pyarrow]"):
            frame[name] = _arrow_series(table.column(name), layout.schema.field(name).type)
        elif (
            wanted != "category"
            and str(frame[name].dtype) != wanted
            and _holds(frame[name], wanted)
        ):
            frame[name] = frame[name].astype(wanted)
    return frame


def _arrow_series(column: pa.ChunkedArray, kind: pa.DataType) -> pandas.Series[Any]:
    """The column as a series that keeps Arrow's memory and type."""
    import pandas as pd

    return pd.Series(pd.arrays.ArrowExtensionArray(column.cast(kind)))


def _nullable() -> dict[pa.DataType, Any]:
    """Arrow types whose missing values NumPy cannot hold, with the pandas dtypes that can."""
    import pandas as pd
    import pyarrow as pa

    found: dict[pa.DataType, Any] = {}
    for bits in (8, 16, 32, 64):
        found[pa.type_for_alias(f"int{bits}")] = pd.api.types.pandas_dtype(f"Int{bits}")
        found[pa.type_for_alias(f"uint{bits}")] = pd.api.types.pandas_dtype(f"UInt{bits}")
    found[pa.bool_()] = pd.BooleanDtype()
    return found


def _plain_dtype(name: str) -> str:
    """NumPy's dtype for a nullable one.

    >>> _plain_dtype("Int64"), _plain_dtype("boolean"), _plain_dtype("float64")
    ('int64', 'bool', 'float64')
    """
    return {"boolean": "bool"}.get(name, name.lower() if "Int" in name else name)


def _holds(series: pandas.Series[Any], dtype: str) -> bool:
    """Whether a dtype can take the values: NumPy's whole numbers cannot be missing."""
    strict = dtype == "bool" or dtype.startswith(("int", "uint"))
    return not (strict and series.isna().any())
