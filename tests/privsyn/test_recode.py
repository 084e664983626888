"""A recoded curator is the same curator on a coarser domain."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from saddlesynth.games.privacy import recode
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.games.privacy.recode import RecodedRecords
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.engines import LocalRecords
from saddlesynth.synthesis.read import open_table
from saddlesynth.synthesis.schema import Schema

DOMAIN = Domain(("a", "b"), (3, 2))
TABLE = np.array([[5, 1], [2, 0], [3, 4]])
MAPS = [np.array([0, 1, 0]), np.array([0, 1])]


def tables(marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
    return [np.einsum(TABLE, [0, 1], list(m)) for m in marginals]


class Table:
    domain = DOMAIN

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        return tables(marginals)


def test_coarse_tables_sum_the_fine_ones() -> None:
    pair, single = RecodedRecords(DOMAIN, MAPS, tables).count([(0, 1), (0,)])
    assert pair.tolist() == [[8, 5], [2, 0]]
    assert single.tolist() == [13, 2]


def test_axes_follow_the_order_of_the_attributes() -> None:
    (pair,) = RecodedRecords(DOMAIN, MAPS, tables).count([(1, 0)])
    assert pair.tolist() == [[8, 2], [5, 0]]


@pytest.mark.parametrize("bad", [[MAPS[0]], [np.array([0, 2, 0]), MAPS[1]], [MAPS[1], MAPS[1]]])
def test_a_map_that_is_not_onto_is_refused(bad: list[NDArray[np.intp]]) -> None:
    with pytest.raises(ValueError, match="map"):
        RecodedRecords(DOMAIN, bad, tables)


def test_the_view_charges_the_same_ledger() -> None:
    ledger = Ledger(1.0, 1e-9)
    curator = Curator(Table(), ledger, noise_source(0))
    view = curator.recoded(MAPS)
    (measured,) = view.measure("coarse", [(0, 1)], [ledger.rho / 2])
    assert measured.counts.shape == (2, 2)
    assert ledger.spent_rho == ledger.rho / 2
    assert curator.domain is DOMAIN


def test_large_tables_are_counted_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = []

    def counted(marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        groups.append(list(marginals))
        return tables(marginals)

    monkeypatch.setattr(recode, "CELLS_AT_ONCE", 6)
    records = RecodedRecords(DOMAIN, MAPS, counted)
    assert [t.shape for t in records.count([(0, 1), (1,), (0,)])] == [(2, 2), (2,), (2,)]
    assert groups == [[(0, 1), (1,)], [(0,)]]


def test_tables_only_passed_on_are_not_kept() -> None:
    curator = Curator(Table(), Ledger(1.0, 1e-9), noise_source(0))
    curator.prepare([(0,)])
    curator.recoded(MAPS).prepare([(0, 1), (0,)])
    assert list(curator._tables) == [(0,)]


def test_large_fine_tables_are_counted_from_the_records_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recode, "DIRECTLY_FROM", 5)
    frame = pd.DataFrame(
        [(a, b) for a in range(3) for b in range(2) for _ in range(TABLE[a, b])], columns=["a", "b"]
    )
    entries = {
        n: {"type": "categorical", "values": list(range(s))} for n, s in (("a", 3), ("b", 2))
    }
    table = open_table(frame)
    records = LocalRecords(table, Codec(Schema.parse({"columns": entries}), table.schema))

    def only_small(marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        assert all(DOMAIN.cells(m) <= 5 for m in marginals)
        return records.count(marginals)

    view = RecodedRecords(DOMAIN, MAPS, only_small, records.count_recoded)
    pair, single, turned = view.count([(0, 1), (1,), (1, 0)])
    assert pair.tolist() == [[8, 5], [2, 0]]
    assert single.tolist() == [10, 5]
    assert turned.tolist() == [[8, 2], [5, 0]]
