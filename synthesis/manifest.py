"""What a release says about itself: how it was made, what was spent, what counts as public."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from saddlesynth.games.privacy.budget import Ledger
    from saddlesynth.synthesis.base import Synthesizer
    from saddlesynth.synthesis.model import Fit
    from saddlesynth.synthesis.prepare import Prepared
    from saddlesynth.synthesis.schema import Schema

FORMAT = "saddlesynth release"
FORMAT_VERSION = 1
DEPENDENCIES = (
    "numpy scipy pandas pyarrow opendp ortools pulp cvxpy highspy joblib scikit-learn".split()
)
UNSAID = ("random_state", "schema", "progress")  # the seed is secret; the schema has its own file


def make_manifest(
    method: Synthesizer, prepared: Prepared, fit: Fit, ledger: Ledger
) -> dict[str, Any]:
    """The manifest of a fit; every entry is public.  The seed is never in it."""
    return manifest_of(
        method=method.name,
        parameters={n: v for n, v in method.get_params().items() if n not in UNSAID},
        schema=prepared.schema,
        discovered=prepared.discovered,
        public=public_facts(prepared),
        ledger=ledger.as_dict(),
        seeded=prepared.seeded,
        dp=not prepared.schema.draft,
        notes=notes_of(prepared.schema.draft, prepared.seeded),
        rows=float(fit.rows),
        columns=list(prepared.layout.names),
        facts=fit.facts,
    )


def manifest_of(
    *,
    method: str,
    parameters: Mapping[str, Any],
    schema: Schema,
    discovered: bool,
    public: Sequence[str],
    ledger: Mapping[str, Any],
    seeded: bool,
    dp: bool,
    notes: Sequence[str],
    rows: float,
    columns: Sequence[str],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """The entries of ``manifest.json``; ``dp`` says whether its ledger can be believed."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": versions(),
        "method": method,
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "schema": "found privately, at a charge" if discovered else "given",
        "schema_sha256": sha256(canonical(schema.to_json())),
        "relation": ledger["relation"],
        "unit": ledger["unit"],
        "rows_per_unit": ledger["rows_per_unit"],
        "public": list(public),
        "asked": ledger["asked"],
        "spent": ledger["total"],
        "composition": ledger["rule"],
        "seeded": seeded,
        "dp": dp,
        "notes": list(notes),
        "rows": rows,
        "columns": list(columns),
        "facts": plain(dict(facts)),
    }


def public_facts(prepared: Prepared) -> list[str]:
    """What a reader of the release must take as known to everyone."""
    facts = ["column names, their order and storage types"]
    if not prepared.discovered:
        facts.append("the schema in schema.json")
    if prepared.session.public_rows is not None:
        facts.append("the number of rows")
    return facts


def notes_of(draft: bool, seeded: bool) -> list[str]:
    """Warnings that every user of the release must see."""
    notes = []
    if draft:
        notes.append("NOT differentially private: the schema is a draft read from the data itself")
    if seeded:
        notes.append(
            "made with a fixed random state, for tests and teaching: whoever knows it can "
            "subtract the noise"
        )
    return notes


def versions() -> dict[str, str]:
    """Versions of Python, this package and what it computes with."""
    found = {"python": platform.python_version(), "saddlesynth": metadata.version("saddlesynth")}
    for name in DEPENDENCIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # optional in some installations
            continue
    return found


def plain(value: Any) -> Any:
    """JSON's own types for a parameter or fact; objects are named by their class alone.

    >>> plain((1, np.float64(0.5), {"a": None}))
    [1, 0.5, {'a': None}]
    """
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"class": type(value).__name__, **fields}
    return type(value).__name__


def canonical(value: Any) -> bytes:
    """The one way a JSON value is written for hashing."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
