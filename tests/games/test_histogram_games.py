"""The factored histogram, and the games that play on it: MWEM and PMW; SmallDB on toys."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.games import mwem, pmw, small_db
from saddlesynth.games.histogram import Histogram
from saddlesynth.games.payoff import all_records, max_error
from saddlesynth.games.play import Allowance, Game
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.query_class import Query, QueryClass
from saddlesynth.games.toys import toy
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import Exact

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
ALL = [(0, 1), (1, 2), (0, 2)]


def _game(records, workload, epsilon=5.0, delta=1e-6, seed=0, impossible=()):
    curator = Curator(records, Ledger(epsilon, delta), Seeded(np.random.default_rng(seed)))
    return Game(curator, workload, Exact(), impossible)


# ---------------------------------------------------------------------- the histogram
queries = st.builds(
    lambda order, low, width, negated: Query(
        tuple(order),
        tuple(min(lo, DOMAIN.sizes[a] - 1) for a, lo in zip(order, low, strict=True)),
        tuple(min(lo + w, DOMAIN.sizes[a] - 1) for a, lo, w in zip(order, low, width, strict=True)),
        negated,
    ),
    st.permutations([0, 1, 2]).map(lambda p: p[:2]),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.booleans(),
)


@given(st.lists(st.tuples(queries, st.floats(-2, 2)), max_size=6), st.booleans())
@settings(max_examples=40)
def test_parts_multiplied_out_are_the_plain_histogram(steps, ruled):
    impossible = ({0: 1, 1: 2},) if ruled else ()
    factored = Histogram(DOMAIN, impossible=impossible)
    records = all_records(DOMAIN)
    weights = np.ones(len(records))
    for query, exponent in steps:
        factored.multiply(query, exponent)
        weights *= np.exp(exponent * query.evaluate(records))
    if ruled:
        weights *= ~((records[:, 0] == 1) & (records[:, 1] == 2))
    full = (weights / weights.sum()).reshape(DOMAIN.sizes)
    np.testing.assert_allclose(factored.marginal((0, 1, 2)), full, atol=1e-12)
    np.testing.assert_allclose(factored.marginal((2, 0)), full.sum(axis=1).T, atol=1e-12)
    for query, _ in steps:
        inside = query.evaluate(records) @ full.ravel()
        assert factored.answer(query) == pytest.approx(inside, abs=1e-12)


def test_attributes_that_would_need_too_large_a_part_do_not_fit():
    histogram = Histogram(DOMAIN, limit=8)
    assert histogram.fits((0, 1)) and not histogram.fits((1, 2))
    histogram.multiply(Query((0, 1), (0, 0), (0, 0)), 1.0)
    assert not histogram.fits((0, 2))
    with pytest.raises(ValueError, match="a part of 24 cells"):
        histogram.multiply(Query((0, 2), (0, 0), (0, 0)), 1.0)


def test_rules_that_leave_nothing_are_refused():
    with pytest.raises(ValueError, match="leave no record"):
        Histogram(Domain(("a",), (2,)), impossible=({0: 0}, {0: 1}))


# ---------------------------------------------------------------------- MWEM
def _mwem(allowance, rounds, rows, **more):
    epsilon, measurement = mwem.calibrated_prices(allowance, rounds)
    return mwem.MWEM(rounds, rows, epsilon, measurement, allowance.epsilon is not None, **more)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("whole", [False, True])
def test_mwem_spends_what_its_parameters_say(random_table, delta, whole):
    table = random_table(0)
    game = _game(table, QueryClass.of(DOMAIN, ALL), 3.0, delta)
    allowance = Allowance.of(game.curator.ledger)
    parameters = _mwem(allowance, 6, 400, whole=whole)
    assert len(list(mwem.play(game, parameters))) == 6
    ledger, price = game.curator.ledger, parameters.privacy_cost()
    assert ledger.spent_rho == pytest.approx(price.rho)
    assert 0.999 * 3.0 < ledger.spent_epsilon <= 3.0
    if delta == 0:
        assert ledger.spent_epsilon == pytest.approx(price.epsilon)


@pytest.mark.parametrize("whole", [False, True])
def test_mwem_learns_with_budget(random_table, whole):
    table, workload = random_table(0), QueryClass.of(DOMAIN, ALL)
    truth, errors = workload.answers_on(table.records), []
    for epsilon in (0.02, 20.0):
        game = _game(table, workload, epsilon)
        parameters = _mwem(Allowance.of(game.curator.ledger), 12, 400, whole=whole, sweeps=60)
        *_, (_, histogram) = mwem.play(game, parameters)
        errors.append(max_error(workload, truth, histogram.answers(workload)))
    assert errors[1] < min(0.08, errors[0] / 2)


def test_replay_fits_old_measurements_better(random_table):
    table, workload = random_table(0), QueryClass.of(DOMAIN, ALL)
    truth, errors = workload.answers_on(table.records), []
    for replay in (False, True):
        game = _game(table, workload, 20.0)
        parameters = _mwem(Allowance.of(game.curator.ledger), 12, 400, replay=replay)
        *_, (_, histogram) = mwem.play(game, parameters)
        errors.append(max_error(workload, truth, histogram.answers(workload)))
    assert errors[1] < errors[0] / 1.5


def test_mwem_asks_only_what_fits_and_says_when_nothing_does(random_table):
    game = _game(random_table(0), QueryClass.of(DOMAIN, ALL), 20.0)
    allowance = Allowance.of(game.curator.ledger)
    rounds = [r for r, _ in mwem.play(game, _mwem(allowance.part(0.5), 6, 400, limit=9))]
    assert {r.queries[0].attributes for r in rounds} <= {(0, 1), (0, 2)}
    with pytest.raises(ValueError, match="no marginal of the workload fits"):
        list(mwem.play(game, _mwem(allowance.part(0.4), 2, 400, limit=4)))


# ---------------------------------------------------------------------- PMW
def test_pmw_updates_where_it_is_wrong_and_spends_no_more_than_stated(random_table):
    table, workload = random_table(0), QueryClass.of(DOMAIN, ALL)
    game = _game(table, workload, 200.0)
    parameters = pmw.calibrated(Allowance.of(game.curator.ledger), workload, 400, 30)
    stream = np.tile(np.arange(workload.size), 6)
    played = list(pmw.play(game, parameters, stream))
    ledger = game.curator.ledger
    assert len(played) > 5
    assert ledger.spent_rho <= parameters.privacy_cost().rho * (1 + 1e-9)
    assert ledger.spent_epsilon <= 200.0
    truth, uniform = workload.answers_on(table.records), Histogram(DOMAIN).answers(workload)
    final = played[-1][1].answers(workload)
    assert max_error(workload, truth, final) < max_error(workload, truth, uniform) / 1.3


def test_pmw_never_asks_again_what_lies_behind():
    game = _game(toy("coin"), toy("coin").workload, 1e4)
    parameters = pmw.calibrated(Allowance.of(game.curator.ledger), toy("coin").workload, 4, 9)
    parameters = replace(parameters, threshold=1.0, lowering=False)
    played = list(pmw.play(game, parameters, [0, 1, 0, 1]))
    assert [r.facts["asked"] for r, _ in played] == sorted({r.facts["asked"] for r, _ in played})


def test_a_stream_without_errors_costs_one_run_as_published():
    table = toy("coin")
    game = _game(table, table.workload, 1e4)
    start = [np.array([0.75, 0.25])]
    parameters = pmw.calibrated(Allowance.of(game.curator.ledger), table.workload, 4, 5)
    parameters = replace(parameters, threshold=3.0, start=start, lowering=False)
    assert list(pmw.play(game, parameters, [0, 1] * 500)) == []
    assert [line.step for line in game.curator.ledger.lines] == ["update 1: find"]


def test_a_lowered_threshold_uses_the_updates_that_are_left(random_table):
    table, workload = random_table(0), QueryClass.of(DOMAIN, ALL)
    rounds = []
    for lowering in (False, True):
        game = _game(table, workload, 20.0)
        parameters = pmw.calibrated(Allowance.of(game.curator.ledger), workload, 400, 10)
        given = replace(parameters, lowering=lowering)
        rounds.append([r for r, _ in pmw.play(game, given, np.arange(workload.size))])
    assert len(rounds[0]) < len(rounds[1]) == 10
    thresholds = [r.facts["threshold"] for r in rounds[1]]
    assert thresholds == sorted(thresholds, reverse=True) and thresholds[-1] < thresholds[0]


# ---------------------------------------------------------------------- SmallDB
def test_small_db_finds_the_best_table_with_a_large_budget():
    table = toy("colors")
    game = _game(table, table.workload, 1e4)
    (only,) = small_db.play(game, small_db.SmallDB(6, 100.0))
    assert sorted(only.records[:, 0].tolist()) == [0, 0, 0, 1, 1, 2]


def test_small_db_obeys_the_rules_of_a_table():
    table = toy("forbidden")
    game = _game(table, table.workload, 1e4, impossible=table.impossible)
    (only,) = small_db.play(game, small_db.SmallDB(8, 50.0))
    assert not (only.records == (0, 1)).all(axis=1).any()


def test_small_db_refuses_large_domains_with_the_reason():
    workload = QueryClass.of(DOMAIN, ALL)
    with pytest.raises(ValueError, match="SmallDB would list .* tables of 12 records"):
        small_db.check_size(24, 12, workload)


def test_small_db_chooses_its_size_by_public_numbers():
    sizes = [
        small_db.calibrated(Allowance(0.5), 3, toy("colors").workload, rows).size
        for rows in (10, 100, 10_000)
    ]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
    assert small_db.tables(3, 2) == 6


@pytest.mark.parametrize("sizes", [(2,), (2, 2), (2, 3), (3, 3), (2, 2, 2, 2)])
def test_small_db_takes_seconds_on_any_toy_it_accepts(sizes):
    workload = QueryClass.of(Domain(tuple("abcd"[: len(sizes)]), sizes), [tuple(range(len(sizes)))])
    made = small_db.calibrated(Allowance(5.0), math.prod(sizes), workload, 1e6)
    assert small_db.lookups(math.prod(sizes), made.size, workload) <= small_db.LOOKUPS


def test_small_db_refuses_a_large_domain_before_it_lists_a_record(monkeypatch):
    monkeypatch.setattr(small_db, "all_records", lambda *_: pytest.fail("records were listed"))
    workload = QueryClass.of(Domain(tuple("abcdef"), (10,) * 6), [(0, 1, 2), (3, 4, 5)])
    with pytest.raises(ValueError, match="1e\\+06 different records"):
        small_db.records_asked_about(workload)
