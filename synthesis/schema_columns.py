"""The kinds of columns that a schema can describe, each with its keys and their checks."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Number = StrictInt | StrictFloat
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
