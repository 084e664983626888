"""What an evaluation is given: tables, their schema, and what a release says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.evaluate.read_off import read_off
from saddlesynth.synthesis.evaluate.result import ReleaseFacts
from saddlesynth.synthesis.read import Table, open_table
from saddlesynth.synthesis.schema import Schema

if TYPE_CHECKING:
    from saddlesynth.synthesis.release import Release

Measured = list[tuple[Attributes, float]]  # attributes, standard deviation of the noise


@dataclass(frozen=True)
class Given:
    """Open tables and the schema that they are read with."""

    real: Table
    synthetic: Table
    test: Table | None
    schema: Schema
    release: Release | None
    notes: tuple[str, ...]


def gather(real: Any, synthetic: Any, schema: Any, release: Any, test: Any) -> Given:
    """Open everything; find the release's rows and the schema."""
    from saddlesynth.synthesis.prepare import as_schema
    from saddlesynth.synthesis.release import load

    if isinstance(synthetic, str | Path) and Path(synthetic).is_dir():
        release = release or synthetic
        synthetic = _rows_of(Path(synthetic))
    if isinstance(release, str | Path):
        release = load(release)
    tables = open_table(real), open_table(synthetic)
    unseen = None if test is None else open_table(test)
    notes: list[str] = []
    if schema is not None:
        known = as_schema(schema)
        if release is not None and known.to_json() != release.schema.to_json():
            raise InputError("schema differs from the release's own; leave schema out")
    elif release is not None:
        known = release.schema
    else:
        opened = [*tables, unseen] if unseen else list(tables)
        known, notes = read_off(opened)
    return Given(*tables, unseen, known, release, tuple(notes))


def _rows_of(folder: Path) -> Path:
    """The synthetic table in a release folder."""
    from saddlesynth.synthesis.folder import read_manifest

    written = read_manifest(folder).get("synthetic")
    if not written:
        raise InputError(
            f"{folder} holds no synthetic rows; make some with 'saddlesynth sample {folder}', and "
            "give both: the rows, and the folder as release"
        )
    return folder / str(written["file"])


def measured_by(release: Release | None, domain: Domain) -> Measured | None:
    """What the release measured, on the positions of this domain."""
    if release is None:
        return None
    names = release.codec.domain.names
    return [
        (domain.positions(names[a] for a in m.attributes), m.sigma) for m in release.fit.measured
    ]


def release_facts(release: Release) -> ReleaseFacts:
    """What the report says of a release; all of it is public."""
    ledger, manifest = release.ledger, release.manifest
    pure = not ledger["asked"]["delta"]
    spent: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line in ledger["lines"]:
        step = str(line["step"]).partition(":")[0]
        spent[step] = spent.get(step, 0.0) + float(line["epsilon" if pure else "rho"])
        lines[step] = lines.get(step, 0) + 1
    whole = sum(spent.values()) or 1.0
    return ReleaseFacts(
        method=manifest["method"],
        epsilon=ledger["asked"]["epsilon"],
        delta=ledger["asked"]["delta"],
        spent_epsilon=ledger["total"]["epsilon"],
        spent_delta=ledger["total"]["delta"],
        relation=ledger["relation"],
        unit=ledger["unit"],
        budget=tuple((step, part / whole, lines[step]) for step, part in spent.items()),
        parameters=dict(manifest["parameters"]),
        facts=dict(manifest["facts"]),
        notes=tuple(manifest["notes"]),
    )
