"""PMW: answer a stream of queries online, and pay only for those on which the model is wrong.

    input: private D, a stream of queries, threshold, updates U, n (public or noisy)
    1  A = uniform distribution on records;  a run of AboveThreshold
    2  for each query q of the stream:
    3      ask the run whether |N(q) - n q(A)| is above the threshold                 private
    4      below:  answer q(A)
    5      above:  m = N(q) + noise;  answer m / n                                    private
    6              A(x) *= exp(rate sign(m/n - q(A)) q(x));  normalise   (or project, see below)
    7              U updates made: stop;  else begin a new run
    8  return A

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
T (alpha)          threshold             in records; alpha = threshold / n
B, c               updates               how often line 5 may happen
eta                rate                  alpha / 2, so that each update gains alpha^2 / 4
A                  Histogram             a product of parts (see ``histogram.py``)
=================  ====================  ==========================================

**Privacy.**  U runs of AboveThreshold (``sparse_vector.py``) and U measured queries; queries below
the threshold are free, so the stream may be as long as one likes and need not be known in advance.

**Accuracy.**  If the noise stays below threshold / 2, each update lowers the relative entropy
between D and A, which starts at most at ln |X|, by alpha^2 / 4: at most 4 ln |X| / alpha^2 updates
happen, and every answer is within 2 alpha.

Reference: Hardt and Rothblum (2010), "A multiplicative weights mechanism for privacy-preserving
data analysis"; Dwork and Roth (2014), section 4.2.

Differs from the paper: the sparse vector is that of Lyu, Su and Li (2017), with a new threshold
after each update; the histogram is factored, and queries that do not fit into it are answered from
it without a test, which depends on public and released things only.  Option, ours and the default:
line 6 moves A to the nearest distribution (in relative entropy) that has the measured answer,
which gains at least twice the squared error instead of a quarter of alpha^2.  And if the stream
ends with updates left over, it is gone through again with a lower threshold (``lowering``): half
of it, or less by the scale of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.histogram import LIMIT, Histogram
from saddlesynth.games.play import SPENT, Allowance, Game, Price, Round
from saddlesynth.games.privacy.calibrate import pure_rho
from saddlesynth.games.query_class import Query, QueryClass

MISSED = 0.05  # chance that noise alone makes a run say "above", over the whole stream


@dataclass(frozen=True, eq=False)
class PMW:
    """Parameters of one play.

    Parameters
    ----------
    updates, threshold, rows
        U, the threshold in records, and n.
    run_epsilon
        Of each run of AboveThreshold.
    measurement
        Price of line 5: Gaussian noise for its rho, or Laplace noise if ``pure``.
    projecting
        Line 6 as a projection; otherwise as published.
    lowering
        Go through the stream again, with a lower threshold, while updates are left.
    start, limit
        Of the histogram.
    """

    updates: int
    threshold: float
    rows: float
    run_epsilon: float
    measurement: Price
    pure: bool = False
    projecting: bool = True
    lowering: bool = True
    start: Sequence[NDArray[np.float64]] | None = field(default=None, repr=False)
    limit: int = LIMIT

    def __post_init__(self) -> None:
        if self.updates < 1:
            raise ValueError(f"updates is {self.updates}; it must be at least 1")
        for name in ("threshold", "rows", "run_epsilon"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive")

    @property
    def rate(self) -> float:
        """eta of line 6."""
        return min(0.5, self.threshold / self.rows / 2)

    def run_price(self) -> Price:
        """One run of AboveThreshold."""
        return Price(pure_rho(self.run_epsilon), self.run_epsilon)

    def privacy_cost(self) -> Price:
        """U runs and U measurements; a play that stops early spends less."""
        return (self.run_price() + self.measurement) * self.updates


def play(
    game: Game, parameters: PMW, stream: Sequence[int] | NDArray[np.int64]
) -> Iterator[tuple[Round, Histogram]]:
    """Play PMW on a stream of query positions; yields a round an update, with the distribution.

    Queries below the threshold take no round: the distribution answers them.

    Privacy.  At most ``parameters.privacy_cost()``, each part charged before it draws.
    """
    workload, threshold = game.workload, parameters.threshold
    histogram = Histogram(workload.domain, parameters.start, game.impossible, parameters.limit)  # 1
    positions, asked = np.asarray(stream, dtype=np.int64), 0
    step = 4 * game.curator.ledger.rows_per_unit / parameters.run_epsilon  # the questions' noise
    for number in range(1, parameters.updates + 1):
        run = game.curator.above_threshold(
            f"update {number}: find", workload, parameters.run_epsilon
        )
        answers = parameters.rows * _answers(workload, histogram)
        askable = _fits(workload, histogram, positions)
        found = None
        while found is None:  # lines 2, 3, 4
            waiting = asked + np.flatnonzero(askable[asked:])
            queries = positions[waiting]
            found = run.first_above(queries, answers[queries], round(threshold))
            if found is None and not parameters.lowering:
                return
            if found is None:
                asked, threshold = 0, threshold - max(threshold / 2, step)
        asked, query = int(waiting[found]) + 1, workload.query(int(queries[found]))
        count, sigma = game.curator.measure_query(  # line 5
            f"update {number}: measure",
            workload,
            int(queries[found]),
            parameters.measurement.rho,
            parameters.measurement.epsilon if parameters.pure else None,
        )
        _shift(histogram, parameters, query, count / parameters.rows, sigma)  # line 6
        price = parameters.run_price() + parameters.measurement
        facts = {"measured": count, "noise": sigma, "threshold": threshold, "asked": float(asked)}
        nobody = np.empty((0, len(workload.domain)), dtype=np.intp)
        yield Round(number, nobody, (query,), price, facts), histogram  # line 7


def _shift(
    histogram: Histogram, parameters: PMW, query: Query, fraction: float, sigma: float
) -> None:
    """Line 6."""
    if parameters.projecting:
        histogram.project(query, fraction, min(0.5, sigma / parameters.rows))
        return
    sign = 1.0 if fraction > histogram.answer(query) else -1.0
    histogram.multiply(query, sign * parameters.rate)


def _answers(workload: QueryClass, histogram: Histogram) -> NDArray[np.float64]:
    """The distribution's answer to every query, negations not listed."""
    return np.concatenate([table.ravel() for table in histogram.answers(workload)])


