"""The model that PrivBayes leaves: a network with a table of conditional probabilities a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.model import RecordModel, block_sizes
from saddlesynth.synthesis.privbayes.network import Network, Node
from saddlesynth.synthesis.privsyn.rounding import Column, smallest_type, systematic_rows

EXACT_CELLS = 1 << 22  # marginals whose calculation needs larger tables are simulated ...
SIMULATED_ROWS = 1 << 19  # ... with so many rows: standard error of a fraction p is sqrt(p / rows)

Table = NDArray[np.float64]


@dataclass(frozen=True)
class NetworkModel:
    """P(record) = product over nodes of P(attribute | parents).

    Parameters
    ----------
    network
        Nodes, parents first; every attribute once.
    tables
        For each node, P(attribute | parents) of shape (size of each parent ..., size).

    >>> nodes = (Node(0), Node(1, (0,)))
    >>> tables = (np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.25, 0.75]]))
    >>> model = NetworkModel(Domain(("a", "b"), (2, 2)), nodes, tables)
    >>> model.marginal((1,))
    array([0.625, 0.375])
    """

    kind: ClassVar[str] = "network"
    domain: Domain
    network: Network
    tables: tuple[Table, ...]

    # ------------------------------------------------------------------ rows
    def sample(self, rows: int, generator: np.random.Generator) -> Iterator[NDArray[np.integer]]:
        """Ancestral sampling, block by block.

        Each row has exactly the distribution of the model.  Rows of a block are not independent:
        among those that agree on the parents, values appear as often as they should, up to one
        (systematic sampling), so that marginals are closer than those of independent rows.
        """
        for size in block_sizes(rows):
            columns: dict[int, Column] = {}
            for node, table in zip(self.network, self.tables, strict=True):
                columns[node.attribute] = self._draw(node, table, columns, size, generator)
            yield np.stack([columns[a] for a in range(len(self.domain))], axis=1)

    def _draw(
        self,
        node: Node,
        table: Table,
        columns: dict[int, Column],
        rows: int,
        generator: np.random.Generator,
    ) -> Column:
        """A column, given those of the parents."""
        case = np.zeros(rows, dtype=np.int64)  # which combination of parents' values a row has
        for parent in node.parents:
            case = case * self.domain.sizes[parent] + columns[parent]
        values = table.shape[-1]
        totals = np.bincount(case, minlength=table.size // values)
        met = np.flatnonzero(totals)
        counts = systematic_rows(table.reshape(-1, values)[met], totals[met], generator)
        drawn = np.repeat(np.tile(np.arange(values), len(met)), counts.ravel())
        column = np.empty(rows, dtype=smallest_type(values))
        column[np.lexsort((generator.random(rows), case))] = drawn
        return column

    # ------------------------------------------------------------------ marginals
    def marginal(self, attributes: Attributes) -> Table:
        """Exact by summing attributes out, parents first, as far as tables stay small.

        Where a table would have more than EXACT_CELLS cells, the fractions of SIMULATED_ROWS rows
        (always the same ones) stand in.
        """
        needed = self._ancestors(attributes)
        if self._largest_table(attributes, needed) > EXACT_CELLS:
            rows = np.concatenate(list(self.sample(SIMULATED_ROWS, np.random.default_rng(0))))
            return RecordModel(self.domain, rows).marginal(attributes)
        table, axes = np.ones(()), list[int]()
        for i in needed:
            node = self.network[i]
            kept = self._kept(i, attributes, needed)
            letter = dict(zip((*axes, node.attribute), ascii_letters, strict=False))
            factors = (axes, (*node.parents, node.attribute))
            axes = [a for a in letter if a in kept]
            old, new, left = ("".join(letter[a] for a in part) for part in (*factors, axes))
            table = np.einsum(f"{old},{new}->{left}", table, self.tables[i])
        return np.asarray(table.transpose([axes.index(a) for a in attributes]))

    def _ancestors(self, attributes: Attributes) -> list[int]:
        """Positions, in the network, of the attributes and all they depend on."""
        wanted, found = set(attributes), []
        for i in reversed(range(len(self.network))):
            if self.network[i].attribute in wanted:
                wanted.update(self.network[i].parents)
                found.append(i)
        return found[::-1]

    def _kept(self, after: int, attributes: Attributes, needed: list[int]) -> set[int]:
        """Attributes that are asked for, or are parents of a node that comes later."""
        later = (set(self.network[i].parents) for i in needed if i > after)
        return set(attributes).union(*later)

    def _largest_table(self, attributes: Attributes, needed: list[int]) -> int:
        axes: set[int] = set()
        largest = 1
        for i in needed:
            axes.add(self.network[i].attribute)
            largest = max(largest, self.domain.cells(tuple(axes)))
            axes &= self._kept(i, attributes, needed)
        return largest

    # ------------------------------------------------------------------ files
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            "order": np.array([node.attribute for node in self.network])
        }
        for node, table in zip(self.network, self.tables, strict=True):
            arrays[f"parents{node.attribute}"] = np.array(node.parents, dtype=np.int64)
            arrays[f"table{node.attribute}"] = table
        return arrays

    @classmethod
    def from_arrays(cls, domain: Domain, arrays: dict[str, NDArray[Any]]) -> Self:
        order = arrays["order"].tolist()
        nodes = tuple(Node(a, tuple(arrays[f"parents{a}"].tolist())) for a in order)
        return cls(domain, nodes, tuple(arrays[f"table{a}"] for a in order))
