"""The schema takes the documented shape, and says in one line what is wrong with any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.schema import DRAFT, Schema, json_schema

WHOLE: dict[str, Any] = {
    "columns": {
        "ward": {"type": "categorical", "values": ["N", "S"], "nullable": True, "other": "else"},
        "beds": {"type": "categorical", "values": [1, 2.5, True, "x"], "ordered": True},
        "age": {"type": "integer", "min": 0, "max": 99, "bins": [0, 18, 99]},
        "income": {"type": "float", "min": 0, "max": 1e5, "bins": 20, "decimals": 2},
        "smoker": {"type": "boolean", "true": "yes", "false": "no", "null_tokens": ["?"]},
        "seen": {"type": "datetime", "min": "2024-01-01", "max": "2024-12-31", "bins": 12},
        "name": {"type": "id", "regenerate": True, "description": "as on the card"},
    },
    "impossible": [{"ward": "N", "age": [0, 17]}],
    "null_tokens": ["", "NA"],
}


def message(mapping: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        Schema.parse(mapping)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def of(**column: Any) -> dict[str, Any]:
    return {"columns": {"x": column}}


def test_a_schema_written_out_reads_back_the_same() -> None:
    schema = Schema.parse(WHOLE)
    assert schema.to_json() == WHOLE
    assert Schema.parse(json.loads(json.dumps(schema.to_json()))) == schema


def test_numpy_scalars_arrays_and_tuples_are_taken_as_python_values() -> None:
    schema = Schema.parse(of(type="categorical", values=np.array([1, 2])))
    assert schema.to_json()["columns"]["x"]["values"] == [1, 2]
    assert Schema.parse(of(type="integer", min=np.int64(0), max=9, bins=(0, 5, 9))).columns


def test_editors_hint_at_the_json_schema_is_allowed() -> None:
    assert Schema.parse({"$schema": "saddlesynth.json", **WHOLE}) == Schema.parse(WHOLE)


def test_a_draft_says_that_it_is_one() -> None:
    assert Schema.parse({**WHOLE, "draft": DRAFT}).draft
    assert not Schema.parse(WHOLE).draft


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (of(type="integer", mim=0), "column 'x': unknown key 'mim'; did you mean 'min'?"),
        (of(type="integer", decimals=2), "column 'x': unknown key 'decimals'"),
        (of(type="intger"), "column 'x': unknown type 'intger'; did you mean 'integer'?"),
        (of(values=["a"]), "column 'x': \"type\" is missing"),
        (of(type="categorical"), "column 'x': 'values' is missing"),
        (of(type="categorical", values=[]), "column 'x': values is []"),
        (of(type="categorical", values=["a", None]), '"nullable": true'),
        (of(type="categorical", values="abc"), "column 'x': values is 'abc'"),
        (of(type="categorical", values=["a", "b", "a"]), "'a' and 'a' are the same"),
        (of(type="categorical", values=[1, "1"]), "1 and '1' are the same"),
        (of(type="integer", min=0, max=1.5), "column 'x': max is 1.5"),
        (of(type="integer", min="0", max=1), "column 'x': min is '0'"),
        (of(type="integer", min=5, max=1), "min is 5 and max is 1"),
        (of(type="integer", min=0, max=2**63), "64 bits"),
        (of(type="integer", bins=[0, 1.5]), "whole numbers"),
        (of(type="float", min=1, max=1), "min must be below max"),
        (of(type="float", min=0, max=float("inf")), "column 'x': max is inf"),
        (of(type="integer", min=0, max=10**9, bins=10**9), "column 'x': bins is 1000000000"),
        (of(type="float", bins=0), "column 'x': bins is 0"),
        (of(type="float", bins=[1, 0]), "must rise"),
        (of(type="float", bins=[1]), "at least two"),
        (of(type="float", min=2, bins=[1, 3]), "start below min"),
        (of(type="float", max=2, bins=[1, 3]), "end above max"),
        (of(type="float", decimals=-1), "column 'x': decimals is -1"),
        (of(type="boolean", nullable="yes"), "column 'x': nullable is 'yes'"),
        (of(type="boolean", true="x", false="x"), "both spelled"),
        (of(type="datetime", min="01.02.2024"), "'01.02.2024' is not in the format"),
        (of(type="datetime", format="%Y-%m-%d %z"), "not supported"),
        (of(type="datetime", min="2024-02-01", max="2024-01-01"), "min must be below max"),
        (of(type="datetime", bins=["2024-03-01", "2024-02-01"]), "must rise"),
        ({"columns": {}}, "columns is {}"),
        ({}, "'columns' is missing"),
        ({"colums": {}}, "'columns' is missing"),
        ({"columns": {"x": 3}}, "column 'x'"),
        ({"columns": {3: {"type": "id"}}}, "column 3: the name of a column must be text"),
        ({**WHOLE, "imposible": []}, "unknown key 'imposible'; did you mean 'impossible'?"),
        ({**WHOLE, "impossible": {"a": 1}}, "impossible is {'a': 1}"),
        (["columns"], "not list"),
        (None, "not NoneType"),
    ],
)
def test_a_wrong_schema_is_refused_with_what_is_wrong(mapping: Any, expected: str) -> None:
    assert expected in message(mapping)


def test_the_first_error_is_told_and_the_others_counted() -> None:
    wrong = {"columns": {"a": {"type": "integer", "mim": 0}, "b": {"type": "categorical"}}}
    assert message(wrong).endswith("did you mean 'min'? (and 1 more)")


def test_names_that_are_types_or_keys_confuse_no_message() -> None:
    wrong = {"columns": {"integer": {"type": "categorical", "values": [1], "oder": True}}}
    assert message(wrong) == "column 'integer': unknown key 'oder'; did you mean 'ordered'?"


def test_the_json_schema_for_editors_knows_every_key() -> None:
    described = json_schema()
    assert set(described["properties"]) == {
        "$schema", "columns", "impossible", "null_tokens", "description", "draft", "lenient",
    }  # fmt: skip
    for name, column in WHOLE["columns"].items():
        keys = described["$defs"][column["type"].capitalize()]["properties"]
        assert set(column) <= set(keys), name


# ---------------------------------------------------------------------- files
def load(path: Path, text: str) -> Schema:
    path.write_text(text, encoding="utf-8")
    return Schema.load(path)


def test_yaml_means_what_it_says(tmp_path: Path) -> None:
    text = """
