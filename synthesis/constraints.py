"""Impossible combinations: no synthetic row may have one, whatever the method did.

A *rule* is {attribute position: code}; a record breaks it if it has all these codes.  Rules are
public, so repairing records is post-processing and costs no privacy.  If one attribute alone makes
a value impossible, its rule has one entry.

Repair, smallest change first:

1. change one attribute of a broken rule to the value that a random valid record has there;
2. change all attributes of the record's broken rules, together, to those of one valid record;
3. take a whole valid record.

Valid records ("donors") come from the same block of rows; if it has none, one is built by CP-SAT.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import SchemaError

TRIES = 16  # rounds of step 1 before step 2; each round mends most of what is left

Records = NDArray[np.integer]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Constraints:
    """The rules of one domain.

    >>> domain = Domain(("age", "job"), (2, 3))
    >>> rules = Constraints(domain, ({0: 0, 1: 1}, {0: 0, 1: 2}))
    >>> rows = np.array([[0, 1], [0, 0], [1, 2]])
    >>> rules.broken(rows)
    array([ True, False, False])
    >>> rules.broken(rules.repair(rows, np.random.default_rng(0))).any()
    np.False_

    Raises
    ------
    SchemaError
        ``check`` finds that no record at all is possible.
    """

    domain: Domain
    rules: tuple[Mapping[int, int], ...] = ()

    @cached_property
    def _groups(self) -> dict[Attributes, NDArray[np.int64]]:
        """Forbidden codes by the attributes they are about: (rules, attributes) arrays."""
        groups: dict[Attributes, set[tuple[int, ...]]] = defaultdict(set)
        for rule in self.rules:
            attributes = tuple(sorted(rule))
            groups[attributes].add(tuple(rule[a] for a in attributes))
        return {a: np.array(sorted(codes), dtype=np.int64) for a, codes in groups.items()}

    def _broken_by_group(self, records: Records) -> dict[Attributes, Mask]:
        return {
            attributes: _is_in(
                records[:, list(attributes)], forbidden, self.domain.shape(attributes)
            )
            for attributes, forbidden in self._groups.items()
        }

    def broken(self, records: Records) -> Mask:
        """Which records break at least one rule; (n,) bool."""
        mask = np.zeros(len(records), dtype=bool)
        for group in self._broken_by_group(records).values():
            mask |= group
        return mask

    def forbidden_cells(self, attributes: Attributes) -> Mask:
        """Cells of a marginal that no valid record can fall into, shaped as the marginal.

        Only rules that speak of these attributes alone are used.
        """
        mask = np.zeros(self.domain.shape(attributes), dtype=bool)
        for group, forbidden in self._groups.items():
            if set(group) <= set(attributes):
                for codes in forbidden:
                    fixed = dict(zip(group, codes, strict=True))
                    mask[tuple(fixed.get(a, slice(None)) for a in attributes)] = True
        return mask

    def check(self) -> None:
        """Raise ``SchemaError`` if the rules leave no record at all."""
        if self.rules:
            self.build()

    def repair(self, records: Records, generator: np.random.Generator) -> Records:
        """The same records with every broken one mended; (n, d), the input is not changed."""
        broken = self.broken(records)
        if not broken.any():
            return records
        records = records.copy()
        donors = records[~broken] if not broken.all() else self.build()[None, :]
        for _ in range(TRIES):
            self._change(records, donors, generator, one=True)
            if not self.broken(records).any():
                return records
        self._change(records, donors, generator, one=False)
        left = np.flatnonzero(self.broken(records))
        records[left] = donors[generator.integers(len(donors), size=len(left))]
        return records

    def _change(
        self, records: Records, donors: Records, generator: np.random.Generator, *, one: bool
    ) -> None:
        """Replace, in every broken record, one or all attributes of broken rules by a donor's."""
        groups = self._broken_by_group(records)
        rows = np.flatnonzero(np.any(list(groups.values()), axis=0))
        involved = np.zeros((len(rows), len(self.domain)), dtype=bool)
        for attributes, mask in groups.items():
            for attribute in attributes:
                involved[mask[rows], attribute] = True
        if one:
            chosen = np.where(involved, generator.random(involved.shape), -1.0).argmax(axis=1)
            involved[:] = np.arange(len(self.domain)) == chosen[:, None]
        picked = donors[generator.integers(len(donors), size=len(rows))]
        tried = np.where(involved, picked, records[rows])
        valid = ~self.broken(tried)
        records[rows[valid]] = tried[valid]

    def build(self) -> NDArray[np.int64]:
        """One valid record, (d,); ``SchemaError`` if there is none."""
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        variables = [
            model.new_int_var(0, size - 1, f"x{i}") for i, size in enumerate(self.domain.sizes)
        ]
        for attributes, forbidden in self._groups.items():
            model.add_forbidden_assignments([variables[a] for a in attributes], forbidden.tolist())
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            names = sorted({self.domain.names[a] for group in self._groups for a in group})
            raise SchemaError(
                f"impossible: the {len(self.rules)} combinations of {names} leave no possible "
                "record; remove some"
            )
        return np.array([solver.value(v) for v in variables], dtype=np.int64)


def _is_in(codes: Records, forbidden: NDArray[np.int64], shape: Sequence[int]) -> Mask:
    """Which rows of ``codes`` are among the rows of ``forbidden``."""
    if math.prod(shape) >= 2**63:  # no room for one number a row
        return np.asarray(np.any([(codes == one).all(axis=1) for one in forbidden], axis=0))
    place = np.cumprod([1, *shape[:0:-1]])[::-1]  # mixed radix, last attribute fastest
    return np.isin(codes.astype(np.int64) @ place, forbidden @ place)
