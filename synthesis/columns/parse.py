"""Cells as numbers: Arrow's fast casts, and a slow careful look only where they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]
Kind = TypeVar("Kind", bound=np.generic)


def as_integers(cells: pa.Array, low: int, high: int) -> tuple[NDArray[np.int64], Mask | None]:
    """Whole numbers, moved into [low, high], and which cells are none (None: all are).

    ``12.0`` counts as whole, since pandas writes whole numbers so where some are missing.
    """
    import pyarrow as pa

    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return _from_text(cells, pa.int64(), lambda text: _whole(text, low, high))
    if pa.types.is_integer(cells.type):
        found = _numpy(cells, 0)
        if found.dtype == np.uint64:
            found = np.minimum(found, np.uint64(max(high, 0)))
        return found.astype(np.int64), None
    floats = _numpy(cells.cast(pa.float64()), low)
    wrong = np.isfinite(floats) & (floats != np.rint(floats))
    # Compared as floats first: a float beyond 64 bits would wrap around.
    inside = np.where(floats <= low, low, np.where(floats >= high, high, 0)).astype(np.int64)
    between = (floats > low) & (floats < high)
    inside[between] = floats[between].astype(np.int64)
    return inside, wrong if wrong.any() else None


def as_floats(cells: pa.Array) -> tuple[NDArray[np.float64], Mask | None]:
    """Numbers, and which cells are none (None: all are); in text, infinity is none."""
    import pyarrow as pa

    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return _numpy(cells.cast(pa.float64(), safe=False), 0.0), None
    found, wrong = _from_text(cells, pa.float64(), float)
    endless = ~np.isfinite(found)
    if endless.any():
        wrong = endless if wrong is None else wrong | endless
        found = np.where(endless, 0.0, found)
    return found, wrong


def _numpy(cells: pa.Array, filler: Any) -> NDArray[Any]:
    filled = cells.fill_null(filler) if cells.null_count else cells
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _from_text(
    cells: pa.Array, kind: pa.DataType, parse: Callable[[str], Any]
) -> tuple[NDArray[Any], Mask | None]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # Arrow reads 0x1F as a number: what a cell means must not depend on the cells beside it.
        if not pc.any(pc.match_substring(cells, "x", ignore_case=True), min_count=0).as_py():
            return _numpy(cells.cast(kind), 0), None
    except pa.ArrowInvalid:  # its message quotes a cell
        pass
    return _one_by_one(cells, kind.to_pandas_dtype(), parse)


def _one_by_one(
    cells: pa.Array, kind: type[Kind], parse: Callable[[str], Any]
) -> tuple[NDArray[Kind], Mask]:
    """Parse each distinct text in Python."""
    coded = cells.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    found, wrong = np.zeros(len(texts) + 1, dtype=kind), np.zeros(len(texts) + 1, dtype=bool)
    for i, text in enumerate(texts):
        try:
            if "_" in text or text.strip() != text:  # Python allows more than tables should hold
                raise ValueError
            found[i] = parse(text)
        except ValueError:
            wrong[i] = True
    places = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return found[places], wrong[places]


def _whole(text: str, low: int, high: int) -> int:
    try:
        number: float = int(text)
    except ValueError:
        number = float(text)
        if number != np.rint(number) or not np.isfinite(number):
            raise ValueError from None
    return int(min(max(number, low), high))
