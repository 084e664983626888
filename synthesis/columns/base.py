"""What the codecs of all kinds of columns share: missing cells, dictionaries, misfits.

Codes ``0 .. values - 1`` are values or bins, in the schema's order; if the column is nullable, code
``values`` is "missing".  A *misfit* is a cell that the schema does not allow; misfits are counted
by reason, never quoted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.errors import SchemaError
from saddlesynth.synthesis.formats import name_of

if TYPE_CHECKING:
    import pyarrow as pa

MISSING, MISFIT = -1, -2  # marks beside the codes, before misfits are counted
MISSING_LABEL = "(missing)"
MISSING_MISFIT = "missing, but the column is not nullable"

Codes = NDArray[np.integer]
Raw = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Codes of one column of a batch, and how many cells do not fit, by reason (code 0 there).

    ``wrong`` says which cells these are; None if all fit.
    """

    codes: Codes
    misfits: dict[str, int] = field(default_factory=dict)
    wrong: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Source:
    """How a column is stored: its Arrow type, and the cells that mean "missing".

    ``text`` marks cells of a text table (CSV), where missing cells are written as a token.
    """

    name: str
    kind: pa.DataType
    text: bool
    nullable: bool
    tokens: tuple[str, ...]

    @property
    def values(self) -> pa.DataType:
        """The type of the values, also where they are stored as a dictionary."""
        import pyarrow as pa

        return self.kind.value_type if pa.types.is_dictionary(self.kind) else self.kind

    @property
    def holds_text(self) -> bool:
        import pyarrow as pa

        kind = self.values
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def tokens_as(self, kind: pa.DataType) -> pa.Array:
        """The null tokens as cells of a type; numbers too, since -999 may mean "missing"."""
        import pyarrow as pa

        if self.holds_text:
            return pa.array(self.tokens, type=kind)
        found = []
        for token in self.tokens if pa.types.is_integer(kind) or pa.types.is_floating(kind) else ():
            try:
                found.append(pa.scalar(token).cast(kind))
            except pa.ArrowInvalid:  # text, or too large: no cell can be it
                continue
        return pa.array(found, type=kind)

    def refuse(self, expected: str) -> SchemaError:
        """The column's type does not suit the schema."""
        kind = name_of(self.values)
        return SchemaError(
            f"column {self.name!r} was read as {kind}, but the schema expects {expected}"
        )


class ColumnCodec(ABC):
    """Encodes and decodes one column.

    ``kind`` is the Arrow type of decoded cells.  ``ordered``: ranges of codes mean something.
    """

    ordered: bool = True
    misfit: str  # what is wrong with a cell that cannot be encoded

    def __init__(self, source: Source, kind: pa.DataType, values: int) -> None:
        self.source, self.kind, self.values = source, kind, values
        self.size = values + source.nullable
        self._small = np.min_scalar_type(self.size - 1)

    # ------------------------------------------------------------------ each kind says
    @abstractmethod
    def _codes(self, cells: pa.Array) -> Raw:
        """Codes of plain cells, ``MISFIT`` where there is none; anything where a cell is null."""

    @abstractmethod
    def _cells(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        """Cells, of type ``kind``, for codes of values."""

    @abstractmethod
    def value_labels(self) -> list[Any]:
        """What each code of a value means, for people."""

    @abstractmethod
    def codes_of(self, value: Any) -> list[int]:
        """The codes that an entry of ``impossible`` names; ``SchemaError`` if there are none."""

    def edges(self) -> list[Any] | None:
        """Edges of the bins, where the column has bins."""
        return None

    # ------------------------------------------------------------------ shared
    @property
    def fallback(self) -> int:
        """The code of a cell that does not fit a lenient schema: missing, else the first value."""
        return self.values if self.source.nullable else 0

    def encode_any(self, cells: pa.Array) -> Encoded:
        """As ``encode``, for a lenient schema: no misfits, but ``fallback``."""
        encoded = self.encode(cells)
        if encoded.wrong is None:
            return encoded
        return Encoded(np.where(encoded.wrong, self._small.type(self.fallback), encoded.codes))

    def labels(self) -> list[Any]:
        """What each code means; the last is ``"(missing)"`` if the column is nullable."""
        return self.value_labels() + [MISSING_LABEL] * self.source.nullable

    def encode(self, cells: pa.Array) -> Encoded:
        """Codes, in the smallest unsigned type, and misfits by reason."""
        import pyarrow as pa

        if pa.types.is_dictionary(cells.type):
            known = np.append(self._raw(cells.dictionary), np.int32(MISSING))
            places = cells.indices.cast(pa.int64()).fill_null(len(cells.dictionary))
            return self._finish(known[places.to_numpy(zero_copy_only=False)])
        if pa.types.is_null(cells.type):
            cells = cells.cast(self.source.values)
        return self._finish(self._raw(cells))

    def _raw(self, cells: pa.Array) -> Raw:
        """Codes or marks of plain cells."""
        import pyarrow.compute as pc

        missing = self._missing(cells)
        if missing is None:
            return self._codes(cells)
        raw = self._codes(pc.if_else(missing, None, cells))
        return np.where(missing.to_numpy(zero_copy_only=False), np.int32(MISSING), raw)

    def _missing(self, cells: pa.Array) -> pa.Array | None:
        """Which cells are missing; None if no cell is."""
        import pyarrow as pa
        import pyarrow.compute as pc

        mask = pc.is_null(cells, nan_is_null=pa.types.is_floating(cells.type))
        tokens = self.source.tokens_as(cells.type)
        if len(tokens):
            mask = pc.or_(mask, pc.is_in(cells, value_set=tokens))
        return mask if pc.any(mask, min_count=0).as_py() else None

    def _finish(self, raw: Raw) -> Encoded:
        misfits: dict[str, int] = {}
        wrong = None
        if len(raw) and raw.min() < 0:
            missing, wrong = raw == MISSING, raw == MISFIT
            if wrong.any():
                misfits[self.misfit] = int(wrong.sum())
            if self.source.nullable:
                raw = np.where(missing, np.int32(self.values), raw)
            elif missing.any():
                misfits[MISSING_MISFIT] = int(missing.sum())
                wrong |= missing
            raw = np.where(wrong, np.int32(0), raw)
        return Encoded(raw.astype(self._small), misfits, wrong if misfits else None)

    def decode(self, codes: Codes, generator: np.random.Generator) -> pa.Array:
        """Cells of type ``kind``; a value drawn in its bin for numbers and dates."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.source.nullable:
            return self._cells(codes, generator)
        missing = codes == self.values
        cells = self._cells(np.where(missing, 0, codes), generator)
        return pc.if_else(pa.array(missing), self.missing_cell, cells)

    def spell(self, cells: pa.Array) -> pa.Array:
        """Decoded cells as text; missing cells as the first null token, or empty."""
        import pyarrow as pa

        plain = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        token = self.source.tokens[0] if self.source.tokens else ""
        return self._spell(plain).cast(pa.string()).fill_null(token)

    def _spell(self, cells: pa.Array) -> pa.Array:
        import pyarrow as pa

        return cells.cast(pa.string())

    @property
    def missing_cell(self) -> pa.Scalar:
        """What stands for "missing": the first null token in text tables, else null."""
        import pyarrow as pa

        token = self.source.tokens[0] if self.source.text and self.source.tokens else None
        return pa.scalar(token, type=self.kind)


def where_valid(cells: pa.Array, text: pa.Array) -> pa.Array:
    """``text``, but null where the cell is."""
    import pyarrow.compute as pc

    return pc.if_else(pc.is_valid(cells), text, None)
