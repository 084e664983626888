"""A curator that answers exactly, to see a game without its noise.  For public tables only.

Every mechanism answers as if its budget were infinite: the query player plays a best response, a
measurement is exact, a test is sharp.  Nothing is charged and nothing is private; the class refuses
to be built unless the caller says that the table is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import candidate_payoffs
from saddlesynth.games.privacy.budget import Cost, Ledger
from saddlesynth.games.privacy.curator import Curator, PrivateRecords
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import QueryClass


@dataclass
class Unlimited(Ledger):
    """A ledger that charges nothing."""

    def charge_all(self, costs: Sequence[Cost]) -> None:
        """Write no line."""


class Silent(Seeded):
    """Noise that is always zero; coins are still tossed."""

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        return np.asarray(counts, dtype=np.int64)

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        return np.asarray(counts, dtype=np.int64)


class Noiseless(Curator):
    """Exact answers about public records; its ledger stays empty.

    ``seed`` is for rejection coins, which are part of an algorithm and not noise.

    Raises ``PermissionError`` unless ``public`` is True.
    """

    def __init__(self, records: PrivateRecords, *, public: bool, seed: int = 0) -> None:
        if not public:
            raise PermissionError("playing without noise is not private; public=True is needed")
        silent = Silent(np.random.default_rng(seed))
        super().__init__(records, Unlimited(1.0, 1e-9), silent, public=True)

    def select_query(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
        draws: int = 1,
    ) -> list[int]:
        """The worst query, ``draws`` times: the query player's best response."""
        return [int(np.argmax(exact_scores(self, workload, answers)))] * draws

    def select_table(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
    ) -> int:
        """The table whose largest error is smallest."""
        truth = np.concatenate([t.ravel() for t in exact_answers(self, workload)])
        weights = np.repeat([b.weight for b in workload.blocks], np.diff(workload.starts))
        errors = [(weights * np.abs(truth - block)).max(axis=1) for block in answers]
        return int(np.argmin(np.concatenate(errors)))


def exact_answers(curator: Curator, workload: QueryClass) -> list[NDArray[np.float64]]:
    """The data's answers as fractions.

    Raises ``PermissionError`` if the curator's records were not declared public.
    """
    tables = workload.answers(curator.exact(workload.marginals))
    rows = int(curator.exact([()])[0])
    return [table / max(1, rows) for table in tables]


def exact_scores(
    curator: Curator, workload: QueryClass, answers: Iterable[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What ``select_query`` looks at: the error of every query and negation, in counts.

    Raises ``PermissionError`` if the curator's records were not declared public.
    """
    rows = int(curator.exact([()])[0])
    return rows * candidate_payoffs(workload, exact_answers(curator, workload), list(answers))
