"""Exact presolve of best-response problems: merge, group, eliminate dominated values.

On problems from games on real tables this shrinks 588 one-hot columns to about 28, after which a
few thousand records are left and plain enumeration proves the optimum.  Three steps, each exact:

1. **Merge** (:func:`merge`, once a problem).  A negated query is a constant minus the positive
   one: w [not q] = w - w [q].  Equal conjunctions add up; if their weights cancel they vanish.
2. **Group** (:func:`reduce`, all perturbations at once).  The values of an attribute that no query
   and no impossible combination mentions differ only by cost: the cheapest stands for all.
3. **Eliminate dominated values**, per perturbation.  For a value v with cost c(v), still possible
   queries of weight w:

       most(v)  = -c(v) + sum of the positive w of queries that contain v
       least(v) = -c(v) + sum of the negative w of queries that contain v

   *Claim.*  If u and v are values of one attribute, most(v) <= least(u), and u is in no possible
   impossible combination, then dropping v leaves the optimum unchanged.
   *Proof.*  Take any allowed record with v and exchange v for u.  Queries that contain neither keep
   their truth.  Whatever the rest of the record is, those with v (and the cost of v) contributed at
   most most(v); those with u now contribute at least least(u).  So the value does not fall, and no
   impossible combination arises, for it would have to contain u.
   All attributes may be treated in one sweep: the bounds hold for *every* rest of the record, so
   the exchanges can be made one attribute after another.  In each attribute only the value u* with
   the largest least(u) eliminates others and is itself kept, so equal values never drop each other.
   A query or combination that lost one of its values can never be true: it is struck out, the
   bounds tighten, and the sweep is repeated until nothing changes.  (Step 2 is the special case
   most = least, done first because it makes the arrays small.)

Sums are floating-point: a value may be dropped that is better by rounding error, about 1e-16 times
the sum of the weights' magnitudes.  *Privacy.*  Public inputs only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.problem import Problem

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Reduction(StrEnum):
    """How much presolve to do: only ``merge``, also ``group``, or ``full`` elimination."""

    MERGE = "merge"
    GROUP = "group"
    FULL = "full"


@dataclass(frozen=True, eq=False)
class Merged:
    """A problem with signed weights on distinct positive conjunctions.

    ``literals`` (m, k) and ``forbidden`` (f, l) hold positions in a one-hot record, filled up with
    ``domain.width``.  Value = ``constant`` + weights of true conjunctions - cost of the record.
    """

    domain: Domain
    literals: Ints
    weights: Floats
    forbidden: Ints
    constant: float


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left to decide under one perturbation.

    The free attributes have at least two candidate values each; a *column* is one candidate.
    ``template`` is a record with the fixed attributes filled in.  The value of a choice is

        constant + sum of weights[j] over rows j of ``literals`` whose columns are all chosen
                 - sum of cost over chosen columns,

    and no row of ``forbidden`` may have all its columns chosen (one without columns: no choice is
    valid).  Rows are filled up with the number of columns.  Where ``step`` is positive, every value
    is ``base`` plus a whole multiple of it, give or take an eighth of a step of tie-breaking noise;
    ``tilted`` says that there is such noise in the costs.
    """

    template: Ints
    free: Ints  # (f,) attributes still to decide
    starts: Ints  # (f + 1,) first column of each free attribute, and the number of columns
    codes: Ints  # (columns,) code that a column stands for
    cost: Floats  # (columns,)
    literals: Ints
    weights: Floats
    forbidden: Ints
    constant: float
    step: float = 0.0
    base: float = 0.0
    tilted: bool = False

    @property
    def columns(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of candidates of each free attribute."""
        return tuple(int(n) for n in np.diff(self.starts))

    @property
    def states(self) -> int:
        """Number of records left, an exact integer."""
        return math.prod(self.shape)

    def record(self, chosen: NDArray[np.integer]) -> Ints:
        """The record that has these columns, one for each free attribute, (d,)."""
        result = self.template.copy()
        result[self.free] = self.codes[chosen]
        return result

    @property
    def resolution(self) -> float:
        """A bound within this of a value proves it best, because values come in steps."""
        return self.step / 2

    def bound(self) -> float:
        """An upper bound on every record's value: each attribute and query at its best."""
        best = -np.minimum.reduceat(self.cost, self.starts[:-1]).sum() if len(self.free) else 0.0
        return float(self.constant + best + self.weights[self.weights > 0].sum())


# ------------------------------------------------------------------------------------ step 1
def merge(problem: Problem) -> Merged:
    """Signed weights on distinct positive conjunctions; see the module's step 1."""
    domain, queries = problem.domain, problem.queries
    signed = np.where(queries.negated, -problem.weights, problem.weights)
    constant = float(problem.weights[queries.negated].sum())
    rows = np.sort(queries.literals(domain), axis=1)
    literals, group = distinct(rows)
    weights = np.bincount(group, weights=signed, minlength=len(literals))
    always = (literals == domain.width).all(axis=1)  # no literal at all: true on every record
    constant += float(weights[always].sum())
    keep = (weights != 0) & ~always
    forbidden, _ = distinct(np.sort(problem.forbidden.literals(domain), axis=1))
    return Merged(domain, literals[keep], weights[keep], forbidden, constant)


def distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Distinct rows of non-negative integers, sorted, and which of them each row is."""
    if rows.size == 0:
        return rows[:1], np.zeros(len(rows), dtype=np.intp)
    base = int(rows.max()) + 1
    if base ** rows.shape[1] < 2**62:  # one number a row: several times quicker
        keys = rows @ (base ** np.arange(rows.shape[1] - 1, -1, -1))
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], group
    found, group = np.unique(rows, axis=0, return_inverse=True)
    return found, group.reshape(-1)


# ------------------------------------------------------------------------------------ step 2
@dataclass(frozen=True, eq=False)
class _Grouped:
    """Columns shared by all perturbations: touched values, and one for the others' cheapest."""

    attribute: Ints  # (n,)
    starts: Ints  # (d,) first column of each attribute
    codes: Ints  # (s, n)
    cost: Floats  # (s, n)
    literals: Ints  # (m, k), filled up with n
    forbidden: Ints


def _group(merged: Merged, perturbations: Floats, level: Reduction) -> _Grouped:
    """Keep touched values; let the cheapest untouched value of an attribute stand for the rest."""
    domain = merged.domain
    touched = np.zeros(domain.width + 1, dtype=bool)
    touched[merged.literals] = True
    touched[merged.forbidden] = True
    touched = touched[:-1] if level is not Reduction.MERGE else np.ones(domain.width, dtype=bool)
    position = np.zeros(domain.width + 1, dtype=np.intp)
    chosen: list[Ints] = []  # (s, columns) one-hot positions, an attribute at a time
    starts, n = [], 0
    for a in range(len(domain)):
        block = np.arange(domain.offsets[a], domain.offsets[a + 1])
        own, others = block[touched[block]], block[~touched[block]]
        starts.append(n)
        position[own] = n + np.arange(len(own))
        chosen.append(np.broadcast_to(own, (len(perturbations), len(own))))
        if len(others):
            chosen.append(others[np.argmin(perturbations[:, others], axis=1)][:, None])
        n += len(own) + bool(len(others))
    position[domain.width] = n
    flat = np.concatenate(chosen, axis=1)
    first = np.asarray(starts, dtype=np.intp)
    attribute = np.repeat(np.arange(len(domain)), np.diff(np.append(first, n)))
    return _Grouped(
        attribute=attribute,
        starts=first,
        codes=(flat - domain.offsets[attribute]).astype(np.intp),
        cost=np.take_along_axis(perturbations, flat, axis=1),
        literals=position[merged.literals],
        forbidden=position[merged.forbidden],
    )


# ------------------------------------------------------------------------------------ step 3
def _possible(rows: Ints, alive: Bools) -> Bools:
    """Which rows of columns can still all be chosen, (s, rows)."""
    padded = np.concatenate([alive, np.ones((len(alive), 1), dtype=bool)], axis=1)
    result = np.ones((len(alive), len(rows)), dtype=bool)
    for j in range(rows.shape[1]):
        result &= padded[:, rows[:, j]]
    return result


def _incidence(rows: Ints, n: int) -> Floats:
    """(rows, n) matrix that is 1 where a row contains a column."""
    matrix = np.zeros((len(rows), n + 1))
    matrix[np.arange(len(rows))[:, None], rows] = 1.0
    return matrix[:, :n]


def _eliminate(grouped: _Grouped, weights: Floats) -> Bools:
    """Columns that survive dominance elimination, (s, n)."""
    n, starts, attribute = len(grouped.attribute), grouped.starts, grouped.attribute
    contains = _incidence(grouped.literals, n)
    restricts = _incidence(grouped.forbidden, n)
    gain = contains * np.maximum(weights, 0)[:, None]
    loss = contains * np.minimum(weights, 0)[:, None]
    alive = np.ones(grouped.cost.shape, dtype=bool)
    alive[:, restricts[restricts.sum(axis=1) == 1].any(axis=0)] = False  # forbidden on its own
    while True:
        live = _possible(grouped.literals, alive).astype(np.float64)
        restricted = _possible(grouped.forbidden, alive).astype(np.float64) @ restricts > 0
        most = np.where(alive, live @ gain - grouped.cost, -np.inf)
        least = np.where(alive & ~restricted, live @ loss - grouped.cost, -np.inf)
        best = np.maximum.reduceat(least, starts, axis=1)[:, attribute]
        ties = np.where(least == best, np.arange(n), n)
        keeper = np.minimum.reduceat(ties, starts, axis=1)[:, attribute] == np.arange(n)
        survivors = alive & ((most > best) | keeper)
        if np.array_equal(survivors, alive):
            return alive
        alive = survivors


# ------------------------------------------------------------------------------------ all steps
def reduce(
    merged: Merged, perturbations: Floats, level: Reduction = Reduction.FULL
) -> Sequence[Reduced]:
    """What is left to decide under each perturbation; the optimum is unchanged.

    Parameters
    ----------
    merged
        From :func:`merge`.
    perturbations : (s, width) float
        All perturbations of one round; treated in one vectorised pass.
    level
        ``Reduction.FULL`` unless reductions are being compared.

    Returns s problems whose best choice, turned into a record, is a best response.

    >>> from saddlesynth.oracles.queries import Conjunctions
    >>> domain = Domain(("color", "size"), (3, 2))
    >>> problem = Problem(domain, Conjunctions.of([{0: 0, 1: 0}]), [1.0])
    >>> left = reduce(merge(problem), np.array([[0.2, 0.3, 0.1, 0.0, 0.5]]))[0]
    >>> left.states, left.template  # color 0 or 2; size 1 is dominated
    (2, array([0, 0]))
    """
    grouped = _group(merged, perturbations, level)
    if level is Reduction.FULL:
        alive = _eliminate(grouped, merged.weights)
    else:
        alive = np.ones(grouped.cost.shape, dtype=bool)
    live = _possible(grouped.literals, alive)
    open_ = _possible(grouped.forbidden, alive)
    return [
        _extract(merged, grouped, i, alive[i], live[i], open_[i]) for i in range(len(perturbations))
    ]


def _extract(
    merged: Merged, grouped: _Grouped, i: int, alive: Bools, live: Bools, open_: Bools
) -> Reduced:
    """The problem under perturbation i on its surviving columns, fixed attributes taken out."""
    n = len(alive)
    counts = np.add.reduceat(alive, grouped.starts, dtype=np.intp)
    columns = np.flatnonzero(alive)
    decided = counts[grouped.attribute[columns]] == 1
    fixed, columns = columns[decided], columns[~decided]
    template = np.zeros(len(grouped.starts), dtype=np.intp)
    template[grouped.attribute[fixed]] = grouped.codes[i, fixed]
    free = np.flatnonzero(counts > 1)
    local = np.full(n + 1, len(columns), dtype=np.intp)  # fixed columns and fillers hold anyway
    local[columns] = np.arange(len(columns))
    literals, group = distinct(np.sort(local[grouped.literals[live]], axis=1))
    forbidden, _ = distinct(np.sort(local[grouped.forbidden[open_]], axis=1))
    weights = np.bincount(group, weights=merged.weights[live], minlength=len(literals))
    cost = grouped.cost[i, columns]
    if (counts == 0).any():  # every value of an attribute is forbidden on its own
        forbidden = np.full((1, 1), len(columns), dtype=np.intp)
    size = (literals < len(columns)).sum(axis=1)
    constant = merged.constant - grouped.cost[i, fixed].sum() + weights[size == 0].sum()
    if (size == 1).any():  # a query on one open attribute is a cost
        np.subtract.at(cost, literals[size == 1, 0], weights[size == 1])
    keep = (size > 1) & (weights != 0)
    return Reduced(
        template=template,
        free=free,
        starts=np.concatenate([[0], np.cumsum(counts[free])]).astype(np.intp),
        codes=grouped.codes[i, columns],
        cost=cost,
        literals=literals[keep],
        weights=weights[keep],
        forbidden=forbidden,
        constant=float(constant),
    )
