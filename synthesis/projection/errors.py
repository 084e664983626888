"""Standard errors of projected marginals, by a parametric bootstrap.

The fitted distribution plays the truth.  A replicate measures its marginals with fresh noise of the
same size, begins at the p0 of these, fits anew at the same temperature, and compares.  The root
mean square difference over the replicates holds both what noise got through, p0's own included, and
what smoothing took away.

A replicate works on a sample of the pool, which is what makes it cheap; its noise-free part is the
same sample, so the sample's own error cancels.  Cells of similar share in the same marginal pool
their squared differences, so that few replicates tell enough, and a cell that no record fell into
has the error of the smallest cells that some did.  No cell is worse off than its noise before.

Privacy: post-processing of released numbers; no cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from saddlesynth.synthesis.noisy import fractions
from saddlesynth.synthesis.projection.entropic import Stage, Target, improve, redraw
from saddlesynth.synthesis.projection.field import FLOOR
from saddlesynth.synthesis.projection.pool import Cells, Floats

REPLICATES, RECORDS, ITERATIONS = 6, 10_000, 25
SIMILAR = 2.0  # cells whose shares differ by less than about this factor pool their differences


def standard_errors(
    stage: Stage,
    target: Target,
    temperature: float,
    generator: np.random.Generator,
    progress: Callable[[float], None] = lambda done: None,
) -> Floats:
    """Standard error of every fitted cell, as a fraction of the rows; (cells,)."""
    stage = redraw(stage, min(RECORDS, len(stage.weights)), 0, generator)
    squares = np.zeros(len(target.cells))
    for replicate in range(REPLICATES):
        noise = target.sigmas * generator.standard_normal(len(target.sigmas))
        again = replace(target, fractions=stage.marginals + noise)
        fitted = improve(_from_its_own_p0(stage, again), again, temperature, ITERATIONS)
        squares += (fitted.marginals - stage.marginals) ** 2 / REPLICATES
        progress((replicate + 1) / REPLICATES)
    shared = _shared(squares, stage.marginals, target.cells)
    return np.asarray(np.minimum(np.sqrt(shared), target.sigmas))


def _from_its_own_p0(stage: Stage, target: Target) -> Stage:
    """The stage, with the p0 that the target's own 1-way shares make in place of its own.

    The ratio of the two is a product over the attributes, so it goes into the prior potentials.
    """
    prior = np.zeros(len(target.cells)) + stage.field.prior
    parts, tables = target.cells.split(prior), target.cells.split(target.fractions)  # views
    for attribute, share in enumerate(stage.field.shares):
        told = _tells_most(target, attribute)
        if told is not None:
            axis = target.cells.marginals[told].index(attribute)
            others = tuple(i for i in range(tables[told].ndim) if i != axis)
            alone = fractions(tables[told].sum(axis=others), total=1.0)
            shift = np.log(np.maximum(alone, FLOOR)) - np.log(np.maximum(share, FLOOR))
            parts[told] += np.expand_dims(shift, others)
    return replace(stage, field=replace(stage.field, prior=prior))


def _tells_most(target: Target, attribute: int) -> int | None:
    """Position of the marginal that tells an attribute with the least noise, if one does."""
    sigmas = target.cells.split(target.sigmas)
    noise = {
        position: float(np.sum(sigmas[position] ** 2))
        for position, marginal in enumerate(target.cells.marginals)
        if attribute in marginal
    }
    return min(noise, key=noise.__getitem__, default=None)


def _shared(squares: Floats, shares: Floats, cells: Cells) -> Floats:
    """Mean of the squares over cells of similar share in the same marginal."""
    shared = np.empty_like(squares)
    for start, stop in zip(cells.offsets[:-1], cells.offsets[1:], strict=True):
        own, share = squares[start:stop], shares[start:stop]
        least = share[share > 0].min(initial=1.0)
        group = np.floor(np.log(np.maximum(share, least) / least) / np.log(SIMILAR)).astype(int)
        counts = np.bincount(group, weights=share > 0)
        means = np.bincount(group, weights=own * (share > 0)) / np.maximum(counts, 1)
        shared[start:stop] = means[group]
    return shared
