"""Small private tables, columns and noise sources for the tests of the privacy core."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.stats import chi2

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts

FORMATS = ("number", "text")


@dataclass(eq=False)
class Records:
    """Encoded records in memory."""

    rows: np.ndarray
    domain: Domain = field(default_factory=lambda: Domain(("a", "b"), (2, 3)))

    def count(self, marginals):
        return marginal_counts(self.domain, marginals, np.asarray(self.rows))


@dataclass(eq=False)
class Columns:
    """Raw columns in memory: numbers, or texts."""

    cells: dict[str, list]

    def classes(self, columns):
        texts = [[isinstance(c, str) for c in self.cells[name]] for name in columns]
        return [np.bincount(np.array(t, dtype=int), minlength=2) for t in texts]

    def histograms(self, edges):
        numbers = {n: [c for c in self.cells[n] if not isinstance(c, str)] for n in edges}
        return [np.histogram(numbers[n], np.append(e, np.inf))[0][:-1] for n, e in edges.items()]

    def value_counts(self, columns):
        return [Counter(str(cell) for cell in self.cells[name]) for name in columns]


class Watching(Seeded):
    """Noise that notes, at every draw, how many lines the ledger has."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(np.random.default_rng(0))
        self.ledger, self.seen = ledger, []

    def _note(self):
        self.seen.append(len(self.ledger.lines))

    def discrete_gaussian(self, counts, sigma):
        self._note()
        return super().discrete_gaussian(counts, sigma)

    def discrete_laplace(self, counts, scale):
        self._note()
        return super().discrete_laplace(counts, scale)

    def noisy_max(self, scores, scale):
        self._note()
        return super().noisy_max(scores, scale)

    def below(self, n):
        self._note()
        return super().below(n)


def _misfit(draws, law):
    """The p-value of Pearson's test of draws (positions) against their law."""
    expected = law * len(draws)
    seen = np.bincount(draws, minlength=len(law))
    rare = expected < 10
    expected = np.append(expected[~rare], expected[rare].sum())
    seen = np.append(seen[~rare], seen[rare].sum())
    if expected[-1] < 10:  # too rare even together: join the largest cell
        expected[np.argmax(expected)] += expected[-1]
        seen[np.argmax(expected)] += seen[-1]
        expected, seen = expected[:-1], seen[:-1]
    statistic = ((seen - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(expected) - 1))


@pytest.fixture
def records():
    """Makes a private table: ``records(rows)`` or ``records(rows, domain)``."""
    return Records


@pytest.fixture
def columns():
    """Makes private raw columns: ``columns({"age": [3, 5]})``."""
    return Columns


@pytest.fixture
def watching():
    """Makes a noise source that watches a ledger."""
    return Watching


@pytest.fixture
def misfit():
    """The p-value of a goodness-of-fit test: ``misfit(positions, law)``."""
    return _misfit


@pytest.fixture(scope="session")
def recompute():
    """``docs/recompute_ledger.py``, which knows nothing of the package, as a module."""
    import runpy
    from pathlib import Path
    from types import SimpleNamespace

    path = Path(__file__).parents[2] / "docs" / "recompute_ledger.py"
    return SimpleNamespace(**runpy.run_path(str(path)))
