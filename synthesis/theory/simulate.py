"""Simulations beside the bounds: PrivBayes itself on random networks of binary attributes.

 1  a network: attribute i has the k attributes before it as parents; random conditionals
 2  n raw rows from it, as counts on the whole domain
 3  ``PrivBayes(variant="original", network=...)`` on these, n public: noise from the curator
 4  distances between two products of conditionals: noisy, and fitted without noise

The network has d - k joints; their number T is part of the setting.

*Privacy.* Invented data; seeded noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Session
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import SizeError
from saddlesynth.synthesis.noisy import fractions, normalised
from saddlesynth.synthesis.privbayes.joints import conditionals
from saddlesynth.synthesis.privbayes.method import PrivBayes
from saddlesynth.synthesis.privbayes.model import NetworkModel
from saddlesynth.synthesis.privbayes.network import Network, Node, by_name, joints
from saddlesynth.synthesis.theory.distance import How, Setting
from saddlesynth.synthesis.theory.learning import Learner, Sample, gap

MAX_CELLS = 1 << 20  # distances are computed on the whole domain
CONCENTRATION = 0.3  # of the random conditionals (Dirichlet); small means strong dependence

Table = NDArray[np.float64]


@dataclass
class Raw:
    """Counts of raw records on the whole domain, as the curator wants them."""

    domain: Domain
    counts: NDArray[np.int64]

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        """Exact tables."""
        axes = list(range(len(self.domain)))
        return [np.einsum(self.counts, axes, list(m)) for m in marginals]


@dataclass(frozen=True)
class Simulated:
    """One run: raw (network fitted without noise) and synthetic distribution, their distances."""

    raw: Table
    synthetic: Table

    @property
    def tv(self) -> float:
        """Total variation distance."""
        return float(np.abs(self.raw - self.synthetic).sum() / 2)

    @property
    def l2(self) -> float:
        """Euclidean distance."""
        return float(np.sqrt(((self.raw - self.synthetic) ** 2).sum()))

    def gap(self, learner: Learner, rows: int | None, generator: np.random.Generator) -> float:
        """|R(theta_syn) - R(theta)| when the last attribute is predicted from the others.

        rows : so many are drawn independently to train on; None trains on the distribution itself
        """
        synthetic = self.synthetic
        if rows is not None:
            shape = synthetic.shape
            synthetic = generator.multinomial(rows, synthetic.ravel()).reshape(shape) / rows
        return gap(learner, labelled(self.raw), labelled(synthetic))


def network_of(setting: Setting) -> Network:
    """Attribute i depends on the k attributes before it."""
    k = setting.degree
    return tuple(Node(i, tuple(range(max(0, i - k), i))) for i in range(setting.attributes))


def with_joints_of(setting: Setting) -> Setting:
    """The same setting with the number of joints that the simulated network has: d - k."""
    return dataclasses.replace(setting, joints=len(joints(network_of(setting))))


def random_raw(setting: Setting, generator: np.random.Generator) -> Raw:
    """Lines 1 and 2.

    Raises
    ------
    SizeError
        The domain is too large to compute distances on.
    """
    if setting.domain_cells > MAX_CELLS:
        raise SizeError(
            f"{setting.attributes} attributes of {setting.values} values have "
            f"{setting.domain_cells:,} cells; a simulation needs at most {MAX_CELLS:,}: take fewer"
        )
    names = tuple(f"x{i}" for i in range(setting.attributes))
    domain = Domain(names, (setting.values,) * setting.attributes)
    tables = []
    for node in network_of(setting):
        shape = domain.shape(node.parents)
        tables.append(generator.dirichlet([CONCENTRATION] * setting.values, size=shape))
    law = NetworkModel(domain, network_of(setting), tuple(tables)).marginal(
        tuple(range(len(domain)))
    )
    counts = generator.multinomial(setting.rows, law.ravel() / law.sum())
    return Raw(domain, counts.reshape(law.shape).astype(np.int64))


def simulate(setting: Setting, how: How, seed: int = 0) -> Simulated:
    """One run of PrivBayes on a random network; see the top of the page."""
    generator = np.random.default_rng(seed)
    raw, network = random_raw(setting, generator), network_of(setting)
    method = PrivBayes(  # line 3
        setting.epsilon, 0.0, variant="original", network=by_name(network, raw.domain),
        post_processing=how, relation=setting.relation, known_rows=setting.rows,
        max_cells=MAX_CELLS, max_queries=None,
    )  # fmt: skip
    method.check_parameters()
    session = Session(_curator(raw, setting, seed), raw.domain, generator)
    synthetic = method._fit(session).model
    families = joints(network)
    exact = [
        Measurement(f, t.astype(np.float64), 0.0, 0.0)
        for f, t in zip(families, raw.count(families), strict=True)
    ]
    tables = conditionals(network, exact, raw.domain, Constraints(raw.domain))
    everything = tuple(range(len(raw.domain)))  # line 4
    return Simulated(
        NetworkModel(raw.domain, network, tables).marginal(everything),
        synthetic.marginal(everything),
    )


def simulate_full_domain(setting: Setting, how: How, seed: int = 0) -> Simulated:
    """The same for the Laplace histogram of the whole domain; raw is the empirical distribution."""
    raw = random_raw(setting, np.random.default_rng(seed))
    everything = tuple(range(len(raw.domain)))
    curator = _curator(raw, setting, seed)
    (noisy,) = curator.measure_laplace("histogram", [everything], [setting.epsilon])
    total = float(setting.rows)
    synthetic = normalised(noisy.counts) if how == "normalise" else fractions(noisy.counts, total)
    return Simulated(raw.counts / total, synthetic)


def labelled(table: Table) -> Sample:
    """The last attribute's first value against the rest, predicted from the others.

    Features are +1 or -1 (first value or not) and a constant, divided so that their norm is 1.
    """
    cells = np.array(list(np.ndindex(table.shape)))
    signs = np.where(cells == 0, 1.0, -1.0)
    features = np.column_stack([signs[:, :-1], np.ones(len(signs))]) / np.sqrt(table.ndim)
    return Sample(features, signs[:, -1], table.ravel())


def _curator(raw: Raw, setting: Setting, seed: int) -> Curator:
    ledger = Ledger(setting.epsilon, 0.0, Relation(setting.relation))
    return Curator(raw, ledger, noise_source(seed))
