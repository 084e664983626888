"""The public shape of the input table, and rows in that shape again.

Column names, order and storage types are public; values, categories and the number of rows are
not, so nothing else of the input is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


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
