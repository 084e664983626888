"""Private records: every cell checked in the first pass, bounded memory, few rows a unit."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.errors import DataWarning, SchemaError, SizeError
from saddlesynth.synthesis.read import ArrowTable, Table, open_table
from saddlesynth.synthesis.schema import Schema
from saddlesynth.synthesis.truncate import rows_to_keep

AB = {
    "a": {"type": "categorical", "values": ["x", "y"]},
    "b": {"type": "integer", "min": 0, "max": 9},
}


def frame_of(n: int, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    return pd.DataFrame({"a": generator.choice(["x", "y"], n), "b": generator.integers(0, 10, n)})


def records(data: Any, columns: dict[str, Any] = AB, rules: Any = (), **options: Any) -> Any:
    table = open_table(data)
    schema = Schema.parse({"columns": columns, "impossible": list(rules)})
    return LocalRecords(table, Codec(schema, table.schema), **options)


@dataclass(frozen=True)
class Watched(ArrowTable):
    """A table that counts how often it is read, in small batches."""

    reads: tuple[list[int], ...] = ()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        self.reads[0].append(1)
        yield from self.data.select(list(columns or self.names)).to_batches(max_chunksize=100)


def watched(n: int) -> tuple[Table, list[int]]:
    data, reads = pa.Table.from_pandas(frame_of(n), preserve_index=False), []
    return Watched(data.schema, data, (reads,)), reads


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cache_bytes", [0, 1 << 20])
def test_threads_and_cache_change_no_count(n_jobs: int, cache_bytes: int) -> None:
    table, _ = watched(1234)
    own = records(table, n_jobs=n_jobs, cache_bytes=cache_bytes)
    expected = pd.crosstab(frame_of(1234)["a"], frame_of(1234)["b"]).to_numpy()
    for _ in range(2):
        pair, single, rows = own.count([(0, 1), (1,), ()])
        assert (pair == expected).all()
        assert (single == expected.sum(axis=0)).all()
        assert rows == 1234


def test_few_codes_are_kept_so_that_a_second_pass_reads_nothing() -> None:
    table, reads = watched(1000)
    own = records(table)
    own.count([(0,)])
    own.count([(1,)])
    assert len(reads) == 1


def test_many_codes_are_not_kept() -> None:
    table, reads = watched(1000)
    own = records(table, cache_bytes=1999)  # two bytes a row are needed
    own.count([(0,)])
    own.count([(1,)])
    assert len(reads) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_misfits_of_the_whole_table_are_told_with_their_number(n_jobs: int) -> None:
    data = frame_of(200_000)
    data.loc[[5, 70_000, 150_000], "a"] = "secret"
    data.loc[7, "b"] = 99
    with pytest.raises(SchemaError, match=r"'a': 3 cells are not among") as caught:
        records(data, n_jobs=n_jobs).count([(1,)])
    assert "secret" not in str(caught.value)


def test_every_column_is_checked_even_if_no_marginal_needs_it() -> None:
    with pytest.raises(SchemaError, match="'a'"):
        records(pd.DataFrame({"a": ["z"], "b": [1]})).count([(1,)])


def test_a_request_that_is_too_large_reads_nothing() -> None:
    table, reads = watched(10)
    columns = {
        "a": {"type": "categorical", "values": [str(i) for i in range(20_000)]},
        "b": {"type": "integer", "min": 0, "max": 19_999, "bins": 20_000},
    }
    schema = Schema.parse({"columns": columns})
    own = LocalRecords(table, Codec(schema, table.schema))
    with pytest.raises(SizeError):
        own.count([(0, 1)])
    assert not reads


# ---------------------------------------------------------------------- names of rows
def test_a_list_of_values_that_names_the_rows_is_refused() -> None:
    names = [f"R-{i:03}" for i in range(40)]
    data = pd.DataFrame({"a": names})
    columns = {"a": {"type": "categorical", "values": names}}
    with pytest.raises(SchemaError, match=r"'a' is unique per row.*\"type\": \"id\""):
        records(data, columns).count([()])
    twice = pd.concat([data, data])
    assert records(twice, columns).count([()])[0] == 80


def test_few_rows_with_different_values_are_no_names() -> None:
    assert records(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})).count([()])[0] == 2


# ---------------------------------------------------------------------- impossible rows
RULES = [{"a": "x", "b": 3}, {"a": "y", "b": [4, 5]}]


def test_an_impossible_row_is_counted_with_one_warning_that_names_the_rule() -> None:
    data = pd.DataFrame({"a": ["x", "y", "y"] * 7, "b": [3, 4, 5] * 7})
    own = records(data, rules=RULES)
    with pytest.warns(DataWarning) as told:
        assert own.count([()])[0] == 21
        own.count([(0,)])
    assert len(told) == 1
    assert "{'a': 'x', 'b': 3}" in str(told[0].message)
    assert "7" not in str(told[0].message)


def test_possible_rows_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = records(pd.DataFrame({"a": ["x", "y"], "b": [4, 3]}), rules=RULES)
        assert own.count([()])[0] == 2


# ---------------------------------------------------------------------- units of several rows
VISITS = {"who": {"type": "id"}, **AB}


def visits(n: int, people: int) -> pd.DataFrame:
    who = np.random.default_rng(5).integers(0, people, n)
    return frame_of(n).assign(who=[f"p{w}" for w in who])


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_at_most_so_many_rows_of_a_unit_are_kept(most: int, rng) -> None:
    data = visits(5000, 700)
    kept = data[rows_to_keep(open_table(data), "who", most, rng)]
    before, after = Counter(data["who"]), Counter(kept["who"])
    assert after == {who: min(most, times) for who, times in before.items()}


def test_kept_rows_are_counted_over_batches_and_columns() -> None:
    data = visits(150_000, 20_000)
    own = records(data, VISITS, unit="who", max_rows_per_unit=2, generator=np.random.default_rng(3))
    keep = rows_to_keep(open_table(data), "who", 2, np.random.default_rng(3))
    expected = pd.crosstab(data["a"][keep], data["b"][keep]).to_numpy()
    assert (own.count([(0, 1)])[0] == expected).all()


def test_every_row_of_a_unit_is_kept_equally_often() -> None:
    data = open_table(pd.DataFrame({"who": ["a", "b", "a", "a", "c", "a"]}))
    generator = np.random.default_rng(0)
    times = sum(rows_to_keep(data, "who", 1, generator).astype(int) for _ in range(4000))
    assert (times[[1, 4]] == 4000).all()
    assert np.abs(times[[0, 2, 3, 5]] - 1000).max() < 110  # four standard deviations: 2e-4 in all


def test_rows_without_identifier_count_as_one_unit(csv, rng) -> None:
    path = csv("who,a,b\n,x,1\np1,x,1\n,y,2\n,y,3\n")
    assert rows_to_keep(open_table(path), "who", 1, rng).sum() == 2
    typed = pd.DataFrame({"who": [None, 7.0, None]})
    assert rows_to_keep(open_table(typed), "who", 1, rng).sum() == 2


def test_removing_a_unit_changes_the_counts_by_its_kept_rows_at_most() -> None:
    data = visits(2000, 100)
    for gone in data["who"].unique()[:20]:
        less = data[data["who"] != gone]
        # In distribution other units' rows are the same; keep all but the one unit's to see it.
        own = [
            records(d, VISITS, unit="who", max_rows_per_unit=k).count([()])[0]
            for d, k in ((data, 2), (less, 2))
        ]
        assert own[0] - own[1] == 2


@pytest.mark.parametrize("unit", ["a", "none"])
def test_a_unit_must_be_an_identifier(unit: str) -> None:
    with pytest.raises(SchemaError, match=f"unit.*'{unit}'"):
        records(visits(10, 3), VISITS, unit=unit)
