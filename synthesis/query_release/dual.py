"""DualQuery and DQRS as synthesis methods; the algorithms are ``games/dual_query.py``, ``dqrs.py``.

    1  number of rows: public, or noisy
    2  calibrate: rounds so that the step eta has its default, then the rate spends the budget
    3  play
    4  model: the records, one a round, each with equal weight

**Calibration.**  rho = s eta^2 T^3 / (6 n^2), nearly; so for the default eta and s the budget gives
T = (6 nu^2 / (s eta^2))^(1/3), nu = n sqrt(rho).  The defaults were found on simulated tables only
(``benchmarks/games_tuning.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from saddlesynth.games import dqrs, dual_query
from saddlesynth.games.play import Allowance, Game, Round, Strategy, last, mixture
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.errors import BudgetError, InputError
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.query_release.method import (
    GameMethod,
    compact,
    require,
    solver_counts,
    with_strategies,
)

FEWEST, MOST = 4, 5_000
ETA = 2.0  # and 10 samples: the best of the grid on simulated tables


class DualQuery(GameMethod):
    """DualQuery (Gaboardi et al., 2014): weights on queries, samples of them answered by records.

    Parameters
    ----------
    rounds
        T; default: from the budget, ``samples`` and ``eta``.
    samples
        Queries a round, s.
    eta
        The step.  With ``rounds`` given as well it is checked against the budget, otherwise the
        rounds follow from it; None lets ``rounds`` and the budget decide.
    tail
        Keep the records of this last share of the rounds.
    **common
        workload, max_cells, solver, epsilon, ...: see ``GameMethod`` and ``Parameters``.
    """

    name = "dualquery"
    summary = "game: weights on queries against best responses, by integer programs"
    starts = ("uniform",)

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        rounds: int | None = None,
        samples: int = 10,
        eta: float | None = None,
        tail: float = 1.0,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.rounds = rounds
        self.samples = samples
        self.eta = eta
        self.tail = tail

    # ------------------------------------------------------------------ checks
    def _check(self) -> None:
        super()._check()
        check_count("samples", self.samples)
        if self.rounds is not None:
            check_count("rounds", self.rounds)
        if self.eta is not None:
            check_number("eta", self.eta)
            if self.eta <= 0:
                raise InputError(f"eta is {self.eta}; it must be above 0")
        check_number("tail", self.tail)
        if not 0 < self.tail <= 1:
            raise InputError(f"tail is {self.tail}; it must be above 0 and at most 1")

    # ------------------------------------------------------------------ the recipe
    def _shape(self, rounds: int, rate: float, rows: float) -> Any:
        return dual_query.DualQuery(rounds, self.samples, rate)

    def _calibrated(self, allowance: Allowance, rounds: int, rows: float) -> float:
        return dual_query.calibrated_rate(allowance, rounds, self.samples)

    def _play(
        self, game: Game, recipe: Any, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return with_strategies(dual_query.play(game, recipe, generator))

    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> Any:
        eta = ETA if self.eta is None else self.eta
        rounds = self.rounds
        if rounds is None:
            squared = rows**2 * allowance.rho / (self.samples * eta**2)
            rounds = min(MOST, max(FEWEST, round((6 * squared) ** (1 / 3))))
        rate = 2 * self.max_rows_per_unit * eta / rows
        if self.eta is None or self.rounds is None:
            rate = self._calibrated(allowance, rounds, rows)
        made = self._shape(rounds, rate, rows)
        require(allowance, made.privacy_cost(), f"{rounds} rounds of {self.samples} draws")
        return made

    # ------------------------------------------------------------------ fitting
    def _fit(self, session: Session) -> Fit:
        workload = self._queries(session.domain, session.public_rows)
        opening = self._opening(session)  # line 1
        recipe = self._recipe(opening.allowance, workload, opening.rows)  # line 2
        game = self._game(session, workload)
        self._watch(session, self._play(game, recipe, session.generator), recipe.rounds)  # line 3
        records = compact(mixture(last(self.rounds_, self.tail)), session.domain)
        facts = {
            "rounds": recipe.rounds,
            "samples": recipe.samples,
            "eta": recipe.rate * opening.rows / (2 * self.max_rows_per_unit),
            "solver": solver_counts(self.rounds_),
            **self._facts(workload),
        }
        return Fit(RecordModel(session.domain, records), opening.rows, opening.measured, facts)

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        recipe = self._recipe(self._allowance(domain, rows), workload, rows)
        eta = recipe.rate * rows / (2 * self.max_rows_per_unit)
        error = math.log(workload.candidates) / (eta * recipe.rounds)
        return self._game_plan(domain, rows, rho, recipe.rounds, recipe.rounds, error)


class DQRS(DualQuery):
    """DQRS (Vietri et al., 2020): DualQuery that keeps most sampled queries, by rejection.

    Parameters
    ----------
    slack
        gamma of the first round; see ``games/dqrs.py``.
    cap
        Keep probabilities are exact for queries that are off by at most this fraction.
    **dual_query
        rounds, samples, eta, tail, ...: see ``DualQuery``.
    """

    name = "dqrs"
    summary = "game: as DualQuery, most sampled queries kept by rejection sampling"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        slack: float = 0.5,
        cap: float = 1.0,
        **dual_query: Any,
    ) -> None:
        super().__init__(epsilon, delta, **dual_query)
        self.slack = slack
        self.cap = cap

    def _check(self) -> None:
        super()._check()
        for name in ("slack", "cap"):
            check_number(name, getattr(self, name))
        if self.slack <= 0:
            raise InputError(f"slack is {self.slack}; it must be above 0")
        if not 0 < self.cap <= 1:
            raise InputError(f"cap is {self.cap}; it must be above 0 and at most 1")

    def _shape(self, rounds: int, rate: float, rows: float) -> dqrs.DQRS:
        return dqrs.DQRS(
            rounds, self.samples, rate, rows, self.max_rows_per_unit, self.slack, self.cap
        )

    def _calibrated(self, allowance: Allowance, rounds: int, rows: float) -> float:
        rate = dqrs.calibrated_rate(allowance, self._shape(rounds, 1.0, rows))
        if rate <= 0:
            raise BudgetError(f"not one step of {rounds} rounds fits the budget; use fewer rounds")
        return rate

    def _play(
        self, game: Game, recipe: Any, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return with_strategies(dqrs.play(game, recipe, generator))
