"""The curator's mechanisms for query-release games.

Scores are errors in counts, N(q) - n a(q) for the n private records and a play that answers a(q).
Adding or removing a record r changes one by q(r) - a(q), replacing r by q(r') - q(r): at most 1
either way, whatever n is, and k times that for units of k rows.  So no method here needs a public
n.  A workload holds negations too, and their scores move the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.calibrate import (
    laplace_scale,
    round_down,
    round_up,
    selection_rho,
)
from saddlesynth.games.privacy.mechanisms import Noise
from saddlesynth.games.privacy.scores import Scores
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Attributes

if TYPE_CHECKING:
    from collections.abc import Iterable


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
