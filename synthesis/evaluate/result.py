"""What an evaluation found: frozen, printable, and the same numbers as JSON."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from saddlesynth.synthesis.evaluate.classify import ClassifierErrors
from saddlesynth.synthesis.evaluate.metrics import WorkloadError

WARNING = (
    "This evaluation was computed from the REAL data, exactly. It is NOT differentially private: "
    "keep it inside, and never publish it with a release."
)


@dataclass(frozen=True)
class Skipped:
    """A metric that has no value on these tables, and why; it enters no mean."""

    what: str
    reason: str


@dataclass(frozen=True)
class ColumnCheck:
    """Validity of one column of the synthetic table; cells are counts.

    ``nulls`` are missing values where the schema allows none, ``outside`` all other cells that the
    schema does not know.  ``real_type`` and ``synthetic_type`` are storage types, "text" in CSV
    files; the latter is None if the column is missing.
    """

    name: str
    nulls: int
    outside: int
    real_type: str
    synthetic_type: str | None

    @property
    def same_type(self) -> bool:
        """Whether the storage types agree, or cannot be compared since one is a CSV file's."""
        types = {self.real_type, self.synthetic_type}
        return len(types) == 1 or ("text" in types and self.synthetic_type is not None)


@dataclass(frozen=True)
class Validity:
    """Does the synthetic table have the shape that the schema promises?

    ``valid_share`` is the share of synthetic rows whose every cell is valid and that have no
    impossible combination.  ``real_invalid`` counts invalid cells of the real table by column:
    such cells are the schema's fault, not the synthetic table's.
    """

    valid_share: float
    columns: tuple[ColumnCheck, ...]
    impossible_rows: int
    missing_columns: tuple[str, ...]
    extra_columns: tuple[str, ...]
    same_order: bool
    real_invalid: dict[str, int]


@dataclass(frozen=True)
class ColumnShares:
    """Shares of rows by value (or bin) of one column; ``numeric`` bins are in order.

    Columns with very many values are shown coarser, and ``note`` says how; ``tvd`` is exact.
    ``invalid`` are the shares of rows whose value does not fit the schema.
    """

    name: str
    numeric: bool
    labels: tuple[str, ...]
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    real_invalid: float
    synthetic_invalid: float
    tvd: float
    note: str = ""


@dataclass(frozen=True)
class NamedError:
    """The error of one marginal; ``measured`` is None where no release says what was measured."""

    columns: tuple[str, ...]
    cells: int
    tvd: float
    max_error: float
    measured: bool | None


@dataclass(frozen=True)
class Group:
    """Some marginals together."""

    marginals: int
    mean: float
    max: float


@dataclass(frozen=True)
class KWay:
    """Errors of the k-way marginals.

    ``mean``, ``quantile95`` and ``max`` are of total variation distances; ``max_error`` is the
    largest difference of a single cell's share; ``worst`` the ten worst marginals.  ``inside`` and
    ``outside`` split them by whether a measured marginal contains the columns.  ``total`` is how
    many there are; fewer are computed where there are too many, or where some are too large.
    """

    k: int
    total: int
    computed: int
    mean: float
    quantile95: float
    max: float
    max_error: float
    worst: tuple[NamedError, ...]
    inside: Group | None
    outside: Group | None
    errors: tuple[NamedError, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RangeErrors:
    """Absolute errors of random 3-attribute range queries, in shares of rows."""

    mean: float
    quantile95: float
    max: float
    errors: tuple[float, ...]


@dataclass(frozen=True)
class FloorRow:
    """One measured marginal: the noise on each count, the floor, and what was achieved."""

    columns: tuple[str, ...]
    sigma: float
    floor: float
    achieved: float


@dataclass(frozen=True)
class NoiseFloor:
    """How close the synthetic table comes to what its noise allows, on the measured marginals.

    The floor is the mean TVD of the real marginal after noise of the same size was added and the
    result projected on valid tables: what a perfect use of this one noisy marginal would give.
    Synthetic tables may beat it, by combining marginals that tell of the same columns.
    """

    floor: float
    achieved: float
    rows: tuple[FloorRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReleaseFacts:
    """What the release says about itself, for the report."""

    method: str
    epsilon: float
    delta: float
    spent_epsilon: float
    spent_delta: float
    relation: str
    unit: str
    budget: tuple[tuple[str, float, int], ...]  # step, share of what was spent, ledger lines
    parameters: dict[str, Any]
    facts: dict[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """A synthetic table beside the real one.  Uses real data: NOT differentially private.

    ``print`` gives a summary; ``to_json`` everything; ``saddlesynth.synthesis.report`` a page.
    """

    real_rows: int
    synthetic_rows: int
    validity: Validity
    columns: tuple[ColumnShares, ...]
    marginals: tuple[KWay | Skipped, ...]
    workloads: tuple[WorkloadError | Skipped, ...]
    ranges: RangeErrors | Skipped
    classifiers: ClassifierErrors | Skipped
    floor: NoiseFloor | Skipped
    release: ReleaseFacts | None
    notes: tuple[str, ...] = ()

    def k_way(self, k: int) -> KWay | None:
        """The errors of k-way marginals, where they could be computed."""
        return next((m for m in self.marginals if isinstance(m, KWay) and m.k == k), None)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Everything that could not be computed."""
        every = (*self.marginals, *self.workloads, self.ranges, self.classifiers, self.floor)
        return tuple(part for part in every if isinstance(part, Skipped))

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a skipped metric is {"what", "reason"}."""
        return {"warning": WARNING, "differentially_private": False, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        """The same as JSON text, without NaN or infinity."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        lines = [
            WARNING,
            f"{'rows':<28}{self.real_rows:,} real, {self.synthetic_rows:,} synthetic",
            f"{'valid synthetic rows':<28}{self.validity.valid_share:.2%}",
        ]
        for part in self.marginals:
            if isinstance(part, KWay):
                lines.append(
                    f"{f'{part.k}-way TVD':<28}mean {part.mean:.4f}, 95 % {part.quantile95:.4f}, "
                    f"max {part.max:.4f} ({' x '.join(part.worst[0].columns)})"
                )
        for load in self.workloads:
            if isinstance(load, WorkloadError):
                lines.append(
                    f"{f'{load.marginals} {load.k}-way marginals':<28}"
                    f"largest cell error {load.max_error:.4f}"
                )
        if isinstance(self.ranges, RangeErrors):
            lines.append(f"{'range queries':<28}mean error {self.ranges.mean:.5f}")
        if isinstance(self.floor, NoiseFloor):
            lines.append(
                f"{'measured marginals':<28}TVD {self.floor.achieved:.4f}, "
                f"noise floor {self.floor.floor:.4f}"
            )
        if isinstance(self.classifiers, ClassifierErrors):
            lines += _classifier_lines(self.classifiers)
        lines += [f"{s.what:<28}skipped: {s.reason}" for s in self.skipped]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _classifier_lines(errors: ClassifierErrors) -> list[str]:
    return [
        f"{f'{name} error':<28}{errors.synthetic[name]:.4f} on synthetic, "
        f"{errors.real[name]:.4f} on real rows, {errors.majority:.4f} Majority ({errors.label})"
        for name in errors.synthetic
    ]
