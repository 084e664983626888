"""Distances between two coded tables: marginals, the workload of the FEM paper, range queries.

Everything here works on integer codes and a ``Domain``; nothing knows of schemas or files.  A
table's *codes* are an (n, d) integer array or a list of d arrays of n codes.  A code outside
``0 <= code < size`` is *invalid*: its row falls into one extra cell of every marginal that uses the
attribute, and into no range.  A marginal is normalised by the number of rows of its own table, so
the two tables may differ in size.

The total variation distance (TVD) of two marginals p and q is half the sum of |p - q| over cells:
the share of rows that would have to move to turn one into the other.

*Privacy.* These numbers are exact functions of real data: not differentially private.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.count import BLOCK_ROWS, count_block, split_tables, total_cells
from saddlesynth.synthesis.errors import InputError

Codes = NDArray[np.integer] | Sequence[NDArray[np.integer]]
Columns = list[NDArray[np.integer]]

MAX_CELLS = 1 << 24  # of one marginal; larger ones are not computed
CELLS_AT_ONCE = 1 << 23  # of all marginals counted in one pass
MAX_SUBSETS = 2_000_000  # attribute sets listed when a workload is drawn


class NotComputable(InputError):
    """A metric has no value on these tables; the message is the reason."""


# ---------------------------------------------------------------------- coded tables
def as_columns(codes: Codes, domain: Domain) -> Columns:
    """The table as one array an attribute, with every invalid code replaced by ``size``."""
    columns = list(codes.T) if isinstance(codes, np.ndarray) else list(codes)
    if len(columns) != len(domain):
        raise InputError(f"the table has {len(columns)} columns, the domain {len(domain)}")
    if not len(columns[0]):
        raise NotComputable("the table has no rows")
    return [_mark(column, size) for column, size in zip(columns, domain.sizes, strict=True)]


def _mark(column: NDArray[np.integer], size: int) -> NDArray[np.integer]:
    if 0 <= column.min() and column.max() <= size:
        return column
    valid = (column >= 0) & (column < size)
    return np.where(valid, column, size).astype(np.min_scalar_type(size))


# ---------------------------------------------------------------------- marginals
def fractions(
    real: Codes, synthetic: Codes, domain: Domain, marginals: Sequence[Attributes]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Both tables' marginals as flat vectors of fractions, in the order asked.

    The last cell, present only where an attribute has invalid codes in either table, holds the
    share of invalid rows.
    """
    for attributes in marginals:
        if (cells := domain.cells(attributes)) > MAX_CELLS:
            names = [domain.names[a] for a in attributes]
            raise NotComputable(f"marginal {names} has {cells:,} cells; at most {MAX_CELLS:,}")
    tables = [as_columns(codes, domain) for codes in (real, synthetic)]
    holes = tuple(
        any(table[a].max() == size for table in tables) for a, size in enumerate(domain.sizes)
    )
    wide = Domain(domain.names, tuple(s + h for s, h in zip(domain.sizes, holes, strict=True)))
    for some in _chunks(wide, marginals):
        counted = [_count(table, wide, some) for table in tables]
        for attributes, p, q in zip(some, *counted, strict=True):
            inner = tuple(slice(size) for size in domain.shape(attributes))
            extra = any(holes[a] for a in attributes)
            yield _fold(p, inner, extra), _fold(q, inner, extra)


def _count(
    table: Columns, domain: Domain, marginals: Sequence[Attributes]
) -> list[NDArray[np.int64]]:
    rows, cells = len(table[0]), total_cells(domain, marginals)
    total = np.zeros(cells, dtype=np.int64)
    step = max(BLOCK_ROWS, cells)  # adding up tables must not cost more than counting rows
    for start in range(0, rows, step):
        block = [column[start : start + step] for column in table]
        total += count_block(block, domain, marginals)
    return split_tables(total, domain, marginals)


def _fold(table: NDArray[np.int64], inner: tuple[slice, ...], extra: bool) -> NDArray[np.float64]:
    """Fractions of the valid cells, then (if any can be) of all invalid ones together."""
    rows = table.sum()
    valid = table[inner].ravel()
    counts = np.append(valid, rows - valid.sum()) if extra else valid
    return np.asarray(counts / rows, dtype=np.float64)


def _chunks(domain: Domain, marginals: Sequence[Attributes]) -> Iterator[list[Attributes]]:
    """Marginals in order, in groups that are small enough to be held together."""
    chunk: list[Attributes] = []
    held = 0
    for attributes in marginals:
        cells = domain.cells(attributes)
        if chunk and held + cells > CELLS_AT_ONCE:
            yield chunk
            chunk, held = [], 0
        chunk.append(attributes)
        held += cells
    if chunk:
        yield chunk


@dataclass(frozen=True)
class MarginalError:
    """How far one marginal is off: TVD, and the largest difference of a cell's fraction."""

    attributes: Attributes
    cells: int
    tvd: float
    max_error: float


