"""FEM and sepFEM: cost, calibration, playthroughs, certificate."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games import fem, sep_fem
from saddlesynth.games.certificate import certify
from saddlesynth.games.noiseless import Noiseless
from saddlesynth.games.payoff import max_error
from saddlesynth.games.play import Allowance, Game, mixture, played
from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import Block, Kind, QueryClass
from saddlesynth.games.toys import TOYS, toy
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.queries import marginal_counts

BOTH = pytest.mark.parametrize("parameters", [fem.FEM, sep_fem.SepFEM])


def _game(records, workload, epsilon=2.0, seed=0, oracle=None, impossible=()):
    curator = Curator(records, Ledger(epsilon, 1e-6), Seeded(np.random.default_rng(seed)))
    return Game(curator, workload, oracle or Exact(), impossible)


@BOTH
def test_the_calibrated_rate_spends_the_budget_and_one_more_round_does_not_fit(parameters):
    game = _game(toy("coin"), toy("coin").workload)
    allowance = Allowance.of(game.curator.ledger)
    rate = allowance.selection(20)
    assert allowance.fits(parameters(20, rate).privacy_cost())
    assert not allowance.fits(parameters(21, rate).privacy_cost())
    list(fem.play(game, parameters(20, rate, samples=2), np.random.default_rng(0)))
    spent = game.curator.ledger.spent_rho
    assert spent == pytest.approx(parameters(20, rate).privacy_cost().rho, rel=1e-12)
    assert 0.999 * allowance.rho < spent <= allowance.rho


def test_manual_settings_are_checked_against_the_budget():
    allowance = Allowance.of(Ledger(1.0, 1e-6))
    assert not allowance.fits(fem.FEM(50, 0.2).privacy_cost())
    with pytest.raises(BudgetExceeded, match="rho 0.25; the budget has"):
        allowance.require(fem.FEM(50, 0.2).privacy_cost(), "50 rounds at 0.2")
    allowance.require(fem.FEM(10, 0.05).privacy_cost(), "10 rounds at 0.05")


@BOTH
def test_the_ledger_is_the_same_when_the_oracle_answers_garbage(parameters, garbage_oracle):
    ledgers = []
    for oracle in (Exact(), garbage_oracle):
        game = _game(toy("forbidden"), toy("forbidden").workload, oracle=oracle)
        list(fem.play(game, parameters(8, 0.2, samples=3), np.random.default_rng(1)))
        ledgers.append(game.curator.ledger.as_dict())
    assert ledgers[0] == ledgers[1]


def test_a_round_that_does_not_fit_is_refused_and_the_play_stops():
    game = _game(toy("coin"), toy("coin").workload, epsilon=0.5)
    play = fem.play(game, fem.FEM(1000, 0.4, samples=1), np.random.default_rng(0))
    with pytest.raises(BudgetExceeded):
        list(play)
    assert game.curator.ledger.spent_epsilon <= 0.5


@pytest.mark.slow
def test_noiseless_play_reaches_the_value_of_every_toy():
    for name in TOYS:
        table = toy(name)
        game = Game(Noiseless(table, public=True), table.workload, Exact(), table.impossible)
        rounds = list(
            fem.play(game, fem.FEM(500, 1.0, samples=12, multiple=1.0), np.random.default_rng(0))
        )
        answers = table.workload.answers_on(mixture(rounds))
        assert max_error(table.workload, table.truth(), answers) < table.value + 0.05


def test_noiseless_play_is_refused_on_private_records():
    with pytest.raises(PermissionError):
        Noiseless(toy("coin"), public=False)


@BOTH
def test_more_budget_means_less_error(parameters, random_table):
    table = random_table(0)
    workload = QueryClass.of(table.domain, [(0, 1), (1, 2), (0, 2)])
    truth = workload.answers_on(table.records)
    errors = []
    for epsilon, rounds in ((0.02, 10), (5.0, 150)):
        game = _game(table, workload, epsilon)
        rate = Allowance.of(game.curator.ledger).selection(rounds)
        play = fem.play(game, parameters(rounds, rate, samples=20), np.random.default_rng(0))
        errors.append(max_error(workload, truth, workload.answers_on(mixture(list(play)))))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.08


@pytest.mark.parametrize(
    ("seed", "recent", "tail"), [*((i, 1, 1.0) for i in range(5)), (5, 4, 0.75)]
)
def test_the_certificate_bounds_the_error(seed, recent, tail, random_table):
    """Confidence 0.95 each, and the bound is far from tight: no failure in five is expected."""
    table = random_table(seed)
    workload = QueryClass.of(table.domain, [(0, 1), (1, 2), (0, 2)])
    game = _game(table, workload, 1.0, seed)
    rate = Allowance.of(game.curator.ledger).selection(60)
    parameters = fem.FEM(60, rate, samples=10, recent=recent)
    rounds = list(fem.play(game, parameters, np.random.default_rng(seed)))
    bound = certify(
        game, rounds, rate, rows=len(table.records), recent=recent, tail=tail
    ).error_bound
    truth, answers = workload.answers_on(table.records), workload.answers_on(mixture(rounds, tail))
    assert max_error(workload, truth, answers) <= bound < 1


def test_queries_are_asked_of_the_recent_records_together(random_table):
    """Without noise the query is the worst one for the last three rounds' records."""
    table = random_table(1)
    workload = QueryClass.of(table.domain, [(0, 1), (1, 2)])
    game = Game(Noiseless(table, public=True), workload, Exact())
    parameters = fem.FEM(12, 1.0, samples=4, recent=3)
    rounds = list(fem.play(game, parameters, np.random.default_rng(0)))
    truth = workload.answers_on(table.records)
    for made, play in zip(rounds, played(rounds, 3), strict=True):
        assert len(play) == 4 * min(made.number, 3)
        (query,) = made.queries
        error = query.evaluate(table.records).mean() - query.evaluate(play).mean()
        assert error == pytest.approx(max_error(workload, truth, workload.answers_on(play)))


