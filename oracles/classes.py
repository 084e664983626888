"""Other query classes over binary data: disjunctions, parities and halfspaces.

Games need a class with a small *separator set*: queries of which any two different records differ
on at least one.  Over binary attributes the single attributes separate, and they are among each of
these classes (a disjunction or parity of one attribute; the halfspace x_i >= 1), so the linear
perturbation of :class:`~saddlesynth.oracles.problem.Problem` is the separator's.

A disjunction needs nothing new: it is the negation of a conjunction of the opposite values.
Parities and halfspaces become integer programs, each query with one variable c of weight w:

* parity of k attributes: sum x = c + 2 z, with an integer 0 <= z <= k / 2.  Given x, c is forced.
* halfspace a x >= b with whole a and b, L <= a x <= U over all records:
  for w > 0, a x >= L + (b - L) c  (c may be 1 only if a x >= b);
  for w < 0, a x <= b - 1 + (U - b + 1) c  (c must be 1 if a x >= b).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saddlesynth.oracles.backend import timed_judgement
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import STATES, Exact
from saddlesynth.oracles.formulation import Program, RowBuilder, one_value_each
from saddlesynth.oracles.judge import Answer
from saddlesynth.oracles.mip import MipBackend, interruptibly
from saddlesynth.oracles.oracle import BestResponse
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Bools, Floats, Reduced


def disjunctions(literals: Sequence[Mapping[int, int]]) -> Conjunctions:
    """ "At least one of these attributes has this value", for binary attributes.

    >>> disjunctions([{0: 1, 2: 0}]).evaluate(np.array([[0, 0, 0], [0, 0, 1]])).ravel()
    array([ True, False])

    Raises ``ValueError`` if a value is not 0 or 1.
    """
    for row in literals:
        if any(value not in (0, 1) for value in row.values()):
            raise ValueError(f"a disjunction is over binary values; got {dict(row)}")
    return Conjunctions.of([{a: 1 - v for a, v in row.items()} for row in literals], negated=True)


@dataclass(frozen=True)
class Parity:
    """True if an odd number of these attributes is 1."""

    attributes: tuple[int, ...]

    def evaluate(self, records: NDArray[np.integer]) -> Bools:
        """Truth on each record, (r,)."""
        return np.asarray(records[:, list(self.attributes)].sum(axis=1) % 2 == 1)

    def check(self, attributes: int) -> None:
        """``ValueError`` if it does not fit so many attributes."""
        inside = all(0 <= a < attributes for a in self.attributes)
        if not inside or len(set(self.attributes)) != len(self.attributes):
            raise ValueError(f"{self} must name distinct attributes from 0 to {attributes - 1}")

    @property
    def halves(self) -> int:
        """The largest z with 2 z <= k."""
        return len(self.attributes) // 2

    def add_row(self, rows: RowBuilder, c: int, z: int, weight: float) -> None:
        """sum x - c - 2 z = 0."""
        column = [*(2 * a + 1 for a in self.attributes), c, z]
        entry = [*(1.0 for _ in self.attributes), -1.0, -2.0]
        _add(rows, column, entry, lower=0.0, upper=0.0)


@dataclass(frozen=True)
class Halfspace:
    """True if ``coefficients @ x >= threshold``; whole numbers, one coefficient an attribute."""

    coefficients: tuple[int, ...]
    threshold: int

    def evaluate(self, records: NDArray[np.integer]) -> Bools:
        """Truth on each record, (r,)."""
        return np.asarray(records @ np.asarray(self.coefficients) >= self.threshold)

    def check(self, attributes: int) -> None:
        """``ValueError`` if it does not fit so many attributes."""
        numbers = [*self.coefficients, self.threshold]
        if len(self.coefficients) != attributes or any(int(n) != n for n in numbers):
            raise ValueError(f"{self} needs {attributes} whole coefficients, one an attribute")

    halves = 0

    def add_row(self, rows: RowBuilder, c: int, z: int, weight: float) -> None:
        """a x - (b - L) c >= L, or a x - (U - b + 1) c <= b - 1 if c is pulled down."""
        low = sum(min(a, 0) for a in self.coefficients)
        high = sum(max(a, 0) for a in self.coefficients)
        column = [*(2 * a + 1 for a in range(len(self.coefficients))), c]
        if weight > 0:
            entry = [*self.coefficients, low - self.threshold]
            _add(rows, column, entry, lower=low)
        else:
            entry = [*self.coefficients, self.threshold - 1 - high]
            _add(rows, column, entry, upper=self.threshold - 1.0)


def _add(rows: RowBuilder, column: list[int], entry: Sequence[float], **bounds: float) -> None:
    """One row."""
    place = np.zeros(len(column), dtype=np.intp)
    rows.add(1, place, np.asarray(column), np.asarray(entry, dtype=np.float64), **bounds)


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """Maximise sum_j weights[j] * [query j is true on x] - <perturbation, onehot(x)>, x binary.

    Parameters
    ----------
    attributes
        Number of binary attributes.
    queries
        Parities and halfspaces.  Conjunctions and disjunctions belong into ``Problem``.
    weights : (m,) float
        Of any sign.

    *Privacy.* Public inputs only.

    Raises ``ValueError`` on lengths that do not match or attributes that do not exist.
    """

    attributes: int
    queries: tuple[Parity | Halfspace, ...]
    weights: Floats
    impossible: tuple[Mapping[int, int], ...] = ()
    domain: Domain = field(init=False)

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(self.queries),) or not np.isfinite(weights).all():
            raise ValueError(f"weights must be {len(self.queries)} finite numbers, one a query")
        for query in self.queries:
            query.check(self.attributes)
        names = tuple(f"x{a}" for a in range(self.attributes))
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "domain", Domain(names, (2,) * self.attributes))

    def value(self, records: NDArray[np.integer], perturbation: Floats) -> Floats:
        """The objective on each record, (r,)."""
        records = np.atleast_2d(records)
        total = -perturbation[self.domain.offsets[:-1] + records].sum(axis=1)
        for query, weight in zip(self.queries, self.weights, strict=True):
            total = total + weight * query.evaluate(records)
        return np.asarray(total)

    def allowed(self, records: NDArray[np.integer]) -> Bools:
        """All binary records are."""
        return np.asarray(np.isin(np.atleast_2d(records), (0, 1)).all(axis=1))


def best_binary_response(
    problem: BinaryProblem, perturbation: ArrayLike, backend: MipBackend | None = None
) -> BestResponse:
    """The best binary record under a perturbation, (2 d,).

    Without a back-end all records are compared, if they are at most ``exact.STATES``; with one, its
    ``form`` and ``reduction`` do not matter, as the program is this module's.  The answer is judged
    like every other.

    Raises ``ValueError`` if the perturbation has another shape, or no back-end was given and there
    are too many records.

    >>> problem = BinaryProblem(3, (Parity((0, 1, 2)), Halfspace((1, 1, 1), 2)), [2.0, 1.0])
    >>> best_binary_response(problem, np.zeros(6)).record
    array([1, 1, 1])
    """
    costs = np.asarray(perturbation, dtype=np.float64)
    if costs.shape != (problem.domain.width,) or not np.isfinite(costs).all():
        raise ValueError(f"perturbation must be {problem.domain.width} finite numbers")
    task = _relaxed(problem, costs)
    if backend is None:
        if task.states > STATES:
            raise ValueError(f"2**{problem.attributes} records are too many; give a back-end")
        return timed_judgement(problem, costs, task, Exact(), lambda: _enumerate(problem, costs))
    work = formulate_binary(problem, costs)
    return timed_judgement(
        problem,
        costs,
        task,
        backend,
        lambda: interruptibly(lambda: backend.run(work, backend.limits.gap, None)),
    )


def _relaxed(problem: BinaryProblem, costs: Floats) -> Reduced:
    """The record's columns, with every rewarded query taken as true: enough to decode and bound."""
    d = problem.attributes
    return Reduced(
        template=np.zeros(d, dtype=np.intp),
        free=np.arange(d),
        starts=np.arange(0, 2 * d + 1, 2),
        codes=np.tile([0, 1], d),
        cost=costs,
        literals=np.zeros((0, 1), dtype=np.intp),
        weights=np.zeros(0),
        forbidden=np.zeros((0, 1), dtype=np.intp),
        constant=float(np.maximum(problem.weights, 0).sum()),
    )


def _enumerate(problem: BinaryProblem, costs: Floats) -> Answer:
    """All records."""
    d = problem.attributes
    records = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    values = problem.value(records, costs)
    best = int(np.argmax(values))
    point = np.zeros(2 * d)
    point[2 * np.arange(d) + records[best]] = 1.0
    return Answer("all records compared", point, float(values[best]))


def formulate_binary(problem: BinaryProblem, costs: Floats) -> Program:
    """The integer program: 2 d one-hot variables, then c and z of each query."""
    d, m = problem.attributes, len(problem.queries)
    rows = RowBuilder()
    one_value_each(rows, _relaxed(problem, costs))
    for j, (query, weight) in enumerate(zip(problem.queries, problem.weights, strict=True)):
        query.add_row(rows, 2 * d + j, 2 * d + m + j, float(weight))
    return rows.program(
        objective=np.concatenate([-costs, problem.weights, np.zeros(m)]),
        upper=np.concatenate([np.ones(2 * d + m), [query.halves for query in problem.queries]]),
        integer=np.ones(2 * d + 2 * m, dtype=bool),
        constant=0.0,
        columns=2 * d,
    )
