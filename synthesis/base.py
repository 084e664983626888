"""What every synthesis method shares: parameters, fitting against a curator, planning.

A method is a subclass that says what it measures and how it turns that into a model
(``_fit``), and what that will cost before any data are read (``_plan``).  What ``fit`` leaves is a
:class:`~saddlesynth.synthesis.release.Release`; sampling and saving are the release's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import (
    BudgetError,
    InputError,
    NotFittedError,
    SaddlesynthError,
)
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import Parameters, RandomState

if TYPE_CHECKING:
    import pandas

    from saddlesynth.games.privacy.curator import Curator
    from saddlesynth.synthesis.release import Release

Progress = Callable[[str, float], None]


def silent(step: str, done: float) -> None:
    """The progress callback that says nothing."""


@dataclass(frozen=True)
class Session:
    """What a method may use while fitting.

    ``curator`` is the only way to private data.  ``generator`` is for everything but privacy noise.
    ``public_rows`` is the number of rows where the relation makes it public, else ``None``.
    ``impossible`` are combinations {attribute position: code} that no record may have.
    """

    curator: Curator
    domain: Domain
    generator: np.random.Generator
    impossible: tuple[Mapping[int, int], ...] = ()
    public_rows: int | None = None
    progress: Progress = silent
    n_jobs: int = 1


@dataclass(frozen=True)
class Plan:
    """What a run would do and cost; made without data, spends nothing.

    ``queries`` is the number of noisy numbers; ``memory`` is in bytes, of the method's own work in
    ``_plan``, of the whole process in ``plan``; ``seconds`` is a rough guess;
    ``expected_error`` is the mean total variation distance that noise alone adds to the measured
    marginals; ``steps`` are lines (what, number of marginals, cells, rho, sigma); ``smaller`` says
    which setting makes the run smaller.
    """

    method: str
    rows: int
    rho: float
    queries: int
    memory: int
    seconds: float
    expected_error: float
    steps: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    smaller: str = "fewer values or bins in the schema"


class Synthesizer(Parameters, ABC):
    """Base of all methods; the parameters shared by all are those of ``Parameters``."""

    name: ClassVar[str]
    summary: ClassVar[str]

    release_: Release

    # ------------------------------------------------------------------ what a method says
    @abstractmethod
    def _fit(self, session: Session) -> Fit:
        """Measure through ``session.curator`` and build the model."""

    @abstractmethod
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        """What ``_fit`` would do on a table of this domain and this many rows."""

    # ------------------------------------------------------------------ fitting
    def fit(self, data: Any, schema: Any = None) -> Self:
        """Measure ``data`` privately and build the model.

        Parameters
        ----------
        data
            A path to CSV or Parquet, a pandas DataFrame or an Arrow table.
        schema
            Public meaning of the columns; overrides the parameter of the same name.

        Privacy.  At most (epsilon, delta) for the given relation and unit, listed in ``ledger_``.

        Raises
        ------
        InputError
            A parameter, the table or the schema is not what it should be, or the object is
            fitted already: a second fit would spend epsilon again, so it takes a new object
            (``sklearn.base.clone`` makes one).
        BudgetError
            The method's settings need more than (epsilon, delta).
        SizeError
            The method would ask more queries than ``max_queries``.
        """
        if getattr(self, "_ledger", None) is not None and self._ledger.lines:
            raise InputError(
                "fit was called before on this object, and a second fit would spend "
                f"epsilon {self.epsilon:g} again; make a new object for it, e.g. with "
                "sklearn.base.clone"
            )
        self.check_parameters()
        import scipy.linalg  # noqa: F401  (its BLAS has to be loaded to be limited)
        from threadpoolctl import threadpool_limits

        from saddlesynth.synthesis.prepare import prepare  # heavy: pandas, pyarrow
        from saddlesynth.synthesis.release import Release

        schema = self.schema if schema is None else schema
        self._ledger: Ledger = self._new_ledger(discovers=schema is None)
        try:
            prepared = prepare(self, data, schema, self._ledger)
            # Many small products: threads inside each cost several times what they save.
            with threadpool_limits(limits=1, user_api="blas"):
                fit = self._fit(prepared.session)
        except BudgetExceeded as error:
            raise BudgetError(self._with_spending(error)) from error
        except SaddlesynthError as error:
            raise type(error)(self._with_spending(error)) from error
        self.release_ = Release.from_fit(self, prepared, fit, self._ledger)
        return self

    def _with_spending(self, error: Exception) -> str:
        """What went wrong, and what it cost all the same."""
        if not self._ledger.lines:
            return str(error)
        return f"{error} (this run has spent epsilon {self._ledger.spent_epsilon:.4g})"

    def plan(self, schema: Any = None, n_rows: int = 10_000) -> Plan:
        """What ``fit`` would do on a table with this schema; reads no data, spends nothing.

        >>> from saddlesynth.synthesis.methods import make
        >>> schema = {"columns": {"sex": {"type": "categorical", "values": ["F", "M"]}}}
        >>> make("independent", schema=schema).plan(n_rows=100).queries
        2
        """
        from saddlesynth.synthesis.prepare import plan

        return plan(self, self.schema if schema is None else schema, n_rows)

    # ------------------------------------------------------------------ after fitting
    def _fitted(self) -> Release:
        if getattr(self, "release_", None) is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit first")
        return self.release_

    def sample(self, n: int | None = None, random_state: RandomState = None) -> Any:
        """Synthetic rows, in the kind of table that was fitted; see ``Release.sample``."""
        return self._fitted().sample(n, random_state)

    def marginals(self, columns: str | Sequence[str] = ()) -> pandas.DataFrame:
        """Estimated counts and their standard errors; see ``Release.marginals``."""
        return self._fitted().marginals(columns)

    def save(self, folder: str | Path, *, force: bool = False, **synthetic: Any) -> Path:
        """Write the release folder; see ``Release.save``."""
        return self._fitted().save(folder, force=force, **synthetic)

    @property
    def ledger_(self) -> Ledger:
        """The privacy ledger: its lines and totals, also of a fit that failed half-way."""
        if getattr(self, "_ledger", None) is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit first")
        return self._ledger

    @property
    def manifest_(self) -> dict[str, Any]:
        """What ``manifest.json`` of the release says."""
        return self._fitted().manifest
