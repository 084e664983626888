"""The reduction leaves the optimum alone; every step does what its claim says."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.exact import values
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Reduction, merge, reduce

WEIGHTS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
COSTS = st.sampled_from([-1.0, 0.0, 0.0, 0.25, 0.5, 1.0, 2.0])


@st.composite
def problems(draw):
    """A tiny problem with many ties, and two perturbations."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    domain = Domain(tuple(f"a{i}" for i in range(len(sizes))), tuple(sizes))

    def literals(least):
        attributes = st.lists(
            st.integers(0, len(sizes) - 1), min_size=least, max_size=3, unique=True
        )
        return {a: draw(st.integers(0, sizes[a] - 1)) for a in draw(attributes)}

    m = draw(st.integers(0, 8))
    rows = [literals(0) for _ in range(m)]
    negated = draw(st.lists(st.booleans(), min_size=m, max_size=m))
    weights = draw(st.lists(WEIGHTS, min_size=m, max_size=m))
    impossible = [literals(1) for _ in range(draw(st.integers(0, 2)))]
    cost = st.lists(COSTS, min_size=domain.width, max_size=domain.width)
    perturbations = np.array([draw(cost), draw(cost)])
    return Problem(domain, Conjunctions.of(rows, negated), weights, impossible), perturbations


def best(problem, perturbation):
    records = np.array(list(itertools.product(*map(range, problem.domain.sizes))))
    records = records[problem.allowed(records)]
    return problem.value(records, perturbation).max() if len(records) else -np.inf


@given(problems(), st.sampled_from(list(Reduction)))
@settings(max_examples=200, deadline=None)
def test_the_optimum_is_unchanged(drawn, level):
    problem, perturbations = drawn
    for task, row in zip(reduce(merge(problem), perturbations, level), perturbations, strict=True):
        table = values(task)
        assert table.max() == pytest.approx(best(problem, row))
        if table.max() > -np.inf:
            index = np.asarray(np.unravel_index(int(table.argmax()), table.shape), dtype=np.intp)
            record = task.record(index + task.starts[:-1])
            assert problem.allowed(record)[0]
            assert problem.value(record, row)[0] == pytest.approx(table.max())


@given(problems())
@settings(max_examples=60, deadline=None)
def test_every_choice_that_is_left_has_the_value_of_its_record(drawn):
    problem, perturbations = drawn
    (task,) = reduce(merge(problem), perturbations[:1])
    for index in itertools.product(*map(range, task.shape)):
        record = task.record(np.asarray(index, dtype=np.intp) + task.starts[:-1])
        allowed = problem.allowed(record)[0]
        expected = problem.value(record, perturbations[0])[0] if allowed else -np.inf
        assert values(task)[index] == pytest.approx(expected)


@given(problems(), st.sampled_from(list(Reduction)))
@settings(max_examples=60, deadline=None)
def test_the_bound_is_above_every_record(drawn, level):
    problem, perturbations = drawn
    (task,) = reduce(merge(problem), perturbations[:1], level)
    assert task.bound() >= best(problem, perturbations[0]) - 1e-9


@given(problems())
@settings(max_examples=50, deadline=None)
def test_a_batch_is_the_same_as_one_by_one(drawn):
    problem, perturbations = drawn
    together = reduce(merge(problem), perturbations)
    for task, row in zip(together, perturbations, strict=True):
        (alone,) = reduce(merge(problem), row[None])
        assert alone.shape == task.shape
        assert np.array_equal(alone.codes, task.codes)
        assert np.array_equal(alone.literals, task.literals)


@given(problems(), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_relabelling_attributes_changes_nothing(drawn, seed):
    problem, perturbations = drawn
    domain, queries = problem.domain, problem.queries
    order = np.random.default_rng(seed).permutation(len(domain))
    place = np.argsort(order)  # old position -> new
    names = tuple(domain.names[a] for a in order)
    sizes = tuple(domain.sizes[a] for a in order)
    moved = np.where(queries.attributes >= 0, place[queries.attributes], -1)
    renamed = Problem(
        Domain(names, sizes),
        Conjunctions(moved, queries.values, queries.negated),
        problem.weights,
        [{int(place[a]): v for a, v in c.items()} for c in problem.impossible],
    )
    blocks = np.split(perturbations[0], domain.offsets[1:-1])
    costs = np.concatenate([blocks[a] for a in order])
    (task,) = reduce(merge(renamed), costs[None])
    assert values(task).max() == pytest.approx(best(problem, perturbations[0]))


def two_by_three():
    return Domain(("a", "b"), (2, 3))


def test_equal_queries_are_added_and_cancelling_ones_vanish():
    rows = [{0: 0, 1: 1}, {1: 1, 0: 0}, {0: 1}, {0: 1}, {}]
    flags = [False, True, False, True, False]
    merged = merge(Problem(two_by_three(), Conjunctions.of(rows, flags), [3, 1, 2, 2, 5]))
    assert merged.weights.tolist() == [2.0]  # 3 - 1 on the first conjunction, 2 - 2 on {a: 1}
    assert merged.constant == 1 + 2 + 5  # the negated queries' weights, and the always true one


def test_untouched_values_are_grouped_under_the_cheapest():
    problem = Problem(two_by_three(), Conjunctions.of([{0: 0}]), [1.0])
    costs = np.array([[0.0, 0.0, 0.3, 0.1, 0.2]])
    (task,) = reduce(merge(problem), costs, Reduction.GROUP)
    assert task.template[1] == 1
    assert task.states == 2


def test_of_two_equal_values_one_is_kept():
    problem = Problem(two_by_three(), Conjunctions.of([{0: 0, 1: 0}, {0: 1, 1: 0}]), [1.0, 1.0])
    (task,) = reduce(merge(problem), np.zeros((1, 5)))
    assert task.states >= 1
    assert values(task).max() == 1.0


def test_a_value_in_an_impossible_combination_eliminates_nothing():
    problem = Problem(two_by_three(), Conjunctions.of([]), [], [{0: 0, 1: 0}])
    costs = np.array([[0.0, 1.0, 0.0, 5.0, 5.0]])  # the cheapest record (0, 0) is impossible
    (task,) = reduce(merge(problem), costs)
    assert values(task).max() == -1.0  # (1, 0)


def test_elimination_repeats_until_nothing_changes():
    # {a:0, b:0} is worth it only with b=0, which {b:0, c:0} makes worth it, which needs c=0 ...
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    problem = Problem(domain, Conjunctions.of([{0: 0, 1: 0}, {1: 0, 2: 0}]), [1.0, 1.0])
    costs = np.array([[0.9, 0.0, 1.5, 0.0, 1.6, 0.0]])  # c=0 costs more than it can bring
    (task,) = reduce(merge(problem), costs)
    assert task.template.tolist() == [1, 1, 1]
    assert task.states == 1


def test_real_instances_shrink_by_orders_of_magnitude():
    g = np.random.default_rng(0)
    domain = Domain(tuple(f"a{i}" for i in range(14)), (40,) * 14)
    picks = [g.choice(14, 3, replace=False) for _ in range(60)]
    rows = [{int(a): int(g.integers(3)) for a in pick} for pick in picks]
    problem = Problem(domain, Conjunctions.of(rows, g.random(60) < 0.5), g.integers(1, 9, 60))
    tasks = reduce(merge(problem), g.exponential(3.0, (20, domain.width)))
    assert np.median([task.columns for task in tasks]) < 560 / 10
