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
MAX_CELLS = 1 << 28  # 2 GiB of counts

Codes = NDArray[np.integer]
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


def count_block(codes: Sequence[Codes], domain: Domain, marginals: Sequence[Attributes]) -> Counts:
    """Counts of all marginals over one block of rows.

    Parameters
    ----------
    codes
        One array of codes an attribute, all of one length; ``None`` where no marginal needs it.
    marginals
        Attribute positions, in the order of the table's axes.

    Returns the flat tables end to end.  *Privacy.* Exact private counts: for the curator alone.

    >>> domain = Domain(("a", "b"), (2, 3))
    >>> count_block([np.array([0, 1, 1]), np.array([2, 0, 0])], domain, [(0, 1), (0,)]).tolist()
    [0, 0, 1, 2, 0, 0, 1, 2]
    """
    parts: list[Counts] = [np.empty(0, dtype=np.int64)] * len(marginals)
    prefixes: dict[Attributes, Codes] = {}
    for i in sorted(range(len(marginals)), key=lambda i: marginals[i]):
        attributes = marginals[i]
        if not attributes:
            parts[i] = np.array([len(codes[0])], dtype=np.int64)
            continue
        cells = domain.cells(attributes)
        index = _index(codes, domain, attributes, prefixes)
        parts[i] = np.bincount(index, minlength=cells)
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _index(
    codes: Sequence[Codes],
    domain: Domain,
    attributes: Attributes,
    prefixes: dict[Attributes, Codes],
) -> Codes:
    """Mixed-radix cell number of each row; the marginals' common beginnings are computed once."""
    if len(attributes) == 1:
        return codes[attributes[0]]
    kind = np.int32 if domain.cells(attributes) < 2**31 else np.int64
    head, last = attributes[:-1], attributes[-1]
    if head not in prefixes:
        for old in [known for known in prefixes if known != head[: len(known)]]:
            del prefixes[old]
        prefixes[head] = _index(codes, domain, head, prefixes).astype(kind)
    index = prefixes[head].astype(kind, copy=False) * kind(domain.sizes[last])
    index += codes[last]
    return index


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
            total += count_block(codes, codec.domain, marginals)
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
