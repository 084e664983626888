"""The curator's mechanisms for query-release games.

Scores are errors in counts, N(q) - n a(q) for the n private records and a play that answers a(q).
Adding or removing a record r changes one by q(r) - a(q), replacing r by q(r') - q(r): at most 1
either way, whatever n is, and k times that for units of k rows.  So no method here needs a public
n.  A workload holds negations too, and their scores move the other way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.calibrate import (
    gaussian_sigma,
    laplace_deviation,
    laplace_scale,
    pure_rho,
    require_positive,
    round_down,
    round_up,
    selection_rho,
)
from saddlesynth.games.privacy.exponential import bernoulli
from saddlesynth.games.privacy.mechanisms import Noise
from saddlesynth.games.privacy.scores import Scores
from saddlesynth.games.privacy.sparse_vector import SparseVector
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Attributes

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOM = 1 + 1e-12  # covers the rounding of a few elementary functions


class QueryMechanisms:
    """Part of ``Curator``: selections and tests on query errors."""

    ledger: Ledger
    _noise: Noise
    _scored: Scores | None = None  # of the workload asked last

    def _exact_tables(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        raise NotImplementedError

    def _scores(self, workload: QueryClass) -> Scores:
        if self._scored is None or self._scored.workload is not workload:
            tables = self._exact_tables(workload.marginals)
            self._scored = Scores(workload, tables, int(tables[0].sum()))
        return self._scored

    def select_query(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
        draws: int = 1,
    ) -> list[int]:
        """Queries on which a play is far off, by the exponential mechanism.

        Query q (or negation) of the workload is drawn with probability proportional to
        exp(epsilon * weight(q) * (N(q) - n a(q)) / (2 k)), ``draws`` times independently.

        answers : the play's fractions, one table a block (``QueryClass.answers_on``); public.
        Returns positions, as ``QueryClass.query`` takes them.

        Privacy.  Sensitivity k (rows of a unit).  Each draw is epsilon-DP and epsilon-bounded
        range, so epsilon^2 / 8 in zCDP.  One ledger line for all draws.
        """
        rows = self.ledger.rows_per_unit
        self.ledger.charge(
            step,
            "exponential mechanism" + (f", {draws} draws" if draws > 1 else ""),
            rows,
            laplace_scale(2 * rows, epsilon),
            rho=round_up(draws * Fraction(selection_rho(epsilon))),
            epsilon=round_up(draws * Fraction(epsilon)),
        )
        rate = round_down(Fraction(epsilon) / (2 * rows))
        draw = self._scores(workload).sampler(list(answers), rate, self._noise.below)
        return [draw() for _ in range(draws)]

    def keep_queries(
        self,
        step: str,
        workload: QueryClass,
        positions: Sequence[int],
        answers: Iterable[NDArray[np.float64]],
        rate: float,
        slack: float,
        reference: float,
        charged: int = 0,
    ) -> list[bool]:
        """For each query, whether it is kept: a coin whose bias tells how far off the play is.

        Query q is kept with probability exp(-slack) * min(1, exp(rate * (score(q) - reference))),
        where score(q) = weight(q) * (N(q) - n a(q)); the reference is a public number of records.
        At least ``charged`` coins are charged, for a ledger that does not depend on their number.

        Privacy.  The score has sensitivity k, so log P(keep) moves by at most a = rate * k, and,
        since P(keep) <= exp(-slack), log P(drop) the other way by at most
        b = ln(1 + (1 - exp(-a)) / (exp(slack) - 1)).  A coin is max(a, b)-DP and has bounded range
        a + b, so it costs (a + b)^2 / 8 in zCDP; docs/games.md has the proof.  One line for all.
        """
        require_positive("rate", rate)
        require_positive("slack", slack)
        price = coin_range(rate * self.ledger.rows_per_unit, slack)
        coins = max(charged, len(positions))
        self.ledger.charge(
            step,
            f"{coins} rejection coins",
            self.ledger.rows_per_unit,
            1 / rate,
            rho=round_up(coins * Fraction(selection_rho(sum(price)))),
            epsilon=round_up(coins * Fraction(max(price))),
        )
        errors = self._scores(workload).errors(positions, list(answers))
        exponents = [
            min(Fraction(0), Fraction(rate) * (error - Fraction(reference))) - Fraction(slack)
            for error in errors
        ]
        return [bernoulli(x, Fraction(1), self._noise.below) for x in exponents]

    def measure_query(
        self, step: str, workload: QueryClass, position: int, rho: float, epsilon: float | None
    ) -> tuple[float, float]:
        """The noisy number of records that satisfy one query, and the noise's standard deviation.

        Discrete Gaussian noise of cost ``rho``; or, given an ``epsilon``, discrete Laplace noise.

        Privacy.  Sensitivity k.  ``rho``-zCDP, or ``epsilon``-DP.
        """
        rows = self.ledger.rows_per_unit
        count = self._scores(workload).counts_of(np.array([position]))
        if epsilon is None:
            sigma = gaussian_sigma(rows**2, rho)
            self.ledger.charge(step, "discrete Gaussian", rows, sigma, rho=rho)
            return float(self._noise.discrete_gaussian(count, sigma)[0]), sigma
        scale = laplace_scale(rows, epsilon)
        self.ledger.charge(
            step, "discrete Laplace", rows, scale, rho=pure_rho(epsilon), epsilon=epsilon
        )
        return float(self._noise.discrete_laplace(count, scale)[0]), laplace_deviation(scale)

    def above_threshold(self, step: str, workload: QueryClass, epsilon: float) -> SparseVector:
        """A run of AboveThreshold on the errors of the workload's queries; see ``SparseVector``.

        Privacy.  ``epsilon``-DP, hence epsilon^2/2-zCDP, for any number of questions up to the
        first "above".  Charged here, before anything is drawn.
        """
        rows = self.ledger.rows_per_unit
        scales = laplace_scale(2 * rows, epsilon), laplace_scale(4 * rows, epsilon)
        self.ledger.charge(
            step, "above threshold", rows, scales[1], rho=pure_rho(epsilon), epsilon=epsilon
        )
        counts = self._scores(workload).counts_of
        return SparseVector(counts, scales, self._noise.discrete_laplace)

    def select_table(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
    ) -> int:
        """One of many small tables, by how well it answers all queries: exponential mechanism.

        answers : blocks of rows, (tables, queries) fractions, in the order of ``QueryClass.query``.
        Table i is drawn with probability proportional to exp(-epsilon * e(i) / (2 k)), where e(i)
        is the largest weight * |N(q) - n a_i(q)|.

        Privacy.  e(i) has sensitivity k, as a largest of quantities of that sensitivity.
        epsilon-DP, epsilon^2/8 in zCDP.
        """
        rows = self.ledger.rows_per_unit
        self.ledger.charge(
            step,
            "exponential mechanism",
            rows,
            laplace_scale(2 * rows, epsilon),
            rho=selection_rho(epsilon),
            epsilon=epsilon,
        )
        rate = round_down(Fraction(epsilon) / (2 * rows))
        return self._scores(workload).best_table(answers, rate, self._noise.below)


def coin_range(change: float, slack: float) -> tuple[float, float]:
    """How far log P(keep) and log P(drop) move, rounded up, if the former moves by ``change``.

    >>> [round(part, 5) for part in coin_range(0.01, 0.5)]
    [0.01, 0.01522]
    """
    drop = math.log1p(-math.expm1(-change) / math.expm1(slack))
    return change * ROOM, drop * ROOM
