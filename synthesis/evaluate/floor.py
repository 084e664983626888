"""The noise floor: how close to the real marginals a release's noise lets anyone come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.simplex import project_to_simplex
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.evaluate.metrics import (
    MAX_CELLS,
    Codes,
    NotComputable,
    as_columns,
    fractions,
)
from saddlesynth.synthesis.evaluate.result import FloorRow, NoiseFloor

DRAWS = 3


def noise_floor(
    real: Codes,
    synthetic: Codes,
    domain: Domain,
    measured: Sequence[tuple[Attributes, float]],
    seed: int = 0,
) -> NoiseFloor:
    """Compare the synthetic table's error on the measured marginals with that of their noise.

    measured : attributes, and the standard deviation of the noise on each count.

    The floor of a marginal is the mean, over three draws, of the TVD between the real table and
    the real table plus normal noise of the release's own standard deviation, projected on
    {non-negative, sums to the number of rows}.  Several measurements of one marginal count as one,
    of their joint precision.  The draws simulate noise on data that are open to whoever evaluates;
    they protect nothing, so an ordinary generator makes them.
    """
    sigmas = _joint_sigmas(measured)
    chosen = [m for m in sigmas if domain.cells(m) <= MAX_CELLS]
    if not chosen:
        raise NotComputable("the release measured no marginal")
    rows = len(as_columns(real, domain)[0])
    generator = np.random.default_rng(seed)
    found = []
    pairs = fractions(real, synthetic, domain, chosen)
    for attributes, (p, q) in zip(chosen, pairs, strict=True):
        found.append(
            FloorRow(
                tuple(domain.names[a] for a in attributes),
                sigmas[attributes],
                _simulated(p[: domain.cells(attributes)], sigmas[attributes] / rows, generator),
                float(np.abs(p - q).sum() / 2),
            )
        )
    left_out = len(sigmas) - len(chosen)
    return NoiseFloor(
        float(np.mean([row.floor for row in found])),
        float(np.mean([row.achieved for row in found])),
        tuple(found),
        (f"{left_out:,} very large measured marginals left out",) if left_out else (),
    )


def _joint_sigmas(measured: Sequence[tuple[Attributes, float]]) -> dict[Attributes, float]:
    """Noise of each measured marginal; repeated ones are averaged by inverse variance."""
    precision: dict[Attributes, float] = {}
    for attributes, sigma in measured:
        if attributes:
            own = tuple(sorted(attributes))
            precision[own] = precision.get(own, 0.0) + 1 / sigma**2
    return {attributes: value**-0.5 for attributes, value in precision.items()}


def _simulated(shares: NDArray[np.float64], sigma: float, generator: np.random.Generator) -> float:
    """Mean TVD of the shares from themselves plus noise, projected; one draw after the other."""
    total = float(shares.sum())
    distances = []
    for _ in range(DRAWS):
        noisy = shares + sigma * generator.standard_normal(len(shares))
        distances.append(np.abs(project_to_simplex(noisy, total) - shares).sum() / 2)
    return float(np.mean(distances))
