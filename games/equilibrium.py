"""Equilibrium of small zero-sum games: exact value, duality gap, regret, and what they promise.

A payoff matrix A has one row a record (the data player *minimises*) and one column a query (the
query player *maximises*).  Mixed strategies are probability vectors p over rows, q over columns.

* value        v = min over p of max over q of p'Aq  (= max min, von Neumann)
* duality gap  g(p, q) = max_j (p'A)_j - min_i (Aq)_i  >= 0, and 0 exactly at an equilibrium
* regret of a play (p_1, q_1) ... (p_T, q_T), averaged over its rounds:
  data player   r_D = mean_t p_t'Aq_t - min_i mean_t (Aq_t)_i
  query player  r_Q = max_j mean_t (p_t'A)_j - mean_t p_t'Aq_t

**Theorem** (Freund and Schapire 1999; Gaboardi et al. 2014 for query release).  With the average
strategies p, q of a play, g(p, q) = r_D + r_Q, and  max_j (p'A)_j <= v + r_D + r_Q.
*Proof.*  Adding the two regrets cancels the mean payoff and leaves the gap.  And
max_j (p'A)_j = min_i (Aq)_i + g <= v + g, since min_i (Aq)_i <= v for every q.
For query release p'A is the vector of signed errors q(D) - q(synthetic data); over queries closed
under negation its maximum is the largest absolute error.  The value is 0 whenever the data player
may play the data itself, so the regrets alone bound the error.

Public inputs only: nothing here may be called on private tables outside ``Curator``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Equilibrium:
    """The value of a game and one optimal mix of each player; ``gap`` is their duality gap."""

    value: float
    data_mix: NDArray[np.float64]
    query_mix: NDArray[np.float64]
    gap: float

    def __str__(self) -> str:
        data = ", ".join(f"{p:.4g}" for p in self.data_mix)
        query = ", ".join(f"{p:.4g}" for p in self.query_mix)
        return (
            f"value {self.value:.6g} (gap {self.gap:.1e})\ndata player  ({data})\n"
            f"query player ({query})"
        )


@dataclass(frozen=True)
class Regret:
    """Average regrets of a play; ``payoff`` is what the query player got on average."""

    data: float
    query: float
    payoff: float

    @property
    def gap(self) -> float:
        """Duality gap of the average strategies: the sum of the regrets."""
        return self.data + self.query

    def error_bound(self, value: float = 0.0) -> float:
        """What the theorem promises: no query of the class is off by more than this."""
        return value + self.gap


def solve(payoff: ArrayLike) -> Equilibrium:
    """Exact value and optimal mixes of a matrix game, by two linear programs (HiGHS).

    payoff : (records, queries) float.

    >>> print(solve([[1, -1], [-1, 1]]))
    value 0 (gap 0.0e+00)
    data player  (0.5, 0.5)
    query player (0.5, 0.5)

    Raises
    ------
    ValueError
        The matrix is empty or not finite.
    """
    matrix = _matrix(payoff)
    data_mix = _optimal_mix(matrix)
    query_mix = _optimal_mix(-matrix.T)
    worst, best = float((data_mix @ matrix).max()), float((matrix @ query_mix).min())
    return Equilibrium((worst + best) / 2 + 0.0, data_mix, query_mix, max(0.0, worst - best))


def duality_gap(payoff: ArrayLike, data_mix: ArrayLike, query_mix: ArrayLike) -> float:
    """How much the two players together could still gain by best responses; never negative.

    >>> duality_gap([[1, -1], [-1, 1]], [0.5, 0.5], [1, 0])
    1.0
    """
    matrix = _matrix(payoff)
    return float((np.asarray(data_mix) @ matrix).max() - (matrix @ np.asarray(query_mix)).min())


def regret(payoff: ArrayLike, data_play: ArrayLike, query_play: ArrayLike) -> Regret:
    """Average regret of both players.

    data_play : (T, records), query_play : (T, queries) — a mix a round (one-hot for pure plays).

    >>> play = regret([[1, -1], [-1, 1]], [[1, 0], [0, 1]], [[1, 0], [1, 0]])
    >>> play.data, play.query, play.payoff
    (1.0, 0.0, 0.0)
    """
    return running_regret(payoff, data_play, query_play)[-1]


def running_regret(payoff: ArrayLike, data_play: ArrayLike, query_play: ArrayLike) -> list[Regret]:
    """Average regret of both players after each round of a play, as ``regret`` takes it.

    >>> [r.gap for r in running_regret([[1, -1], [-1, 1]], [[1, 0], [0, 1]], [[1, 0], [1, 0]])]
    [2.0, 1.0]
    """
    matrix = _matrix(payoff)
    data, query = np.atleast_2d(np.asarray(data_play)), np.atleast_2d(np.asarray(query_play))
    if data.shape != (len(query), matrix.shape[0]) or query.shape[1] != matrix.shape[1]:
        raise ValueError(f"plays are {data.shape} and {query.shape}; the game is {matrix.shape}")
    rounds = np.arange(1, len(data) + 1)
    means = np.cumsum(np.einsum("tj,tj->t", data @ matrix, query)) / rounds
    least = (np.cumsum(query, axis=0) @ matrix.T).min(axis=1) / rounds
    most = (np.cumsum(data, axis=0) @ matrix).max(axis=1) / rounds
    return [
        Regret(float(mean - low), float(high - mean), float(mean))
        for mean, low, high in zip(means, least, most, strict=True)
    ]


def _matrix(payoff: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(payoff, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise ValueError(f"a payoff matrix is 2-dimensional, finite, not empty; got {matrix.shape}")
    return matrix


def _optimal_mix(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The row player's mix p that minimises max_j (p'A)_j: min v with p'A <= v, sum p = 1."""
    from scipy.optimize import linprog

    rows, columns = matrix.shape
    answer = linprog(
        c=np.append(np.zeros(rows), 1.0),
        A_ub=np.hstack([matrix.T, -np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if not answer.success or answer.x is None:
        raise RuntimeError(f"the game's linear program did not solve: {answer.message}")
    mix = np.clip(answer.x[:rows], 0.0, None)
    return np.asarray(mix / mix.sum())
