"""Private records on this machine: streamed from the table, encoded, counted."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.codec import Codec, Misfits, misfit_error
from saddlesynth.synthesis.count import check_cells, count_block, split_tables, total_cells
from saddlesynth.synthesis.errors import DataWarning, SchemaError
from saddlesynth.synthesis.read import Table
from saddlesynth.synthesis.schema import Categorical
from saddlesynth.synthesis.truncate import check_unit, rows_to_keep

if TYPE_CHECKING:
    import pyarrow as pa

CACHE_BYTES = 256 << 20  # codes are kept in memory up to this, so that later passes read nothing
MANY_VALUES = 20  # a list of at least so many values, each in one row only, names the rows
THREAD_CELLS = 1 << 20  # more cells than this are counted by one thread
RULE_CELLS = 1 << 20  # impossible combinations over more cells than this are not looked for

Block = list[NDArray[np.integer]]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Count = Callable[[Block], Counts]


class LocalRecords:
    """The curator's records, counted in one pass over the table for all marginals asked.

    The first pass also checks every cell against the schema; it keeps the codes in memory if they
    are few (``cache_bytes``), otherwise each pass reads again, in bounded memory.

    Parameters
    ----------
    unit, max_rows_per_unit
        Of each value of the column ``unit`` so many rows are used, drawn by ``generator``.
    n_jobs
        Threads that encode and count.

    *Privacy.* Exact counts: for the curator alone.  Under add_remove even their total is private.

    Raises
    ------
    SchemaError
        The unit is no identifier column.
    """

    def __init__(
        self,
        table: Table,
        codec: Codec,
        *,
        unit: str | None = None,
        max_rows_per_unit: int = 1,
        generator: np.random.Generator | None = None,
        n_jobs: int = 1,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if unit is not None:
            check_unit(codec.schema, unit)
        self.domain = codec.domain
        self._table, self._codec, self._n_jobs = table, codec, n_jobs
        self._unit, self._rows_per_unit = unit, max_rows_per_unit
        self._generator = np.random.default_rng() if generator is None else generator
        self._cache_bytes = cache_bytes
        self._keep: NDArray[np.bool_] | None = None
        self._cache: list[Block] | None = None
        self._checked = False

    def count(self, marginals: Sequence[Attributes]) -> list[Counts]:
        """Exact tables, each of shape ``domain.shape(attributes)``.

        Raises
        ------
        SchemaError
            Cells do not fit the schema, or a list of values names single rows.
        SizeError
            The tables would be too large; found from the schema alone, before reading.

        Warns
        -----
        DataWarning
            Rows have an impossible combination.  They are counted; no synthetic row will have it.
        """
        check_cells(self.domain, marginals)
        if self._checked:
            return self._tables(marginals)
        suspects, ruled = self._suspects(), self._ruled()
        tables = self._tables([*marginals, *suspects, *ruled])
        extra = tables[len(marginals) :]
        self._refuse_row_names(suspects, extra[: len(suspects)])
        self._warn_of_impossible(ruled, extra[len(suspects) :])
        self._checked = True
        return tables[: len(marginals)]

    def count_recoded(
        self, marginals: Sequence[Attributes], maps: Sequence[NDArray[np.intp]]
    ) -> list[Counts]:
        """Exact tables on a coarser domain: ``maps[a][code]`` is the coarse code of a value."""
        if not self._checked:
            self.count([])
        coarse = Domain(self.domain.names, tuple(int(codes.max()) + 1 for codes in maps))
        check_cells(coarse, marginals)
        small = [codes.astype(np.min_scalar_type(codes.max())) for codes in maps]
        return self._tables(
            marginals, coarse, lambda block: [m[c] for m, c in zip(small, block, strict=True)]
        )

    # ------------------------------------------------------------------ passes
    def _tables(
        self,
        marginals: Sequence[Attributes],
        domain: Domain | None = None,
        recode: Callable[[Block], Block] = list,
    ) -> list[Counts]:
        """One pass over the records; ``recode`` takes a block's codes to those of ``domain``."""
        coarse = domain or self.domain
        total = np.zeros(total_cells(coarse, marginals), dtype=np.int64)
        # Large tables are added to in place: one thread, no copy for each block.
        into = total if self._n_jobs == 1 or len(total) > THREAD_CELLS else None

        def count(block: Block) -> Counts:
            return count_block(recode(block), coarse, marginals, out=into)

        jobs = self._n_jobs if into is None else 1
        passes = self._stream if self._cache is None else self._cached
        for counts in passes(count, jobs):
            if into is None:
                total += counts
        return split_tables(total, coarse, marginals)

    def _cached(self, count: Count, jobs: int) -> Iterator[Counts]:
        yield from _in_threads(jobs, count, ((block,) for block in self._cache or []))

    def _stream(self, count: Count, jobs: int) -> Iterator[Counts]:
        """Read, encode and count; at the end all misfits are known, and the codes kept if few."""

        def work(batch: pa.RecordBatch, keep: Mask | None) -> tuple[Counts, Block, Misfits]:
            wrong: Misfits = Counter()
            block = self._codec.encode_leniently(batch, wrong)
            if keep is not None:
                block = [codes[keep] for codes in block]
            return count(block), block, wrong

        misfits: Misfits = Counter()
        cache = _Cache(self._cache_bytes)
        for counts, block, wrong in _in_threads(jobs, work, self._batches()):
            misfits.update(wrong)
            cache.add(block)
            yield counts
        if misfits:
            raise misfit_error(misfits)
        self._cache = cache.blocks

    def _batches(self) -> Iterator[tuple[pa.RecordBatch, Mask | None]]:
        """Batches of the columns of the model, and which of their rows are used (None: all)."""
        if self._unit is not None and self._keep is None:
            self._keep = rows_to_keep(self._table, self._unit, self._rows_per_unit, self._generator)
        start = 0
        for batch in self._table.batches(list(self.domain.names)):
            stop = start + batch.num_rows
            yield batch, None if self._keep is None else self._keep[start:stop]
            start = stop

    # ------------------------------------------------------------------ looked at once
    def _suspects(self) -> list[Attributes]:
        """Attributes whose listed values might be names of rows; none if no data may be refused."""
        if self._codec.schema.lenient:
            return []
        return [
            (i,)
            for i, name in enumerate(self.domain.names)
            if isinstance(self._codec.schema.columns[name], Categorical)
            and self._codec.columns[name].values >= MANY_VALUES
        ]

    def _refuse_row_names(self, suspects: list[Attributes], tables: list[Counts]) -> None:
        for (attribute,), table in zip(suspects, tables, strict=True):
            name = self.domain.names[attribute]
            values = self._codec.columns[name].values
            if (table[:values] == 1).all() and not table[values:].any():
                raise SchemaError(
                    f"column {name!r} is unique per row: every value listed in the schema is in "
                    f'one row only; leave the column out with "{name}": {{"type": "id"}}'
                )

    def _ruled(self) -> list[Attributes]:
        """Attributes of the impossible combinations, where their tables are small."""
        groups = {tuple(sorted(rule)): None for rule in self._codec.impossible}
        return [group for group in groups if self.domain.cells(group) <= RULE_CELLS]

    def _warn_of_impossible(self, ruled: list[Attributes], tables: list[Counts]) -> None:
        counts = dict(zip(ruled, tables, strict=True))
        for rule in self._codec.impossible:
            group = tuple(sorted(rule))
            if group in counts and counts[group][tuple(rule[a] for a in group)]:
                names = [self.domain.names[a] for a in group]
                cells = {
                    n: self._codec.labels(n)[rule[a]] for n, a in zip(names, group, strict=True)
                }
                warnings.warn(
                    f"the data have rows with the impossible combination {cells}; they are "
                    "counted, but no synthetic row will have it (only the first such rule is told)",
                    DataWarning,
                    stacklevel=2,
                )
                return


class _Cache:
    """Blocks of codes, all or none: none once they need more than ``room`` bytes."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.blocks: list[Block] | None = []

    def add(self, block: Block) -> None:
        self._room -= sum(codes.nbytes for codes in block)
        if self._room < 0:
            self.blocks = None
        elif self.blocks is not None:
            self.blocks.append(block)


def _in_threads(jobs: int, work: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> Any:
    """``work(*item)`` for each item, in order, with a few items in flight."""
    if jobs == 1:
        return starmap(work, items)
    from joblib import Parallel, delayed

    threads = Parallel(jobs, backend="threading", return_as="generator")
    return threads(delayed(work)(*item) for item in items)
