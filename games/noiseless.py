"""A curator that answers exactly, to see a game without its noise.  For public tables only.

Every mechanism answers as if its budget were infinite: the query player plays a best response, a
measurement is exact, a test is sharp.  Nothing is charged and nothing is private; the class refuses
to be built unless the caller says that the table is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import candidate_payoffs
from saddlesynth.games.privacy.budget import Cost, Ledger
from saddlesynth.games.privacy.curator import Curator, PrivateRecords
from saddlesynth.games.query_class import QueryClass


class Noiseless(Curator):
    """Exact answers about public records; its ledger stays empty.

    Raises ``PermissionError`` unless ``public`` is True.
    """

    def __init__(self, records: PrivateRecords, *, public: bool) -> None:
        if not public:
            raise PermissionError("playing without noise is not private; public=True is needed")
        super().__init__(records, _Uncharged(1.0, 1e-9), _Silent(), public=True)

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
        """Keeps the queries whose error is at least the reference: a coin of infinite rate."""
        scores = exact_scores(self, workload, answers)
        return [bool(scores[position] >= reference) for position in positions]

    def select_table(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
    ) -> int:
        """The table with the smallest largest error."""
        rows = np.concatenate(list(answers))
        tables = (np.split(row, workload.starts[1:-1]) for row in rows)
        shaped = (
            [part.reshape(shape) for part, shape in zip(parts, workload.shapes, strict=True)]
            for parts in tables
        )
        return int(np.argmin([exact_scores(self, workload, table).max() for table in shaped]))


def exact_scores(
    curator: Curator, workload: QueryClass, answers: Iterable[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What ``select_query`` looks at: the error of every query and negation, in counts.

    Raises ``PermissionError`` if the curator's records were not declared public.
    """
    tables = workload.answers(curator.exact(workload.marginals))
    rows = int(curator.exact([()])[0])
    truth = [table / max(1, rows) for table in tables]
    return rows * candidate_payoffs(workload, truth, list(answers))


class _Uncharged(Ledger):
    """A ledger that writes nothing down, and so never runs out."""

    def charge_all(self, costs: Sequence[Cost]) -> None:
        """Nothing is spent: nothing here is private."""


class _Silent:
    """Noise of size zero."""

    seeded = False

    def discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        return counts

    def discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        return counts

    def gaussian_threshold(
        self, counts: NDArray[np.int64], sigma: float, threshold: int
    ) -> dict[int, int]:
        return {int(i): int(counts[i]) for i in np.flatnonzero(counts >= threshold)}

    def noisy_max(self, scores: NDArray[np.float64], scale: float) -> int:
        return int(np.argmax(scores))

    def below(self, n: int) -> int:
        return n // 2
