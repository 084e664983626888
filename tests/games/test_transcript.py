"""Transcripts: exact figures against the matrix game, and only where they may be shown."""

from __future__ import annotations

import numpy as np
import pytest

from saddlesynth.games import fem, mwem
from saddlesynth.games.equilibrium import regret
from saddlesynth.games.histogram import Histogram
from saddlesynth.games.noiseless import Noiseless
from saddlesynth.games.play import Allowance, Game, Mixture
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import Seeded
from saddlesynth.games.toys import TOYS, toy
from saddlesynth.games.transcript import exact, spent
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.listed import Listed


def _play(table, rounds=15, public=True):
    noise = Seeded(np.random.default_rng(0))
    curator = Curator(table, Ledger(5.0, 1e-6), noise, public=public)
    game = Game(curator, table.workload, Listed(Exact()), table.impossible)
    rate = Allowance.of(curator.ledger).selection(rounds)
    played = fem.play(game, fem.FEM(rounds, rate, samples=4), np.random.default_rng(1))
    return game, list(played)


@pytest.mark.parametrize("name", TOYS)
def test_exact_figures_are_those_of_the_matrix_game(name):
    table = toy(name)
    game, rounds = _play(table)
    *_, last = exact(game, [(r, Mixture(r.records)) for r in rounds])
    matrix = table.matrix()
    data = [(r.records[:, None] == matrix.records).all(axis=2).mean(axis=0) for r in rounds]
    query = [[q == r.queries[0] for q in matrix.queries] for r in rounds]
    expected = regret(matrix.values, data, np.array(query, dtype=float))
    assert last.data_regret == pytest.approx(expected.data)
    assert last.query_regret == pytest.approx(expected.query)
    assert last.mean_payoff == pytest.approx(expected.payoff)
    assert last.mean_error <= last.gap + table.value + 1e-9
    assert last.by_block.max() == last.mean_error


def test_exact_figures_of_a_private_table_are_refused():
    game, rounds = _play(toy("coin"), public=False)
    with pytest.raises(PermissionError, match="public=True"):
        list(exact(game, [(r, Mixture(r.records)) for r in rounds]))


def test_a_histogram_is_a_strategy_too():
    table = toy("colors")
    game = Game(Noiseless(table, public=True), table.workload, Listed(Exact()))
    epsilon, price = mwem.calibrated_prices(Allowance(0.5), 4)
    parameters = mwem.MWEM(4, 6, epsilon, price)
    plays, rounds = [Histogram(table.domain)], []
    for made, histogram in mwem.play(game, parameters):
        rounds.append(made)
        plays.append(histogram.copy())
    figures = list(exact(game, zip(rounds, plays, strict=False)))
    assert figures[0].error == pytest.approx(1 / 6)
    assert figures[-1].error < figures[0].error
    assert figures[0].payoff == pytest.approx(1 / 6)


def test_what_is_spent_ends_where_the_ledger_does():
    game, rounds = _play(toy("coin"))
    line = spent(rounds, game.curator.ledger)
    assert line == sorted(line)
    assert line[-1] == pytest.approx(game.curator.ledger.spent_epsilon)
    pure = Ledger(5.0, 0.0)
    assert spent(rounds, pure)[-1] == pytest.approx(sum(r.price.epsilon for r in rounds))


def test_without_noise_every_mechanism_is_exact_and_free():
    table = toy("colors")
    curator = Noiseless(table, public=True)
    workload = table.workload
    assert curator.measure("s", [(0,)], [1e-9])[0].counts.tolist() == [3, 2, 1]
    assert curator.measure_query("s", workload, 4, 1e-9, None)[0] == 4
    run = curator.above_threshold("s", workload, 1e-9)
    assert run.first_above([2, 1, 0], np.zeros(3), 3) == 2
    answers = [np.array([[1.0, 0, 0], [0.5, 0.3, 0.2], [0, 0, 1.0]])]
    assert curator.select_table("s", workload, answers, 1e-9) == 1
    assert curator.ledger.lines == []
