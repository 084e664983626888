"""Bayesian networks: every attribute with the parents it depends on, parents first.

*Privacy.* Nothing here sees data.  A network that is given counts as public; one that was chosen
from the data must have been charged for (``structure.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.text_files import read_text


@dataclass(frozen=True)
class Node:
    """An attribute and its parents, as positions; parents ascend."""

    attribute: int
    parents: Attributes = ()

    @property
    def family(self) -> Attributes:
        """The attribute and its parents, ascending."""
        return tuple(sorted((self.attribute, *self.parents)))


Network = tuple[Node, ...]


def joints(network: Sequence[Node]) -> list[Attributes]:
    """The marginals to measure: families that are part of no other.

    The others are their sums.  Of a binary network in which node i has min(k, i - 1) parents these
    are the d - k joints that the paper measures.

    >>> joints([Node(2), Node(0, (2,)), Node(1, (0, 2))])
    [(0, 1, 2)]
    """
    families = list(dict.fromkeys(node.family for node in network))
    sets = [set(family) for family in families]
    return [f for f in families if not any(set(f) < other for other in sets)]


def given_network(given: Mapping[str, Sequence[str]] | str | Path, domain: Domain) -> Network:
    """A network from a mapping {column: its parents}, or from a JSON file that holds one.

    Columns that are not named have no parents.  Columns with one value are never parents.

    >>> given_network({"b": ["a"]}, Domain(("b", "a"), (2, 2)))
    (Node(attribute=1, parents=()), Node(attribute=0, parents=(1,)))

    Raises
    ------
    InputError
        The file cannot be read, a name is no column, or the columns depend on each other in a ring.
    """
    parents_of = _mapping(given)
    known = list(domain.names)
    for name in {*parents_of, *(parent for parents in parents_of.values() for parent in parents)}:
        if name not in known:
            raise InputError(unknown("column", name, known, "network has an unknown"))
    graph = {name: list(parents_of.get(name, ())) for name in known}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        ring = " -> ".join(reversed(error.args[1]))
        raise InputError(f"network has a ring, {ring}; parents must come first") from None
    return tuple(Node(known.index(name), _positions(graph[name], domain)) for name in order)


def _mapping(given: Any) -> dict[str, list[str]]:
    if isinstance(given, str | Path):
        path = Path(given)
        text = read_text(path, f"network {path}", "a JSON file of columns and their parents")
        try:
            given = json.loads(text)
        except ValueError as error:
            raise InputError(f"network {path} is not JSON ({error})") from error
    if not isinstance(given, Mapping) or not all(
        isinstance(parents, list | tuple) and all(isinstance(p, str) for p in parents)
        for parents in given.values()
    ):
        raise InputError(
            'network must map columns to lists of their parents, as in {"income": ["age", "sex"]}'
        )
    return {str(name): list(parents) for name, parents in given.items()}


def _positions(names: Sequence[str], domain: Domain) -> Attributes:
    found = domain.positions(dict.fromkeys(names))
    return tuple(sorted(a for a in found if domain.sizes[a] > 1))


def by_name(network: Sequence[Node], domain: Domain) -> dict[str, list[str]]:
    """The mapping {column: its parents}, parents first; what ``given_network`` reads.

    >>> by_name([Node(1), Node(0, (1,))], Domain(("b", "a"), (2, 2)))
    {'a': [], 'b': ['a']}
    """
    return {domain.names[n.attribute]: [domain.names[p] for p in n.parents] for n in network}
