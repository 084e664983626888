"""Small tables and dishonest solvers for the tests of games, as fixtures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.oracle import BestResponse, Status
from saddlesynth.oracles.queries import marginal_counts


@dataclass(eq=False)
class Table:
    """Records in memory, as the curator wants them."""

    records: np.ndarray
    domain: Domain = field(default_factory=lambda: Domain(("a", "b", "c"), (2, 3, 4)))

    def count(self, marginals):
        return marginal_counts(self.domain, marginals, self.records)


def _random_table(seed: int, rows: int = 400) -> Table:
    """Correlated columns of 2, 3 and 4 values."""
    generator = np.random.default_rng(seed)
    a = generator.integers(2, size=rows)
    b = (a + (generator.random(rows) < 0.3)) % 3
    c = (b + generator.integers(2, size=rows)) % 4
    return Table(np.stack([a, b, c], axis=1))


class _GarbageOracle:
    """Answers the all-zero record to everything and calls it optimal."""

    name = "garbage"

    def prepare(self, problem):
        return _Garbage(problem)


class _Garbage:
    def __init__(self, problem):
        self.problem = problem

    def best_responses(self, perturbations, n_jobs=1, *, generator=None):
        record = np.zeros(len(self.problem.domain), dtype=np.intp)
        answer = BestResponse(
            record, 0.0, 0.0, Status.OPTIMAL, "garbage", 0.0, None, "garbage", "0", 0.0
        )
        return [answer] * len(perturbations)


@pytest.fixture
def table():
    """Makes a table: ``table(records)`` or ``table(records, domain)``."""
    return Table


@pytest.fixture
def random_table():
    """Makes a table of correlated columns of 2, 3 and 4 values: ``random_table(seed)``."""
    return _random_table


@pytest.fixture
def garbage_oracle():
    """An oracle whose answers have nothing to do with the problem."""
    return _GarbageOracle()
