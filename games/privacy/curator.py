"""The one holder of private records.

Each public method that releases something is one mechanism and one charge, and it charges before it
draws: if the budget does not suffice, ``BudgetExceeded`` is raised and nothing was drawn.

Sensitivities (one unit has at most k rows; counts are integers):

=======================================  ===========  ===========  ===========================
quantity                                 add/remove   replace one  proof
=======================================  ===========  ===========  ===========================
one marginal, L1                         k            2 k          ``sensitivity.py``
one marginal, L2                         k            sqrt(2) k    ``sensitivity.py``
independence difference of one pair      4 k          6 k          ``independence.py``
dependence score n R                     2 k          3 k          half of it
mutual information n I, n <= N           k g(N-1)     2 k g(N-1)   ``information.py``
distance from full information n F       k            k            ``max_information.py``
error of a query, in counts              k            k            ``query_mechanisms.py``
residual of a marginal, L2, at most      k            sqrt(2) k    ``residuals.py``
distance of a marginal from a model, L1  k            2 k          ``distance.py``
=======================================  ===========  ===========  ===========================
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Cost, Ledger, Relation
from saddlesynth.games.privacy.calibrate import (
    gaussian_sigma,
    laplace_deviation,
    laplace_scale,
    pure_rho,
    selection_rho,
)
from saddlesynth.games.privacy.independence import GRID, PER_ROW, independence_difference
from saddlesynth.games.privacy.mechanisms import Noise, draw_together
from saddlesynth.games.privacy.query_mechanisms import QueryMechanisms
from saddlesynth.games.privacy.recode import RecodedRecords
from saddlesynth.games.privacy.residuals import ResidualMechanisms
from saddlesynth.games.privacy.sensitivity import l1, squared_l2
from saddlesynth.oracles.domain import Attributes, Domain


class PrivateRecords(Protocol):
    """Encoded private records, wherever they live (memory, a file, a cluster)."""

    @property
    def domain(self) -> Domain: ...

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact marginal tables, each of shape ``domain.shape(attributes)``, in one pass."""
        ...


