"""Step 7 of PrivSyn: gradually update a pool of records until it has the wanted marginals (GUM).

Each update moves the pool's counts s of one marginal part of the way to the target counts t:

 1  for sweep 0, 1, ...:                       alpha = alpha0 * schedule(sweep)
 2      shuffle the pool
 3      for each marginal, the one furthest from its target first:
 4          count s; both s and t add up to the size of the pool
 5          cells with s < t:  add = min(t - s, alpha s), but alpha t where s = 0
 6          cells with s > t:  remove = min(s - t, beta s), beta such that the sums agree
 7          free: ``remove`` random records of each such cell, in random order
 8          duplicate: copy whole records of a cell with s < t over free ones
 9          replace: overwrite only the marginal's attributes of the other free ones
10  keep the pool that came nearest; stop when no sweep comes nearer

Line 5 fills empty cells, which ``alpha s`` never would.  Line 9 is the only way for them; for the
other cells ``strategy`` says which share of ``add`` is duplicated (line 8).  Duplicates keep what
the marginal does not speak about; replacing spreads.  Records copied in line 8 are in cells with
s < t, free ones in cells with s > t, so no source is overwritten before it is read.

==============  ======================================================================
paper           here
==============  ======================================================================
alpha, beta     ``alpha``; ``beta`` is solved in closed form in ``_removed``
S1, S2, S3, S5  strategies ``replace``, ``duplicate``, ``half``, ``gum``
MCF             strategy ``mcf``: alpha infinite, cheapest moves, replace only
singleton       ``initialise.py``
==============  ======================================================================

Privacy.  Post-processing of released marginals; also the stopping rule looks at them alone.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", section 5.2.
Differs from the paper: whole numbers by largest remainder, so free and added records always match;
the best pool is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.privsyn.flow import moves
from saddlesynth.synthesis.privsyn.rounding import Column, largest_remainder

Strategy = Literal["gum", "replace", "duplicate", "half", "mcf"]
Schedule = Literal["step", "exponential", "linear", "square_root"]
Counts = NDArray[np.int64]
Pool = list[Column]  # one array of codes an attribute, all of one length

# The share of the added records that are duplicates, in even and in odd sweeps.
DUPLICATES: dict[str, tuple[float, float]] = {
    "gum": (0.5, 1.0),
    "replace": (0.0, 0.0),
    "duplicate": (1.0, 1.0),
    "half": (0.5, 0.5),
    "mcf": (0.0, 0.0),
}
SCHEDULES: dict[str, Callable[[int], float]] = {
    "step": lambda sweep: 0.84 ** (sweep // 20),
    "exponential": lambda sweep: float(np.exp(-0.008 * sweep)),
    "linear": lambda sweep: 1 / (1 + 0.02 * sweep),
    "square_root": lambda sweep: float(1 / np.sqrt(1 + 0.12 * sweep)),
}


@dataclass(frozen=True)
class Target:
    """Wanted counts of one marginal.

    counts : whole numbers that add up to the size of the pool, shaped as the marginal
    """

    attributes: Attributes
    counts: Counts


@dataclass(frozen=True)
class Updating:
    """How GUM runs.

    alpha : at most this fraction of a cell's records is added in one update (alpha0)
    sweeps : at most so many passes over all marginals
    patience : stop after so many sweeps that did not come nearer by ``improvement`` (a fraction)
    """

    strategy: Strategy = "gum"
    alpha: float = 1.0
    schedule: Schedule = "step"
    sweeps: int = 100
    patience: int = 10
    improvement: float = 0.01

    def __post_init__(self) -> None:
        for name, known in (("strategy", get_args(Strategy)), ("schedule", get_args(Schedule))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be one of {known}")
        if not self.alpha > 0:
            raise ValueError(f"alpha is {self.alpha}; it must be positive")


@dataclass(frozen=True)
class Updated:
    """The updated pool; ``errors`` are mean L1 distances to the targets, as fractions of the pool.

    ``errors[k]`` is the distance after k sweeps; ``error`` that of the pool returned, the smallest.
    """

    pool: Pool
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        return min(self.errors, default=0.0)

    @property
    def sweeps(self) -> int:
        return max(len(self.errors) - 1, 0)


def gum(
    pool: Pool,
    targets: Sequence[Target],
    updating: Updating,
    generator: np.random.Generator,
    progress: Callable[[float], None] = lambda done: None,
) -> Updated:
    """Update the pool towards the targets; the pool given is not changed.

    >>> rng = np.random.default_rng(0)
    >>> pool = [rng.integers(2, size=100, dtype=np.uint8) for _ in range(2)]
    >>> same = Target((0, 1), np.array([[50, 0], [0, 50]]))
    >>> result = gum(pool, [same], Updating(), rng)
    >>> result.error, bool((result.pool[0] == result.pool[1]).all())
    (0.0, True)
    """
    best, errors = pool, []
    if not targets:
        return Updated(pool, ())
    step = SCHEDULES[updating.schedule]
    since_better, to_beat = 0, np.inf
    for sweep in range(updating.sweeps + 1):
        distances = [distance(pool, target) for target in targets]
        errors.append(float(np.mean(distances)) / len(pool[0]))
        if errors[-1] == min(errors):
            best = pool
        if errors[-1] < to_beat:
            since_better, to_beat = 0, (1 - updating.improvement) * errors[-1]
        else:
            since_better += 1
        if errors[-1] == 0 or since_better >= updating.patience or sweep == updating.sweeps:
            break
        order = generator.permutation(len(pool[0]))  # line 2
        pool = [column[order] for column in pool]
        for i in np.argsort(distances)[::-1]:  # line 3
            update(
                pool, targets[i], updating.strategy, sweep, updating.alpha * step(sweep), generator
            )
        progress((sweep + 1) / updating.sweeps)
    progress(1.0)
    return Updated(best, tuple(errors))


def update(
    pool: Pool,
    target: Target,
    strategy: Strategy,
    sweep: int,
    alpha: float,
    generator: np.random.Generator,
) -> None:
    """One update of the pool, in place: lines 4 to 9."""
    cells = _Cells(pool, target)
    if strategy == "mcf":
        source, destination, records = moves(
            cells.counts.reshape(target.counts.shape), target.counts
        )
        leaving = np.bincount(source, weights=records, minlength=target.counts.size)
        moved = cells.pick(
            np.unique(source), leaving[np.unique(source)].astype(np.int64), generator
        )
        cells.replace(moved, np.repeat(destination, records))
        return
    added, removed = step_counts(cells.counts, target.counts.ravel(), alpha)
    over = np.flatnonzero(removed)
    free = generator.permutation(cells.pick(over, removed[over], generator))  # line 7
    under = np.flatnonzero(added)
    duplicated = _part(added[under], DUPLICATES[strategy][sweep % 2], generator)
    duplicated[cells.counts[under] == 0] = 0
    sources = cells.pick(under, duplicated, generator)
    for column in pool:  # line 8
        column[free[: len(sources)]] = column[sources]
    cells.replace(free[len(sources) :], np.repeat(under, added[under] - duplicated))  # line 9


def step_counts(current: Counts, wanted: Counts, alpha: float) -> tuple[Counts, Counts]:
    """How many records to add to and to remove from each cell; (cells,), equal sums.

    >>> step_counts(np.array([8, 2, 0]), np.array([2, 5, 3]), 1.0)
    (array([0, 2, 3]), array([5, 0, 0]))
    """
    lacking = np.maximum(wanted - current, 0)
    limit = alpha * np.where(current > 0, current, wanted)  # line 5
    added = np.minimum(lacking, limit)
    total = round(float(added.sum()))
    removed = _removed(np.maximum(current - wanted, 0), current, total)
    return largest_remainder(added, total), largest_remainder(removed, total)


def _removed(excess: Counts, current: Counts, total: int) -> NDArray[np.float64]:
    """min(excess, beta current) with the beta that makes them add up to ``total`` (line 6).

    The sum is piecewise linear in beta, with a break where beta reaches excess / current.
    """
    over = np.flatnonzero(excess)
    removed = np.zeros(len(excess))
    if not len(over) or not total:
        return removed
    ratio = excess[over] / current[over]
    order = np.argsort(ratio)
    capped = np.concatenate([[0], np.cumsum(excess[over][order])])[:-1]
    growing = np.cumsum(current[over][order][::-1])[::-1]
    at = min(int(np.searchsorted(capped + ratio[order] * growing, total)), len(over) - 1)
    beta = (total - capped[at]) / growing[at]
    removed[over] = np.minimum(excess[over], beta * current[over])
    return removed


def _part(counts: Counts, share: float, generator: np.random.Generator) -> Counts:
    """A share of each count, rounded at random, in the mean exact."""
    return (
        np.floor(counts * share + generator.random(len(counts))).astype(np.int64).clip(max=counts)
    )


def _codes(pool: Pool, attributes: Attributes, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """The cell of each record; (records,)."""
    codes = pool[attributes[0]].astype(np.int32)
    for attribute, size in zip(attributes[1:], shape[1:], strict=True):
        codes *= size
        codes += pool[attribute]
    return codes


def distance(pool: Pool, target: Target) -> int:
    """L1 distance of the pool's marginal to its target, in records."""
    codes = _codes(pool, target.attributes, target.counts.shape)
    counts = np.bincount(codes, minlength=target.counts.size)
    return int(np.abs(counts - target.counts.ravel()).sum())


