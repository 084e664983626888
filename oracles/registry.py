"""The table of oracles by name: the command line's, and other packages'.

A package adds an oracle of its own by an entry point in the group ``saddlesynth.oracles``: name =
"package.module:Factory", where ``Factory(limits=..., ...)`` returns an ``Oracle``.  A subclass of
:class:`~saddlesynth.oracles.mip.MipBackend` that writes ``run`` is all that a solver needs.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from saddlesynth.oracles.oracle import Oracle

GROUP = "saddlesynth.oracles"
HERE = "saddlesynth.oracles."


@dataclass(frozen=True)
class Row:
    """One oracle: where its factory is, what to pass it, and what it is."""

    name: str
    factory: str
    what: str
    options: Mapping[str, Any] = field(default_factory=dict)


ROWS = (
    Row("portfolio", HERE + "portfolio:Portfolio", "exact if small, else cp-sat; the default"),
    Row("exact", HERE + "exact:Exact", "reduction, then every record that is left"),
    Row("local", HERE + "local:Local", "many local searches; proves little"),
    Row("cp-sat", HERE + "cp_sat:CpSat", "OR-Tools CP-SAT"),
    Row(
        "mathopt-highs", HERE + "mathopt:MathOpt", "HiGHS by OR-Tools MathOpt", {"solver": "highs"}
    ),
    Row("mathopt-scip", HERE + "mathopt:MathOpt", "SCIP by OR-Tools MathOpt", {"solver": "scip"}),
    Row("highs", HERE + "highs:Highs", "HiGHS directly"),
    Row("scipy-highs", HERE + "scipy_mip:Scipy", "HiGHS by SciPy"),
    Row("pulp-highs", HERE + "pulp_mip:Pulp", "HiGHS by PuLP", {"solver": "highs"}),
    Row("pulp-cp-sat", HERE + "pulp_mip:Pulp", "CP-SAT by PuLP", {"solver": "cp-sat"}),
    Row("pulp-cbc", HERE + "pulp_mip:Pulp", "CBC by PuLP", {"solver": "cbc"}),
    Row("cvxpy-highs", HERE + "cvxpy_mip:Cvxpy", "HiGHS by CVXPY", {"solver": "highs"}),
    Row("cvxpy-scip", HERE + "cvxpy_mip:Cvxpy", "SCIP by CVXPY", {"solver": "scip"}),
)


@dataclass(frozen=True)
class Availability:
    """Whether an oracle can be used here, and if not, why and how to get it."""

    name: str
    usable: bool
    version: str
    what: str
    how: str


def rows() -> dict[str, Row]:
    """Every known oracle by name; entry points of other packages come last and cannot replace."""
    table = {row.name: row for row in ROWS}
    for point in importlib.metadata.entry_points(group=GROUP):
        source = point.dist.name if point.dist is not None else point.value
        table.setdefault(point.name, Row(point.name, point.value, f"from {source}"))
    return table


def make(name: str, **options: Any) -> Oracle:
    """The oracle of this name, with options such as ``limits``, ``reduction`` or ``form``.

    Raises ``ValueError`` (unknown name, an option that this oracle does not have),
    ``SolverMissing`` from ``prepare`` where its package is not installed.

    >>> from saddlesynth.oracles.oracle import Limits
    >>> make("exact", limits=Limits(seed=3)).name
    'exact'
    """
    table = rows()
    if name not in table:
        raise ValueError(f"unknown oracle {name!r}; known are {', '.join(table)}")
    row = table[name]
    factory = _load(row.factory)
    if is_dataclass(factory):
        known = {f.name for f in fields(factory)}
        for option in options:
            if option not in known:
                raise ValueError(f"{name} has no option {option!r}; it has {sorted(known)}")
    oracle: Oracle = factory(**row.options, **options)
    return oracle


def availability() -> list[Availability]:
    """One line for each known oracle.  An entry point that cannot be loaded is not usable."""
    return [_available(row) for row in rows().values()]


def _available(row: Row) -> Availability:
    try:
        oracle = make(row.name)
    except Exception as error:  # another package's mistake must not hide the rest of the table
        return Availability(row.name, False, "", row.what, f"{type(error).__name__}: {error}")
    reason = getattr(oracle, "missing", lambda: None)()
    if reason is not None:
        return Availability(row.name, False, "", row.what, reason)
    version = str(getattr(oracle, "version", lambda: "")())
    return Availability(row.name, True, version, row.what, "")


def _load(where: str) -> Callable[..., Any]:
    module, _, attribute = where.partition(":")
    factory: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return factory
