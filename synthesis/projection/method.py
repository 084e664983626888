"""Projection: measure the pairs that tell, find the smoothest distribution that explains them.

 1  1-ways    measure every 1-way marginal                                      share ``one_way``
 2  choose    leave out pairs whose dependence, a noisy score, noise would drown share ``select``
 3  pairs     measure the others                                                the rest
 4  trust     the temperature, by thinning the measurements (``entropic.choose``)
 5  settle    the distribution on the whole domain at that temperature (``entropic.settle``)
 6  records   its pool of weighted records; any number of rows by systematic sampling

With ``master="exact"`` lines 4 and 5 are column generation to the best fit of all (``exact.py``): a
certificate instead of smoothness.

Privacy.  Three groups of Gaussian releases through the curator; everything else is post-processing.

Reference: ours; see ``entropic.py``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from saddlesynth.games.privacy.budget import split
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.noisy import (
    SECONDS_A_DRAW,
    expected_distance,
    fractions,
    rows_estimate,
)
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.projection.entropic import Effort, Target
from saddlesynth.synthesis.projection.exact import certificate, column_generation
from saddlesynth.synthesis.projection.fit import (
    Found,
    effort_for,
    pool_model,
    projected,
    smoothest,
    target_of,
)
from saddlesynth.synthesis.projection.pool import Floats, Pool
from saddlesynth.synthesis.projection.pricing import Pricer
from saddlesynth.synthesis.solver import solver_by_name

if TYPE_CHECKING:
    from saddlesynth.oracles.oracle import Oracle

Master = Literal["entropic", "exact"]
SMALL_POOL, POOL_A_ROW = 5_000, 4  # records that are enough for any table, and for a row of it
ONE_WAY, A_CELL = (0.1, 0.3), 0.02  # share of the 1-way marginals: bounds, and per cell^(2/3)
FEW_PAIRS = 15  # with fewer, a choice among them costs more than it saves


class Projection(Synthesizer):
    """Projection of noisy marginals onto the distributions on the whole domain.

    Parameters
    ----------
    one_way
        Share of the budget for the 1-way marginals, split in proportion to cells^(2/3).  Default:
        0.02 times the mean of cells^(2/3), at least 0.1 and at most 0.3.
    bar
        A pair is left out if a noisy score says that taking it as independent costs less than
        noise of ``bar`` standard deviations a cell would.  0 measures all pairs and asks for no
        scores, and so do tables of up to five attributes.
    select
        Share of the budget for those scores; the pairs that are measured get the rest.
    exponent
        Budget of a pair is proportional to (its number of cells)^exponent; 0 is equal shares.
    master
        ``"entropic"`` (smooth, default) or ``"exact"`` (closest fit, few records).
    temperature
        For ``"entropic"``: weight of smoothness against fit; default: chosen from the noisy
        marginals themselves, by splitting their noise in two (no privacy cost).
    pool
        Records that the model holds at a time, at most (fewer for small tables).
    sweeps, iterations
        Gibbs passes and descent steps between one pool and the next.
    rounds
        For ``"exact"``: master problems at most.
    certificate
        Ask an oracle how much better a distribution could fit; the facts of the release then hold
        ``gap_at_most``, in units of ``misfit * cells / 2``, or say that it is unproven.
    solver, time_limit
        The oracle that prices for the certificate, and its seconds a solve.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    name = "projection"
    summary = "noisy pairs of columns, the smoothest distribution that explains them (default)"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        one_way: float | None = None,
        bar: float = 0.2,
        select: float = 0.05,
        exponent: float = 0.0,
        master: Master = "entropic",
        temperature: float | None = None,
        pool: int = 60_000,
        sweeps: int = 2,
        iterations: int = 30,
        rounds: int = 60,
        certificate: bool = False,
        solver: str = "portfolio",
        time_limit: float | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.one_way = one_way
        self.bar = bar
        self.select = select
        self.exponent = exponent
        self.master = master
        self.temperature = temperature
        self.pool = pool
        self.sweeps = sweeps
        self.iterations = iterations
        self.rounds = rounds
        self.certificate = certificate
        self.solver = solver
        self.time_limit = time_limit

    # ------------------------------------------------------------------ the method
    def _fit(self, session: Session) -> Fit:
        measured = self._measure(session)
        rows = rows_estimate(measured)
        if session.public_rows is not None:
            rows = float(max(1, session.public_rows))
        target = target_of(session.domain, measured, rows)
        pricer = Pricer(target.cells, session.impossible, self._oracle())
        if self.master == "exact":
            found = self._closest(target, pricer, session)
        else:
            shares = tuple(fractions(m.counts, rows) for m in measured[: len(session.domain)])
            found = self._smoothest(target, shares, rows, session)
        session.progress("project", 1.0)
        facts: dict[str, Any] = {
            "marginals": len(measured),
            "misfit": round(target.misfit(found.marginals), 4),
        }
        if self.certificate:
            _, gap, _ = certificate(target, found.marginals, pricer)
            facts["gap_at_most"] = "unproven" if gap is None else float(f"{gap:.4g}")
        model = pool_model(session.domain, found.records, found.weights)
        measured = projected(measured, target.cells, found, rows)
        return Fit(model, rows, tuple(measured), {**facts, **found.facts})

    def _smoothest(
        self, target: Target, shares: tuple[Floats, ...], rows: float, session: Session
    ) -> Found:
        """Lines 4 and 5."""
        return smoothest(
            target,
            shares,
            self._effort(len(target.cells.marginals), rows),
            session.generator,
            temperature=self.temperature,
            impossible=session.impossible,
            progress=session.progress,
        )

    def _closest(self, target: Target, pricer: Pricer, session: Session) -> Found:
        """Lines 4 and 5 of the exact master."""
        searching = replace(pricer, oracle=None)  # the oracle is asked once, at the end
        rounds = 0
        for fitted in column_generation(target, searching, session.generator, rounds=self.rounds):
            best, rounds = fitted, rounds + 1
            session.progress("project", rounds / self.rounds)
        marginals = Pool(target.cells, best.records).marginals(best.weights)
        return Found(best.records, best.weights, marginals, {"rounds": rounds})

    def _oracle(self) -> Oracle | None:
        return solver_by_name(self.solver, self.time_limit) if self.certificate else None

    def _measure(self, session: Session) -> list[Measurement]:
        """Lines 1 to 3: 1-ways first, in order, then the pairs."""
        domain, curator = session.domain, session.curator
        singles, pairs = _singles(domain), _pairs(domain)
        curator.prepare([*singles, *pairs])  # one pass over the records
        session.progress("count", 1.0)
        rho = curator.ledger.remaining_rho
        first, for_scores, rest = self._shares(domain, pairs, rho)
        measured = curator.measure("1-way", singles, _by_size(domain, singles, first, 2 / 3))
        if for_scores:
            scores = curator.independence_differences("dependence", pairs, for_scores)
            pairs = self._worth_it(domain, pairs, scores, measured, rest)
        if pairs:
            rhos = _by_size(domain, pairs, rest, self.exponent)
            measured += curator.measure("pair", pairs, rhos)
        session.progress("measure", 1.0)
        return measured

    def _shares(
        self, domain: Domain, pairs: list[Attributes], rho: float
    ) -> tuple[float, float, float]:
        """Budget of all 1-way marginals, of the scores, and of the pairs measured."""
        if not pairs:
            return rho, 0.0, 0.0
        select = self.select if self.bar > 0 and len(pairs) >= FEW_PAIRS else 0.0
        one_way = self._one_way(domain)
        first, scores, rest = split(rho, (one_way, select, 1 - one_way - select))
        return first, scores, rest

    def _one_way(self, domain: Domain) -> float:
        """Share of the 1-way marginals: the wider they are, the more of it they need."""
        if self.one_way is not None:
            return self.one_way
        least, most = ONE_WAY
        return float(np.clip(A_CELL * np.mean(np.power(domain.sizes, 2 / 3)), least, most))

    def _worth_it(
        self,
        domain: Domain,
        pairs: list[Attributes],
        scores: Floats,
        singles: list[Measurement],
        rho: float,
    ) -> list[Attributes]:
        """Line 2: the pairs whose dependence is above the bar; at least the most dependent one.

        A pair (a, b) taken as independent is off by half its score, in rows.  Measured, a cell is
        off by about its noise, or by its share where that is smaller: it is then smoothed away.
        """
        rows = rows_estimate(singles)
        shares = [fractions(m.counts, rows) for m in singles]
        sigmas = [
            self.sensitivity / math.sqrt(2 * r) for r in _by_size(domain, pairs, rho, self.exponent)
        ]
        lost = [
            rows * np.minimum(np.outer(shares[a], shares[b]), self.bar * sigma / rows).sum()
            for (a, b), sigma in zip(pairs, sigmas, strict=True)
        ]
        kept = [
            pair for pair, score, noise in zip(pairs, scores, lost, strict=True) if score > noise
        ]
        return kept or [pairs[int(np.argmax(scores))]]

    def _effort(self, marginals: int, rows: float) -> Effort:
        """A smaller pool for few rows: their noise is larger than what more records could tell."""
        pool = int(min(self.pool, max(SMALL_POOL, POOL_A_ROW * rows)))
        return effort_for(marginals, pool, self.sweeps, self.iterations)

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        singles, pairs = _singles(domain), _pairs(domain)
        first, for_scores, rest = self._shares(domain, pairs, rho)
        scores = len(pairs) if for_scores else 0
        groups = [("1-way", singles, _by_size(domain, singles, first, 2 / 3))]
        if pairs:
            groups.append(("pair", pairs, _by_size(domain, pairs, rest, self.exponent)))
        steps: list[dict[str, Any]] = []
        distances: list[float] = []
        for what, marginals, rhos in groups:
            cells = [domain.cells(m) for m in marginals]
            sigmas = [self.sensitivity / math.sqrt(2 * r) for r in rhos]
            distances += [expected_distance(c, s, rows) for c, s in zip(cells, sigmas, strict=True)]
            steps.append(
                {
                    "step": what,
                    "marginals": len(marginals),
                    "cells": sum(cells),
                    "rho": float(sum(rhos)),
                    "sigma": float(np.median(sigmas)),
                }
            )
        queries = scores + sum(int(step["cells"]) for step in steps)
        effort = self._effort(len(singles) + len(pairs), rows)
        touched = effort.size * (len(singles) + len(pairs))
        work = touched * effort.iterations * 3e-9 + effort.size * domain.width * len(domain) * 2e-8
        return Plan(
            self.name,
            rows,
            rho,
            queries,
            memory=36 * touched + 16 * queries,  # up to three pools at a time
            seconds=1 + 10 * work + queries * SECONDS_A_DRAW,
            expected_error=float(np.mean(distances)),
            steps=tuple(steps),
            notes=(
                "expected error is that of the noise alone, before the projection, which removes "
                "most of it in tables of many cells; pairs that noise would drown are left out, "
                "and the others then have less of it",
            ),
        )

    def _check(self) -> None:
        for name in ("bar", "select"):
            check_number(name, getattr(self, name))
        if self.one_way is not None:
            check_number("one_way", self.one_way)
        if self.one_way is not None and not 0 < self.one_way < 1:
            raise InputError(f"one_way is {self.one_way!r}; it must lie between 0 and 1")
        if self.bar < 0:
            raise InputError(f"bar is {self.bar!r}; it must not be below 0")
        most = 1 - (ONE_WAY[1] if self.one_way is None else self.one_way)
        if not 0 < self.select < most:
            raise InputError(
                f"select is {self.select!r} and one_way {self.one_way!r}; select must be above 0, "
                f"and both together must leave something for the pairs: select below {most:g} here"
            )
        check_number("exponent", self.exponent)
        if self.temperature is not None:
            check_number("temperature", self.temperature)
            if self.temperature <= 0:
                raise InputError(f"temperature is {self.temperature!r}; it must be above 0")
        if self.master not in get_args(Master):
            raise InputError(unknown("master", self.master, list(get_args(Master))))
        self._oracle()  # refuses a solver that cannot be used
        for name, least in (("pool", 100), ("sweeps", 1), ("iterations", 1), ("rounds", 1)):
            check_count(name, getattr(self, name), least)


def _singles(domain: Domain) -> list[Attributes]:
    return [(a,) for a in range(len(domain))]


def _pairs(domain: Domain) -> list[Attributes]:
    """Pairs that can depend on each other: an attribute with one value depends on none."""
    return [
        pair
        for pair in itertools.combinations(range(len(domain)), 2)
        if all(domain.sizes[a] > 1 for a in pair)
    ]


def _by_size(
    domain: Domain, marginals: Sequence[Attributes], rho: float, exponent: float
) -> list[float]:
    """The budget of each marginal, in proportion to (its number of cells)^exponent."""
    return split(rho, [float(domain.cells(m)) ** exponent for m in marginals])
