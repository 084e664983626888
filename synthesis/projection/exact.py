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
    gap = max(0.0, float(gradient @ marginals) - price.bound)
    return objective, min(gap, objective), price  # f is never negative


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
    held = _Held.of(target, pricer.search(-target.fractions / target.sigmas**2, generator).records)
    weights = np.zeros(len(held.records))
    weights[0] = 1.0
    for _ in range(rounds):
        weights = _master(held, weights)
        held, weights = held.only(weights > 0), weights[weights > 0]
        marginals = held.pool.marginals(weights)
        residual = (marginals - target.fractions) / target.sigmas
        gradient = residual / target.sigmas
        objective = float(residual @ residual / 2)
        worth = float(gradient @ marginals) - tolerance * (1 + objective)
        price, gap = pricer.search(gradient, generator), None
        if price.score >= worth and pricer.oracle is not None:
            _, gap, price = certificate(target, marginals, pricer)
        yield Fitted(held.records, weights, objective, gap)
        if price.score >= worth:
            return
        new = price.records[Pool(target.cells, price.records).scores(gradient) < worth]
        held = held.join(_Held.of(target, new))
        weights = np.append(weights, np.zeros(len(new)))


@dataclass(frozen=True, eq=False)
class _Held:
    """Records in the master, with f restricted to them: w G w / 2 - b w and a constant."""

    pool: Pool
    gram: Floats
    linear: Floats
    precision: Floats

    @property
    def records(self) -> NDArray[np.integer]:
        return self.pool.records

    @classmethod
    def of(cls, target: Target, records: NDArray[np.integer]) -> _Held:
        pool, precision = Pool(target.cells, records.astype(np.uint16)), target.sigmas**-2.0
        return cls(
            pool,
            pool.products(pool, precision),
            pool.scores(target.fractions * precision),
            precision,
        )

    def only(self, kept: NDArray[np.bool_]) -> _Held:
        pool = Pool(self.pool.cells, self.records[kept])
        return _Held(pool, self.gram[np.ix_(kept, kept)], self.linear[kept], self.precision)

    def join(self, new: _Held) -> _Held:
        across = self.pool.products(new.pool, self.precision)
        return _Held(
            Pool(self.pool.cells, np.vstack([self.records, new.records])),
            np.block([[self.gram, across], [across.T, new.gram]]),
            np.append(self.linear, new.linear),
            self.precision,
        )


def _master(held: _Held, weights: Floats) -> Floats:
    """Weights w >= 0, sum 1, that minimise f over the records held, from feasible weights.

    Active set: solve on the records in use; where a weight would turn negative go only as far as
    it reaches 0, and drop it; then take in the record whose gradient is most below the others'.
    """
    gram, linear = held.gram, held.linear
    weights = weights.copy()
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


def _on_plane(gram: Floats, linear: Floats) -> Floats:
    """The minimiser of w G w / 2 - b w over sum w = 1 (least norm where it is not unique)."""
    size = len(linear)
    system = np.zeros((size + 1, size + 1))
    scale = float(np.trace(gram)) / size
    system[:size, :size] = gram / scale
    system[size, :size] = system[:size, size] = 1.0
    right = np.append(linear / scale, 1.0)
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    return np.asarray(solution[:size], dtype=np.float64)