def marginal_errors(
    real: Codes, synthetic: Codes, domain: Domain, marginals: Sequence[Attributes]
) -> list[MarginalError]:
    """The error of each marginal, in the order asked.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> real, synthetic = np.array([[0, 0], [1, 1]]), np.array([[0, 0], [0, 1]])
    >>> [error.tvd for error in marginal_errors(real, synthetic, domain, [(0,), (1,), (0, 1)])]
    [0.5, 0.0, 0.5]
    """
    errors = []
    pairs = fractions(real, synthetic, domain, marginals)
    for attributes, (p, q) in zip(marginals, pairs, strict=True):
        gap = np.abs(p - q)
        errors.append(
            MarginalError(
                attributes, domain.cells(attributes), float(gap.sum() / 2), float(gap.max())
            )
        )
    return errors


def k_way_tvd(real: Codes, synthetic: Codes, domain: Domain, k: int) -> NDArray[np.float64]:
    """TVD of every k-way marginal, in the order of ``itertools.combinations``."""
    marginals = list(combinations(range(len(domain)), k))
    return np.array([e.tvd for e in marginal_errors(real, synthetic, domain, marginals)])


def two_way_tvd(real: Codes, synthetic: Codes, domain: Domain) -> NDArray[np.float64]:
    """TVD of every pair of attributes; (d (d - 1) / 2,)."""
    return k_way_tvd(real, synthetic, domain, 2)


# ---------------------------------------------------------------------- FEM's workload
def random_marginals(domain: Domain, k: int, rows: int, count: int = 64) -> list[Attributes]:
    """The workload of the FEM authors: ``count`` fixed random k-way marginals.

    All k-subsets of the attributes, in order, whose number of cells is at most ``rows`` (of the
    real table); if there are more than ``count``, those at
    ``numpy.random.RandomState(0).choice(len(list), count, replace=False)``.
    """
    if not 1 <= k <= len(domain):
        raise NotComputable(f"there are no {k}-way marginals of {len(domain)} attributes")
    if math.comb(len(domain), k) > MAX_SUBSETS:
        raise NotComputable(
            f"{math.comb(len(domain), k):,} sets of {k} attributes; at most {MAX_SUBSETS:,} listed"
        )
    small = [m for m in combinations(range(len(domain)), k) if domain.cells(m) <= rows]
    if not small:
        raise NotComputable(f"every {k}-way marginal has more cells than there are real rows")
    if len(small) <= count:
        return small
    chosen = np.random.RandomState(0).choice(len(small), count, replace=False)
    return [small[i] for i in chosen]


@dataclass(frozen=True)
class WorkloadError:
    """Errors on the random k-way marginals.

    ``max_error`` is the largest |q(real) - q(synthetic)| over all cells, FEM's headline;
    ``tvd`` the mean TVD of the marginals.
    """

    k: int
    marginals: int
    queries: int
    max_error: float
    tvd: float


def workload_error(
    real: Codes, synthetic: Codes, domain: Domain, k: int, count: int = 64
) -> WorkloadError:
    """Error on the workload of ``random_marginals``; ``NotComputable`` where there is none."""
    rows = len(as_columns(real, domain)[0])
    errors = marginal_errors(real, synthetic, domain, random_marginals(domain, k, rows, count))
    return WorkloadError(
        k,
        len(errors),
        sum(e.cells for e in errors),
        max(e.max_error for e in errors),
        float(np.mean([e.tvd for e in errors])),
    )


# ---------------------------------------------------------------------- range queries
@dataclass(frozen=True)
class RangeQueries:
    """Conjunctions of closed intervals of codes; three arrays of shape (queries, 3)."""

    attributes: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def range_queries(domain: Domain, count: int = 1000, seed: int = 0) -> RangeQueries:
    """Random queries on 3 distinct attributes, with an interval on each.

    The two ends of an interval are uniform on the attribute's codes, then put in order.
    """
    if len(domain) < 3:
        raise NotComputable(f"range queries need 3 attributes; the table has {len(domain)}")
    generator = np.random.default_rng(seed)
    attributes = np.array(
        [generator.choice(len(domain), 3, replace=False) for _ in range(count)], dtype=np.int64
    )
    sizes = np.array(domain.sizes)[attributes]
    ends = np.sort(generator.integers(0, sizes, size=(2, count, 3)), axis=0)
    return RangeQueries(attributes, ends[0], ends[1])


def answer_ranges(codes: Codes, domain: Domain, queries: RangeQueries) -> NDArray[np.float64]:
    """The share of rows inside each query's box; (queries,)."""
    table = as_columns(codes, domain)
    rows = len(table[0])
    inside = np.zeros(len(queries.attributes), dtype=np.int64)
    for start in range(0, rows, BLOCK_ROWS):
        block = [column[start : start + BLOCK_ROWS] for column in table]
        for i, (attributes, low, high) in enumerate(
            zip(queries.attributes, queries.low, queries.high, strict=True)
        ):
            mask = np.ones(len(block[0]), dtype=bool)
            for a, least, most in zip(attributes, low, high, strict=True):
                mask &= (block[a] >= least) & (block[a] <= most)
            inside[i] += np.count_nonzero(mask)
    return inside / rows


def range_errors(
    real: Codes, synthetic: Codes, domain: Domain, count: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """|share of real rows - share of synthetic rows| for each random range query."""
    queries = range_queries(domain, count, seed)
    return np.abs(answer_ranges(real, domain, queries) - answer_ranges(synthetic, domain, queries))
