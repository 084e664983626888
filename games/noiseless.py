"""A curator that answers exactly, to see a game without its noise.  For public tables only.

Every mechanism answers as if its budget were infinite: the query player plays a best response, a
measurement is exact, a test is sharp.  Nothing is charged and nothing is private; the class refuses
to be built unless the caller says that the table is public.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.payoff import payoffs
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator, PrivateRecords
from saddlesynth.games.privacy.mechanisms import Secure
from saddlesynth.games.query_class import QueryClass


class Noiseless(Curator):
    """Exact answers about public records; its ledger stays empty.

    Raises ``PermissionError`` unless ``public`` is True.
    """

    def __init__(self, records: PrivateRecords, *, public: bool) -> None:
        if not public:
            raise PermissionError("playing without noise is not private; public=True is needed")
        super().__init__(records, Ledger(1.0, 1e-9), Secure(), public=True)

    def select_query(
        self,
        step: str,
        workload: QueryClass,
        answers: Iterable[NDArray[np.float64]],
        epsilon: float,
        draws: int = 1,
    ) -> list[int]:
        """The worst query, ``draws`` times: the query player's best response."""
        tables = workload.answers(self.exact(workload.marginals))
        truth = [table / max(1, self.rows) for table in tables]
        half = np.concatenate([t.ravel() for t in payoffs(workload, truth, list(answers))])
        return [int(np.argmax(np.concatenate([half, -half])))] * draws

    @property
    def rows(self) -> int:
        """The exact number of records."""
        return int(self.exact([()])[0])
