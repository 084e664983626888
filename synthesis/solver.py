"""A solver by the name that users give, refused with one line where it cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saddlesynth.synthesis.errors import InputError, SolverError

if TYPE_CHECKING:
    from saddlesynth.oracles.oracle import Oracle


def solver_by_name(name: str, time_limit: float | None = None) -> Oracle:
    """The oracle of this name, with ``time_limit`` seconds a solve.

    Raises
    ------
    InputError
        Unknown name, a time limit that is not positive, or a solver that has none.
    SolverError
        The solver's package is not installed; the message says how to get it.

    >>> solver_by_name("exact").name
    'exact'
    """
    from saddlesynth.oracles.oracle import Limits, SolverMissing
    from saddlesynth.oracles.registry import make

    limited = {} if time_limit is None else {"limits": Limits(seconds=_seconds(time_limit))}
    try:
        oracle = make(name, **limited)
    except ValueError as error:
        raise InputError(f"solver: {error}") from error
    except SolverMissing as error:
        raise SolverError(f"solver {name!r}: {error}") from error
    reason = getattr(oracle, "missing", lambda: None)()
    if reason is not None:
        raise SolverError(f"solver {name!r}: {reason}; {getattr(oracle, 'install', '')}")
    return oracle


def _seconds(time_limit: float) -> float:
    from saddlesynth.synthesis.parameters import check_number

    check_number("time_limit", time_limit)
    if time_limit <= 0:
        raise InputError(f"time_limit is {time_limit!r}; it must be above 0 seconds")
    return float(time_limit)
