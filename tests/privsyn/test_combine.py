"""Joining pairs into cliques, against Algorithm 3 written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.privsyn.combine import combine


def as_written(pairs: list[Attributes], domain: Domain, max_cells: int) -> list[Attributes]:
    """Every clique of every size, largest first, few values first; then the acceptance test."""
    edges = {frozenset(pair) for pair in pairs}
    order = sorted(range(len(domain)), key=lambda a: (domain.sizes[a], a))
    accepted: list[Attributes] = []
    covered: set[int] = set()
    for size in range(len(domain), 2, -1):
        for clique in itertools.combinations(order, size):
            if not all(frozenset(p) in edges for p in itertools.combinations(clique, 2)):
                continue
            if domain.cells(clique) < max_cells and len(covered.intersection(clique)) <= 2:
                accepted.append(tuple(sorted(clique)))
                covered.update(clique)
    inside = {p for c in accepted for p in itertools.combinations(c, 2)}
    return accepted + [pair for pair in pairs if pair not in inside]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Domain, list[Attributes]]:
    sizes = draw(st.lists(st.integers(1, 9), min_size=2, max_size=8))
    domain = Domain(tuple(map(str, range(len(sizes)))), tuple(sizes))
    every = list(itertools.combinations(range(len(sizes)), 2))
    keep = draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    return domain, [pair for pair, kept in zip(every, keep, strict=True) if kept]


@given(graphs(), st.sampled_from([0, 20, 100, 1000]))
def test_search_gives_what_the_algorithm_gives(
    graph: tuple[Domain, list[Attributes]], max_cells: int
) -> None:
    domain, pairs = graph
    assert combine(pairs, domain, max_cells=max_cells) == as_written(pairs, domain, max_cells)


@given(graphs())
def test_every_pair_is_inside_a_marginal(graph: tuple[Domain, list[Attributes]]) -> None:
    domain, pairs = graph
    marginals = combine(pairs, domain, max_cells=200)
    assert all(any(set(pair) <= set(m) for m in marginals) for pair in pairs)
    assert all(domain.cells(m) < 200 for m in marginals if len(m) > 2)


def test_a_clique_may_share_two_attributes_and_not_three() -> None:
    domain = Domain(tuple("abcdef"), (2, 2, 2, 2, 2, 2))
    four = list(itertools.combinations((0, 1, 2, 3), 2))
    assert combine([*four, (2, 4), (3, 4)], domain) == [(0, 1, 2, 3), (2, 3, 4)]
    wanted = [*four, (1, 4), (2, 4), (3, 4)]  # (1, 2, 3, 4) would share three
    assert combine(wanted, domain)[:2] == [(0, 1, 2, 3), (1, 2, 4)]


@pytest.mark.parametrize("most_values", [2, 10, 100])
@pytest.mark.parametrize("density", [0.5, 0.9, 1.0])
def test_dense_graphs_of_a_hundred_attributes_are_searched_up_to_the_cap(
    most_values: int, density: float
) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, most_values + 1, 100)
    domain = Domain(tuple(map(str, range(100))), tuple(sizes.tolist()))
    pairs = [p for p in itertools.combinations(range(100), 2) if rng.random() < density]
    marginals = combine(pairs, domain)
    inside = {p for m in marginals for p in itertools.combinations(m, 2)}
    assert inside.issuperset(pairs)
    assert marginals == combine(pairs, domain)


def test_a_pair_outside_the_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="not a pair"):
        combine([(0, 2)], Domain(("a", "b"), (2, 2)))