def test_no_drift_is_added_where_each_round_stands_alone(random_table):
    table = random_table(0)
    game = _game(table, QueryClass.of(table.domain, [(0, 1)]), 1.0)
    rounds = list(fem.play(game, fem.FEM(8, 0.05, samples=4), np.random.default_rng(0)))
    assert certify(game, rounds, 0.05, rows=400).drift == pytest.approx(0, abs=1e-12)
    assert 0 < certify(game, rounds, 0.05, rows=400, recent=3).drift < 0.5


def test_impossible_combinations_are_never_played():
    table = toy("forbidden")
    game = _game(table, table.workload, impossible=table.impossible)
    rounds = list(fem.play(game, fem.FEM(15, 0.2, samples=5), np.random.default_rng(0)))
    assert not ((mixture(rounds) == (0, 1)).all(axis=1)).any()


def test_a_start_is_what_is_played_before_any_query(table):
    """The first round's records follow the product of the given fractions."""
    domain = Domain(("a", "b"), (2, 4))
    fractions = [np.array([0.9, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])]
    start = np.concatenate([p * len(p) for p in fractions])
    records = table(np.zeros((1, 2), dtype=int), domain)
    game = _game(records, QueryClass.of(domain, [(0,)]))
    parameters = fem.FEM(1, 0.1, samples=4000, start=start)
    (first,) = fem.play(game, parameters, np.random.default_rng(0))
    tables = marginal_counts(domain, [(0,), (1,)], first.records)
    for counts, expected in zip(tables, fractions, strict=True):
        np.testing.assert_allclose(counts / 4000, expected, atol=0.04)  # five sigma


def test_interval_queries_are_played_and_answered(table):
    domain = Domain(("age", "pay"), (12, 9))
    generator = np.random.default_rng(5)
    age = generator.binomial(11, 0.3, 800)
    records = np.stack([age, np.minimum(8, age // 2 + generator.integers(0, 3, 800))], axis=1)
    workload = QueryClass(
        domain, (Block((0, 1), (Kind.PREFIX, Kind.PREFIX)), Block((1,), (Kind.RANGE,)))
    )
    game = _game(table(records, domain), workload, 50.0)
    rate = Allowance.of(game.curator.ledger).selection(80)
    rounds = list(
        fem.play(game, fem.FEM(80, rate, samples=10, multiple=0.5), np.random.default_rng(0))
    )
    answers = workload.answers_on(mixture(rounds))
    assert max_error(workload, workload.answers_on(records), answers) < 0.08


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"selection_epsilon": 0}, {"samples": 0}, {"multiple": -1}]
)
def test_wrong_parameters_are_named(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} is"):
        fem.FEM(**({"rounds": 1, "selection_epsilon": 0.1} | wrong))
