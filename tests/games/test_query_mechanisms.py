"""Rejection coins, single queries, AboveThreshold, and tables by the exponential mechanism."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.privacy.query_mechanisms import coin_range
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain

DOMAIN = Domain(("a", "b"), (2, 3))
RECORDS = np.array([[0, 0]] * 5 + [[0, 1]] * 2 + [[1, 2]] * 4)
WORKLOAD = QueryClass.of(DOMAIN, [(0, 1), (0,)])
PLAY = np.array([[0, 0], [1, 1]])
ANSWERS = WORKLOAD.answers_on(PLAY)


@pytest.fixture
def curator(table):
    def make(epsilon=1e6, seed=0, **ledger):
        noise = Seeded(np.random.default_rng(seed))
        return Curator(table(RECORDS, DOMAIN), Ledger(epsilon, 1e-6, **ledger), noise)

    return make


def _score(position):
    query = WORKLOAD.query(position)
    return query.evaluate(RECORDS).sum() - len(RECORDS) * query.evaluate(PLAY).mean()


# ---------------------------------------------------------------------- rejection coins
@pytest.mark.statistical  # sixteen coins, each false with probability 6e-7 (five sigma)
def test_a_query_is_kept_with_the_probability_of_the_formula(curator):
    positions, tosses, rate, slack, reference = list(range(16)), 500, 0.1, 0.3, 3.0
    kept = curator().keep_queries(
        "s", WORKLOAD, positions * tosses, ANSWERS, rate, slack, reference
    )
    shares = np.reshape(kept, (tosses, -1)).mean(axis=0)
    for position, share in zip(positions, shares, strict=True):
        p = math.exp(-slack) * min(1.0, math.exp(rate * (_score(position) - reference)))
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / tosses) + 1e-9


@pytest.mark.parametrize("change", [0.001, 0.1, 1.0])
@pytest.mark.parametrize("slack", [0.01, 0.3, 2.0])
def test_the_range_of_a_coin_covers_every_pair_and_is_attained(change, slack):
    keep, drop = coin_range(change, slack)
    p = np.linspace(1e-6, math.exp(-slack), 2000)
    moved = p * math.exp(-change)
    assert np.log(p / moved).max() == pytest.approx(keep, rel=1e-9)
    assert np.log((1 - moved) / (1 - p)).max() == pytest.approx(drop, rel=1e-9)


def test_without_slack_a_drop_would_have_no_bound():
    with pytest.raises(ZeroDivisionError):
        coin_range(0.1, 0.0)


def test_coins_cost_an_eighth_of_their_squared_range(curator):
    asked = curator(rows_per_unit=2)
    asked.keep_queries("s", WORKLOAD, [0, 1, 2], ANSWERS, 0.05, 0.3, 0.0)
    (line,) = asked.ledger.lines
    keep, drop = coin_range(0.1, 0.3)
    assert line.rho == pytest.approx(3 * (keep + drop) ** 2 / 8)
    assert line.epsilon == pytest.approx(3 * max(keep, drop))


# ---------------------------------------------------------------------- single queries
@pytest.mark.parametrize("position", [0, 5, 9, 14])
def test_a_measured_query_is_its_count_plus_noise_of_the_stated_size(curator, position):
    asked, truth = curator(), WORKLOAD.query(position).evaluate(RECORDS).sum()
    for epsilon, expected in ((None, 5.0), (0.25, math.sqrt(2) * 4)):
        draws = [asked.measure_query("s", WORKLOAD, position, 0.02, epsilon) for _ in range(300)]
        noise = np.array([value for value, _ in draws]) - truth
        assert draws[0][1] == pytest.approx(expected, rel=0.05)
        assert abs(noise.mean()) < 5 * expected / math.sqrt(300)
        assert noise.std() == pytest.approx(expected, rel=0.3)


# ---------------------------------------------------------------------- AboveThreshold
POSITIONS = np.arange(6)
EXPECTED = np.zeros(6)  # so that errors are the counts 5, 2, 0, 0, 0, 4


def test_the_first_query_above_is_found_when_noise_is_small(curator):
    run = curator().above_threshold("s", WORKLOAD, 200.0)
    assert run.first_above(POSITIONS[1:], EXPECTED[1:], 3) == 4
    assert run.open is False


def test_after_an_above_the_run_answers_no_more(curator):
    run = curator().above_threshold("s", WORKLOAD, 200.0)
    assert run.first_above(POSITIONS, EXPECTED, 3) == 0
    with pytest.raises(RuntimeError, match="new charge"):
        run.first_above(POSITIONS, EXPECTED, 3)


def test_any_number_of_belows_costs_nothing_more(curator):
    asked = curator()
    run = asked.above_threshold("s", WORKLOAD, 1.0)
    for _ in range(50):
        assert run.first_above(POSITIONS, EXPECTED, 1000) is None
    assert [line.epsilon for line in asked.ledger.lines] == [1.0]


def test_every_run_has_a_fresh_shift_and_every_question_fresh_noise(curator):
    """With the classic mistakes, equal questions would get equal answers."""
    asked = curator()
    answers = set()
    for _ in range(40):
        run = asked.above_threshold("s", WORKLOAD, 0.5)
        answers.add(
            tuple(run.first_above(POSITIONS[:1], EXPECTED[:1], 5) for _ in range(3) if run.open)
        )
    assert len(answers) >= 3
    shifts = {asked.above_threshold("s", WORKLOAD, 0.5)._shift for _ in range(20)}
    assert len(shifts) > 5


@pytest.mark.statistical  # one check, false with probability 6e-7 (five sigma)
def test_above_has_the_probability_of_the_two_laplace_noises(curator):
    """P(count + Lap(4/e) >= t + Lap(2/e)) for discrete Laplace noises, summed by hand."""
    epsilon, threshold, trials = 2.0, 7, 3000
    asked = curator()
    hits = 0
    for _ in range(trials):
        run = asked.above_threshold("s", WORKLOAD, epsilon)
        hits += run.first_above([0], np.zeros(1), threshold) == 0
    support = np.arange(-200, 201)
    laws = [np.exp(-np.abs(support) / scale) for scale in (4 / epsilon, 2 / epsilon)]
    query, moved = (law / law.sum() for law in laws)
    p = sum(
        q * moved[support <= 5 - threshold + z].sum() for z, q in zip(support, query, strict=True)
    )
    assert abs(hits / trials - p) < 5 * math.sqrt(p * (1 - p) / trials)


# ---------------------------------------------------------------------- tables
@pytest.mark.statistical  # three checks, each false with probability 6e-7 (five sigma)
def test_a_table_is_drawn_with_the_probability_of_its_largest_error(curator):
    tables = [np.array([[0, 0], [1, 2]]), np.array([[0, 1], [1, 1]]), np.array([[0, 0], [0, 1]])]
    answers = [
        np.concatenate([t.ravel() for t in WORKLOAD.answers_on(table)])[None] for table in tables
    ]
    asked, epsilon, trials = curator(), 0.8, 2000
    draws = [asked.select_table("s", WORKLOAD, answers, epsilon) for _ in range(trials)]
    truth = np.concatenate([t.ravel() for t in WORKLOAD.answers_on(RECORDS)])
    errors = np.array([len(RECORDS) * np.abs(truth - row[0]).max() for row in answers])
    law = np.exp(-epsilon * errors / 2)
    law /= law.sum()
    shares = np.bincount(draws, minlength=3) / trials
    assert (np.abs(shares - law) < 5 * np.sqrt(law * (1 - law) / trials)).all()


# ---------------------------------------------------------------------- order
@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.keep_queries("s", WORKLOAD, [0] * 50, ANSWERS, 1.0, 0.1, 0.0),
        lambda c: c.measure_query("s", WORKLOAD, 0, 5.0, None),
        lambda c: c.measure_query("s", WORKLOAD, 0, 0.0, 9.0),
        lambda c: c.above_threshold("s", WORKLOAD, 9.0),
        lambda c: c.select_table("s", WORKLOAD, [np.zeros((1, WORKLOAD.size))], 9.0),
    ],
)
def test_every_mechanism_is_charged_before_it_draws(curator, monkeypatch, ask):
    asked = curator(epsilon=0.1)
    for name in ("below", "discrete_gaussian", "discrete_laplace"):
        monkeypatch.setattr(asked._noise, name, None)  # drawing would fail with a TypeError
    with pytest.raises(BudgetExceeded):
        ask(asked)
    assert asked.ledger.lines == []