# a comment
columns:
  country: {type: categorical, values: [NO, SE, on, y, 00501, 0x1F, 1_000, 2024-01-01, 12:30]}
  count: {type: categorical, values: [1, -2, 1.5, 1e3, true, "7"]}
  seen: {type: datetime, min: 2024-01-01, max: 2024-12-31}
  smoker: {type: boolean, true: yes, false: no}
  12: {type: id}
"""
    schema = load(tmp_path / "s.yaml", text).to_json()["columns"]
    assert schema["country"]["values"] == [
        "NO", "SE", "on", "y", "00501", "0x1F", "1_000", "2024-01-01", "12:30",
    ]  # fmt: skip
    assert schema["count"]["values"] == [1, -2, 1.5, 1000.0, True, "7"]
    assert schema["seen"]["min"] == "2024-01-01"
    assert schema["smoker"] == {"type": "boolean", "true": "yes", "false": "no"}
    assert schema["12"] == {"type": "id"}


def test_json_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert load(tmp_path / "s.json", "\ufeff" + json.dumps(WHOLE)) == Schema.parse(WHOLE)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("s.json", '{"columns": {"a": {}, "a": {}}}', "'a' occurs twice"),
        ("s.yml", "columns:\n  a: {type: id}\n  a: {type: id}\n", "'a' occurs twice"),
        ("s.json", '{"columns": ', "not JSON: line 1"),
        ("s.yaml", "columns: [", "not YAML: line"),
        ("s.yaml", "columns: !!python/object:os.system {}", "not YAML"),
        ("s.json", '{"columns": {"x": {"type": "float", "max": NaN}}}', "NaN"),
        ("s.json", "[]", "not list"),
        ("s.yaml", "", "not NoneType"),
        ("s.txt", "{}", "must end in"),
    ],
)
def test_a_file_that_is_no_schema_is_refused_by_name(tmp_path: Path, name, text, expected) -> None:
    with pytest.raises(SchemaError, match=name) as caught:
        load(tmp_path / name, text)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_schema_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"none\.json.*does not exist"):
        Schema.load(tmp_path / "none.json")


# ---------------------------------------------------------------------- rules
def test_rules_about_unknown_columns_are_refused() -> None:
    assert "'job'" in message({**of(type="boolean"), "impossible": [{"job": "part"}]})
    assert "empty" in message({**of(type="boolean"), "impossible": [{}]})


def test_the_example_of_the_documentation_is_a_schema() -> None:
    text = (Path(__file__).parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    schema = Schema.parse(json.loads(example))
    assert len(Codec(schema).impossible) == 1
    for name in {key for kind in json_schema()["$defs"].values() for key in kind["properties"]}:
        assert f"`{name}`" in text or name == "type"


@pytest.mark.parametrize("what", [5, ["columns"], None])
def test_what_is_no_schema_is_refused(what: object) -> None:
    from saddlesynth.synthesis.prepare import as_schema

    with pytest.raises(SchemaError, match="a schema is a mapping"):
        as_schema(what)