class Score(Protocol):
    """Scores of public candidates, computed from exact marginals, with a proven sensitivity.

    An implementation belongs in this package, with its proof and a row in the brute-force test.
    """

    @property
    def name(self) -> str:
        """For the ledger."""
        ...

    @property
    def marginals(self) -> Sequence[Attributes]:
        """The tables it needs."""
        ...

    def sensitivity(self, relation: Relation) -> float:
        """How much one row can change any score; exact, rounding included."""
        ...

    def scores(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """One score a candidate."""
        ...


@dataclass(frozen=True)
class Measurement:
    """A noisy marginal: counts, and the standard deviation of the noise on each cell.

    ``independent`` says whether the cells' noise is, so that variances of sums are sums of
    variances; answers that were put together from several measurements have correlated noise.
    ``errors`` holds the standard error of each cell once processing has changed it.
    """

    attributes: Attributes
    counts: NDArray[np.float64]
    sigma: float
    rho: float
    independent: bool = True
    errors: NDArray[np.float64] | None = None


class Curator(QueryMechanisms, ResidualMechanisms):
    """Answers questions about private records, with noise, against a ledger.

    Privacy: see each method.  Exact tables are kept inside and never returned, except by
    ``exact`` if the records are declared ``public`` (tiny tables for teaching).
    """

    def __init__(
        self, records: PrivateRecords, ledger: Ledger, noise: Noise, *, public: bool = False
    ) -> None:
        self._records = records
        self._noise = noise
        self._tables: dict[Attributes, NDArray[np.int64]] = {}
        self.ledger = ledger
        self.domain = records.domain
        self.public = public

    def exact(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact tables of a public table; ``PermissionError`` if it was not declared public."""
        if not self.public:
            raise PermissionError(
                "exact numbers were asked of private records; only a curator built with "
                "public=True, on records that are public, shows them"
            )
        return self._exact_tables(marginals)

    # ------------------------------------------------------------------ private, free of charge
    def prepare(self, marginals: Sequence[Attributes]) -> None:
        """Count these marginals in one pass over the records and keep them; releases nothing."""
        wanted = [m for m in dict.fromkeys(marginals) if m not in self._tables]
        if wanted:
            self._tables.update(zip(wanted, self._records.count(wanted), strict=True))

    def _exact(self, attributes: Attributes) -> NDArray[np.int64]:
        self.prepare([attributes])
        return self._tables[attributes]

    def recoded(self, maps: Sequence[NDArray[np.intp]]) -> Curator:
        """The same records, ledger and noise on a coarser domain (``RecodedRecords``).

        Privacy.  Releases nothing.  The maps must come from public or released values; then every
        sensitivity stays what it was.
        """
        view = copy.copy(self)
        view._records = RecodedRecords(
            self.domain,
            maps,
            self._passing_tables,
            getattr(self._records, "count_recoded", None),
        )
        view._tables = {}
        view._scored = None
        view.domain = view._records.domain
        return view

    def _passing_tables(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact tables, of which those that were not prepared are not kept either."""
        missing = [m for m in dict.fromkeys(marginals) if m not in self._tables]
        counted = dict(zip(missing, self._records.count(missing) if missing else [], strict=True))
        return [counted[m] if m in counted else self._tables[m] for m in marginals]

    def _exact_tables(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        self.prepare(marginals)
        return [self._tables[attributes] for attributes in marginals]

    def marginal_sensitivity(self) -> float:
        """L2 sensitivity of one marginal; public."""
        return math.sqrt(squared_l2(self.ledger))

    # ------------------------------------------------------------------ mechanisms
    def measure(
        self, step: str, marginals: Sequence[Attributes], rhos: Sequence[float]
    ) -> list[Measurement]:
        """Noisy marginals by the discrete Gaussian mechanism.

        Privacy.  Marginal i is ``rhos[i]``-zCDP: standard deviation D / sqrt(2 rho) for L2
        sensitivity D (table above).  One ledger line a marginal.
        """
        sigmas = [gaussian_sigma(squared_l2(self.ledger), rho) for rho in rhos]
        self.ledger.charge_all(
            [
                Cost(self._label(step, m), "discrete Gaussian", self.marginal_sensitivity(), s, rho)
                for m, s, rho in zip(marginals, sigmas, rhos, strict=True)
            ]
        )
        tables = draw_together(self._noise.discrete_gaussian, self._exact_tables(marginals), sigmas)
        return [
            Measurement(m, table.astype(np.float64), sigma, rho)
            for m, table, sigma, rho in zip(marginals, tables, sigmas, rhos, strict=True)
        ]

    def measure_laplace(
        self, step: str, marginals: Sequence[Attributes], epsilons: Sequence[float]
    ) -> list[Measurement]:
        """Noisy marginals by the discrete Laplace mechanism, for pure budgets.

        ``Measurement.sigma`` is the standard deviation of the noise, as everywhere.

        Privacy.  Marginal i is ``epsilons[i]``-DP, hence epsilon^2/2-zCDP: scale D / epsilon for L1
        sensitivity D (table above).  One ledger line a marginal, with both costs.
        """
        sensitivity = l1(self.ledger)
        scales = [laplace_scale(sensitivity, epsilon) for epsilon in epsilons]
        costs = [
            Cost(
                self._label(step, m), "discrete Laplace", sensitivity, s, pure_rho(epsilon), epsilon
            )
            for m, s, epsilon in zip(marginals, scales, epsilons, strict=True)
        ]
        self.ledger.charge_all(costs)
        tables = draw_together(self._noise.discrete_laplace, self._exact_tables(marginals), scales)
        return [
            Measurement(m, table.astype(np.float64), laplace_deviation(scale), cost.rho)
            for m, table, scale, cost in zip(marginals, tables, scales, costs, strict=True)
        ]

    def independence_differences(
        self, step: str, pairs: Sequence[Attributes], rho: float
    ) -> NDArray[np.float64]:
        """Noisy || M_ab - M_a M_b^T / n ||_1 of each pair (a, b), in counts; (m,).

        Privacy.  ``rho``-zCDP.  Each score has sensitivity 4 k (add/remove) or 6 k (replace-one),
        all m together sqrt(m) times that in L2; they are whole multiples of 1/GRID, which changes
        no sensitivity (``independence.py``), so the noise is a discrete Gaussian on whole numbers.
        Its standard deviation is sqrt(8 m / rho) k, or sqrt(18 m / rho) k.  One ledger line.
        """
        if not pairs:
            return np.zeros(0)
        each = PER_ROW[self.ledger.relation] * self.ledger.rows_per_unit * GRID
        sigma = gaussian_sigma(len(pairs) * each**2, rho)
        self.ledger.charge(
            f"{step}: {len(pairs)} pairs",
            "discrete Gaussian",
            math.sqrt(len(pairs)) * each / GRID,
            sigma / GRID,
            rho=rho,
        )
        exact = [independence_difference(table) for table in self._exact_tables(pairs)]
        noisy = self._noise.discrete_gaussian(np.asarray(exact, dtype=np.int64), sigma)
        return np.asarray(noisy / GRID)

    def select(self, step: str, score: Score, epsilon: float, *, keep: bool = True) -> int:
        """Position of a candidate with a high score, by the exponential mechanism.

        Candidate i is drawn with probability proportional to exp(epsilon * score_i / (2 D)) for
        scores of sensitivity D, as the maximum of scores with Gumbel noise of scale 2 D / epsilon.

        keep : whether tables that had to be counted stay in memory for later questions

        Privacy.  epsilon-DP and epsilon-bounded range, hence epsilon^2/8-zCDP (Gumbel noise only).
        One ledger line.
        """
        sensitivity = score.sensitivity(self.ledger.relation) * self.ledger.rows_per_unit
        scale = laplace_scale(2 * sensitivity, epsilon)
        self.ledger.charge(
            step,
            f"exponential mechanism on {score.name}",
            sensitivity,
            scale,
            rho=selection_rho(epsilon),
            epsilon=epsilon,
        )
        tables = self._exact_tables if keep else self._passing_tables
        return self._noise.noisy_max(score.scores(tables(score.marginals)), scale)

    def _label(self, step: str, attributes: Attributes) -> str:
        name = " x ".join(self.domain.names[a] for a in attributes)
        return f"{step}: {name}" if name else step
