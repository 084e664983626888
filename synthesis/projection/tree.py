"""A p0 near the goal: the tree of the strongest noisy pairs.

From independent attributes the pool follows the field in small steps only where the dependence is
strong and the noise small (many rows, wide tables), and smoothness towards them costs a lot of fit.
A tree of pairs explains most of it at once: it is a field too, with potentials log p_ab / (p_a p_b)
on the cells of its pairs, and records are drawn from it exactly, parents first.  It takes the place
of the independent p0 there.

Privacy: public inputs only (noisy marginals).  Reference: Chow and Liu (1968).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.projection.entropic import CLEAR, Stage, Target, redraw, stage_of
from saddlesynth.synthesis.projection.field import FLOOR
from saddlesynth.synthesis.projection.pool import Floats


def tree_start(stage: Stage, target: Target, generator: np.random.Generator) -> Stage:
    """The tree as p0, with as many records as ``stage``, the independent start, has."""
    shares = [np.maximum(s, FLOOR) / np.maximum(s, FLOOR).sum() for s in stage.field.shares]
    potentials = pair_potentials(target, shares)
    worth = {pair: _information(theta, pair, shares) for pair, theta in potentials.items()}
    parents = strongest_tree(len(shares), worth)
    records = np.empty_like(stage.pool.records)
    values = np.zeros(len(target.cells))
    parts = dict(zip(target.cells.marginals, target.cells.split(values), strict=True))  # views
    for child, parent in parents:
        chances = np.log(shares[child])[None, :]
        if parent is not None:
            pair = (min(parent, child), max(parent, child))
            parts[pair][...] = potentials[pair]
            chances = chances + (potentials[pair] if parent < child else potentials[pair].T)
        before = records[:, parent] if parent is not None else np.zeros(len(records), dtype=int)
        records[:, child] = _draw(chances, before, generator)
    field = replace(stage.field, potentials=values, prior=values)
    return redraw(stage_of(field, target.cells, records), len(records), 1, generator)


def pair_potentials(target: Target, shares: list[Floats]) -> dict[Attributes, Floats]:
    """log p_ab / (p_a p_b) of each measured pair, 0 where noise could explain the cell."""
    tables = target.cells.split(target.fractions)
    sigmas = target.cells.split(target.sigmas)
    potentials: dict[Attributes, Floats] = {}
    for attributes, table, sigma in zip(target.cells.marginals, tables, sigmas, strict=True):
        if len(attributes) == 2:
            alone = np.outer(*(shares[a] for a in attributes))
            clear = np.abs(table - alone) > CLEAR * sigma
            least = np.minimum(alone, sigma)  # a cell told to be empty has at most about its noise
            potentials[attributes] = np.where(
                clear, np.log(np.maximum(table, least)) - np.log(alone), 0.0
            )
    return potentials


def _information(theta: Floats, pair: Attributes, shares: list[Floats]) -> float:
    """Mutual information of a pair with these potentials, in nats."""
    joint = np.outer(*(shares[a] for a in pair)) * np.exp(theta)
    return float(np.sum(joint / joint.sum() * theta))


def strongest_tree(attributes: int, worth: dict[Attributes, float]) -> list[tuple[int, int | None]]:
    """(attribute, parent) with parents first; ``None`` for the root of each connected part.

    >>> strongest_tree(3, {(0, 1): 0.1, (0, 2): 0.5, (1, 2): 0.4})
    [(0, None), (2, 0), (1, 2)]
    """
    parents: list[tuple[int, int | None]] = []
    reach: dict[int, tuple[float, int | None]] = {a: (0.0, None) for a in range(attributes)}
    while reach:  # Prim's algorithm
        child = max(reach, key=lambda a: (reach[a][0], -a))
        parents.append((child, reach.pop(child)[1]))
        for other in reach:
            gain = worth.get((min(child, other), max(child, other)), 0.0)
            if gain > reach[other][0]:
                reach[other] = (gain, child)
    return parents


def _draw(
    chances: Floats, rows: NDArray[np.integer], generator: np.random.Generator
) -> NDArray[np.intp]:
    """A column for each of the rows of log probabilities asked for."""
    mass = np.exp(chances - chances.max(axis=1, keepdims=True)).cumsum(axis=1)
    points = generator.random(len(rows)) * mass[rows, -1]
    return np.asarray((mass[rows] <= points[:, None]).sum(axis=1).clip(0, chances.shape[1] - 1))
