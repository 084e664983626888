"""JSON and YAML files as plain mappings, without the surprises of either.

YAML is read as if it were JSON with less punctuation: only ``true``, ``false``, ``null`` and plain
decimal numbers are not text.  So ``NO`` stays a country, ``00501`` a postcode and ``2024-01-01`` a
text.  A key that occurs twice is refused, in both.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.text_files import read_text


def read_mapping(path: Path) -> Any:
    """The content of a JSON (``.json``) or YAML (``.yaml``, ``.yml``) file; ``InputError``."""
    ending = path.suffix.lower()
    if ending not in (".json", ".yaml", ".yml"):
        raise InputError("the name must end in .json, .yaml or .yml")
    text = read_text(path, "the file", "a JSON or YAML file")
    return read_json(text) if ending == ".json" else read_yaml(text)


def read_json(text: str) -> Any:
    """Strict JSON."""
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None


def read_yaml(text: str) -> Any:
    """YAML with JSON's idea of what a number is."""
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InputError(f"not YAML: {where}{error.problem}") from None
    except yaml.YAMLError:
        raise InputError("not YAML") from None


def _mapping(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{twice!r} occurs twice")
    return found


def _no_constant(name: str) -> Any:
    raise InputError(f"{name} is not a number that a schema can hold")


@cache
def _loader() -> type:
    import yaml

    class JsonLikeLoader(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        return _mapping(
            [
                (
                    loader.construct_object(k, deep=True)
                    if k.tag != "tag:yaml.org,2002:str" and not isinstance(k, yaml.ScalarNode)
                    else str(k.value),
                    loader.construct_object(v, deep=True),
                )
                for k, v in node.value
            ]
        )

    number = r"-?(?:0|[1-9][0-9]*)"
    for tag, pattern, first in (
        ("null", r"null|~|", ["n", "~", ""]),
        ("bool", r"true|false", ["t", "f"]),
        ("int", number, list("-0123456789")),
        ("float", rf"{number}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", list("-0123456789")),
    ):
        JsonLikeLoader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), first
        )
    JsonLikeLoader.add_constructor("tag:yaml.org,2002:map", mapping)
    JsonLikeLoader.add_constructor(
        "tag:yaml.org,2002:float", lambda loader, node: float(node.value)
    )
    return JsonLikeLoader
