"""Marginals as sums of residuals: the algebra that HDMM and residual planning share.

The *residual* of a table M on a subset T of its attributes is M summed onto T, minus its means
along every axis (``games/privacy/residuals.py``).  Residuals of different subsets are orthogonal,
and

    M = sum over subsets T of  residual_T / cells(A without T), spread evenly over A without T.

If the residual on T was measured with independent noise of variance v_T on each cell, a cell of the
marginal on A has variance (cells of A without T: N; product of (n - 1)/n over T: p)

    sum over subsets T of  v_T p_T / N_{A without T}^2,

the same for all its cells.  Attributes with one value have no residual and are left out of every T.
Whole tables are never built on more than one marginal at a time.

Privacy.  Public inputs, or post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.residuals import scaled_residual
from saddlesynth.oracles.domain import Attributes, Domain

Table = NDArray[np.float64]


def subsets(attributes: Attributes, domain: Domain) -> list[Attributes]:
    """All T in a marginal: subsets of its attributes with at least two values; () first.

    >>> subsets((0, 1), Domain(("a", "b"), (2, 1)))
    [(), (0,)]
    """
    own = [a for a in attributes if domain.sizes[a] > 1]
    return [t for size in range(len(own) + 1) for t in itertools.combinations(own, size)]


def closure(marginals: Iterable[Attributes], domain: Domain) -> list[Attributes]:
    """Every T in any of the marginals, small ones first."""
    found = {t for m in marginals for t in subsets(tuple(sorted(m)), domain)}
    return sorted(found, key=lambda t: (len(t), t))


def residual(table: Table, attributes: Attributes, part: Attributes) -> Table:
    """The residual on ``part`` of a table whose axes are ``attributes``, both ascending."""
    others = tuple(i for i, a in enumerate(attributes) if a not in part)
    own = np.asarray(table.sum(axis=others), dtype=np.float64)
    return np.asarray(scaled_residual(own) / own.size)


def assemble(
    residuals: Mapping[Attributes, Table], attributes: Attributes, domain: Domain
) -> Table:
    """The marginal on ``attributes`` (ascending) from the residuals of all its subsets.

    >>> domain = Domain(("a", "b"), (2, 3))
    >>> table = np.array([[5.0, 0.0, 1.0], [2.0, 2.0, 2.0]])
    >>> parts = {t: residual(table, (0, 1), t) for t in subsets((0, 1), domain)}
    >>> bool(np.allclose(assemble(parts, (0, 1), domain), table))
    True
    """
    table = np.zeros(domain.shape(attributes))
    for part in subsets(attributes, domain):
        shape = [domain.sizes[a] if a in part else 1 for a in attributes]
        table += residuals[part].reshape(shape) * (domain.cells(part) / domain.cells(attributes))
    return table


def shrinkage(part: Attributes, domain: Domain) -> float:
    """p: the share of independent noise that lies in the residual on ``part``."""
    return math.prod((domain.sizes[a] - 1) / domain.sizes[a] for a in part)


def shrinkage_matrix(
    marginals: Sequence[Attributes], parts: Sequence[Attributes], domain: Domain
) -> Any:
    """Variance of a cell of each marginal for unit noise on each residual.

    A sparse matrix (marginals, parts); subsets that are not among the parts are taken as known.
    """
    from scipy.sparse import csr_array

    place = {part: i for i, part in enumerate(parts)}
    entries = [
        (row, place[part], shrinkage(part, domain) * (domain.cells(part) / cells) ** 2)
        for row, attributes in enumerate(marginals)
        for cells in (domain.cells(attributes),)
        for part in subsets(attributes, domain)
        if part in place
    ]
    rows, columns, values = zip(*entries, strict=True) if entries else ((), (), ())
    return csr_array((values, (rows, columns)), shape=(len(marginals), len(parts)))
