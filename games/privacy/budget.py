"""The privacy ledger: what was asked, what each step spent, and the total.

Every step is charged in rho (zero-concentrated differential privacy, zCDP); rho adds up under
adaptive composition.  The sum is converted to (epsilon, delta) once, by OpenDP's tight conversion:

    delta(rho, epsilon) = min over alpha > 1 of
        exp((alpha-1)(alpha rho - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1).

A budget with ``delta == 0`` is *pure*: only steps that state an epsilon are accepted, and epsilons
add up.  Sums are exact (rational arithmetic), so rounding can never overspend.

Reference: Canonne, Kamath, Steinke (2020), "The Discrete Gaussian for Differential Privacy";
Bun and Steinke (2016) for zCDP.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any


class Relation(StrEnum):
    """Which tables count as neighbours.

    ``ADD_REMOVE``: one unit is added or removed; the number of rows is private.
    ``REPLACE_ONE``: one unit is replaced by another; the number of rows is public.
    """

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


class BudgetExceeded(Exception):
    """A charge would spend more than was asked for; nothing was drawn."""


@lru_cache(maxsize=1)
def _conversion() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    # A unit-scale Gaussian at distance sqrt(2 rho) costs exactly rho; rounding is upward.
    return dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(domain, metric, scale=1.0))


def epsilon_from_rho(rho: float, delta: float) -> float:
    """Smallest known epsilon such that rho-zCDP implies (epsilon, delta)-DP; never too small.

    >>> round(epsilon_from_rho(0.02, 1e-6), 4)
    0.8999
    """
    if rho == 0:
        return 0.0
    return float(_conversion().map(math.sqrt(2 * rho)).epsilon(delta=delta))


@lru_cache(maxsize=256)
def rho_from_epsilon(epsilon: float, delta: float) -> float:
    """Largest rho (to 12 digits, rounded down) whose conversion stays within (epsilon, delta).

    >>> round(rho_from_epsilon(1.0, 1e-9), 6)
    0.014973
    """
    low, high = 0.0, max(1.0, epsilon)
    while epsilon_from_rho(high, delta) <= epsilon:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if epsilon_from_rho(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True)
class Charge:
    """One line of the ledger: one draw (or one batch of equal draws) from private data.

    ``noise`` is the standard deviation or scale in the units of the released number; ``rho`` is
    what the line costs in zCDP; ``epsilon`` is its pure cost, where it has one.
    """

    step: str
    mechanism: str
    sensitivity: float
    noise: float
    rho: float
    epsilon: float | None
    delta: float
    relation: str
    unit: str


@dataclass
class Ledger:
    """A total that may be spent, and the lines spent so far.

    Parameters
    ----------
    epsilon, delta
        What the user asked for, in total.  ``delta == 0`` means a pure budget.
    relation, unit, rows_per_unit
        Neighbouring relation; what one unit of privacy is ("row", or the name of an identifier
        column); how many rows one unit may have.
    reserved_delta
        The part of delta set aside for steps that themselves fail with some probability (partition
        selection).  The rest goes to the conversion from rho.

    >>> ledger = Ledger(1.0, 1e-9)
    >>> ledger.charge("counts", "discrete Gaussian", 1.0, 10.0, rho=0.005)
    >>> ledger.spent_epsilon < 1
    True
    >>> ledger.charge("counts", "discrete Gaussian", 1.0, 1.0, rho=0.5)
    Traceback (most recent call last):
    ...
    saddlesynth.games.privacy.budget.BudgetExceeded: step 'counts' needs rho 0.5 ...
    """

    epsilon: float
    delta: float
    relation: Relation = Relation.ADD_REMOVE
    unit: str = "row"
    rows_per_unit: int = 1
    reserved_delta: float = 0.0
    lines: list[Charge] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.relation = Relation(self.relation)
        if not (isinstance(self.epsilon, int | float) and math.isfinite(self.epsilon)) or (
            isinstance(self.epsilon, bool) or self.epsilon <= 0
        ):
            raise ValueError(f"epsilon is {self.epsilon!r}; it must be a positive finite number")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta is {self.delta!r}; it must be at least 0 and below 1")
        if self.reserved_delta and not 0 < self.reserved_delta < self.delta:
            raise ValueError("reserved_delta must lie strictly between 0 and delta")

    # ------------------------------------------------------------------ what may be spent
    @property
    def pure(self) -> bool:
        return self.delta == 0

    @property
    def conversion_delta(self) -> float:
        """The delta at which rho is converted to epsilon; with the lines' own it stays in delta."""
        rest = Fraction(self.delta) - Fraction(self.reserved_delta)
        value = float(rest)
        return value if Fraction(value) <= rest else math.nextafter(value, 0.0)

    @property
    def rho(self) -> float:
        """Total rho that (epsilon, delta) buys."""
        if self.pure:
            return self.epsilon**2 / 2
        return rho_from_epsilon(float(self.epsilon), self.conversion_delta)

    # ------------------------------------------------------------------ what was spent
    def _sum(self, values: Sequence[float]) -> Fraction:
        return sum((Fraction(v) for v in values), Fraction(0))

    @property
    def spent_rho(self) -> float:
        return float(self._sum([line.rho for line in self.lines]))

    @property
    def spent_delta(self) -> float:
        """Delta in use: failures of single steps plus, if any rho was spent, the conversion's."""
        if self.pure or not self.lines:
            return 0.0
        return self.delta if self.reserved_delta else self.conversion_delta

    @property
    def spent_epsilon(self) -> float:
        """The lines' total as epsilon at ``spent_delta``."""
        if self.pure:
            return float(self._sum([line.epsilon or 0.0 for line in self.lines]))
        if not self.lines:
            return 0.0
        return epsilon_from_rho(self.spent_rho, self.conversion_delta)

    @property
    def remaining_rho(self) -> float:
        rest = Fraction(self.rho) - self._sum([line.rho for line in self.lines])
        value = float(rest)
        return max(0.0, value if Fraction(value) <= rest else math.nextafter(value, 0.0))

    @property
    def remaining_epsilon(self) -> float:
        """For pure budgets: what is left of epsilon, rounded down."""
        rest = Fraction(self.epsilon) - self._sum([line.epsilon or 0.0 for line in self.lines])
        value = float(rest)
        return max(0.0, value if Fraction(value) <= rest else math.nextafter(value, 0.0))

    @property
    def remaining_delta(self) -> float:
        rest = Fraction(self.reserved_delta) - self._sum([line.delta for line in self.lines])
        value = float(rest)
        return max(0.0, value if Fraction(value) <= rest else math.nextafter(value, 0.0))

    # ------------------------------------------------------------------ spending
    def charge(
        self,
        step: str,
        mechanism: str,
        sensitivity: float,
        noise: float,
        *,
        rho: float,
        epsilon: float | None = None,
        delta: float = 0.0,
    ) -> None:
        """Write a line, or raise ``BudgetExceeded`` and write nothing.  Call before drawing."""
        if not (rho > 0 and math.isfinite(rho)):
            raise ValueError(f"step {step!r} has rho {rho!r}; it must be positive and finite")
        if self.pure:
            if epsilon is None or delta:
                raise BudgetExceeded(
                    f"step {step!r} ({mechanism}) is not pure epsilon-DP, but delta is 0; "
                    "give a positive delta"
                )
            spent = self._sum([line.epsilon or 0.0 for line in self.lines])
            if spent + Fraction(epsilon) > Fraction(self.epsilon):
                raise BudgetExceeded(
                    f"step {step!r} needs epsilon {epsilon:.6g} but {self.remaining_epsilon:.6g} "
                    f"of {self.epsilon:.6g} is left"
                )
        else:
            spent = self._sum([line.rho for line in self.lines])
            if spent + Fraction(rho) > Fraction(self.rho):
                raise BudgetExceeded(
                    f"step {step!r} needs rho {rho:.6g} but {self.remaining_rho:.6g} of "
                    f"{self.rho:.6g} (epsilon {self.epsilon:.6g}, delta {self.delta:.3g}) is left"
                )
            failed = self._sum([line.delta for line in self.lines])
            if failed + Fraction(delta) > Fraction(self.reserved_delta):
                raise BudgetExceeded(
                    f"step {step!r} needs delta {delta:.3g} but {self.remaining_delta:.3g} is left"
                )
        self.lines.append(
            Charge(
                step, mechanism, float(sensitivity), float(noise), float(rho),
                None if epsilon is None else float(epsilon), float(delta),
                str(self.relation), self.unit,
            )
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """What ``ledger.json`` holds: the lines, the rule, and the totals it gives."""
        return {
            "asked": {"epsilon": float(self.epsilon), "delta": float(self.delta)},
            "rule": "pure: epsilons add" if self.pure else "zcdp: rhos add, then tight conversion",
            "relation": str(self.relation),
            "unit": self.unit,
            "rows_per_unit": self.rows_per_unit,
            "conversion_delta": self.conversion_delta,
            "lines": [asdict(line) for line in self.lines],
            "total": {
                "rho": self.spent_rho,
                "epsilon": self.spent_epsilon,
                "delta": self.spent_delta,
            },
        }


def split(total: float, shares: Sequence[float]) -> list[float]:
    """Split a budget by shares so that the parts never add up to more than the total.

    >>> parts = split(0.3, [1, 1, 1])
    >>> sum(map(Fraction, parts)) <= Fraction(0.3)
    True
    """
    exact = [Fraction(float(s)) for s in shares]
    whole = sum(exact, Fraction(0))
    if not shares or min(exact) < 0 or whole <= 0:
        raise ValueError("shares must be non-negative and not all zero")
    parts = []
    for share in exact:
        part = Fraction(total) * share / whole
        value = float(part)
        parts.append(value if Fraction(value) <= part else math.nextafter(value, 0.0))
    return parts
