"""Private records seen on a coarser domain: values of an attribute that are counted as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain

CELLS_AT_ONCE = 1 << 23  # of fine tables; more are counted in several passes over the records
DIRECTLY_FROM = 1 << 16  # finer tables than this are slower to sum than to count again

Maps = Sequence[NDArray[np.intp]]
Tables = Callable[[Sequence[Attributes]], list[NDArray[np.int64]]]
CoarseTables = Callable[[Sequence[Attributes], Maps], list[NDArray[np.int64]]]


class RecodedRecords:
    """``PrivateRecords`` whose tables are sums of the cells of finer tables.

    Parameters
    ----------
    domain
        The finer domain.
    maps
        One array an attribute: ``maps[a][v]`` is the coarse code of value ``v``; the coarse codes
        of an attribute are 0, 1, ... without gaps.  Public: made from released values only.
    tables
        Gives the exact fine tables of a list of marginals.
    coarse
        Gives exact coarse tables straight from the records, where these can (``count_recoded``);
        used for marginals whose fine tables are large.

    Privacy.  A recoding acts on each record alone, so every sensitivity stays what it was.
    """

    def __init__(
        self, domain: Domain, maps: Maps, tables: Tables, coarse: CoarseTables | None = None
    ) -> None:
        if len(maps) != len(domain):
            raise ValueError(f"{len(maps)} maps for {len(domain)} attributes; give one for each")
        for name, size, codes in zip(domain.names, domain.sizes, maps, strict=True):
            if codes.shape != (size,) or set(np.unique(codes)) != set(range(codes.max() + 1)):
                raise ValueError(
                    f"the map of attribute {name!r} must send its {size} values onto 0, 1, ..."
                )
        self.domain = Domain(domain.names, tuple(int(codes.max()) + 1 for codes in maps))
        self._fine = domain
        self._maps = [np.asarray(codes, dtype=np.intp) for codes in maps]
        self._tables, self._coarse = tables, coarse

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact tables of shape ``domain.shape(attributes)`` on the coarse domain."""
        direct = [m for m in marginals if self._coarse and self._fine.cells(m) > DIRECTLY_FROM]
        found: dict[Attributes, NDArray[np.int64]] = {}
        if self._coarse and direct:
            found.update(zip(direct, self._coarse(direct, self._maps), strict=True))
        for group in self._groups([m for m in marginals if m not in found]):
            fine = self._tables(group)
            found.update((m, self._sum(m, table)) for m, table in zip(group, fine, strict=True))
        return [found[m] for m in marginals]

    def _groups(self, marginals: Sequence[Attributes]) -> Iterator[list[Attributes]]:
        """Marginals in order, in groups whose fine tables are held in memory together."""
        group: list[Attributes] = []
        for attributes in marginals:
            group.append(attributes)
            if sum(self._fine.cells(m) for m in group) > CELLS_AT_ONCE:
                yield group
                group = []
        if group:
            yield group

    def _sum(self, attributes: Attributes, fine: NDArray[np.int64]) -> NDArray[np.int64]:
        coarse = np.zeros(self.domain.shape(attributes), dtype=np.int64)
        np.add.at(coarse, np.ix_(*[self._maps[a] for a in attributes]), fine)
        return coarse
