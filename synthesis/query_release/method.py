"""What the games share as synthesis methods: workload, solver, number of rows, playing."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.certificate import Certificate
from saddlesynth.games.play import Allowance, Game, Mixture, Price, Round, Strategy, mixture
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.oracle import Oracle
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.errors import BudgetError, InputError, SolverError
from saddlesynth.synthesis.noisy import expected_distance, fractions, rows_estimate
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.workload import check_workload, parse_workload

if TYPE_CHECKING:
    import pandas

DEFAULT_WORKLOAD = "all:2"
QUIET = 0.5  # mean distance that noise may add to 1-way marginals that are worth starting from
DEFAULT_SOLVER = "portfolio"  # tiny domains are listed instead


@dataclass(frozen=True)
class Opening:
    """What is known before the first round: n (public or noisy), what was measured, what is left.

    ``rows`` is at least 1; ``measured`` are projected onto distributions of that many rows;
    ``start`` says where the synthetic data begin.
    """

    rows: float
    measured: tuple[Measurement, ...]
    allowance: Allowance
    start: str


@dataclass(frozen=True, eq=False)
class Walk:
    """A play, a round at a time.

    ``steps`` yields rounds with the data player's strategy after each; ``before`` is its strategy
    before round 1, if each round answers to the strategy before it (None otherwise).
    """

    before: Strategy | None
    steps: Iterator[tuple[Round, Strategy]]


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
    start, start_share
        Where the synthetic data begin: ``"uniform"``, or ``"1-way"`` (noisy 1-way marginals,
        measured with this share of the budget).  Not every game has both.  ``"auto"``, where it is
        offered: 1-way if their noise is small, judged by public and released numbers.
    count_share
        Share of the budget for the number of rows, where that is private and not known from the
        1-way marginals.
    solver, time_limit
        The data player's solver by name (see ``saddlesynth methods --solvers``), and seconds a
        solve; solvers cost accuracy when they fail, never privacy.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    accepts_pure = True
    starts: ClassVar[tuple[str, ...]] = ("uniform", "1-way")  # the last is the default

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        workload: Any = DEFAULT_WORKLOAD,
        max_cells: int | None = None,
        start: str | None = None,
        start_share: float = 0.1,
        count_share: float = 0.02,
        solver: str = DEFAULT_SOLVER,
        time_limit: float | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.workload = workload
        self.max_cells = max_cells
        self.start = start
        self.start_share = start_share
        self.count_share = count_share
        self.solver = solver
        self.time_limit = time_limit

    # ------------------------------------------------------------------ what a game says
    @abstractmethod
    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> Any:
        """The game's parameters: what was set by hand, the rest calibrated; never from data."""

    @abstractmethod
    def _play(
        self, game: Game, recipe: Any, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        """The game, a round at a time; with each round the data player's strategy after it."""

    def _before(self, game: Game, recipe: Any) -> Strategy | None:
        """The data player's strategy before round 1, if each round answers to the one before."""
        return None

    # ------------------------------------------------------------------ to be looked at
    def make_oracle(self) -> Oracle:
        """The data player's solver, as the parameters name it.  Raises as ``fit`` does."""
        return self._oracle()

    def walk(
        self, game: Game, allowance: Allowance, rows: float, generator: np.random.Generator
    ) -> Walk:
        """The method's play of a game that somebody else has set up, to be stepped through.

        rows : a public or noisy number of records.

        Privacy.  The game's curator charges each round; the whole play costs at most ``allowance``.
        """
        recipe = self._recipe(allowance, game.workload, rows)
        return Walk(self._before(game, recipe), self._play(game, recipe, generator))

    # ------------------------------------------------------------------ checks
    def _check(self) -> None:
        check_workload(self.workload)
        if self.max_cells is not None:
            check_count("max_cells", self.max_cells)
        check_share("start_share", self.start_share)
        check_share("count_share", self.count_share)
        if self.start is not None and self.start not in self.starts:
            raise InputError(f"start is {self.start!r}; {self.name} has {', '.join(self.starts)}")
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

    def _start(self, domain: Domain, rows: float, whole: Allowance) -> str:
        """Where the synthetic data begin."""
        start = self.starts[-1] if self.start is None else self.start
        if start != "auto":
            return start
        rho = whole.part(self.start_share).rho
        sigma = self.sensitivity / math.sqrt(2 * rho / len(domain))
        noise = np.mean([expected_distance(size, sigma, rows) for size in domain.sizes])
        return "1-way" if noise < QUIET else "uniform"

    @property
    def _rows_first(self) -> bool:
        """Whether a private number of rows is measured by itself, before all else."""
        private = self.unit is not None or self.relation == "add_remove"
        chosen = self.starts[-1] if self.start is None else self.start
        return private and chosen != "1-way"

    def _opening(self, session: Session) -> Opening:
        """Measure what the game begins with: the number of rows, 1-way marginals, or nothing."""
        curator, public = session.curator, session.public_rows
        whole = Allowance.of(curator.ledger)
        measured: list[Measurement] = []
        if self._rows_first:
            measured = measure(curator, "number of rows", [()], whole.part(self.count_share))
        known = max(1.0, rows_estimate(measured)) if measured else float(public or 1)
        start = self._start(session.domain, known, whole)
        if start == "1-way":
            singles = [(a,) for a in range(len(session.domain))]
            measured += measure(curator, "1-way", singles, whole.part(self.start_share))
        rows = max(1.0, float(public) if public is not None else rows_estimate(measured))
        projected = (replace(m, counts=rows * fractions(m.counts)) for m in measured)
        return Opening(rows, tuple(projected), Allowance.of(curator.ledger), start)

    def _allowance(self, domain: Domain | None = None, rows: float = 1.0) -> Allowance:
        """What is left for the game after the opening; known without data.

        Without a domain: the most that can be left.
        """
        whole = Allowance.of(self._new_ledger())
        share = self.count_share if self._rows_first else 0.0
        if domain is not None and self._start(domain, rows, whole) == "1-way":
            share += self.start_share
        return whole.part(1 - share)

    def _game(self, session: Session, workload: QueryClass) -> Game:
        session.curator.prepare(workload.marginals)
        return Game(session.curator, workload, self._oracle(), session.impossible, session.n_jobs)

    # ------------------------------------------------------------------ while playing
    def _watch(
        self, session: Session, played: Iterator[tuple[Round, Strategy]], total: int
    ) -> Strategy | None:
        """Play to the end, and say how far it is; the last strategy, if there was a round."""
        self.rounds_: list[Round] = []
        strategy = None
        for made, current in played:
            strategy = current
            self.rounds_.append(made)
            session.progress("play", made.number / total)
        session.progress("play", 1.0)
        return strategy

    @property
    def trace_(self) -> pandas.DataFrame:
        """What the fitted play releases, one row a round; see ``lesson.transcript``."""
        from saddlesynth.synthesis.lesson.transcript import released

        names = self._fitted().fit.model.domain.names
        codec = self._fitted().codec
        labels = [[str(value) for value in codec.labels(name)] for name in names]
        return released(self.name, self.rounds_, names, labels)

    def _facts(self, workload: QueryClass) -> dict[str, Any]:
        """What a release of a game says about its workload."""
        names = workload.domain.names
        marginals = [[names[a] for a in b.attributes] for b in workload.blocks if b.is_marginal]
        return {"queries": workload.size, "workload": marginals}

    # ------------------------------------------------------------------ planning
    def _game_plan(
        self, domain: Domain, rows: int, rho: float, rounds: int, solves: int, error: float
    ) -> Plan:
        """A plan: ``rounds`` looks at every query's table, ``solves`` calls of the solver.

        ``error`` is a bound's leading term; where it nears 1 it says nothing and is drawn below 1.
        """
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        step = {"step": "play", "marginals": len(workload.blocks), "cells": workload.size}
        return Plan(
            method=self.name,
            rows=rows,
            rho=rho,
            queries=workload.size,
            memory=60 * workload.size + 8 * solves * len(domain),
            seconds=1e-3 * solves + 2e-8 * workload.size * rounds,
            expected_error=error / (1 + error),
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


def with_strategies(rounds: Iterable[Round], recent: int = 1) -> Iterator[tuple[Round, Strategy]]:
    """Rounds of records, each with the mixture of the last ``recent`` rounds' records."""
    held: deque[Round] = deque(maxlen=recent)
    for made in rounds:
        held.append(made)
        yield made, Mixture(mixture(list(held)))
