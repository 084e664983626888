"""FEM and sepFEM as synthesis methods; the algorithm is ``games/fem.py``.

    1  number of rows: public, or noisy (or noisy 1-way marginals, which also start the game)
    2  calibrate: rounds from n sqrt(rho), the rate from what is left of the budget
    3  play
    4  model: the records of the last rounds, each with equal weight
    5  bound the error from the played history

**Calibration.**  Accuracy depends on the data's size and the budget through nu = n sqrt(rho) alone:
more rounds help the data player, fewer leave the query player more budget a round.  The defaults
below were found on public tables only (``benchmarks/games_tuning.py``; docs/games.md has the
figures).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games import fem, sep_fem
from saddlesynth.games.certificate import certify
from saddlesynth.games.play import (
    Allowance,
    Game,
    Round,
    Strategy,
    last,
    mixture,
    selection_price,
)
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.errors import BudgetError, InputError
from saddlesynth.synthesis.model import Fit, RecordModel
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.query_release.method import (
    GameMethod,
    bound_fact,
    compact,
    require,
    solver_counts,
    with_strategies,
)

# From public tables (docs/games.md): start -> (rounds per nu, multiple).
DEFAULTS = {"uniform": (1 / 6, 0.16), "1-way": (1 / 12, 0.64)}
RECENT, TAIL = 4, 0.75
FEWEST, MOST = 5, 2_000
FLOOR = 0.02  # a value starts with at least this share of an equal one's weight


class FEM(GameMethod):
    """FEM (Vietri et al., 2020): follow the perturbed leader against the exponential mechanism.

    Parameters
    ----------
    rounds, selection_epsilon
        Rounds (T), and the epsilon of each selection (eps0).  Default: calibrated to the budget.
        By hand: checked against it.
    samples
        Records a round, s.
    multiple
        Mean of the random costs, as a multiple of sqrt(rounds); default: by the start.
    growing
        Let the costs grow with the square root of the round's number instead.
    recent
        Rounds whose records the query player sees together; 1 is as published.
    tail
        Keep the records of this last share of the rounds.
    **common
        workload, max_cells, solver, epsilon, ...: see ``GameMethod`` and ``Parameters``.
    """

    name = "fem"
    summary = "game: perturbed leader against exponential mechanism, by integer programs"
    parameters: ClassVar[type[fem.FEM]] = fem.FEM
    starts: ClassVar[tuple[str, ...]] = ("uniform", "1-way", "auto")

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        rounds: int | None = None,
        selection_epsilon: float | None = None,
        samples: int = 50,
        multiple: float | None = None,
        growing: bool = False,
        recent: int = RECENT,
        tail: float = TAIL,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.rounds = rounds
        self.selection_epsilon = selection_epsilon
        self.samples = samples
        self.multiple = multiple
        self.growing = growing
        self.recent = recent
        self.tail = tail

    # ------------------------------------------------------------------ checks
    def _check(self) -> None:
        super()._check()
        check_count("samples", self.samples)
        check_count("recent", self.recent)
        if self.multiple is not None:
            check_number("multiple", self.multiple)
            if self.multiple < 0:
                raise InputError(f"multiple is {self.multiple}; it must not be negative")
        check_number("tail", self.tail)
        if not 0 < self.tail <= 1:
            raise InputError(f"tail is {self.tail}; it must be above 0 and at most 1")
        if self.rounds is not None:
            check_count("rounds", self.rounds)
        if self.selection_epsilon is not None:
            check_number("selection_epsilon", self.selection_epsilon)
            if self.selection_epsilon <= 0:
                raise InputError(
                    f"selection_epsilon is {self.selection_epsilon}; it must be above 0"
                )
            price = selection_price(self.selection_epsilon) * (self.rounds or 1)
            require(self._allowance(), price, self._setting(self.rounds or 1))

    def _setting(self, rounds: int) -> str:
        return f"{rounds} rounds of selection_epsilon {self.selection_epsilon}"

    # ------------------------------------------------------------------ the recipe
    def _recipe(
        self, allowance: Allowance, workload: QueryClass, rows: float, start: str = "uniform"
    ) -> fem.FEM:
        rounds, rate = self.rounds, self.selection_epsilon
        if rounds is None:
            nu = rows * math.sqrt(allowance.rho)
            once = None if rate is None else selection_price(rate)
            rounds = calibrated_rounds(nu, start) if once is None else allowance.times(once)
        if rounds < 1:
            raise BudgetError(f"not one round of selection_epsilon {rate} fits the budget")
        made = self.parameters(
            rounds,
            allowance.selection(rounds) if rate is None else rate,
            self.samples,
            DEFAULTS[start][1] if self.multiple is None else self.multiple,
            self.growing,
            self.recent,
        )
        require(allowance, made.privacy_cost(), self._setting(rounds))
        return made

    def _play(
        self, game: Game, recipe: fem.FEM, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return with_strategies(fem.play(game, recipe, generator), recipe.recent)

    # ------------------------------------------------------------------ fitting
    def _fit(self, session: Session) -> Fit:
        workload = self._queries(session.domain, session.public_rows)
        opening = self._opening(session)  # line 1
        recipe = self._recipe(opening.allowance, workload, opening.rows, opening.start)  # line 2
        if opening.start == "1-way":
            recipe = replace(recipe, start=start_weights(opening.measured))
        game = self._game(session, workload)
        self._watch(session, self._play(game, recipe, session.generator), recipe.rounds)  # line 3
        kept = last(self.rounds_, self.tail)
        certificate = certify(  # line 5
            game,
            self.rounds_,
            recipe.selection_epsilon,
            opening.rows,
            recent=recipe.recent,
            tail=self.tail,
        )
        return Fit(
            RecordModel(session.domain, compact(mixture(kept), session.domain)),  # line 4
            opening.rows,
            opening.measured,
            {
                "start": opening.start,
                "rounds": recipe.rounds,
                "selection_epsilon": recipe.selection_epsilon,
                "samples": recipe.samples,
                "solver": solver_counts(self.rounds_),
                "error_bound": bound_fact(workload, certificate),
                **self._facts(workload),
            },
        )

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        start = self._start(domain, rows, Allowance.of(self._new_ledger()))
        recipe = self._recipe(self._allowance(domain, rows), workload, rows, start)
        spread = 2 * math.log(workload.candidates) / (recipe.selection_epsilon * rows)
        return self._game_plan(
            domain, rows, rho, recipe.rounds, recipe.rounds * recipe.samples, spread
        )


class SepFEM(FEM):
    """sepFEM (Vietri et al., 2020): FEM with two-sided costs on a separator set.

    Parameters as FEM; its only start is ``"uniform"``.
    """

    name = "sepfem"
    summary = "game: as FEM, with Laplace costs on a separator set"
    parameters = sep_fem.SepFEM
    starts = ("uniform",)


def calibrated_rounds(nu: float, start: str = "uniform") -> int:
    """How many rounds to play when n sqrt(rho) is ``nu``.

    >>> calibrated_rounds(600.0), calibrated_rounds(600.0, "1-way")
    (100, 50)
    """
    return min(MOST, max(FEWEST, round(DEFAULTS[start][0] * nu)))


def start_weights(measured: tuple[Measurement, ...]) -> NDArray[np.float64]:
    """1-way marginals as the data player's start, (width,): 1 is an average value.

    >>> one = Measurement((0,), np.array([30.0, 10.0]), 1.0, 0.5)
    >>> start_weights((one,))
    array([1.5, 0.5])
    """
    parts = [m.counts / m.counts.sum() for m in measured if m.attributes]
    return np.concatenate([np.maximum(p * len(p), FLOOR) for p in parts])
