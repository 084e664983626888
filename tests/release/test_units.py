"""At most so many rows of one unit are used, and other units do not matter."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.units import first_of_each, truncate


def visits(who: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"who": who, "row": range(len(who))})


def kept_rows(frame: pd.DataFrame, most: int, seed: int = 0) -> list[tuple[object, int]]:
    table = truncate(open_table(frame), "who", most, np.random.default_rng(seed))
    batches = [batch.to_pydict() for batch in table.batches()]
    return [pair for b in batches for pair in zip(b["who"], b["row"], strict=True)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 4), st.integers(0, 99))
def test_each_unit_keeps_as_many_rows_as_it_may(units: list[int], most: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(units))
    kept = first_of_each(np.array(units), order, most)
    expected = {unit: min(count, most) for unit, count in Counter(units).items()}
    assert Counter(np.array(units)[kept].tolist()) == expected


def test_rows_keep_their_order_and_units_may_be_text() -> None:
    found = kept_rows(visits(["b", "a", "b", "b", "a", "c"]), 2)
    assert [row for _, row in found] == sorted(row for _, row in found)
    assert Counter(who for who, _ in found) == {"a": 2, "b": 2, "c": 1}


def test_every_row_of_a_unit_is_kept_equally_often() -> None:
    """200 draws, each row kept in half: outside 0.3 to 0.7 by chance once in 10^7."""
    seen = Counter(row for s in range(200) for _, row in kept_rows(visits(["a"] * 4), 2, s))
    assert all(60 <= seen[row] <= 140 for row in range(4))


def test_a_second_pass_sees_the_same_rows() -> None:
    frame = visits(["a", "b"] * 50)
    table = truncate(open_table(frame), "who", 3, np.random.default_rng(1))
    first, second = ([b.to_pydict() for b in table.batches(["row"])] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("who", [["a", None], [1.0, float("nan")]])
def test_a_row_without_a_unit_is_refused(who: list[object]) -> None:
    with pytest.raises(InputError, match="'who' names the unit"):
        kept_rows(visits(who), 1)


def test_a_unit_that_is_no_column_is_refused() -> None:
    with pytest.raises(InputError, match="unit is 'person'"):
        truncate(open_table(visits(["a"])), "person", 1, np.random.default_rng(0))
