"""How much noise a charge buys: scales rounded up, costs rounded up, in exact arithmetic.

The discrete Gaussian of parameter sigma on integers of L2 sensitivity D costs D^2 / (2 sigma^2) in
zCDP; the discrete Laplace of scale s on integers of L1 sensitivity D is (D/s)-DP; the exponential
mechanism of epsilon is epsilon-DP and epsilon^2/8-zCDP.  A float that is a hair too small would
overspend by a hair, so each function here steps up to the next float until the inequality holds
between rational numbers.  Public inputs only.

Reference: Canonne, Kamath, Steinke (2020) for the discrete Gaussian; Cesar and Rogers (2021),
"Bounding, Concentrating, and Truncating", for epsilon^2/8 (bounded range).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction


def gaussian_sigma(squared_sensitivity: int, rho: float) -> float:
    """Smallest float sigma with ``squared_sensitivity / (2 sigma^2) <= rho``.

    >>> gaussian_sigma(1, 0.125)
    2.0
    """
    require_positive("rho", rho)
    need = Fraction(squared_sensitivity) / (2 * Fraction(rho))
    return _step_up(math.sqrt(squared_sensitivity / (2 * rho)), lambda s: s * s >= need)


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Smallest float scale with ``sensitivity / scale <= epsilon``.

    >>> laplace_scale(2, 0.5)
    4.0
    """
    require_positive("epsilon", epsilon)
    need = Fraction(sensitivity) / Fraction(epsilon)
    return _step_up(sensitivity / epsilon, lambda s: s >= need)


def laplace_deviation(scale: float) -> float:
    """Standard deviation of the discrete Laplace law of this scale: 1 / (sqrt(2) sinh(1/(2s))).

    >>> round(laplace_deviation(10.0) / (10 * math.sqrt(2)), 3)
    1.0
    """
    half = 1 / (2 * scale)
    return 1 / (math.sqrt(2) * math.sinh(half)) if half < 700 else 0.0


def pure_rho(epsilon: float) -> float:
    """What an epsilon-DP step costs in zCDP: epsilon^2 / 2."""
    return _step_up(epsilon * epsilon / 2, lambda rho: 2 * rho >= Fraction(epsilon) ** 2)


def selection_rho(epsilon: float) -> float:
    """What an exponential mechanism of epsilon costs in zCDP: epsilon^2 / 8.

    >>> selection_rho(0.5)
    0.03125
    """
    return _step_up(epsilon * epsilon / 8, lambda rho: 8 * rho >= Fraction(epsilon) ** 2)


def require_positive(name: str, value: float) -> None:
    """Refuse what cannot be a budget of one step."""
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value!r}; it must be positive and finite")


def round_up(value: Fraction) -> float:
    """Smallest float that is not below an exact number."""
    return _step_up(float(value), lambda f: f >= value)


def round_down(value: Fraction) -> float:
    """Largest float that is not above an exact number.

    >>> round_down(Fraction(1, 3)) < Fraction(1, 3)
    True
    """
    return 0.0 - round_up(-value)


def _step_up(start: float, enough: Callable[[Fraction], bool]) -> float:
    """The smallest float, at most a few steps from ``start``, that is enough."""
    while enough(Fraction(below := math.nextafter(start, -math.inf))):
        start = below
    while not enough(Fraction(start)):
        start = math.nextafter(start, math.inf)
    return start
