"""The only code that draws privacy noise.

``Secure`` draws through OpenDP: exact samplers on integers, operating-system entropy, no seed.
``Seeded`` draws the same distributions from a NumPy generator: reproducible, for tests and
teaching; whoever knows the seed can subtract the noise, so a release made with it is stamped.

Nothing here knows about budgets: the curator charges first and then calls these.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Noise(Protocol):
    """A source of privacy noise.

    ``seeded`` tells whether draws repeat (and therefore do not protect against whoever knows the
    seed).
    """

    seeded: bool

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        """Add to each count a draw z with P(z) proportional to exp(-z^2 / (2 sigma^2))."""
        ...

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Add to each count a draw z with P(z) proportional to exp(-|z| / scale)."""
        ...

    def gaussian_threshold(
        self, counts: NDArray[np.int64], sigma: float, threshold: int
    ) -> dict[int, int]:
        """Positions whose count, with discrete Gaussian noise, is at least ``threshold``."""
        ...

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> int:
        """Index drawn with probability proportional to exp(score / scale): Gumbel noise, argmax."""
        ...

    def below(self, n: int) -> int:
        """A uniform whole number in [0, n), however large n is; exact samplers are made of it."""
        ...


def draw_together(
    draw: Callable[[NDArray[np.int64], float], NDArray[np.int64]],
    tables: Sequence[NDArray[np.int64]],
    scales: Sequence[float],
) -> list[NDArray[np.int64]]:
    """Noisy tables, by one call of ``draw`` for each scale: fewer, longer batches are quicker."""
    noisy: dict[int, NDArray[np.int64]] = {}
    for scale in dict.fromkeys(scales):
        chosen = [i for i, s in enumerate(scales) if s == scale]
        flat = draw(np.concatenate([tables[i].ravel() for i in chosen]), scale)
        parts = np.split(flat, np.cumsum([tables[i].size for i in chosen])[:-1])
        noisy.update((i, p.reshape(tables[i].shape)) for i, p in zip(chosen, parts, strict=True))
    return [noisy[i] for i in range(len(tables))]


@cache
def _opendp() -> Any:
    """OpenDP's parts; its prelude would import scikit-learn, too."""
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    return SimpleNamespace(
        domain=domains, measure=measures, metric=metrics, measurement=measurements
    )


