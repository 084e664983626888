"""PrivBayes: choose a Bayesian network, measure its joints, draw records from it.

 1  start      1-way marginals or the number of rows, where needed         split[0]
 2  limits     how large a useful joint may be (``candidates.py``)         public numbers
 3  network    exponential mechanism, node by node (``structure.py``)      split[1]
 4  joints     noisy tables of the families, equal parts                   the rest
 5  conditionals  distributions from tables (``joints.py``)                post-processing
 6  sample     ancestral sampling (``model.py``)

=================  ==============================================  ==============================
                   ``improved`` (default)                          ``original``
=================  ==============================================  ==============================
budget             zCDP: Gumbel selections at epsilon^2 / 8,       pure epsilon: beta = 0.3 for
                   discrete Gaussian joints; with delta = 0 pure   the network, Laplace joints
post-processing    ``consistent``, with 1-way marginals            ``normalise``
score              R                                               F (binary), R
=================  ==============================================  ==============================

With a given ``network`` and ``original`` this is the PrivBayes of the statistical theory
(``docs/theory.md``): d joints of Laplace scale d D / epsilon, D = 1 or 2 by relation.

Defaults of ``improved`` (UCI Adult, 48,842 rows, coded with 143 and with 588 values, epsilon 0.2, 1
and 2; mean 2-way distance, mean of 4 runs): theta 2 to 8, shares of 0.1 to 0.3 for the 1-way
marginals, of 0.05 to 0.2 for the network, and optimal instead of equal parts for the joints are all
within 3 % of each other; ``project`` is 7 to 32 % worse than ``consistent``, ``normalise`` worse
still; I is 1 to 7 % worse than R.

Privacy.  Lines 1, 3 and 4 ask the curator.  A network chosen from the data is always charged; one
that is given is taken to be public knowledge.

Reference: Zhang, Cormode, Procopiuc, Srivastava, Xiao (2017), "PrivBayes: Private Data Release via
Bayesian Networks".  Differs from the paper: families that are part of others are summed from them
in every domain; scores are in counts; a private number of rows is measured; no hierarchies;
``improved`` searches wide tables in two stages (``structure.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.base import Plan, Session, Synthesizer
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.parameters import check_count, check_number
from saddlesynth.synthesis.privbayes.candidates import Limits, useful, varied
from saddlesynth.synthesis.privbayes.choices import CHOICES, PRESETS, Variant, check_split
from saddlesynth.synthesis.privbayes.joints import PostProcessing, conditionals, post_process
from saddlesynth.synthesis.privbayes.model import NetworkModel
from saddlesynth.synthesis.privbayes.network import Network, by_name, given_network, joints
from saddlesynth.synthesis.privbayes.plan import check_cells, make_plan
from saddlesynth.synthesis.privbayes.spending import Share
from saddlesynth.synthesis.privbayes.structure import ScoreName, learn, score_maker

Given = Mapping[str, Sequence[str]] | str | Path


class PrivBayes(Synthesizer):
    """PrivBayes, as published or improved.

    Parameters
    ----------
    variant
        ``"improved"``, or ``"original"``, which is pure epsilon-DP and needs ``delta=0``.
    network
        A public network, {column: list of its parents}, or a JSON file that holds one; columns not
        named have no parents.  Default: chosen from the data, at a charge.
    score
        ``"R"`` (any domain), ``"I"`` (mutual information), ``"F"`` (two values in every column;
        slow for very many rows); default: F for ``original`` where it can be, else R.
    degree
        So many parents for each column (fewer where joints would be too large); default: as many
        as are useful.
    theta
        A joint is useful if its cells hold on average so many times more records than noise.
    split
        Shares of the budget: what is asked first (1-way marginals, or the number of rows), the
        network, the joints.  What a stage does not need goes to the joints.
    post_processing
        ``"consistent"``, ``"project"`` or ``"normalise"``; see ``joints.py``.
    max_candidates
        At most so many (column, parents) are scored in a step, drawn at random if there are more.
    max_cells
        No joint may have more cells.
    known_rows
        The number of rows, where it is public although the relation does not say so.
    **common
        epsilon, delta, schema, relation, ...: see ``Parameters``.
    """

    name = "privbayes"
    summary = "a Bayesian network, chosen and measured privately"
    accepts_pure = True

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        variant: Variant = "improved",
        network: Given | None = None,
        score: ScoreName | None = None,
        degree: int | None = None,
        theta: float = 4.0,
        split: Sequence[float] | None = None,
        post_processing: PostProcessing | None = None,
        max_candidates: int = 400,
        max_cells: int = 250_000,
        known_rows: int | None = None,
        **common: Any,
    ) -> None:
        super().__init__(epsilon, delta, **common)
        self.variant = variant
        self.network = network
        self.score = score
        self.degree = degree
        self.theta = theta
        self.split = split
        self.post_processing = post_processing
        self.max_candidates = max_candidates
        self.max_cells = max_cells
        self.known_rows = known_rows

    # ------------------------------------------------------------------ the method
    def _fit(self, session: Session) -> Fit:
        domain, curator = session.domain, session.curator
        rules = Constraints(domain, session.impossible)
        known = self.known_rows if session.public_rows is None else max(1, session.public_rows)
        first, structure, last = self._whole(curator.ledger).split(self._split)
        start = self._start(session, first, known is not None)  # line 1
        session.progress("start", 1.0)
        if self.network is not None:
            network = given_network(self.network, domain)
        else:
            rows = rows_estimate(start) if known is None else float(known)
            network = learn(  # lines 2, 3
                curator,
                self._limits(domain, rows, last),
                score_maker(self._score(domain), domain, rows, session.public_rows is not None),
                structure,
                session.generator,
                session.progress,
                two_stage=self.variant != "original",
            )
        rest = self._whole(curator.ledger)
        families = joints([n for n in network if domain.sizes[n.attribute] > 1]) or [(0,)]
        measured = rest.measure(curator, "joint", families)  # line 4
        session.progress("joints", 1.0)
        together = [*start, *measured] if self._post_processing == "consistent" else measured
        tables, rows = post_process(  # line 5
            together, domain, self._post_processing, None if known is None else float(known), rules
        )
        model = NetworkModel(domain, network, conditionals(network, tables, domain, rules))
        session.progress("conditionals", 1.0)
        return Fit(model, rows, tables, self._facts(network, measured, domain))

    def _start(self, session: Session, share: Share, rows_known: bool) -> list[Measurement]:
        """Line 1: 1-way marginals for consistency; else the number of rows, for usefulness."""
        wanted = self._ask_first(session.domain, rows_known)
        if not wanted or share.amount == 0:
            return []
        step = "1-way" if wanted[0] else "number of rows"
        return share.measure(session.curator, step, wanted)

    def _ask_first(self, domain: Domain, rows_known: bool) -> list[Attributes]:
        if self._post_processing == "consistent":
            return [(a,) for a in varied(domain)] or [(0,)]
        return [] if rows_known or self.network is not None else [()]

    def _limits(self, domain: Domain, rows: float, share: Share) -> Limits:
        """Line 2; share : the budget of the joints."""
        parents = len(domain) if self.degree is None else self.degree
        most = Limits(float(self.max_cells), parents, self.max_candidates)
        return most if self.degree is not None else useful(domain, rows, share, self.theta, most)

    def _facts(
        self, network: Network, measured: Sequence[Measurement], domain: Domain
    ) -> dict[str, Any]:
        return {
            "network": by_name(network, domain),
            "network_from": "given, taken as public" if self.network is not None else "the data",
            "degree": max(len(node.parents) for node in network),
            "joints": len(measured),
            "largest_joint": max(m.counts.size for m in measured),
        }

    # ------------------------------------------------------------------ choices
    def _whole(self, ledger: Ledger) -> Share:
        """What is left of the budget."""
        amount = ledger.remaining_epsilon if ledger.pure else ledger.remaining_rho
        return self._share(amount)

    def _share(self, amount: float) -> Share:
        return Share(amount, self.delta == 0, self.count_sensitivity, self.sensitivity)

    @property
    def _split(self) -> Sequence[float]:
        return PRESETS[self.variant].split if self.split is None else self.split

    @property
    def _post_processing(self) -> PostProcessing:
        return self.post_processing or PRESETS[self.variant].post_processing

    @property
    def _rows_public(self) -> bool:
        replaced = self.relation == Relation.REPLACE_ONE and self.unit is None
        return replaced or self.known_rows is not None

    def _score(self, domain: Domain) -> ScoreName:
        binary = all(domain.sizes[a] == 2 for a in varied(domain))
        if self.score == "F" and not binary:
            more = next(n for n, s in zip(domain.names, domain.sizes, strict=True) if s > 2)
            raise InputError(
                f"score 'F' needs two values in every column, but {more!r} has more; use 'R'"
            )
        return self.score or ("F" if binary and self.variant == "original" else "R")

    # ------------------------------------------------------------------ before any data
    def _plan(self, domain: Domain, rows: int, rho: float) -> Plan:
        self._score(domain)
        whole = self._share(float(self.epsilon) if self.delta == 0 else rho)
        first, structure, last = whole.split(self._split)
        network = None if self.network is None else given_network(self.network, domain)
        check_cells(network, domain, self.max_cells)
        return make_plan(
            self.name, domain, rows, rho, whole.amount, network,
            self._limits(domain, rows, last), self._ask_first(domain, self._rows_public),
            first, structure, last, two_stage=self.variant != "original",
        )  # fmt: skip

    def _check(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                names = [str(value) for value in known if value is not None]
                raise InputError(unknown(name, getattr(self, name), names))
        if self.variant == "original" and self.delta > 0:
            raise InputError(
                f"delta is {self.delta:g}, but variant 'original' is pure epsilon-DP; give delta=0"
            )
        if self.network is not None and not isinstance(self.network, Mapping | str | Path):
            raise InputError(f"network is {self.network!r}; it must be a mapping or a JSON file")
        check_number("theta", self.theta)
        if self.theta <= 0:
            raise InputError(f"theta is {self.theta!r}; it must be above 0")
        if self.degree is not None:
            check_count("degree", self.degree, 0)
        for name in ("max_candidates", "max_cells"):
            check_count(name, getattr(self, name))
        if self.known_rows is not None:
            check_count("known_rows", self.known_rows)
        check_split(self._split, self.network is not None, self._rows_public)
