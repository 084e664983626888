"""Private records on this machine: streamed from the table, encoded, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes
from saddlesynth.synthesis.codec import Codec, Misfits, misfit_error
from saddlesynth.synthesis.count import check_cells, count_block, split_tables, total_cells
from saddlesynth.synthesis.read import Table

Block = list[NDArray[np.integer]]


class LocalRecords:
    """The curator's records, counted in one pass over the table for all marginals asked.

    *Privacy.* Exact counts: for the curator alone.
    """

    def __init__(self, table: Table, codec: Codec, *, n_jobs: int = 1) -> None:
        self.domain = codec.domain
        self._table, self._codec, self._n_jobs = table, codec, n_jobs

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact tables, each of shape ``domain.shape(attributes)``.

        Raises
        ------
        SchemaError
            Cells do not fit the schema.
        SizeError
            The tables would be too large; found from the schema alone, before reading.
        """
        check_cells(self.domain, marginals)
        total = np.zeros(total_cells(self.domain, marginals), dtype=np.int64)
        for codes in self._blocks():
            total += count_block(codes, self.domain, marginals)
        return split_tables(total, self.domain, marginals)

    def _blocks(self) -> Iterator[Block]:
        misfits: Misfits = Counter()
        for batch in self._table.batches(list(self.domain.names)):
            codes = self._codec.encode_leniently(batch, misfits)
            if not misfits:
                yield codes
        if misfits:
            raise misfit_error(misfits)
