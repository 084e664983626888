"""Workloads as users write them."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from saddlesynth.games.query_class import Kind
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.workload import check_workload, parse_workload

DOMAIN = Domain(("age", "sex", "job", "pay"), (10, 2, 5, 8))


def test_all_lists_the_subsets_in_the_order_of_the_columns():
    assert parse_workload("all:2", DOMAIN).marginals == list(itertools.combinations(range(4), 2))
    assert parse_workload("all:4", DOMAIN).marginals == [(0, 1, 2, 3)]


def test_random_is_the_published_choice():
    """combinations, those of at most n cells, RandomState(seed).choice without replacement."""
    fitting = [m for m in itertools.combinations(range(4), 2) if DOMAIN.cells(m) <= 50]
    chosen = np.random.RandomState(3).choice(len(fitting), 3, replace=False)
    found = parse_workload("random:3:2:3", DOMAIN, max_cells=50)
    assert found.marginals == [fitting[i] for i in chosen]
    assert parse_workload("random:99:2:3", DOMAIN, max_cells=50).marginals == fitting


def test_the_global_generator_is_not_touched():
    np.random.seed(7)
    before = np.random.get_state()[1].copy()
    parse_workload("random:2:2:0", DOMAIN)
    assert (np.random.get_state()[1] == before).all()


def test_a_file_names_marginals_with_weights_and_kinds(tmp_path):
    path = tmp_path / "w.json"
    entries = [
        ["sex", "age"],
        {"columns": ["job"], "weight": 2},
        {"columns": ["age", "pay"], "kinds": {"age": "prefix", "pay": "range"}, "weight": 4},
    ]
    path.write_text(json.dumps({"marginals": entries}), encoding="utf-8")
    check_workload(str(path))
    for given in (str(path), path, entries, {"marginals": entries}):
        workload = parse_workload(given, DOMAIN)
        assert workload.marginals == [(1, 0), (2,), (0, 3)]
        assert [b.weight for b in workload.blocks] == [0.25, 0.5, 1.0]
        assert workload.blocks[2].kinds == (Kind.PREFIX, Kind.RANGE)
        assert workload.size == 20 + 5 + 10 * 36


@pytest.mark.parametrize(
    "wrong",
    ["all", "all:x", "all:0", "all:-1", "random:3:2", "random:0:2:1", "random:1:0:1",
     "random:1:1:-1", "some:3", "nowhere.json", 7, None, [], {}, {"marginals": []},
     {"marginals": ["age"]}, [["age", "age"]], [{"columns": []}], [{"columns": ["age"], "w": 1}],
     [{"columns": ["age"], "weight": 0}], [{"columns": ["age"], "weight": True}],
     [{"columns": ["age"], "weight": float("nan")}], [{"columns": ["age"], "kinds": "prefix"}],
     [{"columns": ["age"], "kinds": {"sex": "prefix"}}],
     [{"columns": ["age"], "kinds": {"age": "suffix"}}]],
)  # fmt: skip
def test_what_is_no_workload_is_refused_before_any_table_is_read(wrong):
    with pytest.raises(InputError, match="workload"):
        check_workload(wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("all:5", "4 columns"), ([["age", "weight"]], "weight"), ("random:1:9:0", "4 columns")],
)
def test_what_does_not_fit_the_columns_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        parse_workload(wrong, DOMAIN)


def test_a_bound_that_leaves_nothing_names_the_parameter():
    with pytest.raises(InputError, match="max_cells"):
        parse_workload("all:2", DOMAIN, max_cells=3)


def test_subsets_beyond_count_are_refused_before_they_are_listed():
    wide = Domain(tuple(f"c{i}" for i in range(200)), (2,) * 200)
    with pytest.raises(SizeError, match="can be listed"):
        parse_workload("all:5", wide)
