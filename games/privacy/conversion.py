"""From rho to (epsilon, delta) and back, never in the user's disfavour by rounding.

rho-zCDP implies (epsilon, delta)-DP for every delta that is at least

    min over alpha > 1 of  exp((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1).

OpenDP evaluates this with every rounding upwards; ``docs/recompute_ledger.py`` does it again in
plain Python.

Reference: Canonne, Kamath, Steinke (2020), "The Discrete Gaussian for Differential Privacy";
Bun and Steinke (2016) for zCDP.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

LARGE = 10_000.0  # above this rho the tight formula overflows; the simple one is 0.1 % from it
SMALL = 1e-250  # below this rho the tight formula underflows; smaller ones are counted as this


@cache
def _tight() -> Any:
    from opendp.combinators import make_zCDP_to_approxDP
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    # A unit-scale Gaussian at distance sqrt(2 rho) costs exactly rho.
    space = vector_domain(atom_domain(T="i64")), l2_distance(T=float)
    return make_zCDP_to_approxDP(make_gaussian(*space, scale=1.0))


@lru_cache(maxsize=4096)
def epsilon_from_rho(rho: float, delta: float) -> float:
    """Smallest known epsilon such that rho-zCDP implies (epsilon, delta)-DP; never too small.

    Privacy.  Public inputs only.

    Raises
    ------
    ValueError
        ``rho`` is negative or not finite, or ``delta`` is not strictly between 0 and 1.

    >>> round(epsilon_from_rho(0.02, 1e-6), 4)
    0.8999
    """
    if not (rho >= 0 and math.isfinite(rho)):
        raise ValueError(f"rho is {rho!r}; it must be finite and not negative")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}; it must be strictly between 0 and 1")
    if rho == 0:
        return 0.0
    if rho > LARGE:
        return _simple(rho, delta)
    distance = math.nextafter(math.sqrt(2 * max(rho, SMALL)), math.inf)
    return float(_tight().map(distance).epsilon(delta=delta))


def _simple(rho: float, delta: float) -> float:
    """rho + 2 sqrt(rho ln(1/delta)), rounded up (Bun and Steinke 2016)."""
    return (rho + 2 * math.sqrt(-rho * math.log(delta))) * (1 + 1e-12)


@lru_cache(maxsize=256)
def rho_from_epsilon(epsilon: float, delta: float) -> float:
    """Largest rho (to 12 digits, rounded down) whose conversion stays within (epsilon, delta).

    0 where epsilon is so small that no positive number is certain to stay within it.

    >>> round(rho_from_epsilon(1.0, 1e-9), 6)
    0.014973
    """
    if epsilon_from_rho(SMALL, delta) > epsilon:
        return 0.0
    low, high = SMALL, max(1.0, epsilon)
    while epsilon_from_rho(high, delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if epsilon_from_rho(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low
