"""No row may break a rule, whatever the method made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import SchemaError

CHILD = Constraints(Domain(("age", "job", "area"), (2, 3, 2)), ({0: 0, 1: 1}, {0: 0, 1: 2}))


def every_record(domain: Domain) -> np.ndarray:
    return np.indices(domain.sizes).reshape(len(domain), -1).T


def breaks(record: np.ndarray, rule: dict[int, int]) -> bool:
    return all(record[a] == code for a, code in rule.items())


@st.composite
def constraints(draw: st.DrawFn) -> Constraints:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    domain = Domain(tuple(map(str, range(len(sizes)))), tuple(sizes))
    record = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rule = st.builds(
        lambda r, keep: {a: r[a] for a in keep},
        record,
        st.sets(st.integers(0, len(sizes) - 1), min_size=1),
    )
    return Constraints(domain, tuple(draw(st.lists(rule, max_size=6))))


@given(constraints())
@settings(max_examples=60, deadline=None)
def test_broken_means_that_some_rule_holds(rules: Constraints) -> None:
    records = every_record(rules.domain)
    expected = [any(breaks(r, dict(rule)) for rule in rules.rules) for r in records]
    assert rules.broken(records).tolist() == expected


@given(constraints(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_repair_mends_all_and_touches_nothing_else(rules: Constraints, seed: int) -> None:
    generator = np.random.default_rng(seed)
    everything = every_record(rules.domain)
    records = everything[generator.integers(len(everything), size=5)]
    if rules.broken(everything).all():
        with pytest.raises(SchemaError, match="no possible record"):
            rules.check()
        return
    broken, before = rules.broken(records), records.copy()
    mended = rules.repair(records, generator)
    assert not rules.broken(mended).any()
    assert (mended[~broken] == before[~broken]).all()
    assert (records == before).all()


def test_repair_changes_as_little_as_it_can() -> None:
    generator = np.random.default_rng(0)
    valid = np.array([[1, j, a] for j in range(3) for a in range(2)] + [[0, 0, 0]])
    broken = np.array([[0, 1, 1]] * 50)
    mended = CHILD.repair(np.concatenate([valid, broken]), generator)[len(valid) :]
    assert ((mended != broken).sum(axis=1) == 1).all()
    assert (mended[:, 2] == 1).all()


def test_if_every_row_is_broken_a_valid_one_is_built() -> None:
    mended = CHILD.repair(np.array([[0, 1, 1]] * 3), np.random.default_rng(0))
    assert not CHILD.broken(mended).any()


def test_cells_that_no_record_can_fall_into() -> None:
    assert CHILD.forbidden_cells((1, 0)).tolist() == [[False, False], [True, False], [True, False]]
    assert not CHILD.forbidden_cells((1, 2)).any()


def test_rules_wider_than_a_machine_word_are_compared_row_by_row() -> None:
    domain = Domain(tuple(map(str, range(20))), (10,) * 20)
    rules = Constraints(domain, (dict.fromkeys(range(20), 9),))
    records = np.stack([np.full(20, 9), np.arange(20) % 10])
    assert rules.broken(records).tolist() == [True, False]
