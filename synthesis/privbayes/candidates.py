"""Which parents an attribute may have: usefulness, maximal sets of parents, a cap.

A noisy joint is *useful* if its cells hold, on average, theta times more records than noise:

    rows / cells  >=  theta * (mean absolute noise on a cell).

Binary attributes: the largest k for which joints of 2^(k+1) cells are useful when d - k of them are
measured; every attribute then has as many parents as there are, up to k.  Other domains: joints of
at most rows / (theta * noise) cells when d of them are measured, and the candidates of an attribute
are its *maximal* sets of parents, to which nothing can be added.  (Laplace noise of scale
2 m / epsilon on m tables gives the published n epsilon / ((d-k) 2^(k+2)) >= theta, and
n epsilon / (2 d theta).)

Too many candidates are capped by drawing maximal sets at random.  In wide tables few of them are
seen then, and good ones are missed; ``crowded`` says when, and ``growing`` gives the candidates of
a search in two selections a node (``structure.py``).

*Privacy.* Public or released inputs only: the domain, and a public or noisy number of rows.  Which
sets are drawn does not depend on the data.

Reference: Zhang et al. (2017), "PrivBayes: Private Data Release via Bayesian Networks", sections
4.5 and 5.2 (Algorithms 5, without hierarchies).  Differs: the mean absolute noise stands for the
Laplace scale (they are equal), so that the rule speaks of Gaussian noise too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.privbayes.spending import Share

CELLS_A_STEP = 1 << 22  # of all candidates that are scored together


@dataclass(frozen=True)
class Limits:
    """How large a joint may be, how many parents it may have, and how many a step may score."""

    cells: float
    parents: int
    candidates: int


Candidate = tuple[int, Attributes]


def cap(limits: Limits, left: int) -> int:
    """How many sets of parents are scored of each of the ``left`` attributes, at most."""
    scored = min(limits.candidates, int(CELLS_A_STEP / max(1.0, limits.cells)))
    return max(1, scored // left)


def varied(domain: Domain) -> list[int]:
    """Attributes that can depend on others: those of two values or more."""
    return [a for a, size in enumerate(domain.sizes) if size > 1]


def binary_degree(attributes: int, rows: float, share: Share, theta: float) -> int:
    """The largest useful number of parents of binary attributes; 0 if not even one is.

    >>> binary_degree(16, 21_574, Share(0.7, True, 2, 1.0), theta=4.0)
    6
    """
    for parents in range(attributes - 1, 0, -1):
        if rows / 2 ** (parents + 1) >= theta * share.mean_noise(attributes - parents):
            return parents
    return 0


def useful(domain: Domain, rows: float, share: Share, theta: float, most: Limits) -> Limits:
    """The limits that usefulness sets, within ``most``; share : the budget of the joints."""
    attributes = varied(domain)
    if not attributes:
        return most
    if all(domain.sizes[a] == 2 for a in attributes):
        degree = min(most.parents, binary_degree(len(attributes), rows, share, theta))
        return Limits(min(most.cells, 2 ** (degree + 1)), degree, most.candidates)
    cells = rows / (theta * share.mean_noise(len(attributes)))
    return Limits(min(most.cells, cells), most.parents, most.candidates)


def maximal_sets(
    attributes: Sequence[int], domain: Domain, room: float, most: int
) -> Iterator[Attributes]:
    """Sets of at most ``most`` attributes and ``room`` cells, to which nothing can be added.

    The empty set, if nothing has room.

    >>> domain = Domain(("a", "b", "c"), (2, 3, 4))
    >>> sorted(maximal_sets([0, 1, 2], domain, room=8, most=2))
    [(0, 1), (0, 2)]
    >>> list(maximal_sets([1, 2], domain, room=2, most=2))
    [()]
    """
    order = sorted(attributes, key=lambda a: domain.sizes[a])

    def grow(start: int, chosen: Attributes, cells: int) -> Iterator[Attributes]:
        if len(chosen) < most:
            for i in range(start, len(order)):
                larger = cells * domain.sizes[order[i]]
                if larger > room:
                    break  # the sizes that follow are no smaller
                yield from grow(i + 1, (*chosen, order[i]), larger)
        smallest = next((domain.sizes[a] for a in order if a not in chosen), None)
        if len(chosen) == most or smallest is None or cells * smallest > room:
            yield tuple(sorted(chosen))

    yield from grow(0, (), 1)


def random_chain(
    attributes: Sequence[int],
    domain: Domain,
    room: float,
    most: int,
    generator: np.random.Generator,
) -> list[Attributes]:
    """Sets from the empty to a maximal one: attributes in random order, each added if it has room.

    >>> random_chain([0, 1], Domain(("a", "b"), (2, 3)), 6, 1, np.random.default_rng(0))
    [(), (0,)]
    """
    chain: list[Attributes] = [()]
    for a in generator.permutation(np.asarray(attributes, dtype=np.intp)).tolist():
        larger = (*chain[-1], a)
        if len(larger) <= most and domain.cells(larger) <= room:
            chain.append(larger)
    return [tuple(sorted(chosen)) for chosen in chain]


def crowded(domain: Domain, limits: Limits) -> bool:
    """Whether, half-way through a search, there are more candidates than can be scored.

    A function of public and released numbers, as the limits are.
    """
    attributes = varied(domain)
    placed, left = attributes[: len(attributes) // 2], attributes[len(attributes) // 2 :]
    if not placed:
        return False
    most, room = cap(limits, len(left)), limits.cells / domain.sizes[left[0]]
    return len(list(islice(maximal_sets(placed, domain, room, limits.parents), most + 1))) > most


def single_parents(
    placed: Sequence[int], left: Sequence[int], domain: Domain, limits: Limits
) -> list[Candidate]:
    """All (attribute, one parent) with a joint that the limits allow."""
    if limits.parents == 0:
        return []
    return [
        (x, (parent,))
        for x in left
        for parent in placed
        if domain.cells((x, parent)) <= limits.cells
    ]


def candidates(
    placed: Sequence[int],
    left: Sequence[int],
    domain: Domain,
    limits: Limits,
    generator: np.random.Generator,
) -> list[Candidate]:
    """All (attribute, maximal set of parents) that one step of the search scores.

    placed : attributes that may be parents;  left : attributes that still have none
    """
    most = cap(limits, len(left))
    found: list[Candidate] = []
    for x in left:
        room = limits.cells / domain.sizes[x]
        sets = list(islice(maximal_sets(placed, domain, room, limits.parents), most + 1))
        if len(sets) > most:
            drawn = (
                random_chain(placed, domain, room, limits.parents, generator) for _ in range(most)
            )
            sets = [chain[-1] for chain in drawn]
        found += [(x, parents) for parents in dict.fromkeys(sets)]
    return found


def growing(
    pair: Candidate,
    placed: Sequence[int],
    domain: Domain,
    limits: Limits,
    generator: np.random.Generator,
) -> list[Candidate]:
    """An attribute with one parent, and sets that grow from it by one at a time, in random orders.

    As many as a step may score.
    """
    x, first = pair
    most = cap(limits, 1)
    others = [a for a in placed if a not in first]
    room, parents = limits.cells / domain.cells((x, *first)), limits.parents - len(first)
    found = {first: None}
    for _ in range(most):
        for chosen in random_chain(others, domain, room, parents, generator):
            if len(found) < most:
                found[tuple(sorted((*first, *chosen)))] = None
    return [(x, chosen) for chosen in found]
