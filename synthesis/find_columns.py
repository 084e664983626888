"""What noisy counts say about one column: its kind, its values, its range, its bins.

*Privacy.* Post-processing: every input is public or noisy and released.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.columns import FrequentValues, NoisyCounts
from saddlesynth.synthesis.find_bins import coarse_edges, quantile_edges, refine
from saddlesynth.synthesis.formats import BOOLEANS, DATE_FORMATS, DECIMALS, FORMATS

if TYPE_CHECKING:
    import pyarrow as pa

CLEAR = 4.0  # standard deviations at which a count is more than noise: 3e-5 a count
MOSTLY = 0.95  # share of the cells that must look like numbers, dates, ...
LIKELY = 2.0  # standard deviations at which rows are missed by the values found
FEW = 30  # integers with at most this many values may be codes rather than numbers
INTEGER = re.compile("-?(0|[1-9][0-9]*)")
EPOCH = datetime(1970, 1, 1)
STEPS = {"date": 86_400, "datetime": 1}  # in seconds
FINE_STEP = Fraction(1, 2**40)  # for numbers with any number of decimals
BITS = 63  # integers and multiples of a step are looked for below 2^63


@dataclass(frozen=True)
class Kind:
    """What kind of column it is: "text", "integer", "float", "boolean", "date" or "datetime".

    ``decimals`` of a float, None if there is no limit; ``spelling`` of the two booleans.
    """

    name: str
    nullable: bool = False
    decimals: int | None = None
    spelling: tuple[str, str] | None = None

    @property
    def ordered(self) -> bool:
        """Whether it is numbers or dates, which are binned."""
        return self.name in ("integer", "float", "date", "datetime")

    @property
    def listed(self) -> bool:
        """Whether its frequent values are looked for."""
        return self.name in ("text", "integer")


def decide(formats: NoisyCounts, storage: pa.DataType) -> Kind | None:
    """The kind of a column from its noisy numbers of cells by format; None if all is noise.

    A column is of a kind if 95 % of its cells that are not missing are, counting only formats that
    occur beyond noise.  It is nullable if missing cells, or cells of another kind, do.

    >>> import pyarrow as pa
    >>> counts = np.zeros(len(FORMATS))
    >>> counts[FORMATS.index("empty")], counts[FORMATS.index("decimal 2")] = 40, 900
    >>> decide(NoisyCounts(counts, sigma=5.0), pa.string())
    Kind(name='float', nullable=True, decimals=2, spelling=None)
    """
    clear = {
        name: count if count > CLEAR * formats.sigma else 0.0
        for name, count in zip(FORMATS, formats.counts.tolist(), strict=True)
    }
    empty = clear.pop("empty")
    if not (present := sum(clear.values())):
        return None
    decimals = [name for name in DECIMALS if clear[name]]
    numbers = clear["integer"] + clear["number"] + sum(clear[name] for name in decimals)
    kinds = {
        "integer": 0.0 if decimals or clear["number"] else clear["integer"],
        "float": numbers,
        "date": clear["date"],
        "datetime": clear["datetime"],
        **{name: clear[name] for name in BOOLEANS},
    }
    name = next((kind for kind, count in kinds.items() if count >= MOSTLY * present), "text")
    nullable = bool(empty) or (name != "text" and kinds[name] < present)
    if name in BOOLEANS:
        true, false = name.split(" ")
        return Kind("boolean", nullable, spelling=(true, false))
    if name == "float":
        return Kind("float", nullable, _decimals(decimals, bool(clear["number"]), storage))
    return Kind(name, nullable)


def _decimals(found: Sequence[str], any_number: bool, storage: pa.DataType) -> int | None:
    import pyarrow as pa

    if pa.types.is_decimal(storage):
        return max(0, int(storage.scale))
    return None if any_number else max((int(name.split(" ")[1]) for name in found), default=0)


@dataclass
class Finder:
    """Collects what is found about one column, and writes its part of the schema.

    ``bins`` is about how many bins numbers get; ``rows`` is the noisy number of cells that are not
    missing, with standard deviation ``rows_sigma``.  ``values``, ``cells`` and ``fine`` are filled
    in as they are released.
    """

    name: str
    kind: Kind
    storage: pa.DataType
    bins: int
    rows: float
    rows_sigma: float
    values: FrequentValues | None = None
    cells: tuple[int, ...] = ()
    fine: NoisyCounts | None = None

    # ------------------------------------------------------------------ what to ask
    @property
    def step(self) -> Fraction:
        """Edges are whole multiples of this."""
        if self.kind.name == "float":
            decimals = self.kind.decimals
            return FINE_STEP if decimals is None else Fraction(1, 10**decimals)
        return Fraction(STEPS.get(self.kind.name, 1))

    def coarse_edges(self) -> list[int]:
        """Public buckets over everything the column's type can hold, in steps."""
        import pyarrow as pa

        if self.kind.name in STEPS:
            seconds = [(datetime(y, 1, 1) - EPOCH) // timedelta(seconds=1) for y in YEARS]
            return [second // STEPS[self.kind.name] for second in seconds]
        if self.kind.decimals is None and self.kind.name == "float":
            return coarse_edges(2 * BITS)
        edges = coarse_edges(BITS)
        if pa.types.is_integer(self.storage):
            info = np.iinfo(self.storage.to_pandas_dtype())
            edges = [edge for edge in edges if info.min <= edge <= int(info.max) + 1]
        return edges

    def as_numbers(self, edges: Sequence[int]) -> NDArray[np.float64]:
        """Edges in the units in which cells are compared: numbers, or seconds since 1970."""
        return np.array([float(edge * self.step) for edge in edges])

    def take_coarse(self, noisy: NoisyCounts, sigma: float) -> None:
        """Note the range, and the finer cells that a histogram with noise ``sigma`` can tell."""
        self.cells = tuple(refine(self.coarse_edges(), noisy, sigma))

    # ------------------------------------------------------------------ what it says
    def specification(self) -> dict[str, Any] | None:
        """The column's part of the schema; None if nothing was found beyond noise."""
        if self.kind.name == "boolean":
            found: dict[str, Any] | None = self._boolean()
        elif self.kind.name == "text":
            found = self._listed(self._counts())
        else:
            found = self._codes() or self._binned()
        if found is None:
            return None
        return found | ({"nullable": True} if self.kind.nullable else {})

    def _boolean(self) -> dict[str, Any]:
        spelling = self.kind.spelling
        if spelling is None or spelling == ("True", "False"):
            return {"type": "boolean"}
        return {"type": "boolean", "true": spelling[0], "false": spelling[1]}

    def _listed(self, counts: Mapping[Any, float]) -> dict[str, Any] | None:
        """Values that were found; others go to a bucket, or if there are none to the commonest."""
        if not counts:
            return None
        values = sorted(counts)
        if self.kind.name == "text" and not self._covered():
            return {"type": "categorical", "values": values, "other": "other"}
        common = max(counts, key=lambda value: counts[value])
        return {"type": "categorical", "values": values, "other": common}

    def _counts(self) -> Mapping[str, float]:
        return {} if self.values is None else self.values.counts

    def _integers(self) -> Mapping[int, float]:
        """The integers among the values found: a few cells of the column may be something else."""
        return {int(value): n for value, n in self._counts().items() if INTEGER.fullmatch(value)}

    def _covered(self) -> bool:
        """Whether the values found may be all there are."""
        assert self.values is not None
        missed = self.rows - sum(self.values.counts.values())
        noise = math.hypot(self.rows_sigma, self.values.sigma * len(self.values.counts) ** 0.5)
        return missed < LIKELY * noise

    def _codes(self) -> dict[str, Any] | None:
        """Integers that are a few values far apart: codes, listed like texts."""
        values = self._integers()
        if not 0 < len(values) <= FEW or not self._covered():
            return None
        spread = max(values) - min(values) + 1
        return self._listed(values) if spread > 2 * len(values) else None

    def _binned(self) -> dict[str, Any] | None:
        if self.fine is None:
            return None
        edges = quantile_edges(self.cells, self.fine, self.bins, self._frequent())
        if self.kind.name == "float":
            return self._float(edges)
        each = edges[-1] - edges[0] <= self.bins  # few enough for one bin a value
        ends: list[Any] = [edges[0], edges[-1] - 1] if each else inclusive(edges)
        found: dict[str, Any] = {"type": "integer"}
        if self.kind.name in DATE_FORMATS:
            pattern = DATE_FORMATS[self.kind.name]
            ends = [self._moment(edge).strftime(pattern) for edge in ends]
            found = {"type": "datetime", "format": pattern}
        found |= {"min": ends[0], "max": ends[-1]}
        return found if each else found | {"bins": ends}

    def _frequent(self) -> list[int]:
        """Integers that hold a bin's share of the rows."""
        share = self.rows / self.bins
        return [value for value, count in self._integers().items() if count >= share]

    def _float(self, edges: list[int]) -> dict[str, Any]:
        decimals = self.kind.decimals
        if decimals is not None and len(edges) > 2:
            edges = inclusive(edges)
        numbers = [float(edge * self.step) for edge in edges]
        found = {"type": "float", "min": numbers[0], "max": numbers[-1], "bins": numbers}
        return found if decimals is None else found | {"decimals": decimals}

    def _moment(self, edge: int) -> datetime:
        return EPOCH + timedelta(seconds=int(edge * self.step))


YEARS = [1000, 1800, *range(1900, 2101), 2200, 3000]


def inclusive(edges: Sequence[int]) -> list[int]:
    """Edges whose last bin holds its upper edge, from half-open ones; a lone last value joins in.

    >>> inclusive([0, 1, 10, 20]), inclusive([0, 5, 8, 9])
    ([0, 1, 10, 19], [0, 5, 8])
    """
    last = edges[-1] - 1
    return [edge for edge in edges[:-1] if edge < last or edge == edges[0]] + [last] * (
        last > edges[0]
    )
