"""Which marginals to measure, and how well, so that a workload's answers vary least.

A strategy measures marginals S with noise of variance 1/theta_S^2 a cell.  Its information on the
residual of T (``lattice.py``) is lambda_T = sum over S containing T of theta_S^2 cells(T)/cells(S),
and the least-squares answer to a marginal A of the workload has the variance

    Var_A = sum over T in A of V_AT / lambda_T,            V_AT from ``shrinkage_matrix``

a cell.  One unit of budget is spent if sum of theta_S^q = 1: q = 1 for Laplace noise (theta_S is
S's share of epsilon), q = 2 for Gaussian noise (theta_S^2 is its share of rho).  Minimised:

``total``   sum over A of weight_A cells(A) Var_A: the expected squared error of all queries
``max``     the largest weight_A Var_A, by a p-norm of rising p

over theta >= 0, by L-BFGS from several starts.  For q = 2 it is a convex program in theta^2 and
the starts agree; for q = 1 it is not convex, and the best local optimum is taken.

Privacy.  Public inputs only.

Reference: McKenna, Miklau, Hay, Machanavajjhala (2018), "Optimizing error of high-dimensional
statistical queries under differential privacy" (HDMM), the marginals template OPT_M.  Differs: the
candidates are the subsets of the workload's marginals and covering designs of several sizes instead
of all 2^d sets of attributes, so any number of columns will do; the objective ``max``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.baselines.covering import cover
from saddlesynth.synthesis.baselines.lattice import closure, shrinkage_matrix, subsets

Objective = Literal["total", "max"]
Floats = NDArray[np.float64]
COVERS = (2**6, 2**8, 2**10, 2**12)  # cells of the views offered as candidates
PEAKS = (1, 4, 16, 64)  # rising norms on the way to the maximum
DROPPED = 1e-4  # of the budget: smaller shares go to the others


@dataclass(frozen=True)
class Workload:
    """Marginals (ascending attributes, each once), their weights, and the residuals they need.

    ``known_total`` says that the number of rows is public, so that () needs no measurement.
    """

    domain: Domain
    marginals: tuple[Attributes, ...]
    weights: tuple[float, ...]
    known_total: bool = False

    @cached_property
    def parts(self) -> list[Attributes]:
        """Subsets whose residuals have to be measured."""
        return [t for t in closure(self.marginals, self.domain) if t or not self.known_total]

    def importance(self, objective: Objective) -> Floats:
        """What a marginal's variance counts: squared error of all its cells, or of the worst."""
        weights = np.array(self.weights)
        if objective == "max":
            return weights
        cells = np.array([float(self.domain.cells(m)) for m in self.marginals])
        return np.asarray(weights * cells)


@dataclass(frozen=True)
class Strategy:
    """Marginals to measure and each one's share of the budget; shares sum to 1."""

    marginals: tuple[Attributes, ...]
    shares: tuple[float, ...]


@lru_cache(maxsize=8)  # planning and fitting ask the same
def best_strategy(workload: Workload, power: int, objective: Objective = "total") -> Strategy:
    """The strategy; ``power`` q is 1 for Laplace noise and 2 for Gaussian noise.

    >>> pairs = Workload(Domain(tuple("abc"), (2, 2, 9)), ((0, 1), (0, 2)), (1.0, 1.0))
    >>> best_strategy(pairs, 2).marginals
    ((0, 1), (0, 2))
    """
    domain, parts = workload.domain, workload.parts
    covers = [cover(workload.marginals, domain, cells) for cells in COVERS]
    offered = {t for t in parts} | {
        tuple(a for a in view if domain.sizes[a] > 1) for views in covers for view in views
    }
    candidates = sorted(offered, key=lambda t: (len(t), t))
    if candidates in ([], [()]):  # nothing but the number of rows
        return Strategy(tuple(candidates), (1.0,) * len(candidates))
    information = _information(parts, candidates, domain)
    variance = shrinkage_matrix(workload.marginals, parts, domain)
    starts = {frozenset(s) for s in (workload.marginals, parts, *covers)}
    found = []
    for chosen in sorted(starts, key=len):
        start = np.array([1.0 if c in chosen else 0.05 for c in candidates])
        found.append(
            minimise(variance, information, workload.importance(objective), power, objective, start)
        )
    theta = min(found, key=lambda pair: pair[1])[0]
    return _thinned(candidates, theta**power / (theta**power).sum(), information)


def even_strategy(workload: Workload) -> Strategy:
    """The workload's own marginals, equal shares; a yardstick for the optimum."""
    marginals = workload.marginals
    return Strategy(marginals, (1 / len(marginals),) * len(marginals))


def _information(parts: list[Attributes], candidates: list[Attributes], domain: Domain) -> Any:
    """cells(T) / cells(S) where S contains T; a sparse matrix (parts, candidates)."""
    from scipy.sparse import csr_array

    place = {part: i for i, part in enumerate(parts)}
    entries = [
        (place[part], column, domain.cells(part) / domain.cells(candidate))
        for column, candidate in enumerate(candidates)
        for part in subsets(candidate, domain)
        if part in place
    ]
    rows, columns, values = zip(*entries, strict=True)
    return csr_array((values, (rows, columns)), shape=(len(parts), len(candidates)))


def minimise(
    variance: Any,
    information: Any,
    importance: Floats,
    power: int,
    objective: Objective,
    start: Floats,
) -> tuple[Floats, float]:
    """theta, and the objective it reaches at unit budget.

    variance : (marginals, parts) sparse;  information : (parts, candidates) sparse
    importance : (marginals,);  start : (candidates,) positive

    The objective is made free of scale, so theta needs no constraint but theta >= 0.
    """
    from scipy.optimize import minimize

    def value(theta: Floats, norm: int) -> tuple[float, Floats]:
        precision = np.maximum(information @ theta**2, 1e-300)
        errors = importance * (variance @ (1 / precision))
        top = errors.max()
        powers = (errors / top) ** norm
        by_error = importance * powers / (powers.sum() * np.maximum(errors, 1e-300))
        spent = (theta**power).sum()
        gradient = -2 * theta * (information.T @ ((variance.T @ by_error) / precision**2))
        logarithm = np.log(top) + np.log(powers.sum()) / norm + 2 / power * np.log(spent)
        return float(logarithm), gradient + 2 * theta ** (power - 1) / spent

    theta = start
    for norm in PEAKS if objective == "max" else (1,):
        found = minimize(
            value, theta, args=(norm,), jac=True, method="L-BFGS-B",
            bounds=[(1e-9, None)] * len(theta), options={"maxiter": 2_000, "maxfun": 5_000},
        )  # fmt: skip
        theta = found.x / found.x.max()
    return theta, float(found.fun)


def _thinned(candidates: list[Attributes], shares: Floats, information: Any) -> Strategy:
    """The strategy without small shares, as long as every residual is still measured."""
    speaks = (information > 0).tocsc()
    times = np.asarray(speaks.sum(axis=1)).ravel()  # how often each residual is measured
    kept = np.ones(len(candidates), dtype=bool)
    for column in np.argsort(shares, kind="stable"):
        if shares[column] > DROPPED:
            break
        inside = speaks.indices[speaks.indptr[column] : speaks.indptr[column + 1]]
        if (times[inside] > 1).all():
            kept[column] = False
            times[inside] -= 1
    left = shares[kept] / shares[kept].sum()
    return Strategy(
        tuple(c for c, k in zip(candidates, kept, strict=True) if k), tuple(map(float, left))
    )
