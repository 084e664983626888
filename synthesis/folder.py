"""The release folder: written whole or not at all, read back with every doubt checked.

=====================  =============================================================================
file                   content
=====================  =============================================================================
``manifest.json``      how it was made and spent; hashes of the files below
``ledger.json``        every line of the privacy ledger, the rule that adds them up, the totals
``schema.json``        the public meaning of the columns
``marginals.csv``      the measured marginals, one line a cell: estimate and standard error
                       (``marginals.parquet`` where there are very many)
``model.npz``          plain arrays from which more rows are made; no pickles
``synthetic.csv``      the rows (or ``.parquet``)
``README.txt``         all this in plain words
=====================  =============================================================================
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.aside import check_destination, folder_aside
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.manifest import FORMAT, FORMAT_VERSION, sha256
from saddlesynth.synthesis.methods import model_class
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import RandomState
from saddlesynth.synthesis.plain_words import readme
from saddlesynth.synthesis.write import write_batches

if TYPE_CHECKING:
    import pyarrow as pa

    from saddlesynth.synthesis.release import Release

MANIFEST = "manifest.json"
NEEDED: dict[str, type] = {  # what is read from a manifest
    "relation": str,
    "unit": str,
    "rows_per_unit": int,
    "dp": bool,
    "notes": list,
    "rows": float,
    "columns": list,
    "facts": dict,
    "files": dict,
}
MANY_CELLS = 500_000  # above this, marginals go to Parquet


def check_release_destination(folder: Path, *, force: bool = False) -> None:
    """Refuse, before any work, a folder that could not be written as a release.

    With ``force`` a release is replaced, and never another folder that holds something.
    """
    refuse_inside_release(folder)
    check_destination(folder, force=force, marker=MANIFEST)
    if folder.is_dir() and any(folder.iterdir()) and not is_release(folder):
        raise InputError(f"{folder} is a folder that is not a release; not overwritten")


def refuse_inside_release(path: Path) -> None:
    """Refuse to write into a release: it is to be handed out as it was made."""
    for place in path.resolve().parents:
        if is_release(place):
            raise InputError(f"{path} lies inside the release {place}; choose another --out")


def write_release(
    release: Release,
    folder: Path,
    *,
    force: bool = False,
    rows: int | None = None,
    random_state: RandomState = None,
    format: str | None = None,
    synthetic: bool = True,
) -> Path:
    """Write a release folder; it appears whole or not at all.

    ``rows``, ``random_state`` and ``format`` ("csv", "parquet", default as the input's) are about
    the synthetic table, which ``synthetic=False`` leaves out.
    """
    check_release_destination(folder, force=force)
    with folder_aside(folder, force=force, marker=MANIFEST) as aside:
        _write_json(aside / "ledger.json", release.ledger)
        _write_json(aside / "schema.json", release.schema.to_json())
        _write_marginals(release, aside)
        np.savez_compressed(aside / "model.npz", allow_pickle=False, **_arrays(release))
        manifest = dict(release.manifest)
        manifest["files"] = {
            p.name: sha256(p.read_bytes()) for p in sorted(aside.iterdir()) if p.suffix
        }
        if synthetic:
            written = _write_rows(release, aside, rows, random_state, format)
            manifest["synthetic"] = {"file": written.name, "rows": rows or release.default_rows}
        _write_json(aside / MANIFEST, manifest)
        (aside / "README.txt").write_text(readme(manifest, release.ledger), encoding="utf-8")
    return folder


def read_release(folder: Path) -> Release:
    """Read a release folder and check it; ``InputError`` names what is wrong."""
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.release import Release
    from saddlesynth.synthesis.schema import Schema
    from saddlesynth.synthesis.tables import Layout

    manifest = read_manifest(folder)
    for name, digest in manifest.get("files", {}).items():
        if sha256(_read(folder, name)) != digest:
            raise InputError(f"{folder}: {name} was changed or damaged after the release was made")
    try:
        ledger = json.loads(_read(folder, "ledger.json"))
        schema = Schema.parse(json.loads(_read(folder, "schema.json")))
        with np.load(folder / "model.npz", allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        layout = Layout.from_arrays(arrays)
        codec = Codec(schema, layout.schema)
        fit = _fit_from(arrays, codec.domain, manifest)
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{folder}: the release cannot be read ({error})") from error
    return Release(fit, schema, codec, layout, ledger, manifest)


def is_release(folder: Path) -> bool:
    """Whether this is a release folder, of whatever version, whole or damaged."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest alone, after checking that the folder is a release we can read."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such release folder")
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is not a release: it has no readable {MANIFEST}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{folder} is not a saddlesynth release")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{folder} has release format {manifest.get('format_version')!r}, this version reads "
            f"{FORMAT_VERSION}; install saddlesynth {_maker(manifest)} or newer"
        )
    for name, kind in NEEDED.items():
        if not isinstance(manifest.get(name), kind):
            raise InputError(f"{folder}: {MANIFEST} was changed or damaged: see {name!r}")
    return manifest


