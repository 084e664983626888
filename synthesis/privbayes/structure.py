"""The network, chosen by the exponential mechanism: one attribute and its parents at a time.

 1  the first attribute is drawn at random; it has no parents
 2  for i = 2 .. d:
 3      candidates = (X, parents) with X not yet placed, parents among the placed ones
 4      pick one by the exponential mechanism on its score, with an equal part of the budget

=====  ======================================================================  ==============
score  what it says                                                            where
=====  ======================================================================  ==============
R      total variation distance from independence; any domain, cheap           ``independence``
I      mutual information; its sensitivity is large                            ``information``
F      distance to the largest mutual information; binary attributes           ``max_information``
=====  ======================================================================  ==============

All are in counts, so that nothing depends on a private number of rows.

Privacy.  d - 1 selections; each is epsilon-DP, and epsilon^2 / 8 in zCDP.  A step in which nothing
can have parents selects, and costs, nothing: that follows from public and released numbers.

Reference: Zhang et al. (2017), "PrivBayes", Algorithms 2 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from saddlesynth.games.privacy.curator import Curator, Score
from saddlesynth.games.privacy.independence import DependenceScore
from saddlesynth.games.privacy.information import InformationScore
from saddlesynth.games.privacy.max_information import MaximumInformationScore
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.privbayes.candidates import Candidate, Limits, candidates, varied
from saddlesynth.synthesis.privbayes.network import Network, Node
from saddlesynth.synthesis.privbayes.spending import Share

CELLS_KEPT = 1 << 24  # of exact tables, which later steps may score again

ScoreName = Literal["R", "I", "F"]
MakeScore = Callable[[Sequence[Candidate]], Score]


def score_maker(name: ScoreName, domain: Domain, rows: float, public: bool) -> MakeScore:
    """How candidates are scored; rows : public or noisy number of rows, used by I alone."""

    def binary(candidate: Candidate) -> bool:
        attribute, parents = candidate
        return domain.sizes[attribute] == 2 or domain.cells(parents) <= 2

    def make(found: Sequence[Candidate]) -> Score:
        if name == "R":
            return DependenceScore(tuple(found))
        if name == "F":
            return MaximumInformationScore(tuple(found))
        return InformationScore(tuple(found), max(1, round(rows)), public, all(map(binary, found)))

    return make


def learn(
    curator: Curator,
    limits: Limits,
    score: MakeScore,
    share: Share,
    generator: np.random.Generator,
    progress: Callable[[str, float], None],
) -> Network:
    """Choose a network; spends ``share``, or less where attributes cannot have parents."""
    domain = curator.domain
    left = varied(domain)
    network = [Node(a) for a in range(len(domain)) if domain.sizes[a] == 1]
    if not left:
        return tuple(network)
    placed = [left.pop(int(generator.integers(len(left))))]  # line 1
    network.append(Node(placed[0]))
    steps = len(left)
    for step in range(steps):  # line 2
        found = candidates(placed, left, domain, limits, generator)  # line 3
        picked = 0
        if any(parents for _, parents in found):
            label = f"network, step {step + 1} of {steps}"
            keep = sum(domain.cells((x, *p)) for x, p in found) * steps <= CELLS_KEPT
            picked = curator.select(  # line 4
                label, score(found), share.selection(steps), keep=keep
            )
        attribute, parents = found[picked]
        network.append(Node(attribute, parents))
        placed.append(attribute)
        left.remove(attribute)
        progress("network", (step + 1) / steps)
    return tuple(network)