def _fits(
    workload: QueryClass, histogram: Histogram, positions: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which of these queries the histogram has room for."""
    blocks = np.searchsorted(workload.starts, positions, side="right") - 1
    room = np.array([histogram.fits(block.attributes) for block in workload.blocks])
    return np.asarray(room[blocks])


def calibrated(allowance: Allowance, workload: QueryClass, rows: float, updates: int) -> PMW:
    """Half of the budget for the runs, half for the measurements, and the least safe threshold.

    The threshold is as far above the noise of the questions and of itself, of scales 4 / epsilon
    and 2 / epsilon, as makes a false "above" on the whole stream unlikely.

    >>> from saddlesynth.games.toys import toy
    >>> made = calibrated(Allowance(0.02), toy("coin").workload, 5e4, 8)
    >>> round(made.run_epsilon, 4), round(made.threshold)
    (0.05, 775)
    """
    half = allowance.part(0.5)
    if half.epsilon is not None:
        epsilon = SPENT * half.epsilon / updates
        measurement = Price(pure_rho(epsilon), epsilon)
    else:
        epsilon = math.sqrt(2 * SPENT * half.rho / updates)
        measurement = Price(SPENT * half.rho / updates, None)
    threshold = 6 / epsilon * math.log(2 * workload.size * updates / MISSED)
    pure = allowance.epsilon is not None
    return PMW(updates, max(1.0, threshold), rows, epsilon, measurement, pure)
