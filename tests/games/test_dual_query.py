"""DualQuery and DQRS: cost, laws of the drawn and kept queries, play."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from saddlesynth.games import dqrs, dual_query
from saddlesynth.games.noiseless import Noiseless
from saddlesynth.games.payoff import max_error
from saddlesynth.games.play import Allowance, Game, mixture
from saddlesynth.games.players import MultiplicativeWeights
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import QueryClass
from saddlesynth.games.toys import toy
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.listed import Listed

COIN = toy("coin")
PLAYS = {
    "dual query": (dual_query.play, dual_query.DualQuery(12, 6, 0.02)),
    "dqrs": (dqrs.play, dqrs.DQRS(12, 6, 0.02, rows=8)),
}
BOTH = pytest.mark.parametrize("name", PLAYS)


def _game(records, workload, epsilon=5.0, delta=1e-6, oracle=None, impossible=()):
    curator = Curator(records, Ledger(epsilon, delta), Seeded(np.random.default_rng(0)))
    return Game(curator, workload, oracle or Listed(Exact()), impossible)


def test_the_closed_form_is_the_sum_over_rounds():
    parameters = dual_query.DualQuery(30, 7, 0.01)
    epsilons = [0.01 * t for t in range(30)]
    price = parameters.privacy_cost()
    assert price.rho == pytest.approx(7 * sum(e**2 for e in epsilons) / 8)
    assert price.epsilon == pytest.approx(7 * sum(epsilons))


def test_published_bounds_are_met_with_twice_the_rounds():
    """n 48842, eta 1, s 50, delta n^-2, epsilon 0.2: 57 rounds fit (the paper's bound: 23)."""
    n = 48_842
    allowance = Allowance.of(Ledger(0.2, n**-2.0))
    fits = [t for t in range(2, 80) if allowance.fits(
        dual_query.DualQuery(t, 50, 2 / n).privacy_cost()
    )]  # fmt: skip
    assert max(fits) == 57


@BOTH
@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_the_ledger_holds_what_the_parameters_say(name, delta):
    play, parameters = PLAYS[name]
    game = _game(COIN, COIN.workload, 50.0, delta)
    rounds = list(play(game, parameters, np.random.default_rng(0)))
    price = parameters.privacy_cost()
    assert game.curator.ledger.spent_rho == pytest.approx(price.rho)
    assert sum(line.epsilon for line in game.curator.ledger.lines) == pytest.approx(price.epsilon)
    assert sum(r.price.rho for r in rounds) == pytest.approx(price.rho)


@BOTH
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-9, 0.0])
def test_the_calibrated_rate_spends_the_budget(name, epsilon, delta):
    game = _game(COIN, COIN.workload, epsilon, delta)
    allowance = Allowance.of(game.curator.ledger)
    play, parameters = PLAYS[name]
    rate = (
        dual_query.calibrated_rate(allowance, 12, 6)
        if name == "dual query"
        else dqrs.calibrated_rate(allowance, parameters)
    )
    list(play(game, replace(parameters, rate=rate), np.random.default_rng(0)))
    assert 0.99 * epsilon < game.curator.ledger.spent_epsilon <= epsilon


@BOTH
def test_the_ledger_is_the_same_when_the_oracle_answers_garbage(name, garbage_oracle):
    play, parameters = PLAYS[name]
    ledgers = []
    for oracle in (None, garbage_oracle):
        game = _game(COIN, COIN.workload, oracle=oracle)
        list(play(game, parameters, np.random.default_rng(1)))
        ledgers.append(game.curator.ledger.as_dict())
    assert ledgers[0] == ledgers[1]


def _weights(workload, data, records, eta):
    """Q_t by multiplicative weights, one query at a time."""
    player = MultiplicativeWeights(workload.candidates)
    queries = [workload.query(i) for i in range(workload.candidates)]
    for record in records:
        payoffs = [q.evaluate(data).mean() - float(q.evaluate(record[None])[0]) for q in queries]
        player.update(payoffs, eta)
    return player.mix


