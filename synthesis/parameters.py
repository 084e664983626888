"""The parameters that every method has, with scikit-learn's manners and their checks."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import engine_class

RandomState = int | np.random.Generator | None
MAX_QUERIES = 10_000_000  # exact noise takes about 10 microseconds a number: some 100 seconds
DISCOVERY_DELTA = 0.5  # of delta, where values have to be found: thresholds and rho care little


class Parameters:
    """Constructor parameters: stored as given, checked when ``fit`` or ``plan`` is called.

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
    engine
        Where rows are counted: ``"local"``, streamed in this process.
    n_jobs
        Threads.
    max_queries
        Refuse to start if more noisy numbers would be asked for; ``None`` for no limit.
    progress
        Called as ``progress(step, done)`` with done in [0, 1].
    """

    accepts_pure: ClassVar[bool] = False  # whether the method can run with delta = 0

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
        engine: str = "local",
        n_jobs: int = 1,
        max_queries: int | None = MAX_QUERIES,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.relation = relation
        self.unit = unit
        self.max_rows_per_unit = max_rows_per_unit
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs
        self.max_queries = max_queries
        self.progress = progress

    # ------------------------------------------------------------------ scikit-learn's manners
    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """All constructor parameters with their defaults, those of base classes first."""
        found: dict[str, Any] = {}
        for klass in reversed(cls.__mro__):
            if "__init__" in vars(klass) and klass is not object:
                for p in inspect.signature(vars(klass)["__init__"]).parameters.values():
                    if p.name != "self" and p.kind is not p.VAR_KEYWORD:
                        found[p.name] = p.default
        return found

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """One sentence on each parameter, from the ``Parameters`` sections of the docstrings."""
        found: dict[str, str] = {}
        for klass in reversed(cls.__mro__):
            found |= documented(inspect.cleandoc(vars(klass).get("__doc__") or ""))
        return {name: found[name] for name in cls.defaults() if name in found}

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of all constructor parameters."""
        return list(cls.defaults())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All constructor parameters, as scikit-learn's ``clone`` expects."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change constructor parameters; an unknown name is refused."""
        known = self.parameter_names()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
            setattr(self, name, value)
        return self

    # ------------------------------------------------------------------ checks
    def check_parameters(self) -> None:
        """Refuse bad parameters with one clear line, before any data are read."""
        check_number("epsilon", self.epsilon)
        if self.epsilon <= 0:
            raise InputError(f"epsilon is {self.epsilon!r}; it must be finite and above 0")
        check_number("delta", self.delta)
        if not 0 <= self.delta < 1:
            raise InputError(f"delta is {self.delta!r}; it must be at least 0 and below 1")
        if self.delta == 0 and not self.accepts_pure:
            raise InputError(
                f"delta is 0, but {type(self).__name__} is not pure epsilon-DP; give a small "
                "delta, such as 1e-9"
            )
        if self.relation not in tuple(Relation):
            raise InputError(
                f"relation is {self.relation!r}; it must be one of {[str(r) for r in Relation]}"
            )
        for name in ("max_rows_per_unit", "n_jobs"):
            check_count(name, getattr(self, name))
        if self.max_queries is not None:
            check_count("max_queries", self.max_queries)
        if self.unit is not None and not (isinstance(self.unit, str) and self.unit):
            raise InputError(f"unit is {self.unit!r}; it must be the name of a column")
        if self.unit is None and self.max_rows_per_unit != 1:
            raise InputError("max_rows_per_unit needs unit, the column that identifies a person")
        engine_class(self.engine)
        check_random_state(self.random_state)
        self._check()

    def _check(self) -> None:
        """Refuse bad parameters of this method; called before data are read."""

    # ------------------------------------------------------------------ derived
    @property
    def sensitivity(self) -> float:
        """L2 sensitivity of one marginal: rows of a unit, times sqrt(2) if one is replaced."""
        factor = math.sqrt(2) if self.relation == Relation.REPLACE_ONE else 1.0
        return self.max_rows_per_unit * factor

    @property
    def count_sensitivity(self) -> int:
        """L1 sensitivity of one marginal."""
        return self.max_rows_per_unit * (2 if self.relation == Relation.REPLACE_ONE else 1)

    def _new_ledger(self, *, discovers: bool = False) -> Ledger:
        """An empty ledger; finding a schema needs a part of delta set aside for it."""
        delta = float(self.delta)
        return Ledger(
            float(self.epsilon),
            delta,
            Relation(self.relation),
            "row" if self.unit is None else self.unit,
            int(self.max_rows_per_unit),
            reserved_delta=DISCOVERY_DELTA * delta if discovers else 0.0,
        )


def check_number(name: str, value: Any) -> None:
    """Refuse what is not a finite number; True, "1" and None are not."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(f"{name} is {value!r}; it must be a number")
    if not math.isfinite(value):
        raise InputError(f"{name} is {value!r}; it must be finite")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} is {value!r}; it must be a whole number, at least {least}")


def check_random_state(value: Any) -> None:
    """Refuse what cannot seed: anything but None, a whole number from 0, or a Generator."""
    if value is not None and not isinstance(value, np.random.Generator):
        check_count("random_state", value, least=0)


def documented(text: str) -> dict[str, str]:
    """First sentence on each parameter of a docstring in NumPy's style; ``**others`` are left out.

    >>> documented("Parameters\\n----------\\na, b\\n    Sizes, ``a``\\n    first. Then more.")
    {'a': 'Sizes, a first.', 'b': 'Sizes, a first.'}
    """
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if not line.startswith(" "):
            names = [name.strip() for name in line.partition(" :")[0].split(",")]
            found |= {name: [] for name in names if not name.startswith("*")}
        else:
            for name in names:
                found.get(name, []).append(line.strip())
    return {name: _first_sentence(" ".join(lines)) for name, lines in found.items()}


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s+(?=[A-Z`])", text.replace("``", ""), maxsplit=1)[0]
