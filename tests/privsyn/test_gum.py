"""GUM: one update by hand, and how the strategies compare without noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.synthesis.privsyn.gum import (
    SCHEDULES,
    Pool,
    Target,
    Updating,
    distance,
    gum,
    step_counts,
    update,
)

COUNTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=12)


def counted(pool: Pool, target: Target) -> np.ndarray:
    table = np.zeros_like(target.counts)
    np.add.at(table, tuple(pool[a] for a in target.attributes), 1)
    return table


@given(COUNTS, st.sampled_from([0.05, 0.3, 1.0, 2.0]))
def test_as_many_are_removed_as_added_and_no_cell_overshoots(
    counts: list[tuple[int, int]], alpha: float
) -> None:
    current, wanted = np.array(counts).T
    wanted[0] += max(0, current.sum() - wanted.sum())
    current[0] += max(0, wanted.sum() - current.sum())
    added, removed = step_counts(current, wanted, alpha)
    assert added.sum() == removed.sum()
    assert (added <= np.maximum(wanted - current, 0)).all()
    assert (removed <= np.maximum(current - wanted, 0)).all()
    assert (added <= np.ceil(alpha * np.where(current > 0, current, wanted))).all()


def test_empty_cells_fill() -> None:
    added, _ = step_counts(np.array([10, 0]), np.array([4, 6]), 0.5)
    assert added.tolist() == [0, 3]


def test_every_over_full_cell_gives_the_same_fraction() -> None:
    _, removed = step_counts(np.array([100, 200, 10]), np.array([50, 100, 160]), 1.0)
    assert removed.tolist() == [3, 7, 0]  # 10 in all, beta = 1/30


def test_a_duplicate_keeps_the_rest_of_its_record() -> None:
    # The third column tells where a record comes from: the value of the first.
    pool = [np.array([0] * 8 + [1] * 2, dtype=np.uint8), np.arange(10, dtype=np.uint8)]
    pool.append(pool[0] + 10)
    update(pool, Target((0,), np.array([6, 4])), "duplicate", 0, 1.0, np.random.default_rng(0))
    assert (pool[2] == pool[0] + 10).all()
    assert np.bincount(pool[0]).tolist() == [6, 4]


def test_replacing_leaves_other_attributes() -> None:
    pool = [np.array([0] * 8 + [1] * 2, dtype=np.uint8), np.arange(10, dtype=np.uint8)]
    before = pool[1].copy()
    update(pool, Target((0,), np.array([6, 4])), "replace", 0, 1.0, np.random.default_rng(0))
    assert (pool[1] == before).all()
    assert np.bincount(pool[0]).tolist() == [6, 4]


@pytest.mark.parametrize("strategy", ["gum", "replace", "duplicate", "half", "mcf"])
def test_one_marginal_is_met_exactly(strategy: str) -> None:
    rng = np.random.default_rng(1)
    pool: Pool = [rng.integers(4, size=500, dtype=np.uint8) for _ in range(3)]
    target = Target((2, 0), rng.multinomial(500, rng.dirichlet(np.ones(16))).reshape(4, 4))
    given_pool = [column.copy() for column in pool]
    result = gum(pool, [target], Updating(strategy), rng)  # type: ignore[arg-type]
    assert result.error == 0
    assert (counted(result.pool, target) == target.counts).all()
    assert all((a == b).all() for a, b in zip(pool, given_pool, strict=True))


def test_impossible_cells_empty() -> None:
    rng = np.random.default_rng(2)
    pool: Pool = [rng.integers(2, size=1000, dtype=np.uint8) for _ in range(2)]
    target = Target((0, 1), np.array([[400, 0], [300, 300]]))
    result = gum(pool, [target], Updating(), rng)
    assert counted(result.pool, target)[0, 1] == 0


def test_the_nearest_pool_is_returned() -> None:
    rng = np.random.default_rng(3)
    pool, targets = coupled(rng)
    result = gum(pool, targets, Updating(sweeps=15, patience=99), rng)
    again = np.mean([distance(result.pool, t) for t in targets]) / len(pool[0])
    assert again == pytest.approx(min(result.errors))
    assert result.sweeps == 15


def test_it_stops_when_nothing_comes_nearer() -> None:
    rng = np.random.default_rng(4)
    pool, targets = coupled(rng)
    result = gum(pool, targets, Updating(sweeps=200, patience=3), rng)
    assert 3 < result.sweeps < 60


def test_equal_seeds_give_equal_pools() -> None:
    results = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        pool, targets = coupled(rng)
        results.append(np.array(gum(pool, targets, Updating(sweeps=3), rng).pool))
    assert (results[0] == results[1]).all()


def test_schedules_start_at_one_and_fall() -> None:
    for schedule in SCHEDULES.values():
        steps = [schedule(t) for t in range(60)]
        assert steps[0] == 1 and steps[-1] < 1
        assert steps == sorted(steps, reverse=True)
    assert SCHEDULES["step"](45) == pytest.approx(0.84**2)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"strategy": "x"}, "strategy"), ({"schedule": "x"}, "schedule"), ({"alpha": 0.0}, "alpha")],
)
def test_unknown_options_are_refused(wrong: dict[str, str], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Updating(**wrong)  # type: ignore[arg-type]


def coupled(
    rng: np.random.Generator, records: int = 20_000, attributes: int = 8, values: int = 5
) -> tuple[Pool, list[Target]]:
    """Independent columns, and all exact 2-way marginals of columns that depend on two before."""
    columns: Pool = [rng.choice(values, records, p=rng.dirichlet(np.ones(values))).astype(np.uint8)]
    for place in range(1, attributes):
        law = rng.dirichlet(np.full(values, 0.1), size=(values, values))
        steps = np.cumsum(law[columns[-1], columns[max(0, place - 2)]], axis=1)[:, :-1]
        columns.append((steps < rng.random(records)[:, None]).sum(axis=1).astype(np.uint8))
    targets = []
    for pair in itertools.combinations(range(attributes), 2):
        table = np.zeros((values, values), dtype=np.int64)
        np.add.at(table, tuple(columns[a] for a in pair), 1)
        targets.append(Target(pair, table))
    return [rng.permutation(column) for column in columns], targets


def test_without_noise_gum_goes_on_where_the_other_updates_level_off() -> None:
    errors = {}
    for strategy in ("replace", "duplicate", "half", "gum"):
        rng = np.random.default_rng(1)
        pool, targets = coupled(rng)
        run = gum(pool, targets, Updating(strategy, sweeps=20, patience=99), rng)  # type: ignore[arg-type]
        errors[strategy] = run.errors[20]
        assert 0.45 < run.errors[0] < 0.6
    assert errors["gum"] < errors["replace"] / 5
    assert errors["gum"] < errors["duplicate"] / 3
    assert errors["gum"] < errors["half"]
