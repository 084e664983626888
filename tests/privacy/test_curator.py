"""The curator: charged before drawn, whatever the records say, with the noise it claims."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import BudgetExceeded, Ledger, Relation
from saddlesynth.games.privacy.columns import ColumnCurator
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.independence import DependenceScore
from saddlesynth.games.privacy.mechanisms import Secure, Seeded
from saddlesynth.games.query_class import QueryClass
from saddlesynth.oracles.domain import Domain

DOMAIN = Domain(("a", "b"), (2, 3))
WORKLOAD = QueryClass.of(DOMAIN, [(0, 1)])
ANSWERS = [np.full((2, 3), 1 / 6)]
SCORE = DependenceScore(((0, (1,)), (1, ())))
ROWS = [[0, 0]] * 20 + [[1, 2]] * 30
OTHER_ROWS = [[0, 1]]
CELLS = {"x": [1, 2, 2, 50], "y": ["u", "v", "v", "v"]}
EDGES = {"x": np.array([0.0, 2.0, 10.0])}

RECORD_METHODS = {
    "measure": lambda c, size: c.measure("s", [(0,), (0, 1)], [size, size]),
    "measure_laplace": lambda c, size: c.measure_laplace("s", [(0,), (1,)], [size, size]),
    "independence_differences": lambda c, size: c.independence_differences("s", [(0, 1)], size),
    "select": lambda c, size: c.select("s", SCORE, size),
    "select_query": lambda c, size: c.select_query("s", WORKLOAD, ANSWERS, size, 3),
    "keep_queries": lambda c, size: c.keep_queries("s", WORKLOAD, [1, 8], ANSWERS, size, 0.5, 9.0),
    "measure_query": lambda c, size: c.measure_query("s", WORKLOAD, 2, size, None),
    "above_threshold": lambda c, size: c.above_threshold("s", WORKLOAD, size),
    "select_table": lambda c, size: c.select_table("s", WORKLOAD, [np.full((2, 6), 1 / 6)], size),
    "measure_residuals": lambda c, size: c.measure_residuals("s", [(0,), (0, 1)], [size, size]),
    "recoded": lambda c, size: c.recoded(
        [np.array([0, 0]), np.array([0, 1, 1])]
    ).measure("s", [(1,)], [size]),
}  # fmt: skip
COLUMN_METHODS = {
    "classes": lambda c, size: c.classes("s", {"x": size, "y": size}),
    "histogram": lambda c, size: c.histogram("s", EDGES, {"x": size}),
    "values": lambda c, size: c.values("s", {"y": size}, {"y": 1e-10}),
}
METHODS = {**RECORD_METHODS, **COLUMN_METHODS}
NOT_PURE = ["measure", "independence_differences", "measure_query", "measure_residuals", "recoded"]
NOT_PURE += COLUMN_METHODS
FREE = {"prepare", "exact", "marginal_sensitivity"}  # release nothing; ``exact`` of public tables


@pytest.fixture
def curator(records, columns):
    """Makes the curator that has the method, for a ledger and a noise source."""

    def make(name, ledger, noise, rows=ROWS, cells=CELLS):
        if name in RECORD_METHODS:
            return Curator(records(rows), ledger, noise)
        return ColumnCurator(columns(cells), ledger, noise)

    return make


def _ledger(**parameters):
    return Ledger(**{"epsilon": 1.0, "delta": 1e-6, "reserved_delta": 1e-7, **parameters})


@pytest.mark.parametrize(
    "door, methods", [(Curator, RECORD_METHODS), (ColumnCurator, COLUMN_METHODS)]
)
def test_every_public_method_of_the_door_is_tested_here(door, methods):
    public = {n for n in dir(door) if not n.startswith("_") and callable(getattr(door, n))}
    assert public - FREE == set(methods)


@pytest.mark.parametrize("name", METHODS)
def test_a_refused_charge_draws_nothing_and_writes_no_line(name, curator, watching):
    ledger = _ledger()
    noise = watching(ledger)
    with pytest.raises(BudgetExceeded):
        METHODS[name](curator(name, ledger, noise), 100.0)
    assert noise.seen == [] and ledger.lines == []


@pytest.mark.parametrize("name", METHODS)
def test_budget_is_charged_before_the_draw(name, curator, watching):
    ledger = _ledger()
    noise = watching(ledger)
    METHODS[name](curator(name, ledger, noise), 1e-4)
    assert noise.seen and set(noise.seen) == {len(ledger.lines)}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [0.0, -1.0, math.nan, math.inf])
def test_a_size_that_is_no_budget_is_refused(name, size, curator, watching):
    ledger = _ledger()
    noise = watching(ledger)
    with pytest.raises(ValueError):
        METHODS[name](curator(name, ledger, noise), size)
    assert noise.seen == [] and ledger.lines == []


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("relation", list(Relation))
def test_the_ledger_does_not_depend_on_the_records(name, relation, curator, watching):
    lines = []
    for rows, cells in [(ROWS, CELLS), (OTHER_ROWS, {"x": [7], "y": ["w"]})]:
        ledger = _ledger(relation=relation)
        METHODS[name](curator(name, ledger, watching(ledger), rows, cells), 1e-4)
        lines.append(ledger.as_dict())
    assert lines[0] == lines[1]
    assert all(line["relation"] == relation for line in lines[0]["lines"])


@pytest.mark.parametrize("name", NOT_PURE)
def test_a_pure_budget_refuses_what_is_not_pure(name, curator, watching):
    ledger = Ledger(1.0, 0.0)
    noise = watching(ledger)
    with pytest.raises(BudgetExceeded, match="not pure"):
        METHODS[name](curator(name, ledger, noise), 1e-4)
    assert noise.seen == []


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(NOT_PURE)))
def test_a_pure_budget_is_charged_in_epsilon(name, curator, watching):
    ledger = Ledger(1.0, 0.0)
    METHODS[name](curator(name, ledger, watching(ledger)), 0.1)
    assert ledger.spent_epsilon == pytest.approx(sum(line.epsilon for line in ledger.lines))
    assert all(line.epsilon >= 0.1 for line in ledger.lines)


FACTORS = [(Relation.ADD_REMOVE, 1, 1.0, 4, 1), (Relation.REPLACE_ONE, 3, math.sqrt(2) * 3, 18, 6)]


@pytest.mark.parametrize("relation, k, l2, independence, l1", FACTORS)
def test_noise_is_scaled_to_the_relation_and_the_unit(
    relation, k, l2, independence, l1, curator, watching
):
    ledger = _ledger(relation=relation, rows_per_unit=k, epsilon=1e3)
    made = curator("measure", ledger, watching(ledger))
    (measured,) = made.measure("m", [(0,)], [0.02])
    (pure,) = made.measure_laplace("l", [(0,)], [0.5])
    made.independence_differences("i", [(0, 1), (1, 0)], 0.02)
    made.select("e", SCORE, 0.5)
    gaussian, laplace, score, chosen = ledger.lines
    assert measured.sigma == gaussian.noise == pytest.approx(l2 / math.sqrt(2 * 0.02))
    assert laplace.noise == pytest.approx(l1 / 0.5)
    assert pure.sigma == pytest.approx(math.sqrt(2) * laplace.noise, rel=0.05)
    assert score.sensitivity == pytest.approx(independence * math.sqrt(2))
    assert score.noise == pytest.approx(independence * math.sqrt(2) / math.sqrt(2 * 0.02))
    assert chosen.sensitivity == independence / 2
    assert chosen.noise == pytest.approx(2 * chosen.sensitivity / 0.5)
    assert (gaussian.rho, laplace.rho, score.rho) == (0.02, pytest.approx(0.125), 0.02)
    assert (laplace.epsilon, chosen.rho) == (0.5, pytest.approx(0.5**2 / 8))


def test_measurements_are_the_tables_plus_noise(records):
    ledger = Ledger(1e9, 1e-6)
    curator = Curator(records(ROWS), ledger, Secure())
    found = curator.measure("m", [(1,), (0, 1), ()], [1e4, 1e4, 1e4])
    assert [m.counts.tolist() for m in found] == [[20, 0, 30], [[20, 0, 0], [0, 0, 30]], 50]
    assert [line.step for line in ledger.lines] == ["m: b", "m: a x b", "m"]
    laplace = curator.measure_laplace("l", [(1,)], [200.0])
    assert laplace[0].counts.tolist() == [20, 0, 30]
    assert curator.independence_differences("i", [(0, 1)], 1e8)[0] == pytest.approx(48, abs=0.1)
    assert curator.select("s", SCORE, 100.0) == 0


@pytest.mark.statistical  # false alarm 1e-6, seeded
def test_independence_differences_have_the_noise_the_ledger_states(records):
    curator = Curator(records(ROWS), Ledger(1e9, 1e-6), Seeded(np.random.default_rng(0)))
    noisy = curator.independence_differences("i", [(0, 1)] * 4_000, 100.0)
    sigma = curator.ledger.lines[0].noise
    assert sigma == pytest.approx(math.sqrt(8 * 4_000 / 100.0))
    assert abs(noisy.std() / sigma - 1) < 4.9 / math.sqrt(2 * 4_000)
    assert abs(noisy.mean() - 48) < 4.9 * sigma / math.sqrt(4_000)


def test_nothing_is_charged_for_nothing(curator, watching):
    ledger = _ledger()
    made = curator("measure", ledger, watching(ledger))
    assert made.measure("m", [], []) == []
    assert made.independence_differences("i", [], 0.1).size == 0
    assert ledger.lines == []


def test_marginals_are_counted_once(records):
    class Once(records):
        asked = 0

        def count(self, marginals):
            Once.asked += len(marginals)
            return super().count(marginals)

    curator = Curator(Once(ROWS), Ledger(1.0, 1e-6), Seeded(np.random.default_rng(0)))
    curator.prepare([(0,), (1,), (0,)])
    curator.measure("m", [(0,), (1,)], [1e-4, 1e-4])
    curator.measure("again", [(0,)], [1e-4])
    assert Once.asked == 2


@pytest.mark.parametrize("wrong", [[1e-4], [1e-4] * 3])
def test_as_many_budgets_as_marginals_are_needed(wrong, curator, watching):
    ledger = _ledger()
    noise = watching(ledger)
    with pytest.raises(ValueError):
        curator("measure", ledger, noise).measure("m", [(0,), (1,)], wrong)
    assert ledger.lines == [] and noise.seen == []
