"""MWEM, PMW and SmallDB as synthesis methods; the algorithms are in ``games/``.

    1  number of rows: public, or noisy; MWEM and PMW begin with noisy 1-way marginals
    2  calibrate to what is left of the budget
    3  play
    4  model: the histogram, a product of tables on groups of attributes

Attributes that no query mentions keep their start: noisy 1-way marginals, or uniform.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games import mwem, pmw, small_db
from saddlesynth.games.histogram import Histogram, Part, TooLarge
from saddlesynth.games.play import Allowance, Game, Round, Strategy
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts
from saddlesynth.synthesis.base import Plan, Session
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.query_release.method import (
    GameMethod,
    Opening,
    require,
    with_strategies,
)
from saddlesynth.synthesis.query_release.product import ProductModel

CELLS = 1_000_000
MOST_ROUNDS = 10  # more rounds did worse on simulated tables (docs/games.md)
MOST_UPDATES, UPDATES_PER_NU = 100, 50


class HistogramMethod(GameMethod):
    """What MWEM and PMW share: a factored histogram, and the rows a user can ask for.

    Parameters
    ----------
    cells
        Largest table that a group of attributes may need; queries that would need a larger one are
        left out.
    """

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-9, *, cells: int = CELLS, **common: Any
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.cells = cells

    def _check(self) -> None:
        super()._check()
        check_count("cells", self.cells)

    def _first(self, opening: Opening) -> list[NDArray[np.float64]] | None:
        """The 1-way fractions to begin with, if they were measured."""
        if opening.start != "1-way":
            return None
        return [m.counts / m.counts.sum() for m in opening.measured if m.attributes]

    def _before(self, game: Game, recipe: Any) -> Histogram:
        return Histogram(game.workload.domain, recipe.start, game.impossible, recipe.limit)

    def _length(self, recipe: Any) -> int:
        """The most rounds that a play can have."""
        raise NotImplementedError

    def _fit(self, session: Session) -> Fit:
        workload = self._queries(session.domain, session.public_rows)
        opening = self._opening(session)  # line 1
        recipe = self._recipe(opening.allowance, workload, opening.rows)  # line 2
        recipe = replace(recipe, start=self._first(opening))
        game = self._game(session, workload)
        try:
            played = self._play(game, recipe, session.generator)
            last = self._watch(session, played, self._length(recipe))  # line 3
        except TooLarge as error:
            raise SizeError(f"{error}. Smaller: marginals of fewer cells") from error
        histogram = last if isinstance(last, Histogram) else self._before(game, recipe)
        model = ProductModel(session.domain, tuple(histogram.parts))  # line 4
        tables = [m for made in self.rounds_ for m in made.tables]
        measured = tuple(
            replace(m, counts=opening.rows * model.marginal(m.attributes))
            for m in (*opening.measured, *tables)
        )
        facts = {
            "rounds": len(self.rounds_),
            "groups": sorted(len(part.attributes) for part in model.parts),
            **self._facts(workload),
        }
        return Fit(model, opening.rows, measured, facts)


class MWEM(HistogramMethod):
    """MWEM (Hardt, Ligett, McSherry, 2012) on a factored histogram.

    Parameters
    ----------
    rounds
        T; default: from n sqrt(rho) and the workload's size, at most 10.
    sweeps, replay
        Over past measurements in each round.
    measure
        ``"marginal"`` measures all cells of the selected query's marginal for the price of one
        query; ``"query"`` is as published.
    projecting
        Fit each measurement exactly in turn, instead of the published step towards it.
    cells
        See ``HistogramMethod``.
    **common
        workload, max_cells, start, epsilon, ...: see ``GameMethod`` and ``Parameters``.
    """

    name = "mwem"
    summary = "game: worst query measured, multiplicative weights on a factored histogram"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        rounds: int | None = None,
        sweeps: int = 5,
        replay: bool = True,
        measure: str = "query",
        projecting: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.rounds = rounds
        self.sweeps = sweeps
        self.replay = replay
        self.measure = measure
        self.projecting = projecting

    def _check(self) -> None:
        super()._check()
        check_count("sweeps", self.sweeps)
        if self.rounds is not None:
            check_count("rounds", self.rounds)
        check_choice("measure", self.measure, ("marginal", "query"))

    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> mwem.MWEM:
        rounds = self.rounds
        if rounds is None:
            rounds = min(MOST_ROUNDS, mwem.rounds_for(rows, allowance, workload))
        epsilon, price = mwem.calibrated_prices(allowance, rounds)
        made = mwem.MWEM(
            rounds,
            rows,
            epsilon,
            price,
            allowance.epsilon is not None,
            self.sweeps,
            self.replay,
            self.measure == "marginal",
            self.projecting,
            limit=self.cells,
        )
        require(allowance, made.privacy_cost(), f"{rounds} rounds")
        return made

    def _length(self, recipe: mwem.MWEM) -> int:
        return recipe.rounds

    def _play(
        self, game: Game, recipe: mwem.MWEM, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return mwem.play(game, recipe)

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        recipe = self._recipe(self._allowance(domain, rows), workload, rows)
        error = 2 * math.log(workload.candidates) / (recipe.selection_epsilon * rows)
        return self._game_plan(domain, rows, rho, recipe.rounds, 0, error)


class PMW(HistogramMethod):
    """Private multiplicative weights (Hardt and Rothblum, 2010), the workload as a stream.

    Parameters
    ----------
    updates
        How often the histogram may be updated, U; default: from n sqrt(rho), at most 100.
    lowering
        Go through the stream again with a lower threshold while updates are left.
    projecting
        Fit each measured query exactly, instead of the published step.
    cells
        See ``HistogramMethod``.
    **common
        workload, max_cells, start, epsilon, ...: see ``GameMethod`` and ``Parameters``.
    """

    name = "pmw"
    summary = "game: a stream of queries, only wrong answers cost; factored histogram"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        updates: int | None = None,
        lowering: bool = True,
        projecting: bool = True,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.updates = updates
        self.lowering = lowering
        self.projecting = projecting

    def _check(self) -> None:
        super()._check()
        if self.updates is not None:
            check_count("updates", self.updates)

    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> pmw.PMW:
        updates = self.updates
        if updates is None:
            nu = rows * math.sqrt(allowance.rho)
            updates = min(MOST_UPDATES, max(1, round(nu / UPDATES_PER_NU)))
        made = pmw.calibrated(allowance, workload, rows, updates)
        require(allowance, made.privacy_cost(), f"{updates} updates")
        return replace(made, projecting=self.projecting, lowering=self.lowering, limit=self.cells)

    def _length(self, recipe: pmw.PMW) -> int:
        return recipe.updates

    def _play(
        self, game: Game, recipe: pmw.PMW, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return pmw.play(game, recipe, generator.permutation(game.workload.size))

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        recipe = self._recipe(self._allowance(domain, rows), workload, rows)
        return self._game_plan(domain, rows, rho, recipe.updates, 0, 2 * recipe.threshold / rows)


class SmallDB(GameMethod):
    """SmallDB (Blum, Ligett, Roth, 2008): the best of all small tables; toy sizes only.

    Parameters
    ----------
    size
        Records of the small table; default: from the budget, among what can be listed.
    **common
        workload, max_cells, epsilon, ...: see ``GameMethod`` and ``Parameters``.
    """

    name = "smalldb"
    summary = "game: exponential mechanism over all small tables (toy sizes)"
    starts = ("uniform",)

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-9, *, size: int | None = None, **common: Any
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.size = size

    def _check(self) -> None:
        super()._check()
        if self.size is not None:
            check_count("size", self.size)

    def _recipe(self, allowance: Allowance, workload: QueryClass, rows: float) -> small_db.SmallDB:
        try:
            records = len(small_db.records_asked_about(workload))
            if self.size is not None:
                small_db.check_size(records, self.size, workload)
                return small_db.SmallDB(self.size, allowance.selection(1))
            return small_db.calibrated(allowance, records, workload, rows)
        except TooLarge as error:
            raise SizeError(f"{error}. Smaller: fewer columns or values in the workload") from error

    def _play(
        self, game: Game, recipe: small_db.SmallDB, generator: np.random.Generator
    ) -> Iterator[tuple[Round, Strategy]]:
        return with_strategies(small_db.play(game, recipe))

    def _fit(self, session: Session) -> Fit:
        workload = self._queries(session.domain, session.public_rows)
        self._recipe(self._allowance(), workload, 1.0)  # refuse what is too large before a charge
        opening = self._opening(session)  # line 1
        recipe = self._recipe(opening.allowance, workload, opening.rows)  # line 2
        game = self._game(session, workload)
        self._watch(session, self._play(game, recipe, session.generator), 1)  # line 3
        (only,) = self.rounds_
        model = ProductModel(session.domain, _parts(workload, only.records))  # line 4
        facts = {"size": recipe.size, **only.facts, **self._facts(workload)}
        return Fit(model, opening.rows, opening.measured, facts)

    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        workload = self._queries(domain, rows if self.relation == "replace_one" else None)
        recipe = self._recipe(self._allowance(domain, rows), workload, rows)
        count = small_db.tables(len(small_db.records_asked_about(workload)), recipe.size)
        error = math.sqrt(math.log(workload.candidates) / recipe.size) / 2
        error += 2 * math.log(count) / (recipe.selection_epsilon * rows)
        return self._game_plan(domain, rows, rho, 1, 0, error)


def _parts(workload: QueryClass, records: NDArray[np.intp]) -> tuple[Part, ...]:
    """A small table as one part, and the attributes that nobody asked about as uniform ones."""
    domain = workload.domain
    used = tuple(sorted({a for m in workload.marginals for a in m}))
    (counts,) = marginal_counts(domain, [used], records)
    rest = [a for a in range(len(domain)) if a not in used]
    uniform = [Part((a,), np.full(domain.sizes[a], 1 / domain.sizes[a])) for a in rest]
    return (Part(used, counts / len(records)), *uniform)


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse what is none of the known words."""
    if value not in known:
        raise InputError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