def read_ledger(folder: Path) -> dict[str, Any]:
    """The ledger of a release, as saved."""
    read_manifest(folder)
    try:
        ledger = json.loads(_read(folder, "ledger.json"))
    except ValueError as error:
        raise InputError(f"{folder}: ledger.json is not JSON ({error})") from error
    return dict(ledger)


def _maker(manifest: dict[str, Any]) -> str:
    return str(manifest.get("versions", {}).get("saddlesynth", "of its time"))


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise InputError(f"{folder}: {name} cannot be read ({error.strerror})") from error


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


# ---------------------------------------------------------------------- model.npz
def _arrays(release: Release) -> dict[str, NDArray[Any]]:
    """Model, measured marginals and table layout as plain arrays."""
    arrays = {f"model_{k}": v for k, v in release.fit.model.to_arrays().items()}
    arrays["kind"] = np.array(release.fit.model.kind)
    arrays.update(release.layout.to_arrays())
    for i, m in enumerate(release.fit.measured):
        arrays[f"measured{i}_attributes"] = np.array(m.attributes, dtype=np.int64)
        arrays[f"measured{i}_counts"] = m.counts
        arrays[f"measured{i}_noise"] = np.array([m.sigma, m.rho, m.independent])
        if m.errors is not None:
            arrays[f"measured{i}_errors"] = m.errors
    return arrays


def _fit_from(arrays: dict[str, NDArray[Any]], domain: Domain, manifest: dict[str, Any]) -> Fit:
    own = {k.removeprefix("model_"): v for k, v in arrays.items() if k.startswith("model_")}
    model = model_class(str(arrays["kind"])).from_arrays(domain, own)
    count = sum(name.endswith("_noise") for name in arrays)
    measured = tuple(
        Measurement(
            tuple(int(a) for a in arrays[f"measured{i}_attributes"]),
            arrays[f"measured{i}_counts"],
            sigma,
            rho,
            bool(independent),
            arrays.get(f"measured{i}_errors"),
        )
        for i in range(count)
        for sigma, rho, independent in [arrays[f"measured{i}_noise"].tolist()]
    )
    return Fit(model, float(manifest["rows"]), measured, manifest["facts"])


# ---------------------------------------------------------------------- tables
def _write_rows(
    release: Release,
    aside: Path,
    rows: int | None,
    random_state: RandomState,
    format: str | None,
) -> Path:
    chosen = format or release.layout.format
    path = aside / f"synthetic.{chosen}"
    with path.open("wb") as stream:
        release.write_rows(stream, chosen, rows, random_state)
    return path


def _write_marginals(release: Release, aside: Path) -> None:
    """The measured marginals in long form."""
    cells = sum(m.counts.size for m in release.fit.measured)
    format = "parquet" if cells > MANY_CELLS else "csv"
    schema = _marginals_schema()
    batches = (_long_form(release, m, schema) for m in release.fit.measured)
    with (aside / f"marginals.{format}").open("wb") as stream:
        write_batches(batches, schema, stream, format)


def _marginals_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        {
            "columns": pa.string(),
            "values": pa.string(),
            "estimate": pa.float64(),
            "standard_error": pa.float64(),
        }
    )


def _long_form(release: Release, m: Measurement, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    names = [release.codec.domain.names[a] for a in m.attributes]
    labels = [release.codec.labels(name) for name in names]
    grid = np.indices(m.counts.shape).reshape(len(names), m.counts.size).T
    values = [
        json.dumps([str(own[c]) for own, c in zip(labels, codes, strict=True)], ensure_ascii=False)
        for codes in grid
    ]
    columns = json.dumps(names, ensure_ascii=False)
    errors = np.full(len(values), m.sigma) if m.errors is None else m.errors.ravel()
    return pa.record_batch(
        [[columns] * len(values), values, m.counts.ravel(), errors], schema=schema
    )