class _Cells:
    """The records of a pool, grouped by their cell in one marginal."""

    def __init__(self, pool: Pool, target: Target) -> None:
        self._pool, self._target = pool, target
        codes = _codes(pool, target.attributes, target.counts.shape)
        # A sparse matrix of one column a cell: its conversion is a counting sort in compiled code.
        one_a_record = csr_array(
            (np.ones(len(codes), dtype=np.int8), codes, np.arange(len(codes) + 1, dtype=np.int32)),
            shape=(len(codes), target.counts.size),
        )
        grouped = one_a_record.tocsc()
        self._records, self._starts = grouped.indices, grouped.indptr
        self.counts = np.diff(self._starts).astype(np.int64)

    def pick(self, cells: Counts, how_many: Counts, generator: np.random.Generator) -> Counts:
        """So many different records of each of these cells, at random.

        The pool is in random order, so a run of records from a random start is a random choice.
        """
        sizes = self.counts[cells]
        starts = np.repeat(self._starts[cells], how_many)
        first = np.repeat((generator.random(len(cells)) * sizes).astype(np.int64), how_many)
        rank = np.arange(len(starts)) - np.repeat(np.cumsum(how_many) - how_many, how_many)
        return np.asarray(
            self._records[starts + (first + rank) % np.repeat(sizes, how_many)], np.int64
        )

    def replace(self, records: Counts, cells: Counts) -> None:
        """Put these records into these cells; other attributes stay."""
        values = np.unravel_index(cells, self._target.counts.shape)
        for attribute, codes in zip(self._target.attributes, values, strict=True):
            self._pool[attribute][records] = codes
