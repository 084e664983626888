"""A release: all that a fit leaves, every bit of it publishable.

It makes rows, answers marginals with standard errors, and saves itself as a folder that can be
handed out whole (``folder.py`` says what is in it).  It holds no private data and no seed; using it
costs no privacy, however often.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError, NotPrivateWarning
from saddlesynth.synthesis.estimates import estimate
from saddlesynth.synthesis.manifest import make_manifest
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import RandomState, check_count, check_random_state
from saddlesynth.synthesis.tables import Layout, to_kind
from saddlesynth.synthesis.write import format_of, open_output, write_batches

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from saddlesynth.games.privacy.budget import Ledger
    from saddlesynth.synthesis.base import Synthesizer
    from saddlesynth.synthesis.codec import Codec
    from saddlesynth.synthesis.prepare import Prepared
    from saddlesynth.synthesis.schema import Schema


@dataclass(frozen=True)
class Release:
    """What a fit leaves.

    ``fit`` holds the model and the noisy marginals; ``layout`` the public shape of the input table;
    ``ledger`` and ``manifest`` are what the files of the same names say.
    """

    fit: Fit
    schema: Schema
    codec: Codec
    layout: Layout
    ledger: dict[str, Any]
    manifest: dict[str, Any]
    _sampling: np.random.Generator | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_fit(cls, method: Synthesizer, prepared: Prepared, fit: Fit, ledger: Ledger) -> Self:
        """The release of a finished fit."""
        return cls(
            fit=fit,
            schema=prepared.schema,
            codec=prepared.codec,
            layout=prepared.layout,
            ledger=ledger.as_dict(),
            manifest=make_manifest(method, prepared, fit, ledger),
            _sampling=prepared.sampling,
        )

    @property
    def constraints(self) -> Constraints:
        """The impossible combinations, as rules for records."""
        return Constraints(self.codec.domain, tuple(self.codec.impossible))

    # ------------------------------------------------------------------ rows
    @property
    def default_rows(self) -> int:
        """Number of rows that ``sample`` makes when not told: the (noisy or public) estimate."""
        return max(1, round(self.fit.rows))

    def sample(self, n: int | None = None, random_state: RandomState = None) -> Any:
        """``n`` synthetic rows (default: about as many as were fitted).

        Returns a pandas DataFrame, or an Arrow table if one was fitted.  With the same
        ``random_state`` the rows are the same, before saving and after loading.

        Privacy.  Post-processing, free.  Warns if the release claims no privacy.
        """
        import pyarrow as pa

        batches = list(self.sample_batches(n, random_state))
        return to_kind(pa.Table.from_batches(batches), self.layout)

    def sample_batches(
        self, n: int | None = None, random_state: RandomState = None
    ) -> Iterator[pa.RecordBatch]:
        """The same rows as Arrow record batches, made as they are asked for; bounded memory."""
        rows = self.default_rows if n is None else n
        check_count("n", rows)
        check_random_state(random_state)
        if not self.manifest["dp"]:
            warnings.warn(self.manifest["notes"][0], NotPrivateWarning, stacklevel=2)
        return self._batches(int(rows), self._generator(random_state))

    def _batches(self, rows: int, generator: np.random.Generator) -> Iterator[pa.RecordBatch]:
        made = 0
        for codes in self.fit.model.sample(rows, generator):
            yield self.codec.decode(self.constraints.repair(codes, generator), generator, made)
            made += len(codes)

    def _generator(self, random_state: RandomState) -> np.random.Generator:
        if random_state is None and self._sampling is not None:
            return self._sampling
        return np.random.default_rng(random_state)

    def sample_to(
        self,
        path: str | Path,
        n: int | None = None,
        random_state: RandomState = None,
        *,
        format: str | None = None,
        force: bool = False,
    ) -> Path:
        """Write rows to a CSV or Parquet file, streamed; the file is there whole or not at all.

        A name that ends in ``.gz`` makes a packed file.
        """
        from saddlesynth.synthesis.aside import file_aside

        path = Path(path)
        chosen = format_of(path, format)
        with file_aside(path, force=force) as scratch, open_output(scratch) as stream:
            self.write_rows(stream, chosen, n, random_state)
        return path

    def write_rows(
        self,
        stream: IO[bytes],
        format: str,
        n: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        """Write rows to a binary stream; in CSV every cell is spelled as the schema says."""
        batches = self.sample_batches(n, random_state)
        if format == "csv":
            batches = map(self.codec.spelled, batches)
        write_batches(batches, self.codec.output_schema, stream, format)

    # ------------------------------------------------------------------ marginals
    def marginals(self, columns: str | Sequence[str] = ()) -> pandas.DataFrame:
        """Estimated counts of all value combinations of some columns.

        Returns a frame with one row a combination: the columns' values (bins as intervals), then
        ``estimate``, ``standard_error`` (missing where no measured marginal contains the columns)
        and ``source``.  ``columns=()`` gives the number of rows.

        Privacy.  Post-processing, free.
        """
        import pandas as pd

        names = [columns] if isinstance(columns, str) else list(columns)
        if len(set(names)) != len(names):
            raise InputError(f"columns are {names}; each may be named once")
        try:
            attributes = self.codec.domain.positions(names)
        except ValueError as error:
            raise InputError(str(error)) from error
        found = estimate(self.fit, attributes)
        labels = [self.codec.labels(name) for name in names]
        grid = np.indices(found.counts.shape).reshape(len(names), found.counts.size)
        frame = pd.DataFrame(
            {
                name: np.array(values, dtype=object)[codes]
                for name, values, codes in zip(names, labels, grid, strict=True)
            },
            index=range(found.counts.size),
        )
        deviation = found.standard_error
        frame = frame.assign(
            estimate=found.counts.ravel(),
            standard_error=np.nan if deviation is None else _each(deviation, found.counts),
            source=found.source,
        )
        impossible = self.constraints.forbidden_cells(attributes).ravel()
        frame.loc[impossible, ["estimate", "standard_error"]] = 0.0
        frame.loc[impossible, "source"] = "impossible by the schema"
        return frame

    # ------------------------------------------------------------------ files
    def save(self, folder: str | Path, *, force: bool = False, **synthetic: Any) -> Path:
        """Write the release folder, whole or not at all; see ``folder.write_release``."""
        from saddlesynth.synthesis.folder import write_release

        return write_release(self, Path(folder), force=force, **synthetic)


def _each(error: float | NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """One standard error a cell, also where all have the same."""
    return np.broadcast_to(error, counts.shape).ravel()


def load(folder: str | Path) -> Release:
    """Read a release folder: the same rows for the same ``random_state``, no private data.

    Raises
    ------
    InputError
        The folder is no release, was changed or damaged, or is of a newer version.
    """
    from saddlesynth.synthesis.folder import read_release

    return read_release(Path(folder))
