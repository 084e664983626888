"""The schema: the public meaning of a table's columns.

It is one JSON or YAML file with *values*, not sizes, and everything in it counts as public::

    {"columns": {"sex":    {"type": "categorical", "values": ["F", "M"], "nullable": true},
                 "age":    {"type": "integer", "min": 0, "max": 99, "bins": 20},
                 "income": {"type": "float", "min": 0, "max": 1e5, "bins": 10, "decimals": 2},
                 "smoker": {"type": "boolean"},
                 "seen":   {"type": "datetime", "format": "%Y-%m-%d",
                            "min": "2024-01-01", "max": "2024-12-31", "bins": 12},
                 "name":   {"type": "id"}},
     "impossible": [{"sex": "M", "pregnant": true}]}

What the keys mean is said at the classes in ``schema_columns``.  Whatever is not understood is
refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
    model_validator,
)

from saddlesynth.synthesis.errors import InputError, SchemaError
from saddlesynth.synthesis.schema_columns import (
    AnyColumn,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Float,
    Id,
    Integer,
)
from saddlesynth.synthesis.schema_errors import explain, nearest

__all__ = [
    "DRAFT",
    "Boolean",
    "Categorical",
    "Column",
    "Datetime",
    "Float",
    "Id",
    "Integer",
    "Schema",
    "json_schema",
]

DRAFT = "read from data: not private"


class Schema(BaseModel):
    """The public meaning of a table's columns.

    ``impossible`` lists combinations {column: value} that no row can have.  ``null_tokens`` hold
    for all columns without their own.  ``draft`` says that the schema was read off the data: a
    release that uses it is not private.  ``lenient`` refuses no cell: one that does not fit counts
    as missing, else as ``other``, else as the first value; a schema that was found privately is
    lenient, since a refusal would tell about the data.

    >>> schema = Schema.parse({"columns": {"age": {"type": "integer", "min": 0, "max": 9}}})
    >>> schema.columns["age"].max
    9

    Raises
    ------
    SchemaError
        One line that names the column, what is wrong and, for a misspelt key, the nearest one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Annotated[dict[str, AnyColumn], Field(min_length=1)]
    impossible: list[dict[str, Any]] = []
    null_tokens: list[StrictStr] | None = None
    description: StrictStr | None = None
    lenient: StrictBool = False
    draft_note: Annotated[StrictStr | None, Field(alias="draft")] = None

    @model_validator(mode="after")
    def _rules_name_columns(self) -> Self:
        for rule in self.impossible:
            if not rule:
                raise ValueError("impossible: a combination is empty; name columns and values")
            for name in rule:
                if name not in self.modelled:
                    hint = nearest(name, self.modelled)
                    raise ValueError(f"impossible: {name!r} is not a column of the model{hint}")
        return self

    @property
    def draft(self) -> bool:
        """Whether the schema was read off the data, so that using it is not private."""
        return self.draft_note is not None

    @property
    def modelled(self) -> list[str]:
        """Names of the columns that take part in the model: all but identifiers."""
        return [name for name, column in self.columns.items() if not isinstance(column, Id)]

    @classmethod
    def parse(cls, mapping: Any) -> Schema:
        """A schema from a mapping shaped like the JSON file."""
        if not isinstance(mapping, dict):
            raise SchemaError(
                f'a schema is a mapping with the key "columns", not {type(mapping).__name__}'
            )
        mapping = plain({key: value for key, value in mapping.items() if key != "$schema"})
        try:
            return cls.model_validate(mapping)
        except ValidationError as error:
            raise SchemaError(explain(error, mapping)) from None

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """A schema from a JSON or YAML file."""
        from saddlesynth.synthesis.schema_files import read_mapping

        try:
            return cls.parse(read_mapping(Path(path)))
        except InputError as error:
            raise SchemaError(f"{path}: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """The mapping that ``parse`` takes, without what is left at its default."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def plain(value: Any) -> Any:
    """The same with NumPy's and other scalars, arrays and tuples as plain Python values."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def json_schema() -> dict[str, Any]:
    """The JSON Schema of schema files."""
    described = Schema.model_json_schema(by_alias=True)
    described["properties"]["$schema"] = {"type": "string"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}
