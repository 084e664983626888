"""DenseMarg: which marginals are worth their noise.

Given for each candidate marginal i

    phi_i   the dependence error of leaving it out (a noisy InDif score, in counts; may be negative)
    c_i     its number of cells,

choose a set X, and shares of the budget rho for its members, to

    minimise  sum_{i in X} psi_i + sum_{i not in X} phi_i,
    psi_i = sensitivity c_i / sqrt(pi rho_i).

For a fixed X the best shares are known in closed form (``budget.allocate``), which leaves

    minimise  f(X) = K (sum_{i in X} a_i)^(3/2) + sum_{i not in X} phi_i,
    a_i = c_i^(2/3),   K = sensitivity / sqrt(pi rho).

``select_greedy`` is the published algorithm.  ``select_exact`` is a branch and bound with a proof.

**Relaxation.**  f is a convex function of the one number A = sum a_i x_i, minus a linear function.
If fractions x_i in [0, 1] are allowed, an optimum takes candidates by falling ratio phi_i / a_i
while the ratio is above the slope 1.5 K sqrt(A), and at most the last one in part.  So one sort,
done once, bounds every node of the search tree, and the whole tree is a handful of nodes.

**Dominance.**  If a_i <= a_j and phi_i >= phi_j, exchanging j for i never hurts: some optimum has
i whenever it has j.  Branching on j therefore decides all that j dominates (if out) or all that
dominate j (if in); without this, ties such as many equal candidates would make the tree large.

*Privacy.* Public inputs only: the scores carry their noise already.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", Algorithm 1.
Differs from the paper: the exact method is ours; the greedy one keeps sums, so a step costs O(m).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

OUT, FREE, IN = -1, 0, 1
TOLERANCE = 1e-12  # relative difference of objectives below which rounding decides


@dataclass(frozen=True)
class Selection:
    """Chosen candidates.

    chosen : positions of the candidates, ascending
    objective : f(chosen), recomputed
    bound : no set has a smaller objective
    nodes : relaxations solved (1 means that the root's proved it)
    """

    chosen: tuple[int, ...]
    objective: float
    bound: float
    nodes: int

    @property
    def gap(self) -> float:
        """How far from optimal this can be, as a fraction of the objective's size."""
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-300)

    @property
    def optimal(self) -> bool:
        """Whether the bound proves it, up to rounding."""
        return self.gap <= 10 * TOLERANCE


