"""Schemas from other packages' files: mbi/private-pgm domains and SDV metadata.

=================================  =================================================================
there                              here
=================================  =================================================================
mbi ``{"age": 85}``                ``integer``, codes 0 to 84, a bin each
SDV ``categorical``                ``categorical``; values only where SDV's ``order`` lists them
SDV ``numerical``                  ``float``, or ``integer`` for an integer representation
SDV ``boolean``, ``datetime``      the same, with ``datetime_format``
SDV ``id``, keys, ``pii``, others  ``id``: left out
=================================  =================================================================

SDV's ``sdtype`` says of what kind a column is, but neither its values, nor its range, nor whether
some are missing; ``Imported.missing`` lists what has to be filled in, from public knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from saddlesynth.synthesis.errors import SchemaError


@dataclass(frozen=True)
class Imported:
    """A schema as a mapping, where it is from, and what is still missing in it, line by line."""

    mapping: dict[str, Any]
    source: str
    missing: tuple[str, ...] = ()


def import_schema(found: Any, table: str | None = None) -> Imported:
    """Translate the content of a JSON file.

    Parameters
    ----------
    found
        An mbi domain or SDV metadata.
    table
        Which table, where SDV metadata describe several.

    >>> import_schema({"age": 85}).mapping
    {'columns': {'age': {'type': 'integer', 'min': 0, 'max': 84, 'bins': 85}}}

    Raises
    ------
    SchemaError
        The file is neither; the table is not there; an entry is not what it should be.
    """
    if isinstance(found, dict) and isinstance(found.get("tables"), dict):
        return _from_sdv(_choose(found["tables"], table), "SDV metadata")
    if table is not None:
        raise SchemaError(f"table is {table!r}, but the file does not describe several tables")
    if isinstance(found, dict) and isinstance(found.get("columns"), dict):
        return _from_sdv(found, "SDV metadata of one table")
    if isinstance(found, dict) and found and not any(isinstance(v, dict) for v in found.values()):
        return Imported({"columns": {n: _codes(n, s) for n, s in found.items()}}, "mbi domain")
    raise SchemaError("neither an mbi domain ({name: size}) nor SDV metadata")


def _codes(name: str, size: Any) -> dict[str, Any]:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise SchemaError(
            f"column {name!r}: the size is {size!r}; it must be a whole number above 0"
        )
    return {"type": "integer", "min": 0, "max": size - 1, "bins": size}


# ---------------------------------------------------------------------- SDV
def _choose(tables: dict[str, Any], table: str | None) -> Any:
    known = ", ".join(map(repr, tables))
    if table is None and len(tables) != 1:
        raise SchemaError(f"the metadata describe several tables; choose one with --table: {known}")
    chosen = next(iter(tables)) if table is None else table
    if chosen not in tables:
        raise SchemaError(f"table is {table!r}; the metadata describe {known}")
    return tables[chosen]


def _from_sdv(table: Any, source: str) -> Imported:
    described = table.get("columns") if isinstance(table, dict) else None
    if not isinstance(described, dict) or not described:
        raise SchemaError(f"{source}: the table has no columns")
    keys = _keys(table)
    columns: dict[str, Any] = {}
    missing: list[str] = []
    for name, column in described.items():
        if not isinstance(column, dict) or not isinstance(column.get("sdtype"), str):
            raise SchemaError(f"column {name!r}: sdtype is missing")
        columns[name] = {"type": "id"} if name in keys else _sdv_column(column)
        missing += [f"column {name!r}: {what}" for what in _to_fill_in(columns[name])]
    return Imported({"columns": columns}, source, tuple(missing))


def _keys(table: dict[str, Any]) -> set[str]:
    """Columns that identify rows or people."""
    names: list[Any] = [table.get("primary_key"), table.get("sequence_key")]
    names += table.get("alternate_keys") or []
    return {one for name in names for one in (name if isinstance(name, list) else [name]) if one}


def _sdv_column(column: dict[str, Any]) -> dict[str, Any]:
    kind = column["sdtype"]
    if kind == "categorical":
        order = column.get("order")
        if isinstance(order, list):
            return {"type": "categorical", "values": order, "ordered": True}
        return {"type": "categorical", "values": []}
    if kind == "numerical":
        whole = str(column.get("computer_representation", "")).startswith(("Int", "UInt"))
        return {"type": "integer" if whole else "float", "min": None, "max": None}
    if kind == "boolean":
        return {"type": "boolean"}
    if kind == "datetime":
        format = column.get("datetime_format") or "%Y-%m-%d"
        return {"type": "datetime", "format": format, "min": None, "max": None}
    return {"type": "id"}


def _to_fill_in(column: dict[str, Any]) -> list[str]:
    """What sdtype does not say."""
    if column["type"] == "id":
        return []
    missing = {"categorical": ["values"], "boolean": []}.get(column["type"], ["min", "max"])
    return [
        *(f"give {key}" for key in missing if not column[key]),
        'add "nullable": true if values may be missing',
    ]
