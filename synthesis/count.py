"""The counting kernel: many marginals of encoded records in one pass.

Marginal tables are dense, flattened in C order (last attribute fastest) and laid end to end in one
array.  ``count_block`` is a pure function of one block of rows, so the same code runs in threads
here or on the workers of a cluster (``map_counts`` fits Spark's ``mapInArrow``); results add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import SizeError

if TYPE_CHECKING:
    import pyarrow as pa

    from saddlesynth.synthesis.codec import Codec

BLOCK_ROWS = 65_536  # a block's codes and indices stay in the processor's cache
MAX_CELLS = 1 << 27  # 1 GiB of counts

Cells = NDArray[Any]  # integers
Block = Sequence[NDArray[np.integer]]
Counts = NDArray[np.int64]


def total_cells(domain: Domain, marginals: Sequence[Attributes]) -> int:
    """Cells of all marginals together."""
    return sum(domain.cells(attributes) for attributes in marginals)


def check_cells(domain: Domain, marginals: Sequence[Attributes], limit: int = MAX_CELLS) -> None:
    """Raise ``SizeError``, before any work, if the tables would not fit; public inputs only."""
    cells = total_cells(domain, marginals)
    if cells > limit:
        largest = max(marginals, key=domain.cells)
        names = ", ".join(domain.names[a] for a in largest)
        raise SizeError(
            f"{len(marginals)} marginals have {cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); the "
            f"limit is {limit:,}. Ask for fewer or smaller marginals (the largest, on {names}, "
            f"has {domain.cells(largest):,}), or give these columns fewer values or bins"
        )


def count_block(
    codes: Block,
    domain: Domain,
    marginals: Sequence[Attributes],
    out: Counts | None = None,
) -> Counts:
    """Counts of all marginals over one block of rows.

    Parameters
    ----------
    codes
        One array of codes an attribute, all of one length.
    marginals
        Attribute positions, in the order of the table's axes.
    out
        Flat tables to add to; default: new ones.

    Returns the flat tables end to end.  *Privacy.* Exact private counts: for the curator alone.

    >>> domain = Domain(("a", "b"), (2, 3))
    >>> count_block([np.array([0, 1, 1]), np.array([2, 0, 0])], domain, [(0, 1), (0,)]).tolist()
    [0, 0, 1, 2, 0, 0, 1, 2]
    """
    starts = np.cumsum([0, *(domain.cells(attributes) for attributes in marginals)])
    if out is None:
        out = np.zeros(starts[-1], dtype=np.int64)
    prefixes = _Prefixes(codes, domain)
    for i in sorted(range(len(marginals)), key=marginals.__getitem__):
        table = out[starts[i] : starts[i + 1]]
        if not marginals[i]:
            table += len(codes[0])
            continue
        cell = prefixes.cell(marginals[i])
        if len(table) > len(cell):  # few rows for many cells: touch only theirs
            np.add.at(table, cell, 1)
        else:
            table += np.bincount(cell, minlength=len(table))
    return out


class _Prefixes:
    """Mixed-radix cell numbers of rows; common beginnings of sorted marginals are kept."""

    def __init__(self, codes: Block, domain: Domain) -> None:
        self._codes, self._domain = codes, domain
        self._known: dict[Attributes, Cells] = {}

    def cell(self, attributes: Attributes) -> Cells:
        """The number of each row's cell, in 32 bits where cells fit."""
        *head, last = attributes
        if not head:
            return self._codes[last]
        size = self._domain.sizes[last]
        wide = self._domain.cells(attributes) >= 2**31
        kind: type[np.signedinteger] = np.int64 if wide else np.int32
        number = self._prefix(tuple(head)).astype(kind) * kind(size)
        number += self._codes[last]
        return np.asarray(number)

    def _prefix(self, head: Attributes) -> Cells:
        if head not in self._known:
            cells = self.cell(head)
            self._known = {k: v for k, v in self._known.items() if k == head[: len(k)]}
            self._known[head] = cells.astype(np.int32) if len(head) == 1 else cells
        return self._known[head]


def split_tables(flat: Counts, domain: Domain, marginals: Sequence[Attributes]) -> list[Counts]:
    """The tables of a flat result, each of shape ``domain.shape(attributes)``."""
    ends = np.cumsum([domain.cells(attributes) for attributes in marginals])
    parts = np.split(flat, ends[:-1]) if marginals else []
    return [part.reshape(domain.shape(a)) for part, a in zip(parts, marginals, strict=True)]


# ---------------------------------------------------------------------- on a cluster
def map_counts(
    batches: Iterable[pa.RecordBatch], codec: Codec, marginals: Sequence[Attributes]
) -> Iterator[pa.RecordBatch]:
    """Batches of rows -> one batch (cell, n) with the counts that are not zero.

    A pure function for a cluster's ``mapInArrow``; ``add_counts`` sums what the workers return.
    """
    import pyarrow as pa

    total = np.zeros(total_cells(codec.domain, marginals), dtype=np.int64)
    for batch in batches:
        for start in range(0, batch.num_rows, BLOCK_ROWS):
            codes = codec.encode(batch.slice(start, BLOCK_ROWS))
            count_block(codes, codec.domain, marginals, out=total)
    cells = np.flatnonzero(total)
    yield pa.record_batch({"cell": cells, "n": total[cells]})


def add_counts(
    results: Iterable[Any], domain: Domain, marginals: Sequence[Attributes]
) -> list[Counts]:
    """Sum batches (cell, n) into one table a marginal."""
    total = np.zeros(total_cells(domain, marginals), dtype=np.int64)
    for result in results:
        np.add.at(total, np.asarray(result.column("cell")), np.asarray(result.column("n")))
    return split_tables(total, domain, marginals)
