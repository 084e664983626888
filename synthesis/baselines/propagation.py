"""Fit a graphical model again after every new marginal, in NumPy, from where it was.

The model is p(x) in proportion to exp(sum over measured marginals m of theta_m(x_m)).  Wanted are
the theta with the least  f = sum over m of || rows p_m - y_m ||^2 / (2 sigma_m^2):

 1  theta_m <- theta_m - step (rows p_m - y_m) / sigma_m^2            mirror descent
 2  p's tables on the nodes of the junction tree, by propagation: messages up the tree, and down
 3  accepted if f falls by half of what line 1 promises: step up by 5 %; else not, and step halved
 4  until ten steps gain less than ``GAIN`` of f, or ``iterations`` are over

``mbi`` solves the same problem (``graphical.py``); but it compiles a program for each new set of
marginals, which takes a hundred times longer than these steps, and AIM has a new set every round.

Privacy.  Post-processing.

Reference: McKenna, Sheldon, Miklau (2019), "Graphical-model based estimation and inference for
differential privacy", algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.baselines.graphical import MAX_MODEL_SIZE, Graphical, check_tree
from saddlesynth.synthesis.baselines.margins import added, sums

Table = NDArray[np.float64]
ITERATIONS = 300
GAIN = 0.005
GROWTH = 1.05
TINY = 1e-300  # messages are kept above it, so that they can be divided by


class Tree:
    """A junction tree; ``nodes`` in an order in which each hangs on one before it."""

    def __init__(self, domain: Domain, nodes: Sequence[Attributes]) -> None:
        self.domain = domain
        self.nodes = tuple(nodes)
        self.parents, self.shared = [0], [Attributes()]
        before = set(self.nodes[0])
        for node in self.nodes[1:]:
            shared = tuple(a for a in node if a in before)
            self.parents.append(self.home(shared))
            self.shared.append(shared)
            before |= set(node)

    def home(self, attributes: Attributes) -> int:
        """The first node that contains the attributes."""
        return next(i for i, node in enumerate(self.nodes) if set(attributes) <= set(node))

    def beliefs(self, logarithms: Sequence[Table]) -> list[Table]:
        """Line 2: each node's table of the distribution that is their product; sums to 1.

        logarithms : one table a node, up to a constant
        """
        tables = [own - own.max() for own in logarithms]
        for table in tables:
            np.exp(table, out=table)
        for i in range(len(tables) - 1, 0, -1):  # up: what hangs on a node weighs it
            message = self.onto(i, tables[i], self.shared[i])
            message = np.maximum(message / message.max(), TINY)
            tables[i] /= self.spread(i, message, self.shared[i])
            above = self.parents[i]
            tables[above] *= self.spread(above, message, self.shared[i])
        tables[0] /= tables[0].sum()
        for i in range(1, len(tables)):  # down: a node takes what is above as it is
            wanted = self.onto(self.parents[i], tables[self.parents[i]], self.shared[i])
            held = np.maximum(self.onto(i, tables[i], self.shared[i]), TINY)
            tables[i] *= self.spread(i, wanted / held, self.shared[i])
        return tables

    def onto(self, i: int, table: Table, attributes: Attributes) -> Table:
        """A table of node ``i``, summed onto some of its attributes; ascending."""
        others = tuple(k for k, a in enumerate(self.nodes[i]) if a not in attributes)
        return np.asarray(table.sum(axis=others))

    def spread(self, i: int, table: Table, attributes: Attributes) -> Table:
        """A table on some of the attributes of node ``i``, in a shape that broadcasts over it."""
        sizes = self.domain.sizes
        return table.reshape([sizes[a] if a in attributes else 1 for a in self.nodes[i]])


@dataclass(frozen=True, eq=False)
class Propagated:
    """Where the descent stopped: the model, and what the next descent starts from."""

    model: Graphical
    potentials: Mapping[Attributes, Table]
    step: float


@dataclass(frozen=True, eq=False)
class _Point:
    potentials: dict[Attributes, Table]
    tables: list[Table]
    marginals: dict[Attributes, Table]
    gradients: dict[Attributes, Table]
    loss: float


def propagate(
    domain: Domain,
    measured: Sequence[Measurement],
    rows: float,
    before: Propagated | None = None,
    *,
    limit: float = MAX_MODEL_SIZE,
    iterations: int = ITERATIONS,
) -> Propagated:
    """Lines 1 to 4, from where ``before`` stopped.

    measured : noisy marginals with ascending attributes, one of them not empty
    rows : number of rows, at least 1

    Raises
    ------
    SizeError
        The junction tree would be larger than ``limit`` MiB; nothing was built.
    """
    merged = merge(measured)
    tree = Tree(domain, check_tree(domain, [m.attributes for m in merged], limit))
    told = dict(before.potentials) if before else {}
    start = {m.attributes: told.get(m.attributes, np.zeros(m.counts.shape)) for m in merged}
    at = _point(tree, merged, rows, start)
    step = 2 / (rows * sum(m.sigma**-2 for m in merged))
    if before:
        step = max(step, before.step)
    losses = [at.loss]
    while len(losses) <= iterations and not _settled(losses):
        theta = {m: at.potentials[m] - step * at.gradients[m] for m in at.potentials}
        new = _point(tree, merged, rows, theta)
        promised = step * sum(
            float((at.gradients[m] * (at.marginals[m] - new.marginals[m])).sum()) for m in theta
        )
        if at.loss - new.loss >= promised / 2:  # line 3
            at, step = new, step * GROWTH
        else:
            step /= 2
        losses.append(at.loss)
    return Propagated(Graphical(domain, tree.nodes, tuple(at.tables)), at.potentials, step)


def merge(measured: Sequence[Measurement]) -> list[Measurement]:
    """Measurements of the same marginal as one: their mean, weighted by inverse variance."""
    groups: dict[Attributes, list[Measurement]] = {}
    for m in measured:
        if m.attributes:  # the number of rows is given
            groups.setdefault(m.attributes, []).append(m)
    merged = []
    for attributes, group in groups.items():
        weights = np.array([max(m.sigma, 1e-3) ** -2 for m in group])
        counts = sum(w * m.counts for w, m in zip(weights, group, strict=True)) / weights.sum()
        rho = sum(m.rho for m in group)
        merged.append(Measurement(attributes, counts, float(weights.sum() ** -0.5), rho))
    return merged


def _point(
    tree: Tree, measured: Sequence[Measurement], rows: float, potentials: dict[Attributes, Table]
) -> _Point:
    """Line 2, and the loss with its gradient there."""
    inside: list[list[Attributes]] = [[] for _ in tree.nodes]
    for m in measured:
        inside[tree.home(m.attributes)].append(m.attributes)
    logarithms = [np.zeros(tree.domain.shape(node)) for node in tree.nodes]
    for node, own, logarithm in zip(tree.nodes, inside, logarithms, strict=True):
        if own:
            logarithm += added(node, {m: potentials[m] for m in own})
    tables = tree.beliefs(logarithms)
    shares: dict[Attributes, Table] = {}
    for node, own, table in zip(tree.nodes, inside, tables, strict=True):
        shares |= sums(table, node, own)
    marginals, gradients, loss = {}, {}, 0.0
    for m in measured:
        marginals[m.attributes] = rows * shares[m.attributes]
        error = (marginals[m.attributes] - m.counts) / m.sigma
        gradients[m.attributes] = error / m.sigma
        loss += float((error**2).sum()) / 2
    return _Point(potentials, tables, marginals, gradients, loss)


def _settled(losses: Sequence[float]) -> bool:
    """Line 4."""
    return len(losses) > 10 and losses[-11] - losses[-1] <= GAIN * losses[-1]
