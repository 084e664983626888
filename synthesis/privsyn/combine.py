"""Step 4b of PrivSyn: join selected pairs into larger marginals.

If all pairs among some attributes were selected, one marginal on all of them costs less noise than
the pairs apart, as long as it is small.

Pseudo-code (Algorithm 3 of the paper):

1. G = graph on the attributes with the selected pairs as edges;
2. for size from the largest clique of G down to 3:
3.     for each clique of that size with fewer than ``max_cells`` cells:
4.         accept it if it shares at most 2 attributes with all cliques accepted so far;
5. keep every pair that is inside no accepted clique.

Lines 3 and 4 are one depth-first search for each size, over attributes in the order of their number
of values.  The set of covered attributes only grows, so a clique refused once stays refused, and
accepting cliques as the search meets them gives the same as listing them all first; but the search
prunes by the number of cells and by the attributes shared.  A cap on its nodes keeps it quick where
even that is long.

Privacy.  Post-processing of the selection and the public domain.

Reference: Zhang et al. (2021), "PrivSyn: Differentially Private Data Synthesis", Algorithm 3.
Differs from the paper: the order within one size (attributes with few values first) and the cap are
ours; the paper leaves them open.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from saddlesynth.oracles.domain import Attributes, Domain

MAX_CELLS = 5000  # theta in the authors' code
MAX_SHARED = 2  # attributes that a clique may share with those accepted before it
MAX_NODES = 20_000  # of the search, for each size of clique


def combine(
    pairs: Sequence[Attributes],
    domain: Domain,
    *,
    max_cells: int = MAX_CELLS,
    max_nodes: int = MAX_NODES,
) -> list[Attributes]:
    """Join pairs into marginals on three or more attributes where Algorithm 3 does.

    pairs : the selected pairs, in any order
    max_cells : a joined marginal has fewer cells than this (theta in the paper)
    max_nodes : cap of the search for each size of clique; it matters on large dense graphs only

    Returns the accepted cliques, largest first, each ascending, then the pairs inside none of them,
    as given.  Every given pair is inside at least one of the marginals returned.

    >>> domain = Domain(("a", "b", "c", "d"), (2, 3, 4, 5))
    >>> combine([(0, 1), (0, 2), (1, 2), (2, 3)], domain)
    [(0, 1, 2), (2, 3)]
    >>> combine([(0, 1), (0, 2), (1, 2)], domain, max_cells=24)
    [(0, 1), (0, 2), (1, 2)]

    Raises
    ------
    ValueError
        A member of ``pairs`` is not two different attributes of the domain.
    """
    graph = _graph(pairs, domain)  # line 1
    order = sorted(graph, key=lambda a: (domain.sizes[a], a))
    search = _CliqueSearch(graph, domain.sizes, max_cells)
    for size in range(_largest(graph, domain.sizes, max_cells), 2, -1):  # line 2
        search.nodes_left = max_nodes
        search.grow((), order, size)  # lines 3 and 4
    inside = {pair for clique in search.accepted for pair in itertools.combinations(clique, 2)}
    left = [pair for pair in pairs if tuple(sorted(pair)) not in inside]  # line 5
    return search.accepted + left


@dataclass
class _CliqueSearch:
    """Depth-first search for cliques that Algorithm 3 accepts; candidates are smallest first."""

    graph: dict[int, set[int]]
    sizes: Sequence[int]
    max_cells: int
    nodes_left: int = 0
    covered: set[int] = field(default_factory=set)
    accepted: list[Attributes] = field(default_factory=list)

    def grow(self, clique: Attributes, candidates: list[int], size: int) -> None:
        """Accept what extends ``clique`` by attributes from ``candidates`` to ``size``."""
        if len(clique) == size:
            self.accepted.append(tuple(sorted(clique)))
            self.covered.update(clique)
            return
        missing = size - len(clique)
        for place, attribute in enumerate(candidates):
            self.nodes_left -= 1
            # Later candidates are no smaller, so if the next ones are too many cells, all are.
            cheapest = (*clique, *candidates[place : place + missing])
            if self.nodes_left < 0 or self._cells(cheapest) >= self.max_cells:
                return
            near = self.graph[attribute]
            longer = (*clique, attribute)
            rest = [other for other in candidates[place + 1 :] if other in near]
            if self._may_share(longer, rest, missing - 1):
                self.grow(longer, rest, size)

    def _cells(self, attributes: Attributes) -> int:
        return math.prod(self.sizes[a] for a in attributes)

    def _may_share(self, clique: Attributes, candidates: list[int], missing: int) -> bool:
        """Whether ``missing`` candidates can be added within the limit on shared attributes."""
        limit = MAX_SHARED - len(self.covered.intersection(clique))
        shared = len(self.covered.intersection(candidates))
        return limit >= 0 and len(candidates) - shared + min(shared, limit) >= missing


def _graph(pairs: Sequence[Attributes], domain: Domain) -> dict[int, set[int]]:
    graph: dict[int, set[int]] = {}
    for pair in pairs:
        if len(set(pair)) != 2 or len(pair) != 2 or not all(0 <= a < len(domain) for a in pair):
            raise ValueError(f"{pair} is not a pair of different attributes of {len(domain)}")
        first, second = pair
        graph.setdefault(first, set()).add(second)
        graph.setdefault(second, set()).add(first)
    return graph


def _largest(graph: dict[int, set[int]], sizes: Sequence[int], max_cells: int) -> int:
    """No acceptable clique has more attributes: k of them need k degrees of k - 1 or more."""
    degrees = sorted((len(near) for near in graph.values()), reverse=True)
    by_degree = sum(degree >= place for place, degree in enumerate(degrees))
    cells: Iterator[int] = itertools.accumulate(sorted(sizes[a] for a in graph), operator.mul)
    return min(by_degree, sum(product < max_cells for product in cells))
