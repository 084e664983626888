"""The public shape of a table: what is kept of it, and rows in that shape again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema import Schema
from saddlesynth.synthesis.tables import Layout, to_kind


def sample(frame: pd.DataFrame, **columns: object) -> pd.DataFrame:
    """Three rows as ``frame`` would get them."""
    table = open_table(frame)
    codec = Codec(Schema.parse({"columns": columns}), table.schema)
    codes = np.zeros((3, len(codec.columns)), dtype=np.int64)
    made = codec.decode(codes, np.random.default_rng(0))
    return to_kind(pa.Table.from_batches([made]), Layout.of(table, codec.columns))


def test_what_an_identifier_holds_is_not_in_the_layout() -> None:
    frame = pd.DataFrame({"who": [{"secret": 1}], "x": ["a"]})
    arrays = Layout.of(open_table(frame), ["x"]).to_arrays()
    assert b"secret" not in arrays["layout_schema"].tobytes()
    assert Layout.from_arrays(arrays).schema.field("who").type == pa.string()


@pytest.mark.parametrize(
    ("identifiers", "dtype"),
    [
        (pd.date_range("2024-01-01", periods=2), "str"),
        (pd.period_range("2024-01", periods=2, freq="M"), "str"),
        ([True, False], "str"),
        (pd.Categorical(["a", "b"]), "str"),
        ([7, 8], "int64"),
        ([7.0, None], "float64"),
    ],
)
def test_fresh_identifiers_of_any_type_can_be_made(identifiers, dtype: str) -> None:
    frame = pd.DataFrame({"who": identifiers, "x": ["a", "b"]})
    who = {"type": "id", "regenerate": True}
    made = sample(frame, who=who, x={"type": "categorical", "values": ["a", "b"]})
    assert [str(cell).removesuffix(".0") for cell in made["who"]] == ["1", "2", "3"]
    assert str(made["who"].dtype) == dtype


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        (pa.string(), {"type": "categorical", "values": ["1"], "nullable": True}),
        (pa.large_string(), {"type": "categorical", "values": ["1"]}),
        (pa.dictionary(pa.int32(), pa.string()), {"type": "categorical", "values": ["1"]}),
        (pa.int16(), {"type": "integer", "min": 0, "max": 9, "nullable": True}),
        (pa.float64(), {"type": "float", "min": 0, "max": 9}),
        (pa.bool_(), {"type": "boolean"}),
        (pa.timestamp("us"), {"type": "datetime", "min": "1970-01-01", "max": "1970-01-01"}),
    ],
    ids=str,
)
def test_arrow_dtypes_of_pandas_come_back(kind: pa.DataType, column: dict[str, object]) -> None:
    cells = pa.array([1]).cast(pa.string() if pa.types.is_dictionary(kind) else kind).cast(kind)
    frame = pd.DataFrame({"x": pd.array(cells, dtype=pd.ArrowDtype(kind))})
    assert sample(frame, x=column).dtypes["x"] == frame.dtypes["x"]
