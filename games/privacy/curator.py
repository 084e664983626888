"""The one holder of private records.

Each public method that releases something is one mechanism and one charge, and it charges before it
draws: if the budget does not suffice, ``BudgetExceeded`` is raised and nothing was drawn.

Sensitivities (one unit has at most k rows; counts are integers):

=======================================  ===========  ===========
quantity                                 add/remove   replace one
=======================================  ===========  ===========
one marginal, L1                         k            2 k
one marginal, L2                         k            sqrt(2) k
independence difference of one pair      4 k          6 k
=======================================  ===========  ===========
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.mechanisms import Noise
from saddlesynth.games.privacy.query_mechanisms import QueryMechanisms
from saddlesynth.games.privacy.recode import RecodedRecords
from saddlesynth.oracles.domain import Attributes, Domain

GRID = 1024  # independence differences are rounded to multiples of 1/GRID before noise


class PrivateRecords(Protocol):
    """Encoded private records, wherever they live (memory, a file, a cluster)."""

    domain: Domain

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact marginal tables, each of shape ``domain.shape(attributes)``, in one pass."""
        ...


@dataclass(frozen=True)
class Measurement:
    """A noisy marginal: counts, and the standard deviation of the noise on each cell."""

    attributes: Attributes
    counts: NDArray[np.float64]
    sigma: float
    rho: float


class Curator(QueryMechanisms):
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
        view._records = RecodedRecords(self.domain, maps, self._exact_tables)
        view._tables = {}
        view._scored = None
        view.domain = view._records.domain
        return view

    def _exact_tables(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        self.prepare(marginals)
        return [self._tables[attributes] for attributes in marginals]

    def _replace(self) -> bool:
        return self.ledger.relation is Relation.REPLACE_ONE

    def marginal_sensitivity(self) -> float:
        """L2 sensitivity of one marginal."""
        return self.ledger.rows_per_unit * (math.sqrt(2) if self._replace() else 1.0)

    # ------------------------------------------------------------------ mechanisms
    def measure(
        self, step: str, marginals: Sequence[Attributes], rhos: Sequence[float]
    ) -> list[Measurement]:
        """Noisy marginals by the discrete Gaussian mechanism.

        Privacy.  Marginal i is ``rhos[i]``-zCDP: standard deviation D / sqrt(2 rho) for L2
        sensitivity D (table above).  One ledger line a marginal.
        """
        self.prepare(marginals)
        sensitivity = self.marginal_sensitivity()
        sigmas = [sensitivity / math.sqrt(2 * rho) for rho in rhos]
        for attributes, rho, sigma in zip(marginals, rhos, sigmas, strict=True):
            name = " x ".join(self.domain.names[a] for a in attributes)
            label = f"{step}: {name}" if name else step
            self.ledger.charge(label, "discrete Gaussian", sensitivity, sigma, rho=rho)
        return [
            Measurement(
                attributes,
                self._noise.discrete_gaussian(self._exact(attributes), sigma).astype(np.float64),
                sigma,
                rho,
            )
            for attributes, rho, sigma in zip(marginals, rhos, sigmas, strict=True)
        ]
