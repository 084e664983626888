"""Exact exponential mechanism over millions of candidates, at NumPy's speed.

Wanted: candidate g of multiplicity m(g) with probability proportional to m(g) exp(x(g)), where x(g)
is a rational number.  Gumbel noise drawn exactly costs about 10 microseconds a candidate; floating
point arithmetic alone costs nothing but gives wrong tails.  So floats only *propose*:

    1  top = max of the floats y(g) ~ x(g)
    2  p(g) = ceil(2^B exp(y(g) - top) (1 + slack)), a whole number of at least 1
    3  propose g with probability m(g) p(g) / sum of m p      (whole numbers: exact)
    4  accept with probability a(g) = 2^B exp(x(g) - top) / p(g), else go to 3

**The distribution is exact.**  A pass through 3 and 4 ends with g with probability
m(g) p(g) a(g) / sum = m(g) exp(x(g)) * (2^B exp(-top) / sum), and the bracket is the same for all
g; passes are independent.  a(g) <= 1 because slack covers the floats' error: |x - y| plus the error
of ``exp`` and two products is below ``slack / 2``.  Step 4 compares a uniform number with a(g)
digit by digit (:func:`bernoulli`), so no rounding enters.  Proposals waste little: p exceeds
2^B exp(x - top) by 1 and by the slack, so a pass is rejected with probability at most about
slack + sum of m / 2^B, kept near 1e-6.

A test draws from this sampler and from OpenDP's Gumbel noisy-max and compares both with the
formula.  The number of passes is random and its law depends on the scores by about 1e-6; like every
exact sampler this one runs in random time.

Reference for the mechanism: McSherry and Talwar (2007); for exactness by rejection, Canonne,
Kamath and Steinke (2020), section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Below = Callable[[int], int]  # a uniform whole number in [0, n)
SLACK = 2.0**-20


class Exponential:
    """Draws g with probability proportional to ``multiplicity[g] * exp(exact(g))``.

    Parameters
    ----------
    approximate : (G,) float
        The exponents, each within ``error`` of the exact one.
    exact
        The exact exponent of one candidate.
    multiplicity : (G,) int
        How many equal candidates each stands for; at most 2^40 in all, some positive.
    error
        Bound on ``|approximate - exact|``.
    below
        The source of randomness.
    """

    def __init__(
        self,
        approximate: NDArray[np.float64],
        exact: Callable[[int], Fraction],
        multiplicity: NDArray[np.int64],
        below: Below,
        error: float = 0.0,
    ) -> None:
        assert 0 <= error < 0.1  # the scores' own rounding; 1e-6 for 10^9 records
        bits = 61 - int(multiplicity.sum()).bit_length()
        self._top = float(approximate[multiplicity > 0].max())
        below_top = np.minimum(approximate - self._top, 0.0)  # multiplicity 0 may lie above
        scaled = np.ldexp(np.exp(below_top) * (1 + SLACK + 4 * error), bits)
        self._proposal = np.maximum(np.ceil(scaled), 1.0).astype(np.int64)
        self._sums = np.cumsum(self._proposal * multiplicity)
        self._bits, self._exact, self._below = bits, exact, below

    def draw(self) -> int:
        """One draw."""
        while True:
            point = self._below(int(self._sums[-1]))
            g = int(np.searchsorted(self._sums, point, side="right"))
            share = Fraction(1 << self._bits, int(self._proposal[g]))
            if bernoulli(self._exact(g) - Fraction(self._top), share, self._below):
                return g


def bernoulli(exponent: Fraction, factor: Fraction, below: Below) -> bool:
    """True with probability ``factor * exp(exponent)``, which must be at most 1; exact.

    A uniform binary fraction is compared with the probability, with more digits as needed.
    """
    bits, point = 192, below(1 << 192)
    while True:
        probability, doubt = _probability(exponent, factor, bits)
        low, high = Fraction(point, 1 << bits), Fraction(point + 1, 1 << bits)
        if high <= probability - doubt:
            return True
        if low >= probability + doubt:
            return False
        point, bits = (point << bits) + below(1 << bits), 2 * bits


def _probability(exponent: Fraction, factor: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """factor * exp(exponent) and a bound on the error of that number."""
    digits = bits // 3 + 20
    context = Context(prec=digits, Emin=-(10**9), Emax=10**9)
    quotient = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    value = Fraction(context.exp(quotient)) * factor
    # The quotient is off by at most |x| 10^(1-digits), so its exponential by that factor; exp's own
    # rounding and underflow add one unit each.
    relative = (abs(exponent) + 2) * Fraction(10) ** (2 - digits)
    return value, value * relative + Fraction(1, 1 << (2 * bits))
