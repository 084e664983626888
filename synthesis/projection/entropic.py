"""The entropic master: the smoothest distribution that explains the noisy marginals.

Given measured fractions y with standard deviations s, find the distribution p on the whole domain
that minimises

    1/2 || (M p - y) / s ||^2 + temperature * KL(p || p0)                               (primal)

where M p are p's marginals and p0 has independent attributes (or is a tree of pairs, where these
are too far away: ``tree.py``).  The optimum is a ``Field`` with
potentials theta = -dual / temperature, where dual minimises the smooth, strictly convex

    temperature * log sum_x p0(x) exp(-(M^T dual)(x) / temperature)
        + <dual, y> + 1/2 || s * dual ||^2.                                               (dual)

The sum over all records is replaced by one over a pool of records drawn from the current field,
with the weights that undo the drawing; the pool is drawn anew as the field moves (``path``).

The temperature decides how far to trust small cells: in the optimum a cell of share p moves off
p0 by about (y - p0) p / (p + temperature s^2), so at temperature 1/s cells below one standard
deviation of noise follow p0 and those above follow the measurement.  ``choose`` searches around it.

Privacy: public inputs only.  Reference: maximum entropy with relaxed constraints (Dudik, Phillips,
Schapire 2007); MWEM (Hardt, Ligett, McSherry 2012) is one multiplicative step of it.  The field on
the whole domain without a junction tree, its records priced by Gibbs sampling, and the choice of
temperature by thinning are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.projection.field import FLOOR, Field, independent_records
from saddlesynth.synthesis.projection.pool import Cells, Floats, Pool

ENUMERATED = 20_000  # domains of at most so many records are held whole
CLEAR = 3.0  # standard deviations of noise that a cell has to exceed to be believed by itself
TRUSTED = 0.05  # a pool is drawn anew before its weights make it worth less of its records
NOISE_ONLY, STALLED = 2.0, 0.9  # misfits: little but noise is left; no longer falling
FAITHFUL = 3.0  # a fresh pool may fit so many times worse than the one before
COOLINGS = 9  # halvings of the temperature at most, from 4/s
DETOURS = 10  # pools at most on the way to one temperature


@dataclass(frozen=True, eq=False)
class Target:
    """What was measured: fractions and their standard deviations, (cells,) each."""

    cells: Cells
    fractions: Floats
    sigmas: Floats

    @property
    def hottest(self) -> float:
        """Where a search for the temperature starts: well above 1/s, where small cells count."""
        return 4 / float(np.median(self.sigmas))

    def misfit(self, marginals: Floats) -> float:
        """Mean squared standardised residual; about 1 when only noise is left."""
        return float(np.mean(((marginals - self.fractions) / self.sigmas) ** 2))

    def thinned(self, generator: np.random.Generator) -> tuple[Target, Target]:
        """Two targets with independent noise, each of twice the variance.

        y + s z and y - s z with z standard normal: for Gaussian y the two are independent, so
        the second judges fairly what was fitted to the first.  (Discrete noise is Gaussian to all
        practical purposes here; privacy does not depend on it.)
        """
        shift = self.sigmas * generator.standard_normal(len(self.sigmas))
        sigmas = self.sigmas * np.sqrt(2)
        return (
            Target(self.cells, self.fractions + shift, sigmas),
            Target(self.cells, self.fractions - shift, sigmas),
        )


@dataclass(frozen=True, eq=False)
class Stage:
    """A field, a pool drawn near it, and the weights that make the pool its sample.

    ``complete`` says that the pool is the whole domain; then nothing is drawn and all is exact.
    ``arrived`` is false if the last step was cut short because the pool could not follow it.
    """

    temperature: float
    field: Field
    pool: Pool
    weights: Floats
    marginals: Floats
    complete: bool = False
    arrived: bool = True

    @property
    def effective_size(self) -> float:
        """1 / sum of squared weights: how many equally weighted records the pool is worth."""
        return float(1 / np.sum(self.weights**2))


def normalise(log_weights: Floats) -> tuple[Floats, float]:
    """Weights that sum to 1, and the logarithm of the sum before."""
    top = log_weights.max()
    weights = np.exp(log_weights - top)
    total = weights.sum()
    return weights / total, float(top + np.log(total))


def start(
    cells: Cells,
    shares: tuple[Floats, ...],
    size: int,
    generator: np.random.Generator,
    impossible: tuple[Mapping[int, int], ...] = (),
) -> Stage:
    """The independent distribution p0, as a stage; the whole domain if it has few records."""
    field = Field(cells, shares, np.zeros(len(cells)), impossible)
    if cells.domain.cells(range(len(shares))) <= ENUMERATED:
        every = np.indices(tuple(len(s) for s in shares)).reshape(len(shares), -1).T
        records: NDArray[np.integer] = every.astype(np.uint16)
        chances = [np.log(np.maximum(s, FLOOR))[records[:, a]] for a, s in enumerate(shares)]
        pool = Pool(cells, records)
        return _stage(np.inf, field, pool, np.sum(chances, axis=0), complete=True)
    records = independent_records(shares, size, generator)
    if impossible:
        records = field.resample(records, 2, generator)
    return stage_of(field, cells, records)


def _stage(
    temperature: float, field: Field, pool: Pool, log_weights: Floats, complete: bool = False
) -> Stage:
    if field.impossible:
        valid = pool.valid(field.impossible)
        log_weights = np.where(valid | ~valid.any(), log_weights, -np.inf)
    weights, _ = normalise(log_weights)
    return Stage(temperature, field, pool, weights, pool.marginals(weights), complete)


def stage_of(field: Field, cells: Cells, records: NDArray[np.integer]) -> Stage:
    """A stage of equally weighted records, drawn from the field or near it."""
    return _stage(np.inf, field, Pool(cells, records), np.zeros(len(records)))


def redraw(stage: Stage, size: int, sweeps: int, generator: np.random.Generator) -> Stage:
    """A fresh pool for the same field: picked by weight, then moved by Gibbs sampling."""
    if stage.complete:
        return stage
    points = (generator.permutation(size) + generator.random()) / size
    picked = np.searchsorted(np.cumsum(stage.weights), points).clip(0, len(stage.weights) - 1)
    records = stage.field.resample(stage.pool.records[picked], sweeps, generator)
    return _stage(stage.temperature, stage.field, Pool(stage.pool.cells, records), np.zeros(size))


def improve(stage: Stage, target: Target, temperature: float, iterations: int) -> Stage:
    """Minimise the dual over the stage's pool, from the stage's own field.

    Of a cell that no record is in, a pool tells nothing: unless the measurement is clear, its
    potential stays.  (Else each would follow its own noise, and in wide tables the sum over many
    such cells would draw the next pool.)  The variables are scaled by an estimate of the dual's
    curvature, 1/sqrt(y / temperature + s^2).

    iterations : of descent, and as many again while they still bring a misfit above noise down
    """
    from scipy.optimize import minimize

    pool, y, s = stage.pool, target.fractions, target.sigmas
    prior, old = stage.field.prior, stage.field.potentials
    base = np.log(np.maximum(stage.weights, 1e-300)) - pool.scores(old - prior)  # log p0 / pool
    free = stage.complete | (pool.sizes > 0) | (y > CLEAR * s)
    scale = 1 / np.sqrt(np.maximum(y, s / 2) / temperature + s**2)[free]
    variables = (prior - old) * temperature

    marginals, misfits, count = stage.marginals, [np.inf], 0

    def dual(scaled: Floats) -> tuple[float, Floats]:
        nonlocal marginals
        variables[free] = scaled * scale
        weights, log_sum = normalise(base - pool.scores(variables) / temperature)
        marginals = pool.marginals(weights)
        spread = s**2 * variables
        value = temperature * log_sum + float(variables @ y + variables @ spread / 2)
        return value, (y - marginals + spread)[free] * scale

    def enough(now: Any) -> None:
        nonlocal count
        count += 1
        if count % iterations == 0:
            misfits.append(target.misfit(marginals))
            if misfits[-1] < NOISE_ONLY or misfits[-1] > STALLED * misfits[-2]:
                raise StopIteration

    result = minimize(
        dual,
        variables[free] / scale,
        jac=True,
        method="L-BFGS-B",
        callback=cast(Any, enough),  # may raise StopIteration, says SciPy 1.11
        options={"maxiter": 10 * iterations, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-10},
    )
    variables[free] = result.x * scale
    step = prior - variables / temperature - old
    reach = 1.0 if stage.complete else _reach(stage.weights, pool.scores(step))
    potentials = old + reach * step
    field = replace(stage.field, potentials=potentials)
    moved = base + pool.scores(potentials - prior)
    reached = _stage(temperature, field, pool, moved, stage.complete)
    return replace(reached, arrived=reach == 1.0)


def _reach(weights: Floats, change: Floats) -> float:
    """How much of a change of the log weights the pool can follow, in (0, 1].

    All of it, if the pool is then still worth ``TRUSTED`` of its records; else the largest share
    for which it is.  Beyond that a few records would speak for the whole domain.
    """

    def worth(share: float) -> float:
        moved, _ = normalise(np.log(np.maximum(weights, 1e-300)) + share * change)
        return float(1 / np.sum(moved**2))

    least = min(TRUSTED * len(weights), float(1 / np.sum(weights**2)) / 2)
    if worth(1.0) >= least:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) >= least else (low, middle)
    return max(low, 2.0**-12)


@dataclass(frozen=True)
class Effort:
    """How hard to work: pool size, Gibbs sweeps and descent iterations a stage."""

    size: int = 60_000
    sweeps: int = 2
    iterations: int = 30


def reachable(stage: Stage, target: Target, iterations: int) -> float:
    """The lowest of the temperatures 4/s, 16/s, ... that the pool can follow the field to."""
    temperature = target.hottest
    while not (stage.complete or improve(stage, target, temperature, iterations).arrived):
        temperature *= 4
    return temperature


def path(
    stage: Stage,
    target: Target,
    temperatures: Sequence[float],
    effort: Effort,
    generator: np.random.Generator,
) -> Iterator[Stage]:
    """Stages at falling temperatures; each starts from a pool drawn from the one before."""
    for temperature in temperatures:
        stage = _cooled(stage, target, temperature, effort, generator)
        yield stage


def _cooled(
    stage: Stage,
    target: Target,
    temperature: float,
    effort: Effort,
    generator: np.random.Generator,
) -> Stage:
    """The stage at another temperature, on a fresh pool if that serves.

    With little noise and many cells a pool is too small to tell the field apart from its own
    accidents: what is drawn from it then fits far worse, and the pool at hand is kept.
    """
    if not np.isfinite(stage.temperature):  # a pool of p0 is fresh
        stage = improve(stage, target, temperature, effort.iterations)
        if stage.arrived:
            return stage
    most = FAITHFUL * max(1.0, target.misfit(stage.marginals))
    fresh, misfit, before = stage, np.inf, np.inf
    for _ in range(DETOURS):
        pool = redraw(fresh, effort.size, effort.sweeps, generator)
        fresh = improve(pool, target, temperature, effort.iterations)
        misfit, before = target.misfit(fresh.marginals), misfit
        if fresh.arrived or misfit > min(before, most):
            break
    if fresh.arrived and misfit <= most:
        return fresh
    kept = improve(stage, target, temperature, effort.iterations)
    return kept if target.misfit(kept.marginals) < misfit else fresh


def choose(
    stage: Stage,
    target: Target,
    effort: Effort,
    generator: np.random.Generator,
    first: float | None = None,
    progress: Callable[[float], None] = lambda done: None,
) -> tuple[Stage, NDArray[np.float64]]:
    """The stage whose temperature predicts held-out noise best, and the curve of its risk.

    The target is thinned in two.  The path is fitted to one half, from temperature ``first`` (4/s),
    halved at every step, and stops once the misfit to the other half has risen clearly, or the pool
    cannot follow.  Rows of the curve are (temperature, misfit to the other half minus what its
    noise accounts for).
    """
    train, test = target.thinned(generator)
    first = train.hottest if first is None else first
    steps = COOLINGS + max(0, round(np.log2(first / train.hottest)))
    curve: list[tuple[float, float]] = []
    best = stage
    for candidate in path(stage, train, [first / 2**k for k in range(steps)], effort, generator):
        if curve and not candidate.arrived:
            break
        risk = test.misfit(candidate.marginals) - 1
        lowest = min((r for _, r in curve), default=np.inf)
        best = candidate if risk < lowest else best
        curve.append((candidate.temperature, risk))
        progress(len(curve) / steps)
        if risk > lowest + 0.05 * abs(lowest):
            break
    return best, np.array(curve)


def settle(
    stage: Stage,
    target: Target,
    temperature: float,
    effort: Effort,
    generator: np.random.Generator,
    most: int = 6,
    tolerance: float = 0.01,
    progress: Callable[[float], None] = lambda done: None,
) -> tuple[Stage, int]:
    """The stage at one temperature once the misfit no longer changes, and how many it took."""
    misfits: list[float] = []
    for reached in path(stage, target, [temperature] * most, effort, generator):
        stage = reached
        misfits.append(target.misfit(stage.marginals))
        progress(len(misfits) / most)
        steady = len(misfits) > 1 and abs(misfits[-2] - misfits[-1]) <= tolerance * misfits[-1]
        if steady and (stage.complete or stage.effective_size > len(stage.weights) / 2):
            break
    return stage, len(misfits)
