"""What pydantic found wrong with a schema, as one line for people."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError

TYPES = ("categorical", "boolean", "integer", "float", "datetime", "id")


def explain(error: ValidationError, mapping: dict[str, Any]) -> str:
    """The first error, with its column, and how many more there are."""
    errors = error.errors(include_url=False)
    first = errors[0]
    place = [part for part in first["loc"] if part not in TYPES]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    if place[:1] == ["columns"] and len(place) > 1:
        where = f"column {first['loc'][1]!r}: "
        place = list(first["loc"][2:])
        place = place[1:] if place and place[0] in TYPES else place
    else:
        where = ""
    return where + _problem(first, place, _known(first)) + more


def _known(error: Any) -> list[str]:
    from saddlesynth.synthesis import schema

    place = error["loc"]
    if place[:1] == ("columns",) and len(place) > 2:
        model: Any = getattr(schema, str(place[2]).capitalize(), schema.Column)
        return list(model.model_fields)
    return [f.alias or name for name, f in schema.Schema.model_fields.items()]


def _problem(error: Any, place: list[Any], known: list[str]) -> str:
    key = str(place[0]) if place else ""
    if key == "[key]":
        return "the name of a column must be text"
    kind, got = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return f"unknown key {str(place[-1])!r}{suggestion(str(place[-1]), known)}"
    if kind == "union_tag_not_found":
        return f'"type" is missing; it must be one of {", ".join(TYPES)}'
    if kind == "union_tag_invalid":
        tag = str(error["ctx"]["tag"])
        return f"unknown type {tag!r}{suggestion(tag, list(TYPES))}"
    if kind == "missing":
        return f"{key!r} is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if key == "values" and len(place) > 1:
        hint = '; for missing values write "nullable": true' if got is None else ""
        return f"values has {got!r}, which is neither text, number nor true/false{hint}"
    what = f"{key} is {got!r}; " if key else ""
    return what + str(error["msg"])[0].lower() + str(error["msg"])[1:]


def suggestion(word: str, known: list[str]) -> str:
    """ "; did you mean …?", or the list of what is known.

    >>> suggestion("nulable", ["nullable", "values"])
    "; did you mean 'nullable'?"
    """
    return nearest(word, known) or f"; known are {', '.join(known)}"


def nearest(word: str, known: list[str]) -> str:
    """ "; did you mean …?", or nothing if no known word is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
