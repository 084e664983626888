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

What the keys mean is said at the classes below.  Whatever is not understood is refused.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from saddlesynth.synthesis.errors import InputError, SchemaError
from saddlesynth.synthesis.schema_errors import explain, nearest

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Number = StrictInt | StrictFloat
DRAFT = "read from data: not private"
MAX_BINS = 1_000_000  # more say nothing about anyone and fill the memory


class Column(BaseModel):
    """What all columns may say.

    ``nullable``: values may be missing; missing is then one more value.  ``null_tokens``: cells
    that mean "missing" (default: the schema's, else the empty cell of a CSV file); in a CSV file
    missing cells are written as the first of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    nullable: StrictBool = False
    null_tokens: list[StrictStr] | None = None
    description: StrictStr | None = None


class Categorical(Column):
    """One of a list of values, kept in this order.

    ``other``: the value that stands for every value not listed (without it such values are
    refused).  ``ordered``: the values have an order, so that ranges of them make sense.
    """

    type: Literal["categorical"]
    values: Annotated[list[Scalar], Field(min_length=1)]
    other: Scalar | None = None
    ordered: StrictBool = False

    @field_validator("values")
    @classmethod
    def _distinct(cls, values: list[Scalar]) -> list[Scalar]:
        seen: dict[str, Scalar] = {}
        for value in values:
            text = spell(value)
            if text in seen:
                raise ValueError(f"values {seen[text]!r} and {value!r} are the same in text")
            seen[text] = value
        return values

    @property
    def all_values(self) -> list[Scalar]:
        """The values, and the bucket for others if it is not one of them."""
        known = {spell(value) for value in self.values}
        more = [] if self.other is None or spell(self.other) in known else [self.other]
        return [*self.values, *more]


class Boolean(Column):
    """True or False; ``true`` and ``false`` are their spellings in text columns."""

    type: Literal["boolean"]
    true: StrictStr = "True"
    false: StrictStr = "False"

    @model_validator(mode="after")
    def _two_spellings(self) -> Self:
        if self.true == self.false:
            raise ValueError(f"true and false are both spelled {self.true!r}")
        return self


class Numeric(Column):
    """A number in [min, max]; values beyond are moved to the nearer end.

    ``bins``: how many bins of equal width, or their edges.  A bin holds its lower edge; the last
    holds both.  Default: one bin a value for integers with at most 100 values, else 32 bins.
    """

    bins: Annotated[StrictInt, Field(ge=1, le=MAX_BINS)] | list[Number] | None = None

    @field_validator("bins")
    @classmethod
    def _rising(cls, bins: Any) -> Any:
        if isinstance(bins, list):
            if len(bins) < 2:
                raise ValueError("bins as edges need at least two numbers")
            if any(low >= high for low, high in pairwise(bins)):
                raise ValueError("bins as edges must rise from one to the next")
        return bins


class Integer(Numeric):
    """A whole number in [min, max]."""

    type: Literal["integer"]
    min: StrictInt | None = None
    max: StrictInt | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if isinstance(self.bins, list) and not all(isinstance(edge, int) for edge in self.bins):
            raise ValueError("bins of an integer column must have whole numbers as edges")
        edges = self.bins if isinstance(self.bins, list) else []
        if any(abs(end) >= 2**63 for end in [self.min or 0, self.max or 0, *edges]):
            raise ValueError("min, max and bins must fit in 64 bits; list larger numbers as values")
        _check_range(self.min, self.max, self.bins, strict=False)
        return self


class Float(Numeric):
    """A real number in [min, max]; ``decimals`` is how many digits follow the point."""

    type: Literal["float"]
    min: Number | None = None
    max: Number | None = None
    decimals: Annotated[StrictInt, Field(ge=0, le=15)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_range(self.min, self.max, self.bins, strict=True)
        return self


class Datetime(Column):
    """A date, or a date with a time, from ``min`` to ``max``, all written in ``format``.

    ``format`` is as in Python's ``strptime``; without hours the values are whole days.  ``bins``:
    how many, or their edges; bins over whole months end at months where the number allows it.
    """

    type: Literal["datetime"]
    format: StrictStr = "%Y-%m-%d"
    min: StrictStr | None = None
    max: StrictStr | None = None
    bins: Annotated[StrictInt, Field(ge=1, le=MAX_BINS)] | list[StrictStr] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(f"%{c}" in self.format.replace("%%", "") for c in "zZcxXpU W"):
            raise ValueError(f"format {self.format!r} uses a code that is not supported")
        edges = self.bins if isinstance(self.bins, list) else []
        parsed = {text: self.parse(text) for text in [self.min, self.max, *edges] if text}
        moments = [parsed[edge] for edge in edges]
        if any(one >= other for one, other in pairwise(moments)):
            raise ValueError("bins as edges must rise from one to the next")
        low, high = parsed.get(self.min or ""), parsed.get(self.max or "")
        _check_range(low, high, moments or None, strict=False)
        return self

    def parse(self, text: str) -> datetime:
        """The moment that a text in ``format`` names."""
        try:
            return datetime.strptime(text, self.format)
        except ValueError:
            raise ValueError(f"{text!r} is not in the format {self.format!r}") from None


class Id(Column):
    """A column that names units; left out, or with ``regenerate`` filled with fresh numbers."""

    type: Literal["id"]
    regenerate: StrictBool = False


AnyColumn = Annotated[
    Categorical | Boolean | Integer | Float | Datetime | Id, Field(discriminator="type")
]


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


def spell(value: Scalar) -> str:
    """How a value is written in a text column.

    >>> [spell(v) for v in ("00501", 7, 2.5, True)]
    ['00501', '7', '2.5', 'True']
    """
    return str(value)


def _check_range(low: Any, high: Any, bins: Any, *, strict: bool) -> None:
    """Refuse a range that is empty, or edges that do not lie in it."""
    if low is not None and high is not None and (low >= high if strict else low > high):
        raise ValueError(f"min is {low} and max is {high}; min must be below max")
    if isinstance(bins, list):
        if low is not None and bins[0] < low:
            raise ValueError("bins start below min")
        if high is not None and bins[-1] > high:
            raise ValueError("bins end above max")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of schema files."""
    described = Schema.model_json_schema(by_alias=True)
    described["properties"]["$schema"] = {"type": "string"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}
