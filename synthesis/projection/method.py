"""Projection: measure every pair of attributes, find the smoothest distribution that explains it.

 1  1-ways    measure every 1-way marginal                                      share ``one_way``
 2  pairs     measure every pair of attributes                                  the rest
 3  choose    the temperature, by thinning the measurements (``entropic.choose``)
 4  settle    the distribution on the whole domain at that temperature (``entropic.settle``)
 5  records   its pool of weighted records; any number of rows by systematic sampling

With ``master="exact"`` lines 3 and 4 are column generation to the best fit of all (``exact.py``): a
certificate instead of smoothness.

Privacy.  Two groups of Gaussian releases through the curator; everything else is post-processing.

Reference: ours; see ``entropic.py``.
"""

from __future__ import annotations

import itertools
import math
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


class Projection(Synthesizer):
    """Projection of noisy marginals onto the distributions on the whole domain.

    Parameters
    ----------
    one_way
        Share of the budget for the 1-way marginals; the pairs get the rest.
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
    summary = "all pairs measured, the smoothest distribution that explains them (default)"

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        one_way: float = 0.1,
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
        """Lines 3 and 4."""
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
        """Lines 3 and 4 of the exact master."""
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
        """Lines 1 and 2: 1-ways first, in order, then the pairs."""
        domain, curator = session.domain, session.curator
        singles, pairs = _singles(domain), _pairs(domain)
        curator.prepare([*singles, *pairs])  # one pass over the records
        session.progress("count", 1.0)
        for_singles, for_pairs = self._shares(domain, curator.ledger.remaining_rho)
        measured = curator.measure("1-way", singles, for_singles)
        if pairs:
            measured += curator.measure("pair", pairs, for_pairs)
        session.progress("measure", 1.0)
        return measured

    def _shares(self, domain: Domain, rho: float) -> tuple[list[float], list[float]]:
        """Budget of each 1-way marginal and of each pair."""
        pairs = _pairs(domain)
        first, rest = split(rho, (self.one_way, 1 - self.one_way)) if pairs else (rho, 0.0)
        cells = [float(domain.cells(p)) ** self.exponent for p in pairs]
        return split(first, [1.0] * len(domain)), split(rest, cells) if pairs else []

    def _effort(self, marginals: int, rows: float) -> Effort:
        """A smaller pool for few rows: their noise is larger than what more records could tell."""
        pool = int(min(self.pool, max(SMALL_POOL, POOL_A_ROW * rows)))
        return effort_for(marginals, pool, self.sweeps, self.iterations)

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        singles, pairs = _singles(domain), _pairs(domain)
        for_singles, for_pairs = self._shares(domain, rho)
        steps: list[dict[str, Any]] = []
        distances: list[float] = []
        for what, marginals, rhos in (("1-way", singles, for_singles), ("pair", pairs, for_pairs)):
            if not marginals:
                continue
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
        queries = sum(int(step["cells"]) for step in steps)
        effort = self._effort(len(singles) + len(pairs), rows)
        touched = effort.size * (len(singles) + len(pairs))
        work = touched * effort.iterations * 3e-9 + effort.size * domain.width * len(domain) * 2e-8
        return Plan(
            self.name,
            rows,
            rho,
            queries,
            memory=24 * touched + 16 * queries,
            seconds=1 + 10 * work + queries * SECONDS_A_DRAW,
            expected_error=float(np.mean(distances)),
            steps=tuple(steps),
            notes=(
                "expected error is that of the noise alone, before the projection, which removes "
                "most of it in tables of many cells",
            ),
        )

    def _check(self) -> None:
        check_number("one_way", self.one_way)
        if not 0 < self.one_way < 1:
            raise InputError(f"one_way is {self.one_way!r}; it must lie between 0 and 1")
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
