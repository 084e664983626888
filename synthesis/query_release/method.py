"""What the games share as synthesis methods: workload, solver, number of rows, playing."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.certificate import Certificate
from saddlesynth.games.play import Allowance, Game, Price, Round
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.oracle import Oracle
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.errors import BudgetError, InputError, SolverError
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.workload import check_workload, parse_workload

DEFAULT_WORKLOAD = "all:2"
DEFAULT_SOLVER = "portfolio"  # tiny domains are listed instead


@dataclass(frozen=True)
class Opening:
    """What is known before the first round: n (public or noisy), what was measured, what is left.

    ``rows`` is at least 1.
    """

    rows: float
    measured: tuple[Measurement, ...]
    allowance: Allowance


class GameMethod(Synthesizer):
    """Base of the games.

    Parameters
    ----------
    workload
        The queries: ``all:K``, ``random:COUNT:K:SEED``, a JSON file, or what it would hold; see
        ``workload.py``.
    max_cells
        Leave marginals of more cells out of ``all`` and ``random``.  Default: the number of rows
        where it is public, else no bound.
    count_share
        Share of the budget for the number of rows, where that is private.
    solver, time_limit
        The data player's solver by name (see ``saddlesynth methods --solvers``), and seconds a
        solve; solvers cost accuracy when they fail, never privacy.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    accepts_pure = True
    uses_solver: ClassVar[bool] = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        workload: Any = DEFAULT_WORKLOAD,
        max_cells: int | None = None,
        count_share: float = 0.02,
        solver: str = DEFAULT_SOLVER,
        time_limit: float | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.workload = workload
        self.max_cells = max_cells
        self.count_share = count_share
        self.solver = solver
        self.time_limit = time_limit

    # ------------------------------------------------------------------ what a game says
    @abstractmethod
    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> Any:
        """The game's parameters: what was set by hand, the rest calibrated; never from data."""

    # ------------------------------------------------------------------ checks
    def _check(self) -> None:
        check_workload(self.workload)
        if self.max_cells is not None:
            check_count("max_cells", self.max_cells)
        check_share("count_share", self.count_share)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit)
            if self.time_limit <= 0:
                raise InputError(f"time_limit is {self.time_limit}; it must be above 0 seconds")
        self._oracle()

    def _oracle(self) -> Oracle:
        """The solver; refused here if it is unknown, not installed, or has no time limit."""
        from saddlesynth.oracles.listed import Listed
        from saddlesynth.oracles.oracle import Limits, SolverMissing
        from saddlesynth.oracles.registry import make

        limited = {} if self.time_limit is None else {"limits": Limits(seconds=self.time_limit)}
        try:
            oracle = make(self.solver, **limited)
        except (ValueError, TypeError) as error:
            raise InputError(f"solver: {error}") from error
        except SolverMissing as error:
            raise SolverError(str(error)) from error
        reason = getattr(oracle, "missing", lambda: None)()
        if reason is not None:
            raise SolverError(f"solver {self.solver!r}: {reason}")
        return Listed(oracle) if self.solver == DEFAULT_SOLVER else oracle

    # ------------------------------------------------------------------ before the first round
    def _queries(self, domain: Domain, public_rows: int | None) -> QueryClass:
        return parse_workload(
            self.workload, domain, public_rows if self.max_cells is None else self.max_cells
        )

    def _opening(self, session: Session) -> Opening:
        """The number of rows: public, or measured with ``count_share`` of the budget."""
        curator = session.curator
        if session.public_rows is not None:
            return Opening(max(1, session.public_rows), (), Allowance.of(curator.ledger))
        whole = Allowance.of(curator.ledger)
        (count,) = measure(curator, "number of rows", [()], whole.part(self.count_share))
        return Opening(rows_estimate([count]), (count,), Allowance.of(curator.ledger))

    def _allowance(self) -> Allowance:
        """What a game may spend, as far as it is known without data."""
        ledger = self._new_ledger()
        whole = Allowance.of(ledger)
        private = self.unit is not None or self.relation == "add_remove"
        return whole.part(1 - self.count_share) if private else whole

    def _game(self, session: Session, workload: QueryClass) -> Game:
        session.curator.prepare(workload.marginals)
        return Game(session.curator, workload, self._oracle(), session.impossible, session.n_jobs)

    # ------------------------------------------------------------------ while playing
    def _watch(self, session: Session, rounds: Iterator[Round], total: int) -> list[Round]:
        """Play to the end, and say how far it is."""
        self.rounds_: list[Round] = []
        for played in rounds:
            self.rounds_.append(played)
            session.progress("play", played.number / total)
        return self.rounds_

    def _facts(self, workload: QueryClass) -> dict[str, Any]:
        """What a release of a game says about its workload."""
        names = workload.domain.names
        marginals = [[names[a] for a in b.attributes] for b in workload.blocks if b.is_marginal]
        return {"queries": workload.size, "workload": marginals}

    # ------------------------------------------------------------------ planning
    def _game_plan(
        self, domain: Domain, rows: int, rho: float, rounds: int, solves: int, error: float
    ) -> Plan:
        """A plan: ``rounds`` looks at every query's table, ``solves`` calls of the solver."""
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        step = {"step": "play", "marginals": len(workload.blocks), "cells": workload.size}
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=workload.size,
            memory=60 * workload.size + 8 * solves * len(domain),
            seconds=1e-3 * solves + 2e-8 * workload.size * rounds,
            expected_error=min(1.0, error),
            steps=({**step, "rho": rho, "rounds": rounds},),
            notes=(
                f"{rounds:,} rounds, {solves:,} calls of the solver",
                "expected_error is a guess of the largest error of the workload's queries",
            ),
            smaller="a workload of fewer or smaller marginals, max_cells, or fewer bins",
        )


