"""What every synthesis method shares: parameters, fitting against a curator, sampling, marginals.

A method is a subclass that says what it measures and how it turns that into a model
(``_fit``), and what that will cost before any data are read (``_plan``).
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.mechanisms import noise_source, streams
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import BudgetError, InputError, NotFittedError
from saddlesynth.synthesis.model import Fit

if TYPE_CHECKING:
    from saddlesynth.games.privacy.curator import Curator

Progress = Callable[[str, float], None]
RandomState = int | np.random.Generator | None


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

    ``queries`` is the number of noisy numbers; ``memory`` is in bytes, ``seconds`` a rough guess;
    ``expected_error`` is the mean total variation distance that noise alone adds to the measured
    marginals; ``steps`` are lines (what, number of marginals, cells, rho, sigma).
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


class Synthesizer(ABC):
    """Base of all methods.

    Parameters
    ----------
    epsilon, delta
        The total privacy budget of everything that ``fit`` does.
    schema
        Public meaning of the columns: a ``Schema``, a mapping, or a path.  Without one it is
        discovered privately, at a charge.
    relation
        ``"add_remove"`` (number of rows private) or ``"replace_one"`` (number of rows public).
    unit, max_rows_per_unit
        What is protected: one row, or all rows of one value of the column ``unit``, of which at
        most ``max_rows_per_unit`` are used.
    random_state
        ``None`` for real noise.  An int or generator repeats, and stamps the release as seeded.
    n_jobs
        Threads.
    progress
        Called as ``progress(step, done)`` with done in [0, 1].
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        schema: Any = None,
        relation: str = "add_remove",
        unit: str | None = None,
        max_rows_per_unit: int = 1,
        random_state: RandomState = None,
        n_jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.relation = relation
        self.unit = unit
        self.max_rows_per_unit = max_rows_per_unit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    # ------------------------------------------------------------------ what a method says
    @abstractmethod
    def _fit(self, session: Session) -> Fit:
        """Measure through ``session.curator`` and build the model."""

    @abstractmethod
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        """What ``_fit`` would do on a table of this domain and this many rows."""

    def _check(self) -> None:  # noqa: B027  (most methods have nothing to add)
        """Refuse bad parameters of this method; called before data are read."""

    # ------------------------------------------------------------------ scikit-learn's manners
    @classmethod
    def _parameter_names(cls) -> list[str]:
        names: dict[str, None] = {}
        for klass in reversed(cls.__mro__):
            if "__init__" in vars(klass) and klass is not object:
                parameters = inspect.signature(vars(klass)["__init__"]).parameters.values()
                names.update({p.name: None for p in parameters if p.kind not in (p.VAR_KEYWORD,)})
        names.pop("self", None)
        return list(names)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All constructor parameters, as scikit-learn's ``clone`` expects."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change constructor parameters; an unknown name is refused."""
        known = self._parameter_names()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

    # ------------------------------------------------------------------ checks shared by all
    def check_parameters(self) -> None:
        """Refuse bad parameters with one clear line, before any data are read."""
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, int | float):
            raise InputError(f"epsilon is {self.epsilon!r}; it must be a number above 0")
        if not math.isfinite(self.epsilon) or self.epsilon <= 0:
            raise InputError(f"epsilon is {self.epsilon!r}; it must be finite and above 0")
        if isinstance(self.delta, bool) or not isinstance(self.delta, int | float):
            raise InputError(f"delta is {self.delta!r}; it must be a number in (0, 1)")
        if not 0 <= self.delta < 1:
            raise InputError(f"delta is {self.delta!r}; it must be at least 0 and below 1")
        if self.relation not in tuple(Relation):
            raise InputError(
                f"relation is {self.relation!r}; it must be one of {[str(r) for r in Relation]}"
            )
        for name in ("max_rows_per_unit", "n_jobs"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; it must be a whole number, at least 1")
        if self.unit is None and self.max_rows_per_unit != 1:
            raise InputError("max_rows_per_unit needs unit, the column that identifies a person")
        self._check()


__all__ = [
    "BudgetError",
    "BudgetExceeded",
    "Iterator",
    "Ledger",
    "NotFittedError",
    "Plan",
    "Sequence",
    "Session",
    "Synthesizer",
    "field",
    "noise_source",
    "silent",
    "streams",
]
