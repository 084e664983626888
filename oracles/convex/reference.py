"""What the cvxpy models of this folder share: linear side constraints, and one way to solve.

The closed forms and network algorithms beside this file are what runs in production.  The cvxpy
models say the same problem a second time, in the words of the textbook: they judge the closed forms
in the tests, and they take side constraints that no closed form covers.

*Privacy.* Public inputs only.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def cvxpy() -> Any:
    """The cvxpy module, imported when first needed: it takes a second."""
    import cvxpy

    return cvxpy


class ConvexSolverError(RuntimeError):
    """A solver did not prove an optimum; its point is not used."""


@dataclass(frozen=True)
class LinearConstraints:
    """Rows ``lower <= matrix @ x <= upper``; infinite bounds are allowed.

    matrix : (r, n) float;  lower, upper : (r,) float

    Raises
    ------
    ValueError
        The shapes do not fit together.
    """

    matrix: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def __post_init__(self) -> None:
        rows = self.matrix.shape[:1]
        if self.matrix.ndim != 2 or self.lower.shape != rows or self.upper.shape != rows:
            raise ValueError(
                f"matrix {self.matrix.shape}, lower {self.lower.shape} and upper "
                f"{self.upper.shape} do not fit; expected (r, n), (r,) and (r,)"
            )

    def on(self, variable: Any) -> list[Any]:
        """The rows as cvxpy constraints on a variable of length n."""
        left = self.matrix @ variable
        rows: list[Any] = []
        for bound, keep in ((self.lower, -1), (self.upper, 1)):
            (finite,) = np.nonzero(np.isfinite(bound))
            if len(finite):
                rows.append(keep * left[finite] <= keep * bound[finite])
        return rows


def solve(problem: Any, solver: str, **options: Any) -> float:
    """Solve a cvxpy problem by the named solver and return its objective value.

    The solver is always named: cvxpy's own choice depends on what happens to be installed.

    Raises
    ------
    ConvexSolverError
        The status is anything but optimal (infeasible, inaccurate, a limit, a solver's failure).
    """
    cp = cvxpy()
    if solver == "HIGHS":
        from saddlesynth.oracles.highs import ready_highs

        ready_highs()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate" is the status refused below
            problem.solve(solver=solver, **options)
    except cp.error.SolverError as error:
        raise ConvexSolverError(f"{solver} failed: {str(error).splitlines()[0]}") from error
    if problem.status != cp.OPTIMAL:
        raise ConvexSolverError(f"{solver} stopped with status {problem.status!r}, not optimal")
    return float(problem.value)