@pytest.mark.statistical  # 18 probabilities, each false with probability 6e-7 (five sigma)
def test_draws_have_the_law_of_multiplicative_weights(random_table):
    table = random_table(0, rows=60)
    workload = QueryClass.of(table.domain, [(0, 1), (1,)])
    game, draws, eta = _game(table, workload, 1e9), 4000, 0.8
    answered = dual_query.Answered(workload)
    played = table.records[[0, 7, 7, 30]]
    answered.add(played)
    epsilon = 2 * eta / 60 * len(played)
    drawn, _ = dual_query.draw(game, answered, 5, epsilon, draws, np.random.default_rng(0))
    law = _weights(workload, table.records, played, eta)
    shares = np.bincount(drawn, minlength=len(law)) / draws
    assert (np.abs(shares - law) < 5 * np.sqrt(law * (1 - law) / draws)).all()


@pytest.mark.statistical  # 18 probabilities, each false with probability 6e-7 (five sigma)
def test_kept_queries_have_the_law_of_the_next_round_for_a_fixed_record(random_table):
    table = random_table(0, rows=60)
    workload = QueryClass.of(table.domain, [(0, 1), (1,)])
    game, eta, record = _game(table, workload, 1e9), 0.8, table.records[[3]]
    drawn = np.random.default_rng(2).integers(workload.candidates, size=12_000).tolist()
    kept = game.curator.keep_queries(
        "s", workload, drawn, workload.answers_on(record), eta / 60, 0.2, reference=60.0
    )
    accepted = np.array(drawn)[kept]
    law = _weights(workload, table.records, record, eta)
    shares = np.bincount(accepted, minlength=len(law)) / len(accepted)
    assert (np.abs(shares - law) < 5 * np.sqrt(law * (1 - law) / len(accepted))).all()


def test_dqrs_reuses_queries_and_draws_few():
    parameters = dqrs.DQRS(15, 40, 0.0004, rows=1000.0, slack=0.2)
    game = _game(COIN, COIN.workload)
    rounds = list(dqrs.play(game, parameters, np.random.default_rng(0)))
    kept = [r.facts["kept"] for r in rounds[1:]]
    assert np.mean(kept) > 0.6 * 40
    assert all(r.facts["fresh"] == parameters.fresh(r.number - 1) for r in rounds[1:])
    assert all(len(r.queries) <= 40 for r in rounds)


@BOTH
def test_more_budget_means_less_error(name, random_table):
    table = random_table(0)
    workload = QueryClass.of(table.domain, [(0, 1), (1, 2), (0, 2)])
    truth, errors = workload.answers_on(table.records), []
    play, parameters = PLAYS[name]
    for rounds, rate in ((4, 1e-4), (60, 0.02)):
        given = replace(parameters, rounds=rounds, samples=80, rate=rate)
        game = _game(table, workload, 1e6)
        made = mixture(list(play(game, given, np.random.default_rng(0))))
        errors.append(max_error(workload, truth, workload.answers_on(made)))
    assert errors[1] < min(0.12, errors[0] / 2)


def test_noiseless_dual_query_matches_the_coin():
    game = Game(Noiseless(COIN, public=True), COIN.workload, Listed(Exact()))
    rounds = list(
        dual_query.play(game, dual_query.DualQuery(100, 3, 1.0), np.random.default_rng(0))
    )
    answers = COIN.workload.answers_on(mixture(rounds))
    assert max_error(COIN.workload, COIN.truth(), answers) < 0.02


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"samples": 0}, {"rate": 0.0}, {"slack": 0.0}, {"cap": 1.5}]
)
def test_wrong_parameters_are_named(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name} is"):
        dqrs.DQRS(**({"rounds": 1, "samples": 1, "rate": 0.1, "rows": 9.0} | wrong))