@dataclass(frozen=True)
class _Problem:
    """f and its relaxation; ``order`` sorts the candidates by falling ratio phi / a."""

    phi: NDArray[np.float64]
    a: NDArray[np.float64]
    k: float
    order: NDArray[np.intp]

    def value(self, inside: NDArray[np.bool_]) -> float:
        """f(X) for X given as a mask; exact sums, so that equal sets have equal values."""
        noise = self.k * math.pow(math.fsum(self.a[inside]), 1.5)
        return noise + math.fsum(self.phi[~inside])

    def relax(self, state: NDArray[np.int8]) -> _Relaxation:
        """Best fractional completion of a partial decision."""
        fixed = float(self.a[state == IN].sum())
        free = self.order[state[self.order] == FREE]
        ratio = self.phi[free] / self.a[free]
        after = fixed + np.cumsum(self.a[free])
        before = after - self.a[free]
        # Slopes grow and ratios fall along the order, so the candidates taken whole come first.
        whole = int(np.count_nonzero(np.logical_and.accumulate(self._slope(after) <= ratio)))
        taken = state == IN
        taken[free[:whole]] = True
        if whole == len(free) or self._slope(before[whole]) >= ratio[whole]:
            return _Relaxation(self.value(taken), taken, None)
        split = int(free[whole])
        amount = float((ratio[whole] / (1.5 * self.k)) ** 2 - before[whole])
        amount = min(max(amount, 0.0), float(self.a[split]))
        base = float(before[whole])
        lost = math.fsum(self.phi[~taken]) - amount * float(ratio[whole])
        return _Relaxation(self.k * (base + amount) ** 1.5 + lost, taken, split)

    def _slope(self, size: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1.5 * self.k * np.sqrt(np.maximum(size, 0.0))

    def branches(self, state: NDArray[np.int8], item: int) -> list[NDArray[np.int8]]:
        """The two children of a node, closed under dominance."""
        place = np.arange(len(self.a))
        phi, a = self.phi, self.a
        tied = (phi == phi[item]) & (a == a[item])
        better = (a <= a[item]) & (phi >= phi[item]) & (~tied | (place <= item))
        worse = (a >= a[item]) & (phi <= phi[item]) & (~tied | (place >= item))
        taken, left = state.copy(), state.copy()
        taken[better] = IN
        left[worse] = OUT
        return [taken, left]


@dataclass(frozen=True)
class _Relaxation:
    bound: float
    taken: NDArray[np.bool_]  # the candidates taken whole
    split: int | None  # the one taken in part


def select_greedy(
    errors: ArrayLike,
    cells: ArrayLike,
    rho: float,
    *,
    sensitivity: float = 1.0,
    threshold: float = 0.0,
) -> Selection:
    """The published greedy: add the candidate that lowers the objective most, while one does.

    errors : (m,) phi, in counts;  cells : (m,) c;  rho : budget of the measurements
    sensitivity : L2 sensitivity of one marginal
    threshold : stop when the best improvement is not above this (counts); the paper's is 0

    Returns a ``Selection`` whose bound is the root relaxation's, so ``gap`` says how far from
    optimal the greedy can be.

    >>> select_greedy([900.0, 10.0, -3.0], [4, 6, 4], rho=0.01).chosen
    (0,)

    Raises
    ------
    ValueError
        Lengths differ, an error is not finite, or cells, rho or sensitivity are not positive.
    """
    problem = _problem(errors, cells, rho, sensitivity)
    inside = np.zeros(len(problem.a), dtype=bool)
    size = 0.0
    while not inside.all():
        gain = problem.phi - problem.k * ((size + problem.a) ** 1.5 - size**1.5)
        gain[inside] = -math.inf
        best = int(np.argmax(gain))
        if gain[best] <= threshold:
            break
        inside[best] = True
        size += float(problem.a[best])
    root = problem.relax(_undecided(problem))
    return _selection(problem, inside, root.bound, nodes=1)


def select_exact(
    errors: ArrayLike,
    cells: ArrayLike,
    rho: float,
    *,
    sensitivity: float = 1.0,
    max_nodes: int = 10_000,
) -> Selection:
    """A set with the smallest objective, with proof.

    Arguments as ``select_greedy``; ``max_nodes`` caps the search tree.

    Returns a ``Selection`` that is never worse than the greedy one.  ``optimal`` is false only if
    the tree was cut off; ``gap`` then bounds what is lost.  The result is deterministic.

    >>> best = select_exact([900.0, 10.0, -3.0], [4, 6, 4], rho=0.01)
    >>> best.chosen, best.optimal
    ((0,), True)

    Raises
    ------
    ValueError
        As ``select_greedy``.
    """
    problem = _problem(errors, cells, rho, sensitivity)
    greedy = select_greedy(errors, cells, rho, sensitivity=sensitivity)
    best = np.zeros(len(problem.a), dtype=bool)
    best[list(greedy.chosen)] = True
    value = greedy.objective

    root = _undecided(problem)
    relaxed = problem.relax(root)
    heap = [(relaxed.bound, 0, root, relaxed)]  # the number breaks ties, oldest first
    nodes = 1
    while heap and nodes < max_nodes:
        bound, _, state, relaxed = heap[0]
        if bound >= value - TOLERANCE * abs(value):
            break  # the smallest bound proves the incumbent
        heapq.heappop(heap)
        for candidate in _roundings(relaxed):
            if (found := problem.value(candidate)) < value:
                best, value = candidate, found
        if relaxed.split is None:
            continue
        for child in problem.branches(state, relaxed.split):
            nodes += 1
            below = problem.relax(child)
            heapq.heappush(heap, (below.bound, nodes, child, below))
    bound = min(value, heap[0][0]) if heap else value
    return _selection(problem, best, bound, nodes)


def _roundings(relaxed: _Relaxation) -> list[NDArray[np.bool_]]:
    """The sets next to a fractional optimum: without and with the candidate taken in part."""
    if relaxed.split is None:
        return [relaxed.taken]
    more = relaxed.taken.copy()
    more[relaxed.split] = True
    return [relaxed.taken, more]


def _undecided(problem: _Problem) -> NDArray[np.int8]:
    """The root: a candidate whose score is not positive can only hurt, and is out."""
    return np.where(problem.phi > 0, FREE, OUT).astype(np.int8)


def _selection(problem: _Problem, inside: NDArray[np.bool_], bound: float, nodes: int) -> Selection:
    objective = problem.value(inside)
    chosen = tuple(int(i) for i in np.flatnonzero(inside))
    return Selection(chosen, objective, min(bound, objective), nodes)


def _problem(errors: ArrayLike, cells: ArrayLike, rho: float, sensitivity: float) -> _Problem:
    phi = np.asarray(errors, dtype=np.float64)
    c = np.asarray(cells, dtype=np.float64)
    if phi.ndim != 1 or phi.shape != c.shape:
        raise ValueError(f"errors {phi.shape} and cells {c.shape} must be vectors of one length")
    if not np.isfinite(phi).all():
        raise ValueError("errors must be finite; got infinity or not-a-number")
    for name, values in (("cells", c), ("rho", np.asarray(rho)), ("sensitivity", sensitivity)):
        if not (np.isfinite(values).all() and np.all(np.asarray(values) > 0)):
            raise ValueError(f"{name} must be positive and finite; got {np.min(values)}")
    a = c ** (2 / 3)
    order = np.argsort(-(phi / a), kind="stable")
    return _Problem(phi, a, sensitivity / math.sqrt(math.pi * rho), order)
