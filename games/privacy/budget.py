"""The privacy ledger: what was asked, what each step spent, and the total.

Every step is charged in rho (zero-concentrated differential privacy, zCDP) and, where it may fail
altogether, in delta; both add up under adaptive composition.  The sum of rho is converted to
(epsilon, delta) once, by the tight conversion of ``conversion.py``.

A budget with ``delta == 0`` is *pure*: only steps that state an epsilon are accepted, and epsilons
add up.  Sums are exact (rational arithmetic), so rounding can never overspend.

Reference: Bun and Steinke (2016), "Concentrated Differential Privacy: Simplifications, Extensions,
and Lower Bounds", also for steps that fail with probability delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from saddlesynth.games.privacy.calibrate import require_positive, round_down, round_up
from saddlesynth.games.privacy.conversion import epsilon_from_rho, rho_from_epsilon


class Relation(StrEnum):
    """Which tables count as neighbours.

    ``ADD_REMOVE``: one unit is added or removed; the number of rows is private.
    ``REPLACE_ONE``: one unit is replaced by another; the number of rows is public.
    """

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


class BudgetExceeded(Exception):
    """A charge would spend more than was asked for; nothing was drawn."""


@dataclass(frozen=True)
class Cost:
    """What one draw (or one batch of equal draws) is about to cost; see ``Charge``."""

    step: str
    mechanism: str
    sensitivity: float
    noise: float
    rho: float
    epsilon: float | None = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_positive(f"rho of step {self.step!r}", self.rho)
        if self.epsilon is not None:
            require_positive(f"epsilon of step {self.step!r}", self.epsilon)
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta of step {self.step!r} is {self.delta!r}; it must be in [0, 1)")


@dataclass(frozen=True)
class Charge:
    """One line of the ledger: one draw (or one batch of equal draws) from private data.

    ``noise`` is the standard deviation or scale in the units of the released number; ``rho`` is
    what the line costs in zCDP; ``epsilon`` is its pure cost, where it has one; ``delta`` is the
    probability with which the line fails to keep either.
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
    _sums: _Sums = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.relation = Relation(self.relation)
        self._sums = _Sums()
        if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, int | float):
            raise ValueError(f"epsilon is {self.epsilon!r}; it must be a positive finite number")
        require_positive("epsilon", self.epsilon)
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta is {self.delta!r}; it must be at least 0 and below 1")
        if self.reserved_delta and not 0 < self.reserved_delta < self.delta:
            raise ValueError(
                f"reserved_delta is {self.reserved_delta!r}; it must lie strictly between 0 and "
                f"delta, {self.delta!r}"
            )
        if self.rows_per_unit < 1:
            raise ValueError(f"rows_per_unit is {self.rows_per_unit}; it must be at least 1")

    # ------------------------------------------------------------------ what may be spent
    @property
    def pure(self) -> bool:
        """Whether only pure epsilon-DP steps are accepted."""
        return self.delta == 0

    @property
    def conversion_delta(self) -> float:
        """The delta at which rho is converted to epsilon; with the lines' own it stays in delta."""
        return round_down(Fraction(self.delta) - Fraction(self.reserved_delta))

    @property
    def rho(self) -> float:
        """Total rho that (epsilon, delta) buys; of a pure budget, what it costs in zCDP."""
        if self.pure:
            return self.epsilon**2 / 2
        return rho_from_epsilon(float(self.epsilon), self.conversion_delta)

    # ------------------------------------------------------------------ what was spent
    @property
    def spent_rho(self) -> float:
        """Sum of the lines, rounded up; at most ``rho``."""
        return round_up(self._spent().rho)

    @property
    def spent_delta(self) -> float:
        """Delta in use: the conversion's and the sum of the lines' own; at most ``delta``."""
        if self.pure or not self.lines:
            return 0.0
        return round_up(Fraction(self.conversion_delta) + self._spent().delta)

    @property
    def spent_epsilon(self) -> float:
        """The lines' total as epsilon at ``spent_delta``; at most ``epsilon``."""
        if self.pure:
            return round_up(self._spent().epsilon)
        return epsilon_from_rho(self.spent_rho, self.conversion_delta) if self.lines else 0.0

    @property
    def remaining_rho(self) -> float:
        """What is left of rho, rounded down."""
        return round_down(max(Fraction(0), Fraction(self.rho) - self._spent().rho))

    @property
    def remaining_epsilon(self) -> float:
        """For pure budgets: what is left of epsilon, rounded down."""
        return round_down(max(Fraction(0), Fraction(self.epsilon) - self._spent().epsilon))

    @property
    def remaining_delta(self) -> float:
        """What is left of ``reserved_delta``, rounded down."""
        return round_down(max(Fraction(0), Fraction(self.reserved_delta) - self._spent().delta))

    def _spent(self) -> _Sums:
        return self._sums.upto(self.lines)

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
        self.charge_all([Cost(step, mechanism, sensitivity, noise, rho, epsilon, delta)])

    def charge_all(self, costs: Sequence[Cost]) -> None:
        """Write all lines, or raise ``BudgetExceeded`` and write none.  Call before drawing."""
        if not costs:
            return
        step = costs[0].step if len(costs) == 1 else f"{costs[0].step} and {len(costs) - 1} more"
        if self.pure:
            for cost in costs:
                if cost.epsilon is None or cost.delta:
                    raise BudgetExceeded(
                        f"step {cost.step!r} ({cost.mechanism}) is not pure epsilon-DP, but delta "
                        "is 0; give a positive delta"
                    )
            need = sum((Fraction(cost.epsilon or 0.0) for cost in costs), Fraction(0))
            if self._spent().epsilon + need > Fraction(self.epsilon):
                raise BudgetExceeded(
                    f"step {step!r} needs epsilon {float(need):.6g} but "
                    f"{self.remaining_epsilon:.6g} of {self.epsilon:.6g} is left"
                )
        else:
            need = sum((Fraction(cost.rho) for cost in costs), Fraction(0))
            if self._spent().rho + need > Fraction(self.rho):
                raise BudgetExceeded(
                    f"step {step!r} needs rho {float(need):.6g} but {self.remaining_rho:.6g} of "
                    f"{self.rho:.6g} (epsilon {self.epsilon:.6g}, delta {self.delta:.3g}) is left"
                )
            need = sum((Fraction(cost.delta) for cost in costs), Fraction(0))
            if self._spent().delta + need > Fraction(self.reserved_delta):
                raise BudgetExceeded(
                    f"step {step!r} needs delta {float(need):.3g} but {self.remaining_delta:.3g} "
                    "is left for steps that may fail"
                )
        self.lines.extend(self._line(cost) for cost in costs)

    def _line(self, cost: Cost) -> Charge:
        return Charge(
            cost.step,
            cost.mechanism,
            float(cost.sensitivity),
            float(cost.noise),
            float(cost.rho),
            None if cost.epsilon is None else float(cost.epsilon),
            float(cost.delta),
            str(self.relation),
            self.unit,
        )

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


@dataclass
class _Sums:
    """Exact totals of the first ``lines`` lines, so that a thousand charges stay quick."""

    lines: int = 0
    rho: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def upto(self, charges: Sequence[Charge]) -> _Sums:
        for charge in charges[self.lines :]:
            self.rho += Fraction(charge.rho)
            self.epsilon += Fraction(charge.epsilon or 0.0)
            self.delta += Fraction(charge.delta)
        self.lines = len(charges)
        return self


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
    return [round_down(Fraction(total) * share / whole) for share in exact]
