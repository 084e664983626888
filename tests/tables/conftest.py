"""Small tables and schemas, written by the tests themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema import Schema

Write = Callable[..., Path]


@pytest.fixture
def csv(tmp_path: Path) -> Write:
    """Write text (or bytes) to a file and return its path."""

    def write(content: str | bytes, name: str = "in.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def codec_of() -> Callable[[Any, dict[str, Any]], Codec]:
    """The codec of some data under a schema's columns (and other keys)."""

    def make(data: Any, columns: dict[str, Any], **more: Any) -> Codec:
        return Codec(Schema.parse({"columns": columns, **more}), open_table(data).schema)

    return make


@pytest.fixture
def counts_of() -> Callable[..., dict[str, list[int]]]:
    """Exact 1-way counts of some data under a schema's columns."""

    def count(data: Any, columns: dict[str, Any], **more: Any) -> dict[str, list[int]]:
        table = open_table(data)
        codec = Codec(Schema.parse({"columns": columns, **more}), table.schema)
        tables = LocalRecords(table, codec).count([(i,) for i in range(len(codec.domain))])
        return {n: t.tolist() for n, t in zip(codec.domain.names, tables, strict=True)}

    return count
