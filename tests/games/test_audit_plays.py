"""Each game under an empirical privacy audit: whole plays on the smallest neighbours, worst oracle.

One record of one attribute, a 1; the neighbour has a 0 in its place (replace-one) or no record
(add/remove).  The oracle is dishonest and always answers 0, so that the play is as far off as it
can be: privacy must not rest on the oracle.  The budget is pure, so every event counts.  The
statistic is how far a play leans to 0: the queries it asked, and what it hands out.  Events: above
or below each of 20 thresholds, fixed beforehand; 80 comparisons a test, each false with probability
at most 2e-4; the seeds are fixed.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from saddlesynth.games import dqrs, dual_query, fem, mwem, pmw, sep_fem, small_db
from saddlesynth.games.play import Allowance, Game, Mixture, mixture
from saddlesynth.games.privacy.budget import Ledger, Relation
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain

DOMAIN = Domain(("a",), (2,))
WORKLOAD = QueryClass.of(DOMAIN, [(0,)])
ZERO, ONE, NOBODY = np.array([[0]]), np.array([[1]]), np.empty((0, 1), dtype=int)
NEIGHBOURS = {Relation.ADD_REMOVE: (ONE, NOBODY), Relation.REPLACE_ONE: (ONE, ZERO)}
EPSILON = 2.0
THRESHOLDS = np.arange(-0.95, 1, 0.1)
RUNS = {"fem": 1_500, "sepfem": 1_500, "dualquery": 1_500, "dqrs": 1_500, "mwem": 1_500}
RUNS |= {"pmw": 3_000, "smalldb": 3_000}

pytestmark = pytest.mark.statistical


# ---------------------------------------------------------------------- a play of each game
def _leaders(kind, rounds, paid):
    """FEM or sepFEM, whose rates are those of ``paid`` rounds."""

    def play(game, allowance, generator):
        made = kind(rounds, allowance.selection(paid), samples=1)
        return list(fem.play(game, made, generator)), None

    return play


def _dual_query(game, allowance, generator):
    made = dual_query.DualQuery(2, 1, dual_query.calibrated_rate(allowance, 2, 1))
    return list(dual_query.play(game, made, generator)), None


def _dqrs(game, allowance, generator):
    shape = dqrs.DQRS(2, 1, 1.0, rows=1.0)
    rate = dqrs.calibrated_rate(allowance, shape)
    return list(dqrs.play(game, dataclasses.replace(shape, rate=rate), generator)), None


def _mwem(game, allowance, generator):
    epsilon, price = mwem.calibrated_prices(allowance, 1)
    ((only, held),) = mwem.play(game, mwem.MWEM(1, 1.0, epsilon, price, pure=True))
    return [only], held


def _pmw(game, allowance, generator):
    made = dataclasses.replace(pmw.calibrated(allowance, WORKLOAD, 1.0, 1), threshold=1.0)
    ((only, held),) = pmw.play(game, made, [1])
    return [only], held


def _small_db(game, allowance, generator):
    return list(small_db.play(game, small_db.SmallDB(2, allowance.selection(1)))), None


PLAYS = {
    "fem": _leaders(fem.FEM, 2, paid=2),
    "sepfem": _leaders(sep_fem.SepFEM, 2, paid=2),
    "dualquery": _dual_query,
    "dqrs": _dqrs,
    "mwem": _mwem,
    "pmw": _pmw,
    "smalldb": _small_db,
}
ONE_ROUND = PLAYS | {
    "fem": _leaders(fem.FEM, 1, paid=1),
    "sepfem": _leaders(sep_fem.SepFEM, 1, paid=1),
}


def _lean(rounds, held):
    """How far a play leans to 0, in [-1, 1]."""
    towards = [
        float(q.evaluate(ZERO)[0]) - float(q.evaluate(ONE)[0]) for r in rounds for q in r.queries
    ]
    if held is not None:  # one round, which measured its query
        return towards[0] * math.tanh(rounds[0].facts["measured"])
    if towards:  # the oracle's records say nothing
        return float(np.mean(towards))
    zero, one = Mixture(mixture(rounds)).answers(WORKLOAD)[0]
    return float(zero - one)


def _lean_in(play, curator, oracle, seed):
    game = Game(curator, WORKLOAD, oracle)
    allowance = Allowance.of(Ledger(EPSILON, 0.0, curator.ledger.relation))
    return _lean(*play(game, allowance, np.random.default_rng(seed)))


@pytest.fixture
def verdict(audit, table, garbage_oracle):
    """``verdict(play, relation, runs)``: the audit of many plays on both neighbours."""

    def judge(play, relation, runs, curator=Curator, noise=Seeded, ledger=Ledger):
        values = []
        for seed, records in enumerate(NEIGHBOURS[relation]):
            source = noise(np.random.default_rng(seed))
            private = table(records, DOMAIN)
            values.append(
                [
                    _lean_in(
                        play,
                        curator(private, ledger(EPSILON, 0.0, relation), source),
                        garbage_oracle, run,
                    )
                    for run in range(runs)
                ]
            )  # fmt: skip
        return audit.audit(*values, THRESHOLDS, EPSILON, 0.0, confidence=1 - 1e-4)

    return judge


# ---------------------------------------------------------------------- broken ones
class Unpaid(Ledger):
    """A ledger that counts nothing."""

    def charge_all(self, costs):
        """Refuse nothing."""


class DoubledRate(Curator):
    """A curator whose exponential mechanisms lack their factor 1/2."""

    def _scores(self, workload):
        right = super()._scores(workload)

        class Wrong:
            counts_of, errors = right.counts_of, right.errors

            def sampler(self, answers, rate, below):
                return right.sampler(answers, 2 * rate, below)

        return Wrong()


class FaintNoise(Seeded):
    """A third of the Laplace noise that was asked for."""

    def discrete_laplace(self, counts, scale):
        return super().discrete_laplace(counts, scale / 3)


# ---------------------------------------------------------------------- the audits
@pytest.mark.slow
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("game", PLAYS)
def test_a_play_stays_below_its_claim(game, relation, verdict):
    found = verdict(PLAYS[game], relation, runs=RUNS[game])
    assert not found.refuted
    assert 0.1 < found.epsilon <= EPSILON  # not for want of power


@pytest.mark.parametrize(
    "relation",
    [Relation.REPLACE_ONE, pytest.param(Relation.ADD_REMOVE, marks=pytest.mark.slow)],
)
def test_a_round_that_was_not_paid_for_is_caught(relation, verdict):
    """One round too many, as in the published program, here two in place of one."""
    assert not verdict(_leaders(fem.FEM, 1, paid=1), relation, runs=2_000).refuted
    assert verdict(_leaders(fem.FEM, 2, paid=1), relation, runs=2_000, ledger=Unpaid).refuted


@pytest.mark.slow
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("game", ["fem", "sepfem", "dualquery"])
def test_a_missing_factor_of_the_exponential_mechanism_is_caught(game, relation, verdict):
    assert verdict(ONE_ROUND[game], relation, runs=RUNS[game], curator=DoubledRate).refuted


@pytest.mark.slow
@pytest.mark.parametrize("game", ["mwem", "pmw"])
def test_a_third_of_the_noise_is_caught(game, verdict):
    assert verdict(PLAYS[game], Relation.REPLACE_ONE, runs=RUNS[game], noise=FaintNoise).refuted
