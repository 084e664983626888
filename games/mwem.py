"""MWEM: select the worst query, measure it, shift an explicit distribution towards the answer.

    input: private D, queries Q, rounds T, n (public or noisy)
    1  A_0 = uniform distribution on records (or the product of noisy 1-way marginals)
    2  for t = 1 .. T:
    3      q_t drawn by the exponential mechanism on n |q(D) - q(A_{t-1})|            private
    4      m_t = n q_t(D) + noise                                                     private
    5      for several sweeps, for each measurement i <= t, the newest first:
    6          A(x) *= exp(q_i(x) (m_i / n - q_i(A)) / 2)  for all x; normalise
    7  return A_T

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
T                  rounds
A_t                Histogram             a product of parts (see ``histogram.py``)
epsilon / 2T       selection_epsilon     line 3
Lap(2T / epsilon)  measurement_rho       line 4: discrete Gaussian; Laplace if the budget is pure
n                  rows
=================  ====================  ==========================================

**Privacy.**  T selections and T measurements of single counts (sensitivity k, rows of a unit).

**Accuracy.**  With average over rounds and no replay, error 2 n sqrt(ln |X| / T) + 10 T ln |Q| /
epsilon with probability 1 - 2T/|Q| (the paper's Theorem 2.2).

Reference: Hardt, Ligett, McSherry (2012), "A simple and practical algorithm for differentially
private data release".

Differs from the paper: sweeps over past measurements in each round (the paper's own section 4.1
recommends them) and the last distribution, not the average, is returned; queries that would link
too many attributes are left out of line 3, which depends on public and released things only;
zCDP accounting with half of a round for each of its two draws.  Option, ours: ``whole`` measures
all cells of the selected query's marginal, which costs as much as one of them (under replace-one
the noise is sqrt(2) larger), and fits them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.histogram import LIMIT, Histogram, TooLarge
from saddlesynth.games.play import Allowance, Game, Price, Round, selection_price
from saddlesynth.games.privacy.calibrate import pure_rho
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.oracles.convex.simplex import project_to_simplex

KEPT = 0.05  # of the old marginal: a cell that noise made 0 is not ruled out


@dataclass(frozen=True, eq=False)
class MWEM:
    """Parameters of one play.

    Parameters
    ----------
    rounds, rows
        T and n.
    selection_epsilon
        Of line 3.
    measurement
        Price of line 4: Gaussian noise for its rho, or Laplace noise if ``pure``.
    sweeps
        Over past measurements in each round; 1 with ``replay`` off is the algorithm as stated.
    replay
        Whether line 5 goes over all past measurements or over the newest alone.
    whole
        Measure the whole marginal of the selected query.
    projecting
        Line 6 as a projection onto the measured answer, instead of a step towards it.
    start
        1-way fractions to begin with.
    limit
        Cells of one part of the histogram.
    """

    rounds: int
    rows: float
    selection_epsilon: float
    measurement: Price
    pure: bool = False
    sweeps: int = 20
    replay: bool = True
    whole: bool = False
    projecting: bool = False
    start: Sequence[NDArray[np.float64]] | None = field(default=None, repr=False)
    limit: int = LIMIT

    def __post_init__(self) -> None:
        for name in ("rounds", "sweeps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("rows", "selection_epsilon"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive")

    def privacy_cost(self) -> Price:
        """T selections and T measurements."""
        return (selection_price(self.selection_epsilon) + self.measurement) * self.rounds


def calibrated_prices(allowance: Allowance, rounds: int) -> tuple[float, Price]:
    """(selection_epsilon, measurement): each round's share, half and half.

    >>> epsilon, measurement = calibrated_prices(Allowance(0.16), 10)
    >>> round(epsilon, 6), round(measurement.rho, 6), measurement.epsilon
    (0.252982, 0.008, None)
    """
    half = allowance.part(0.5)
    epsilon = half.selection(rounds)
    if allowance.epsilon is not None:
        return epsilon, Price(pure_rho(epsilon), epsilon)
    return epsilon, Price(selection_price(epsilon).rho, None)


@dataclass(frozen=True, eq=False)
class Measured:
    """What a round measured, as fractions: a query, or all cells of a marginal.

    ``noise`` is the standard deviation of the fraction; ``made`` the curator's own answer.
    """

    query: Query
    fraction: float
    noise: float
    table: NDArray[np.float64] | None = None
    made: tuple[Measurement, ...] = ()


def play(game: Game, parameters: MWEM) -> Iterator[tuple[Round, Histogram]]:
    """Play MWEM, a round at a time, with the distribution after the round.

    Privacy.  ``parameters.privacy_cost()``, two lines a round, charged before each draw.
    """
    workload = game.workload
    histogram = Histogram(workload.domain, parameters.start, game.impossible, parameters.limit)
    past: list[Measured] = []
    for number in range(1, parameters.rounds + 1):  # line 2
        allowed = fitting(workload, histogram)
        (position,) = game.curator.select_query(  # line 3
            f"round {number}: select",
            allowed,
            histogram.answers(allowed),
            parameters.selection_epsilon,
        )
        newest = _measure(game, parameters, number, allowed, position)  # line 4
        past.append(newest)
        replayed = past[::-1] if parameters.replay else [newest]
        for _ in range(parameters.sweeps if parameters.replay else 1):  # line 5
            for measured in replayed:
                _shift(histogram, measured, parameters.projecting)  # line 6
        price = selection_price(parameters.selection_epsilon) + parameters.measurement
        facts = {
            "measured": newest.fraction * parameters.rows,
            "noise": newest.noise * parameters.rows,
            "answer": histogram.answer(newest.query) * parameters.rows,
        }
        nobody = np.empty((0, len(workload.domain)), dtype=np.intp)
        made = Round(number, nobody, (newest.query,), price, facts, newest.made)
        yield made, histogram


def fitting(workload: QueryClass, histogram: Histogram) -> QueryClass:
    """The part of a workload that can still be asked; the same object while that is all of it.

    Raises ``TooLarge`` if no block fits.
    """
    blocks = tuple(b for b in workload.blocks if histogram.fits(b.attributes))
    if not blocks:
        raise TooLarge(
            f"no marginal of the workload fits a histogram of {histogram.limit:,} cells; ask for "
            "smaller marginals"
        )
    return workload if len(blocks) == len(workload.blocks) else QueryClass(workload.domain, blocks)


def _measure(
    game: Game, parameters: MWEM, number: int, workload: QueryClass, position: int
) -> Measured:
    """Line 4."""
    step, price, rows = f"round {number}: measure", parameters.measurement, parameters.rows
    query = workload.query(position)
    if not parameters.whole or not query.is_cell:
        epsilon = price.epsilon if parameters.pure else None
        count, sigma = game.curator.measure_query(step, workload, position, price.rho, epsilon)
        return Measured(query, count / rows, sigma / rows)
    if parameters.pure:
        assert price.epsilon is not None
        (made,) = game.curator.measure_laplace(step, [query.attributes], [price.epsilon])
    else:
        (made,) = game.curator.measure(step, [query.attributes], [price.rho])
    table = made.counts / rows
    inside = float(table[query.low])
    fraction = 1 - inside if query.negated else inside
    return Measured(query, fraction, made.sigma / rows, table, (made,))


def _shift(histogram: Histogram, measured: Measured, projecting: bool) -> None:
    """Line 6, for a query or for all cells of a marginal."""
    query, table = measured.query, measured.table
    if table is None and projecting:
        histogram.project(query, measured.fraction, min(0.5, measured.noise))
    elif table is None:
        histogram.multiply(query, (measured.fraction - histogram.answer(query)) / 2)
    elif projecting:
        now = histogram.marginal(query.attributes)
        nearest = project_to_simplex(table.ravel()).reshape(table.shape)
        wanted = (1 - KEPT) * nearest + KEPT * now
        histogram.multiply_table(query.attributes, wanted / np.maximum(now, 1e-300))
    else:
        errors = table - histogram.marginal(query.attributes)
        histogram.multiply_table(query.attributes, np.exp(errors / 2))


def rounds_for(rows: float, allowance: Allowance, workload: QueryClass) -> int:
    """Rounds that balance the two terms of the paper's bound, in zCDP terms; at least 1.

    sqrt(ln |X| / T) against ln |Q| sqrt(T / rho) / n gives T = n sqrt(rho ln |X|) / ln |Q|.

    >>> from saddlesynth.games.toys import toy
    >>> rounds_for(100.0, Allowance(0.1), toy("forbidden").workload)
    18
    """
    spread = math.log(math.prod(workload.domain.sizes))
    nu = rows * math.sqrt(allowance.rho)
    return max(1, round(nu * math.sqrt(max(1.0, spread)) / math.log(workload.candidates)))
