"""Three tiny public games, small enough to check by hand.

``coin``       one attribute with two values; three heads and one tail.  The data player matches the
               data by playing heads three times out of four: value 0.
``colors``     one attribute with three values, so that a mix of records is a point of a triangle.
               Half red, a third green, a sixth blue: value 0, at that point only.
``forbidden``  two binary attributes and a combination that no record may have, although one in
               eight of the data has it.  That query can never be answered: value 1/8.

The records are invented and public; a ``Curator`` built on them may show exact numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import Answers, PayoffMatrix, all_records, payoff_matrix
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.queries import marginal_counts


@dataclass(frozen=True, eq=False)
class Toy:
    """A public table with its workload and the known value of its game.

    ``labels[a]`` are the names of attribute a's values.  It is a ``PrivateRecords``: a curator can
    be put in front of it.
    """

    name: str
    story: str
    domain: Domain
    labels: tuple[tuple[str, ...], ...]
    records: NDArray[np.intp]
    workload: QueryClass
    value: float
    impossible: tuple[Mapping[int, int], ...] = ()

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact marginal tables."""
        return marginal_counts(self.domain, marginals, self.records)

    def truth(self) -> Answers:
        """The data's answers to the workload."""
        return self.workload.answers_on(self.records)

    def matrix(self) -> PayoffMatrix:
        """The whole game; the data player's strategies are the possible records."""
        playable = all_records(self.domain, self.impossible)
        return payoff_matrix(self.workload, self.truth(), playable, self.labels)


def _toy(
    name: str,
    story: str,
    labels: Mapping[str, Sequence[str]],
    counts: Mapping[tuple[int, ...], int],
    value: float,
    impossible: tuple[Mapping[int, int], ...] = (),
) -> Toy:
    domain = Domain(tuple(labels), tuple(len(values) for values in labels.values()))
    records = np.array([r for r, times in counts.items() for _ in range(times)], dtype=np.intp)
    workload = QueryClass.of(domain, [tuple(range(len(domain)))])
    names = tuple(tuple(values) for values in labels.values())
    return Toy(name, story, domain, names, records, workload, value, impossible)


TOYS: dict[str, Toy] = {
    toy.name: toy
    for toy in (
        _toy(
            "coin",
            "Four tosses of a coin: three heads, one tail.",
            {"face": ("heads", "tails")},
            {(0,): 3, (1,): 1},
            value=0.0,
        ),
        _toy(
            "colors",
            "Six marbles: three red, two green, one blue.",
            {"color": ("red", "green", "blue")},
            {(0,): 3, (1,): 2, (2,): 1},
            value=0.0,
        ),
        _toy(
            "forbidden",
            "Eight people; one child is said to have a job, which no synthetic child may have.",
            {"age": ("child", "adult"), "job": ("no", "yes")},
            {(0, 0): 3, (0, 1): 1, (1, 0): 1, (1, 1): 3},
            value=1 / 8,
            impossible=({0: 0, 1: 1},),
        ),
    )
}


def toy(name: str) -> Toy:
    """A toy by name; ``ValueError`` lists the names there are.

    >>> toy("colors").value
    0.0
    """
    if name not in TOYS:
        raise ValueError(f"toy {name!r} is unknown; there are: {', '.join(TOYS)}")
    return TOYS[name]
