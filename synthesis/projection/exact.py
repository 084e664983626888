"""The exact master: the best-fitting distribution of all, by column generation, with a certificate.

Minimise f(p) = 1/2 || (M p - y) / s ||^2 over all distributions p on the domain, without smoothing.

 1  start from some records
 2  master    the best weights on the records held (active set, exact)
 3  price     the record that the gradient at these weights likes best (``pricing.py``)
 4  stop when it is no better than those held; else hold it too, and go to 2

*Certificate.*  f is convex, so for any distribution q: f(q) >= f(p) + <g, M q - M p> with g the
gradient (M p - y) / s^2.  The right-hand side is smallest where <g, M q> is, at a record; hence

    f(p) - min f  <=  <g, M p> - min over records x of sum of g over the cells of x.

With the oracle's lower bound in place of the last minimum this stays true, so ``gap`` is a bound
even when the oracle was stopped; without a bound it is ``None``.

Privacy: public inputs only.  Reference: fully corrective Frank-Wolfe (Jaggi 2013); Lawson and
Hanson (1974) for the active set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.projection.entropic import Target
from saddlesynth.synthesis.projection.pool import Floats, Pool
from saddlesynth.synthesis.projection.pricing import Price, Pricer


@dataclass(frozen=True, eq=False)
class Fitted:
    """Records with weights, the objective f, and how far above its minimum f can be."""

    records: NDArray[np.integer]
    weights: Floats
    objective: float
    gap: float | None


def certificate(
    target: Target, marginals: Floats, pricer: Pricer
) -> tuple[float, float | None, Price]:
    """f at these marginals, a bound on f minus its minimum (``None`` if unproven), the price."""
    residual = (marginals - target.fractions) / target.sigmas
    gradient = residual / target.sigmas
    price = pricer.prove(gradient)
    objective = float(residual @ residual / 2)
    if price.bound is None:
        return objective, None, price
    return objective, max(0.0, float(gradient @ marginals) - price.bound), price


def column_generation(
    target: Target,
    pricer: Pricer,
    generator: np.random.Generator,
    *,
    tolerance: float = 1e-8,
    rounds: int = 1_000,
) -> Iterator[Fitted]:
    """Ever better fits; the last has a gap of at most ``tolerance`` (1 + f), or ran out of rounds.

    The local search prices first; the oracle is asked once the search finds nothing better.
    """
    held = _priced(target, pricer, target.fractions * 0, generator)[None, :]
    weights = np.ones(1)
    for _ in range(rounds):
        pool = Pool(target.cells, held)
        weights = _master(pool, target, weights)
        kept = weights > 0
        held, weights = held[kept], weights[kept]
        marginals = Pool(target.cells, held).marginals(weights)
        residual = (marginals - target.fractions) / target.sigmas
        gradient = residual / target.sigmas
        objective = float(residual @ residual / 2)
        slack = tolerance * (1 + objective)
        price, gap = pricer.search(gradient, generator), None
        if float(gradient @ marginals) - price.score <= slack and pricer.oracle is not None:
            _, gap, price = certificate(target, marginals, pricer)
        yield Fitted(held, weights, objective, gap)
        if float(gradient @ marginals) - price.score <= slack:
            return
        held = np.vstack([held, price.record.astype(held.dtype)])
        weights = np.append(weights, 0.0)


def _priced(
    target: Target, pricer: Pricer, marginals: Floats, generator: np.random.Generator
) -> NDArray[np.integer]:
    gradient = (marginals - target.fractions) / target.sigmas**2
    return pricer.search(gradient, generator).record


def _master(pool: Pool, target: Target, weights: Floats) -> Floats:
    """Weights w >= 0, sum 1, that minimise f over the records held, from feasible weights.

    Active set: solve on the records in use; where a weight would turn negative go only as far as
    it reaches 0, and drop it; then take in the record whose gradient is most below the others'.
    """
    columns = _columns(pool) / target.sigmas
    gram, linear = columns @ columns.T, columns @ (target.fractions / target.sigmas)
    used = weights > 0
    for _ in range(10 * len(weights) + 100):
        wanted = _on_plane(gram[np.ix_(used, used)], linear[used])
        now = weights[used]
        falling = wanted < 0
        if falling.any():
            steps = now[falling] / (now[falling] - wanted[falling])
            moved = now + steps.min() * (wanted - now)
            moved[np.flatnonzero(falling)[np.argmin(steps)]] = 0.0
            weights[used] = np.maximum(moved, 0.0)
            used = weights > 0
            continue
        weights[used] = wanted
        gradient = gram @ weights - linear
        price = float(gradient @ weights)
        entering = int(np.argmin(np.where(used, np.inf, gradient))) if not used.all() else -1
        if entering < 0 or gradient[entering] >= price - 1e-12 * (1 + abs(price)):
            break
        used[entering] = True
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _columns(pool: Pool) -> Floats:
    """The records' own marginals, (records, cells) of 0 and 1."""
    dense = np.zeros((len(pool.records), len(pool.cells)))
    cells = pool.cells.of(pool.records)
    dense[np.arange(len(cells))[:, None], cells] = 1.0
    return dense


def _on_plane(gram: Floats, linear: Floats) -> Floats:
    """The minimiser of w G w / 2 - b w over sum w = 1 (least norm where it is not unique)."""
    size = len(linear)
    system = np.zeros((size + 1, size + 1))
    scale = float(np.trace(gram)) / size
    system[:size, :size] = gram / scale
    system[size, :size] = system[:size, size] = 1.0
    solution = np.linalg.lstsq(system, np.append(linear / scale, 1.0), rcond=1e-13)[0]
    return np.asarray(solution[:size], dtype=np.float64)
