"""`saddlesynth schema`: draft, check, import, json-schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from saddlesynth.synthesis.cli.schema import schema as command
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema import Schema
from saddlesynth.synthesis.schema_check import check
from saddlesynth.synthesis.schema_draft import draft
from saddlesynth.synthesis.schema_import import import_schema

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    return lambda *arguments: CliRunner().invoke(command, [str(a) for a in arguments])


# ---------------------------------------------------------------------- draft
MIXED = (
    "zip,beds,cost,seen,flag,lab,name,big,gap\n"
    + "\n".join(
        f"0050{i % 3},{i % 4},{i}.5{i % 2},2024-01-{i % 28 + 1:02},{i % 2 == 0},"
        f"{['<1', '1', 'pos'][i % 3]},N-{i:04},{9007199254740993 + i % 2},{'' if i % 9 else i}"
        for i in range(60)
    )
    + "\n"
)


def test_a_draft_reads_meaning_off_the_cells(csv) -> None:
    found = draft(open_table(csv(MIXED)))["columns"]
    assert found["zip"] == {"type": "categorical", "values": ["00500", "00501", "00502"]}
    assert found["beds"]["values"] == [0, 1, 2, 3]
    assert found["cost"] == {"type": "float", "min": 0.5, "max": 59.51, "decimals": 2}
    assert (found["seen"]["min"], found["seen"]["max"]) == ("2024-01-01", "2024-01-28")
    assert found["flag"] == {"type": "boolean"}
    assert found["lab"]["values"] == ["1", "<1", "pos"]
    assert found["name"] == {"type": "id"}
    assert found["big"]["values"] == [9007199254740993, 9007199254740994]
    assert found["gap"]["nullable"] is True


@pytest.mark.parametrize("typed", [False, True])
def test_every_cell_fits_the_draft_of_its_table(csv, typed: bool) -> None:
    path = csv(MIXED)
    data = pd.read_csv(path).assign(seen=lambda d: pd.to_datetime(d["seen"])) if typed else path
    table = open_table(data)
    own = Schema.parse(draft(table))
    assert own.draft
    assert check(table, own) == []
    assert LocalRecords(table, Codec(own, table.schema)).count([()])[0] == 60


@pytest.mark.parametrize(
    "values", [["1.5"] * 3, ["7"] * 3, [""] * 3, ["x"], ["2024-01-01"] * 2, ["-0.5", "1e300"]]
)
def test_constant_empty_and_extreme_columns_have_a_draft_that_fits(csv, values) -> None:
    table = open_table(csv("x\n" + "\n".join(values) + "\n"))
    assert check(table, Schema.parse(draft(table))) == []


def test_the_command_writes_a_draft_that_says_so(csv, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "s.json"
    ran = run("draft", csv(MIXED), "--out", out)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "not private" in ran.stderr
    assert Schema.load(out).draft
    assert json.loads(run("draft", csv(MIXED)).stdout) == json.loads(out.read_text())


# ---------------------------------------------------------------------- check
def test_check_lists_every_misfit_by_column_and_never_a_cell(csv) -> None:
    described = {
        "zip": {"type": "categorical", "values": ["00500", "00501"]},
        "beds": {"type": "boolean"},
        "cost": {"type": "float"},
        "sen": {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31"},
        "lab": {"type": "float", "min": 0, "max": 9},
        "gap": {"type": "integer", "min": 0, "max": 99},
        **{name: {"type": "id"} for name in ("flag", "name", "big")},
    }
    found = check(open_table(csv(MIXED)), Schema.parse({"columns": described}))
    assert {(m.column, m.cells) for m in found} == {
        ("seen", None), ("sen", None), ("cost", None),
        ("zip", 20), ("beds", 60), ("lab", 40), ("gap", 53),
    }  # fmt: skip
    told = "\n".join(map(str, found))
    assert "column 'zip': 20 cells are not among" in told
    assert "did you mean 'seen'?" in told
    assert not any(cell in told for cell in ("00502", "pos", "<1"))


def test_check_tells_of_columns_that_name_the_rows_and_of_impossible_rows(csv, run, tmp_path):
    path = csv("a,b\n" + "".join(f"r{i},x\n" for i in range(30)))
    columns = {
        "a": {"type": "categorical", "values": [f"r{i}" for i in range(30)]},
        "b": {"type": "categorical", "values": ["x", "y"]},
    }
    (found,) = check(open_table(path), Schema.parse({"columns": columns}))
    assert "unique per row" in str(found)
    columns["a"] = {"type": "id"}
    (tmp_path / "s.json").write_text(json.dumps({"columns": columns, "impossible": [{"b": "x"}]}))
    ran = run("check", path, "--schema", tmp_path / "s.json")
    assert ran.exit_code == 0
    assert "NOTE: the data have rows with the impossible combination {'b': 'x'}" in ran.stderr


def test_the_command_lists_misfits_and_fails(csv, run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"columns": {"x": {"type": "integer", "min": 0, "max": 9}}}')
    ran = run("check", csv("x\n1\nsecret\n"), "--schema", tmp_path / "s.json")
    assert isinstance(ran.exception, SchemaError)
    assert ran.stdout == "column 'x': 1 cell is not whole numbers\n"
    as_json = run("check", csv("x\n1\nz\n"), "--schema", tmp_path / "s.json", "--json").stdout
    assert json.loads(as_json) == [{"column": "x", "problem": "not whole numbers", "cells": 1}]
    assert run("check", csv("x\n1\n"), "--schema", tmp_path / "s.json").exit_code == 0


# ---------------------------------------------------------------------- import
def test_an_mbi_domain_becomes_integer_codes() -> None:
    own = Schema.parse(import_schema({"age": 85, "sex": 2}).mapping)
    codec = Codec(own)
    assert codec.domain.names == ("age", "sex")
    assert codec.domain.sizes == (85, 2)
    assert codec.labels("age") == list(range(85))


SDV_TABLE: dict[str, Any] = {
    "primary_key": "pid",
    "columns": {
        "pid": {"sdtype": "id", "regex_format": "P[0-9]+"},
        "age": {"sdtype": "numerical", "computer_representation": "Int64"},
        "cost": {"sdtype": "numerical", "computer_representation": "Float"},
        "band": {"sdtype": "categorical", "order": ["low", "high"]},
        "ward": {"sdtype": "categorical"},
        "flag": {"sdtype": "boolean"},
        "seen": {"sdtype": "datetime", "datetime_format": "%d/%m/%Y"},
        "mail": {"sdtype": "email", "pii": True},
    },
}


@pytest.mark.parametrize(
    ("found", "table"),
    [
        ({"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", **SDV_TABLE}, None),
        ({"METADATA_SPEC_VERSION": "V1", "tables": {"patients": SDV_TABLE}}, None),
        ({"tables": {"patients": SDV_TABLE, "b": {}}, "relationships": []}, "patients"),
    ],
)
def test_sdv_metadata_give_types_and_what_is_to_fill_in(found, table) -> None:
    imported = import_schema(found, table)
    kinds = {name: column["type"] for name, column in imported.mapping["columns"].items()}
    assert kinds == {
        "pid": "id", "age": "integer", "cost": "float", "band": "categorical",
        "ward": "categorical", "flag": "boolean", "seen": "datetime", "mail": "id",
    }  # fmt: skip
    assert imported.mapping["columns"]["band"]["values"] == ["low", "high"]
    missing = "\n".join(imported.missing)
    for line in ("'age': give min", "'seen': give max", "'ward': give values"):
        assert f"column {line}" in missing
    assert "'band': give" not in missing
    assert "'pid'" not in missing
    assert "'flag': add \"nullable\"" in missing


def test_an_imported_schema_works_once_it_is_filled_in(csv) -> None:
    mapping = import_schema(SDV_TABLE).mapping
    columns = mapping["columns"]
    with pytest.raises(SchemaError, match="'ward': values"):
        Schema.parse(mapping)
    columns["ward"]["values"] = ["N", "S"]
    with pytest.raises(SchemaError, match="'age' has no min and max"):
        Codec(Schema.parse(mapping))
    columns["age"] |= {"min": 0, "max": 99}
    columns["cost"] |= {"min": 0, "max": 1}
    columns["seen"] |= {"min": "01/01/2024", "max": "31/12/2024"}
    data = csv("pid,age,cost,band,ward,flag,seen,mail\nP1,3,.5,low,N,True,02/01/2024,a@b\n")
    assert check(open_table(data), Schema.parse(mapping)) == []


@pytest.mark.parametrize(
    ("found", "table", "expected"),
    [
        ({"tables": {"a": SDV_TABLE, "b": SDV_TABLE}}, None, "--table: 'a', 'b'"),
        ({"tables": {"a": SDV_TABLE}}, "c", "'c'; the metadata describe 'a'"),
        (SDV_TABLE, "a", "does not describe several"),
        ({"columns": {"x": {}}}, None, "'x': sdtype is missing"),
        ({"columns": {}}, None, "no columns"),
        ({"age": 0}, None, "'age': the size is 0"),
        ({"age": "85"}, None, "'age': the size is '85'"),
        ({"age": True}, None, "'age'"),
        ([1], None, "neither"),
        ({}, None, "neither"),
        ({"a": {"b": 1}}, None, "neither"),
    ],
)
def test_a_file_of_neither_kind_is_refused(found: Any, table: str | None, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        import_schema(found, table)
    assert expected in str(caught.value)


def test_the_command_says_where_from_and_what_is_missing(csv, run: Run, tmp_path: Path) -> None:
    file = csv(json.dumps(SDV_TABLE), "metadata.json")
    ran = run("import", file, "--out", tmp_path / "s.json")
    assert ran.exit_code == 0
    assert "from SDV metadata of one table" in ran.stderr
    assert "to fill in, column 'age': give min" in ran.stderr
    assert json.loads((tmp_path / "s.json").read_text())["columns"]["pid"] == {"type": "id"}
    broken = run("import", csv("[", "broken.json")).exception
    assert isinstance(broken, SchemaError)
    assert "broken.json" in str(broken)


# ---------------------------------------------------------------------- json-schema
def test_the_command_prints_a_json_schema(run: Run) -> None:
    described = json.loads(run("json-schema").stdout)
    assert described["$schema"].startswith("https://json-schema.org/")
    assert set(described["$defs"]) >= {"Categorical", "Integer", "Float", "Datetime", "Id"}