def measure(
    curator: Curator, step: str, marginals: Sequence[tuple[int, ...]], allowance: Allowance
) -> list[Measurement]:
    """Noisy marginals of equal budget, by Gaussian noise, or Laplace noise if the budget is pure.

    Privacy.  The allowance, by the curator's mechanisms.
    """
    if allowance.epsilon is not None:
        each = allowance.epsilon / len(marginals)
        return curator.measure_laplace(step, marginals, [each] * len(marginals))
    return curator.measure(step, marginals, [allowance.rho / len(marginals)] * len(marginals))


def check_share(name: str, value: Any) -> None:
    """Refuse what is no share of a budget."""
    check_number(name, value)
    if not 0 < value < 1:
        raise InputError(f"{name} is {value}; it must lie between 0 and 1")


def require(allowance: Allowance, price: Price, settings: str) -> None:
    """``BudgetError`` if a play of this price does not fit."""
    from saddlesynth.games.privacy.budget import BudgetExceeded

    try:
        allowance.require(price, settings)
    except BudgetExceeded as error:
        raise BudgetError(str(error)) from error


STATUSES = ("optimal", "feasible", "fallback")


def solver_counts(rounds: Sequence[Round]) -> dict[str, int]:
    """How many solves of a play ended how: proven, not proven, without an answer of the solver."""
    total: Counter[str] = Counter()
    for played in rounds:
        total.update({k: int(v) for k, v in played.facts.items() if k in STATUSES})
    return dict(total)


def compact(records: NDArray[np.integer], domain: Domain) -> NDArray[np.integer]:
    """The same codes in the smallest unsigned type that holds them."""
    return records.astype(np.min_scalar_type(max(domain.sizes) - 1))


def bound_fact(workload: QueryClass, certificate: Certificate) -> dict[str, float]:
    """The certificate as a fact of the release, for queries of every weight."""
    least = min(block.weight for block in workload.blocks)
    bound = min(1.0, certificate.error_bound / least)
    return {"bound": bound, "confidence": certificate.confidence}
