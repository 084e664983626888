"""Private records in memory, and PrivSyn run on them without tables or files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.privsyn.method import PrivSyn


class InMemory:
    """Records as an array of codes, (n, d)."""

    def __init__(self, records: NDArray[np.int64], domain: Domain) -> None:
        self._records = records
        self.domain = domain

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        tables = []
        for attributes in marginals:
            table = np.zeros(self.domain.shape(attributes), dtype=np.int64)
            np.add.at(table, tuple(self._records[:, a] for a in attributes), 1)
            tables.append(table)
        return tables


def domain_of(*sizes: int) -> Domain:
    return Domain(tuple(f"x{i}" for i in range(len(sizes))), sizes)


@pytest.fixture
def fit_to() -> Callable[..., tuple[Fit, Ledger]]:
    """Fits PrivSyn to records; also returns the ledger."""

    def run(
        data: NDArray[np.int64],
        sizes: Sequence[int],
        *,
        epsilon: float = 1000.0,
        impossible: tuple[Mapping[int, int], ...] = (),
        seed: int = 0,
        **parameters: Any,
    ) -> tuple[Fit, Ledger]:
        method = PrivSyn(epsilon, 1e-9, **parameters)
        method.check_parameters()
        relation = Relation(method.relation)
        ledger = Ledger(epsilon, 1e-9, relation, rows_per_unit=method.max_rows_per_unit)
        domain = domain_of(*sizes)
        session = Session(
            Curator(InMemory(data, domain), ledger, noise_source(seed)),
            domain,
            np.random.default_rng(seed),
            impossible=impossible,
            public_rows=len(data) if relation is Relation.REPLACE_ONE else None,
        )
        return method._fit(session), ledger

    return run


@pytest.fixture
def distance() -> Callable[..., float]:
    """Total variation distance between two tables of records on some attributes."""

    def measure(first: Any, second: Any, sizes: Sequence[int], attributes: Attributes) -> float:
        domain = domain_of(*sizes)
        tables = [
            InMemory(r.astype(np.int64), domain).count([attributes])[0] for r in (first, second)
        ]
        return float(np.abs(tables[0] / len(first) - tables[1] / len(second)).sum() / 2)

    return measure
