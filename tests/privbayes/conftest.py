"""Records in memory, and PrivBayes run on them without tables or files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.queries import marginal_counts
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.methods import make


@dataclass(eq=False)
class Table:
    """Records in memory, as the curator wants them."""

    records: np.ndarray
    domain: Domain

    def count(self, marginals):
        return marginal_counts(self.domain, marginals, self.records)


def domain_of(*sizes):
    return Domain(tuple("abcdefghijklmnopqrst"[: len(sizes)]), sizes)


@pytest.fixture
def domain():
    """Makes a domain with attributes a, b, c ... of these sizes."""
    return domain_of


@pytest.fixture
def curator():
    """Puts a curator before records: ``curator(records, sizes, epsilon, delta, seed)``."""

    def build(records, sizes, epsilon=1e6, delta=0.0, seed=0, relation="add_remove"):
        ledger = Ledger(epsilon, delta, Relation(relation))
        return Curator(Table(np.asarray(records), domain_of(*sizes)), ledger, noise_source(seed))

    return build


@pytest.fixture
def fit_to(curator):
    """Fits PrivBayes to records; returns the fit and the ledger."""

    def run(records, sizes, *, epsilon=1000.0, delta=1e-9, seed=0, impossible=(), **parameters):
        method = make("privbayes", epsilon=epsilon, delta=delta, **parameters)
        method.check_parameters()
        asked = curator(records, sizes, epsilon, delta, seed, method.relation)
        session = Session(
            asked,
            asked.domain,
            np.random.default_rng(seed),
            impossible=impossible,
            public_rows=len(records) if method.relation == "replace_one" else None,
        )
        return method._fit(session), asked.ledger

    return run


@pytest.fixture
def agrees():
    """Whether draws have a law: Pearson's statistic below its 1 - 1e-6 quantile."""
    from scipy.stats import chi2

    def check(seen, law):
        seen, expected = np.ravel(seen), np.ravel(law) * np.sum(seen)
        filled = expected > 0
        assert seen[~filled].sum() == 0
        statistic = ((seen[filled] - expected[filled]) ** 2 / expected[filled]).sum()
        return statistic < chi2.ppf(1 - 1e-6, filled.sum() - 1)

    return check


@pytest.fixture
def chain():
    """600 records of a -> b -> c with sizes 2, 3, 4: each mostly follows the one before."""
    generator = np.random.default_rng(7)
    a = generator.integers(2, size=600)
    b = np.where(generator.random(600) < 0.8, a, generator.integers(3, size=600))
    c = np.where(generator.random(600) < 0.8, b, generator.integers(4, size=600))
    return np.stack([a, b, c], axis=1)
