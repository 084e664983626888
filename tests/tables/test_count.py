"""One kernel counts all marginals, whatever the blocks, and refuses what is too large."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.count import (
    add_counts,
    check_cells,
    count_block,
    map_counts,
    split_tables,
    total_cells,
)
from saddlesynth.synthesis.errors import SizeError
from saddlesynth.synthesis.schema import Schema


def domain_of(sizes: list[int]) -> Domain:
    return Domain(tuple(f"c{i}" for i in range(len(sizes))), tuple(sizes))


def by_hand(rows: np.ndarray, domain: Domain, attributes: tuple[int, ...]) -> np.ndarray:
    table = np.zeros(domain.shape(attributes), dtype=np.int64)
    for row in rows:
        table[tuple(row[a] for a in attributes)] += 1
    return table


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(0, 30),
    st.integers(0, 99),
    st.data(),
)
def test_counts_are_those_made_by_hand(sizes, n, seed, data) -> None:
    domain = domain_of(sizes)
    rows = np.random.default_rng(seed).integers(0, sizes, (n, len(sizes)))
    places = st.permutations(range(len(sizes)))
    subsets = st.tuples(places, st.integers(0, len(sizes))).map(lambda t: tuple(t[0][: t[1]]))
    marginals = data.draw(st.lists(subsets, max_size=6))
    codes = [rows[:, i].astype(np.uint8) for i in range(len(sizes))]
    tables = split_tables(count_block(codes, domain, marginals), domain, marginals)
    for attributes, table in zip(marginals, tables, strict=True):
        assert table.shape == domain.shape(attributes)
        assert (table == by_hand(rows, domain, attributes)).all()


def test_counts_of_blocks_add_up_in_place() -> None:
    domain, marginals = domain_of([3, 4, 300]), [(0, 1), (1, 2), (2,), ()]
    rows = np.random.default_rng(0).integers(0, domain.sizes, (1000, 3))
    codes = [rows[:, 0].astype(np.uint8), rows[:, 1].astype(np.uint8), rows[:, 2].astype("u2")]
    whole = count_block(codes, domain, marginals)
    total = np.zeros_like(whole)
    for start in range(0, 1000, 130):
        count_block([c[start : start + 130] for c in codes], domain, marginals, out=total)
    assert (total == whole).all()


def test_cells_beyond_32_bits_are_numbered_without_wrapping() -> None:
    domain = domain_of([60_000, 60_000])
    from saddlesynth.synthesis.count import _Prefixes

    codes = [np.array([59_999], "u2"), np.array([59_999], "u2")]
    assert _Prefixes(codes, domain).cell((0, 1)).tolist() == [3_599_999_999]


def test_too_many_cells_are_refused_before_any_work() -> None:
    domain = domain_of([50] * 12)
    triples = list(combinations(range(12), 3))
    assert total_cells(domain, triples) == 27_500_000
    check_cells(domain, triples)
    with pytest.raises(SizeError, match=r"220 marginals have 27,500,000 cells .*c0, c1, c2"):
        check_cells(domain, triples, limit=10_000_000)
    with pytest.raises(SizeError, match="fewer values or bins"):
        check_cells(domain, [tuple(range(12))])


def test_the_same_kernel_runs_on_a_cluster_and_its_results_add_up() -> None:
    schema = Schema.parse(
        {"columns": {n: {"type": "integer", "min": 0, "max": 4} for n in ("a", "b")}}
    )
    codec = Codec(schema)
    rows = np.random.default_rng(0).integers(0, 5, (500, 2)).astype(str)
    batches = [
        pa.record_batch({"a": rows[s : s + 90, 0].tolist(), "b": rows[s : s + 90, 1].tolist()})
        for s in range(0, 500, 90)
    ]
    marginals = [(0, 1), (1,)]
    workers = [map_counts(iter(batches[i::2]), codec, marginals) for i in range(2)]
    results = [result for worker in workers for result in worker]
    assert all(result.schema.names == ["cell", "n"] for result in results)
    pair, single = add_counts(results, codec.domain, marginals)
    assert (pair == by_hand(rows.astype(int), codec.domain, (0, 1))).all()
    assert (single == pair.sum(axis=0)).all()