def _drawn(draw: Any, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    flat = np.ascontiguousarray(counts, dtype=np.int64).ravel()
    return np.asarray(draw(flat), dtype=np.int64).reshape(counts.shape)


def _gaussian_threshold(sigma: float, threshold: int) -> Any:
    dp = _opendp()
    whole = dp.domain.atom_domain(T="i64")
    metric = dp.metric.l02inf_distance(dp.metric.absolute_distance(T="i64"))
    return dp.measurement.make_gaussian_threshold(
        dp.domain.map_domain(whole, whole), metric, scale=float(sigma), threshold=int(threshold)
    )


@cache
def key_threshold(sigma: float, delta: float, keys: int, largest: int) -> int:
    """Smallest threshold at which ``keys`` new counts of at most ``largest`` stay hidden.

    Any of them reaches it, after discrete Gaussian noise, with probability at most ``delta``.

    OpenDP bounds that probability by the tail of the continuous Gaussian, and releases counts that
    equal the threshold.  The discrete tail is at most the continuous one a step earlier: for m >= 1
    the sum of exp(-z^2 / (2 sigma^2)) over z >= m is at most its integral from m - 1, and over all
    z at least sigma sqrt(2 pi) (Poisson summation).  It is not always at most the continuous tail
    at m.  So OpenDP's bound is taken at one less than the threshold used.

    >>> key_threshold(10.0, 1e-9, 1, 1)
    62
    """
    low, high = largest, largest + 2
    while _key_delta(sigma, high - 1, keys, largest) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _key_delta(sigma, middle - 1, keys, largest) > delta:
            low = middle
        else:
            high = middle
    return high


def _key_delta(sigma: float, threshold: int, keys: int, largest: int) -> float:
    return float(_gaussian_threshold(sigma, threshold).map((keys, keys * largest, largest))[1])


class Secure:
    """Exact noise from operating-system entropy, through OpenDP."""

    seeded = False

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        dp = _opendp()
        space = (
            dp.domain.vector_domain(dp.domain.atom_domain(T="i64")),
            dp.metric.l2_distance(T=float),
        )
        return _drawn(dp.measurement.make_gaussian(*space, scale=float(sigma)), counts)

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        dp = _opendp()
        space = (
            dp.domain.vector_domain(dp.domain.atom_domain(T="i64")),
            dp.metric.l1_distance(T="i64"),
        )
        return _drawn(dp.measurement.make_laplace(*space, scale=float(scale)), counts)

    def gaussian_threshold(
        self, counts: NDArray[np.int64], sigma: float, threshold: int
    ) -> dict[int, int]:
        draw = _gaussian_threshold(sigma, threshold)
        return {int(i): int(c) for i, c in draw(dict(enumerate(counts.tolist()))).items()}

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> int:
        dp = _opendp()
        space = (
            dp.domain.vector_domain(dp.domain.atom_domain(T=float, nan=False)),
            dp.metric.linf_distance(T=float, monotonic=False),
        )
        draw = dp.measurement.make_noisy_max(
            *space, dp.measure.zero_concentrated_divergence(), scale=float(scale)
        )
        return int(draw(np.ascontiguousarray(scores, dtype=np.float64)))

    def below(self, n: int) -> int:
        return secrets.randbelow(n)


class Seeded:
    """The same distributions from a seeded generator; no protection from whoever has the seed."""

    seeded = True

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        if sigma > 2000:  # rounding a normal is within 1e-7 of the discrete law here
            noise = np.rint(self._generator.normal(0.0, sigma, counts.shape))
        else:
            reach = math.ceil(10 * sigma) + 1
            support = np.arange(-reach, reach + 1)
            mass = np.exp(-0.5 * (support / sigma) ** 2)
            noise = self._draw(support, mass, counts.shape)
        return np.asarray(counts + noise, dtype=np.int64)

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        # The difference of two geometric variables has exactly this law.
        p = -math.expm1(-1 / scale)
        first = self._generator.geometric(p, counts.shape)
        second = self._generator.geometric(p, counts.shape)
        return np.asarray(counts + first - second, dtype=np.int64)

    def gaussian_threshold(
        self, counts: NDArray[np.int64], sigma: float, threshold: int
    ) -> dict[int, int]:
        noisy = self.discrete_gaussian(counts, sigma)
        return {int(i): int(noisy[i]) for i in np.flatnonzero(noisy >= threshold)}

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> int:
        return int(np.argmax(scores + self._generator.gumbel(0.0, scale, len(scores))))

    def below(self, n: int) -> int:
        bits = n.bit_length()
        while True:
            value = int.from_bytes(self._generator.bytes((bits + 7) // 8)) >> (-bits % 8)
            if value < n:
                return value

    def _draw(
        self, support: NDArray[np.int64], mass: NDArray[np.float64], shape: tuple[int, ...]
    ) -> NDArray[np.int64]:
        cumulative = np.cumsum(mass)
        uniform = self._generator.random(shape) * cumulative[-1]
        return np.asarray(support[np.searchsorted(cumulative, uniform, side="right")])


def noise_source(random_state: int | np.random.Generator | None) -> Noise:
    """``Secure`` without a seed; ``Seeded``, on a stream of its own, with one."""
    if random_state is None:
        return Secure()
    return Seeded(streams(random_state)[0])


def streams(
    random_state: int | np.random.Generator | None,
) -> tuple[np.random.Generator, np.random.Generator]:
    """Two independent generators: for seeded privacy noise, and for everything else.

    The two never share state, so the number of draws on one side cannot shift the other.
    """
    if isinstance(random_state, np.random.Generator):
        first, second = random_state.spawn(2)
        return first, second
    noise, other = np.random.SeedSequence(random_state).spawn(2)
    return np.random.default_rng(noise), np.random.default_rng(other)
