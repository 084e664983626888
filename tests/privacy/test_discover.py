"""A schema found privately: what it finds, what it costs, and what it never tells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from saddlesynth.games.privacy.budget import Ledger, Relation, split
from saddlesynth.games.privacy.columns import NoisyCounts
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.discover import discover
from saddlesynth.synthesis.errors import BudgetError, InputError, SchemaError
from saddlesynth.synthesis.find_columns import decide
from saddlesynth.synthesis.formats import FORMATS, formats_of
from saddlesynth.synthesis.raw_columns import LocalColumns
from saddlesynth.synthesis.read import open_table

ROWS = 4_000
GENEROUS = 300.0


def _frame(rows=ROWS):
    g = np.random.default_rng(0)
    zero = g.random(rows) < 0.7
    return pd.DataFrame(
        {
            "colour": g.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2]),
            "zip": g.choice(["00501", "02116"], rows),
            "age": g.integers(18, 80, rows),
            "gain": np.where(zero, 0, g.integers(1, 5_000, rows)),
            "code": g.choice([1, 5, 990], rows),
            "price": np.round(g.gamma(2.0, 20.0, rows), 2),
            "smoker": pd.array(g.random(rows) < 0.2, dtype="boolean"),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(g.integers(0, 300, rows), "D"),
        }
    )


@pytest.fixture(scope="module")
def frame():
    frame = _frame()
    frame.loc[::10, "smoker"] = pd.NA
    return frame


@pytest.fixture(scope="module")
def text(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("discover") / "table.csv"
    frame.to_csv(path, index=False, date_format="%Y-%m-%d")
    return open_table(path)


def _ledger(epsilon=GENEROUS, **parameters):
    return Ledger(epsilon, 1e-6, reserved_delta=5e-7, **parameters)


def _found(table, epsilon=GENEROUS, seed=0, **options):
    return discover(table, _ledger(epsilon), noise_source(seed), **options)


@pytest.fixture(scope="module")
def from_text(text):
    return _found(text).columns


@pytest.fixture(scope="module")
def from_pandas(frame):
    return _found(open_table(frame.assign(seen=frame["seen"].astype("datetime64[s]")))).columns


# ---------------------------------------------------------------------- what is found
@pytest.mark.parametrize("source", ["from_text", "from_pandas"])
def test_frequent_texts_become_categories(source, request):
    columns = request.getfixturevalue(source)
    assert columns["colour"].values == ["blue", "green", "red"]
    assert columns["colour"].other == "red"  # nothing was missed: no bucket of its own
    assert columns["zip"].values == ["00501", "02116"]


@pytest.mark.parametrize("source", ["from_text", "from_pandas"])
def test_integers_get_a_range_and_bins(source, request):
    columns = request.getfixturevalue(source)
    assert columns["age"].type == "integer"
    assert 18 <= columns["age"].min <= 21 and 76 <= columns["age"].max <= 82
    assert 20 <= len(columns["age"].bins) <= 64
    assert columns["gain"].bins[:2] == [0, 1]  # the spike has a bin of its own
    assert columns["code"].type == "categorical" and columns["code"].values == [1, 5, 990]


@pytest.mark.parametrize("source", ["from_text", "from_pandas"])
def test_decimals_booleans_and_missing_cells_are_recognised(source, request):
    columns = request.getfixturevalue(source)
    assert (columns["price"].type, columns["price"].decimals) == ("float", 2)
    assert (columns["smoker"].type, columns["smoker"].nullable) == ("boolean", True)
    assert not columns["age"].nullable


def test_dates_are_recognised(from_text, from_pandas):
    assert from_text["seen"].format == "%Y-%m-%d"
    assert "2024-01-01" <= from_text["seen"].min <= "2024-01-20"
    assert "2024-10-10" <= from_text["seen"].max <= "2024-11-20"
    assert from_pandas["seen"].type == "datetime" and from_pandas["seen"].min[:4] == "2024"


def test_values_that_were_not_found_have_a_bucket(tmp_path):
    cells = ["a"] * 2_000 + [f"v{i}" for i in range(1_000)]
    pd.DataFrame({"x": cells}).to_csv(tmp_path / "t.csv", index=False)
    column = _found(open_table(tmp_path / "t.csv")).columns["x"]
    assert (column.values, column.other) == (["a"], "other")


@pytest.mark.parametrize(
    ("numbers", "kind"), [(range(19, 43), "integer"), ([7] * 12 + [900] * 12, "categorical")]
)
def test_a_frequent_text_among_numbers_counts_as_missing(numbers, kind, tmp_path):
    path = tmp_path / "table.csv"  # 4 % of the cells are no numbers
    pd.DataFrame({"x": ["unknown", *numbers] * 80, "y": "a"}).to_csv(path, index=False)
    column = _found(open_table(path), 1e4).columns["x"]
    assert column.type == kind and column.nullable


@pytest.mark.parametrize("largest", [1e300, np.inf])
def test_frequent_numbers_beyond_64_bits_are_not_integers(largest):
    table = open_table(pd.DataFrame({"x": [largest, -largest, *range(48)] * 80}))
    assert _found(table, 1e4).columns["x"].type == "float"


def test_a_found_schema_fits_the_table_and_what_may_come(text, frame):
    schema = _found(text)
    codec = Codec(schema, text.schema)
    for batch in text.batches():
        codes = codec.encode(batch)
        assert all(c.max() < s for c, s in zip(codes, codec.domain.sizes, strict=True))
    odd = pa.table({name: pa.array(["?!", "", "0x1F", "1e999"]) for name in text.names})
    encoded = codec.encode(odd.to_batches()[0])
    assert all(c.max() < s for c, s in zip(encoded, codec.domain.sizes, strict=True))
    assert codec.labels("smoker")[encoded[text.names.index("smoker")][0]] == "(missing)"


def test_under_a_found_schema_a_cell_means_the_same_whatever_is_beside_it(text):
    codec = Codec(_found(text), text.schema)
    odd = [*CELLS, "0x1F", "nan", "1e999", "1_000", "1.", "+1", "5", "True", "2024-03-01", "red"]

    def codes(cells):
        columns = {name: pa.array(cells, pa.string()) for name in text.names}
        return np.stack(codec.encode(pa.record_batch(columns)))

    assert (codes(odd) == np.hstack([codes([cell]) for cell in odd])).all()


KINDS = {
    "integer": ({"integer": 900}, "integer", False),
    "integers with decimals": ({"integer": 900, "decimal 2": 60}, "float", False),
    "numbers with a few texts": ({"integer": 970, "text": 30}, "integer", True),
    "half texts": ({"integer": 500, "text": 500}, "text", False),
    "missing": ({"date": 500, "empty": 500}, "date", True),
    "two spellings": ({"True False": 500, "true false": 500}, "text", False),
    "one spelling": ({"true false": 500}, "boolean", False),
}


@pytest.mark.parametrize("case", KINDS)
def test_the_kind_follows_from_what_most_cells_are(case):
    counts, name, nullable = KINDS[case]
    noisy = NoisyCounts(np.array([counts.get(f, 0.0) for f in FORMATS], dtype=float), 4.0)
    kind = decide(noisy, pa.string())
    assert (kind.name, kind.nullable) == (name, nullable)


def test_noise_alone_has_no_kind():
    noise = np.random.default_rng(0).normal(0, 50.0, len(FORMATS))
    assert decide(NoisyCounts(noise, 50.0), pa.string()) is None


CELLS = {
    "": "empty", "0": "integer", "-12": "integer", "007": "text", "1.50": "decimal 2",
    "01.5": "text", "1e5": "number", ".5": "number", "1.1234567": "number", "-": "text",
    "2024-02-29": "date", "2024-13-01": "text", "2024-01-01 10:00:00": "datetime",
    "True": "True False", "FALSE": "TRUE FALSE", "yes": "text", "1,5": "text", " 1": "text",
    "12345678901234567890": "number", "x\n1": "text", "1\n": "text",
}  # fmt: skip


def test_formats_of_cells():
    found = formats_of(pa.array(list(CELLS)))
    assert [FORMATS[i] for i in found] == list(CELLS.values())


# ---------------------------------------------------------------------- what it costs
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_discovery_and_what_follows_stay_within_what_was_asked(relation, epsilon, recompute):
    frame = pd.concat([_frame()[["colour", "age"]]] * 100)  # plenty of rows for epsilon 0.1
    ledger = _ledger(epsilon, relation=relation)
    discover(open_table(frame), ledger, noise_source(0))
    assert 0 < ledger.spent_rho <= 0.1 * ledger.rho
    assert {line.step.split(":")[0] for line in ledger.lines} == {
        "format", "values", "range", "bins",
    }  # fmt: skip
    for rho in split(ledger.remaining_rho, [1.0] * 7):
        ledger.charge("rest", "discrete Gaussian", 1.0, 1.0, rho=rho)
    assert ledger.spent_epsilon <= epsilon and ledger.spent_delta <= 1e-6
    again = recompute.recompute(ledger.as_dict())
    assert again[0] <= epsilon and again[1] <= 1e-6


def test_the_share_is_a_parameter(text):
    ledger = _ledger()
    discover(text, ledger, noise_source(0), share=0.25)
    assert 0.2 * ledger.rho < ledger.spent_rho <= 0.25 * ledger.rho
    with pytest.raises(InputError, match="share is 1.5"):
        discover(text, ledger, noise_source(0), share=1.5)


def test_the_same_seed_finds_the_same_whatever_the_order_of_rows(frame, text):
    assert _found(text) == _found(text)
    shuffled = frame.sample(frac=1, random_state=1)
    assert _found(open_table(frame)) == _found(open_table(shuffled))
    assert _found(text, epsilon=20, seed=1) != _found(text, epsilon=20, seed=2)


def test_a_unit_is_an_identifier_and_never_looked_at(frame, monkeypatch):
    table = open_table(frame.assign(person=[f"p{i}" for i in range(len(frame))]))
    asked = []
    batches = type(table).batches
    monkeypatch.setattr(
        type(table), "batches", lambda self, c=None: asked.extend(c) or batches(self, c)
    )
    schema = _found(table, unit="person")
    assert schema.columns["person"].type == "id" and list(schema.columns) == table.names
    assert asked and "person" not in asked


# ---------------------------------------------------------------------- what it never tells
@pytest.mark.parametrize("column", ["record", "remark"])
def test_identifiers_and_free_text_are_refused_in_one_line(column, tmp_path):
    made = {"record": "REC-{:05d}", "remark": "said {} things"}[column]
    frame = pd.DataFrame({column: [made.format(i) for i in range(ROWS)], "x": ["a"] * ROWS})
    with pytest.raises(SchemaError, match=f"column '{column}'.*\"id\".*schema draft") as caught:
        _found(open_table(frame))
    assert "\n" not in str(caught.value)
    assert "REC" not in str(caught.value) and "said" not in str(caught.value)


def test_too_few_rows_are_refused():
    frame = _frame(30)
    with pytest.raises(SchemaError, match="too few rows"):
        _found(open_table(frame), epsilon=1.0)


def test_a_rare_value_and_the_extremes_are_in_no_schema(tmp_path):
    incomes = np.random.default_rng(0).integers(1_800_000, 9_200_000, 3_000) / 100
    frame = pd.DataFrame(
        {"income": [*incomes, 8_750_000.37], "job": ["clerk"] * 3_000 + ["keeper"]}
    )
    for seed in range(20):
        found = _found(open_table(frame), epsilon=20.0, seed=seed)
        assert "keeper" not in str(found.to_json())
        assert found.columns["income"].max < 200_000
        assert frame["income"].min() != found.columns["income"].min


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("kind", ["text", "number"])
def test_a_row_adds_to_one_cell_of_every_table(kind, as_text):
    """Neighbours by brute force: what a cell counts as must not depend on the cells beside it."""
    g = np.random.default_rng(0)
    odd = ["0x1F", "nan", "inf", "1e999", "Infinity", "abc", "1_000", "1.", "+1", None]
    pools = {"text": [*CELLS, *odd], "number": [0.0, 0.5, 1e300, None, np.inf, -3.25, 1 / 3]}
    if as_text and kind == "number":
        pools["number"] = ["7", "8.5", "2024-01-01", "0x1F", "abc"]
    edges = np.array([-1e9, 0.0, 0.5, 2.0, 1e9, 1e308])

    def asked(cells):
        table = open_table(pa.table({"x": pa.array(cells)}))
        columns = LocalColumns(_Marked(table, as_text))
        tables = [columns.classes(["x"])[0], columns.histograms({"x": edges})[0]]
        return tables, columns.value_counts(["x"])[0]

    for _ in range(150):
        cells = [pools[kind][i] for i in g.integers(len(pools[kind]), size=3)]
        if all(cell is None for cell in cells[1:]):
            continue  # a column of nulls alone has another type
        (more, many), (less, few) = asked(cells), asked(cells[1:])
        for a, b in zip(less, more, strict=True):
            assert np.abs(b - a).sum() <= 1 and (b >= a).all()
        assert 0 <= sum(many.values()) - sum(few.values()) <= 1
        assert all(many[value] >= few[value] for value in few)


class _Marked:
    """A table whose cells are all text, as CSV files are, or not."""

    def __init__(self, table, text):
        self.names, self.text, self.batches = table.names, text, table.batches


# ---------------------------------------------------------------------- what it refuses
def test_a_pure_budget_cannot_find_values(text):
    with pytest.raises(BudgetError, match="delta above 0"):
        discover(text, Ledger(1.0, 0.0), noise_source(0))


def test_types_without_a_place_in_a_schema_are_refused():
    table = open_table(pa.table({"tags": pa.array([["a"], ["b"]])}))
    with pytest.raises(SchemaError, match="column 'tags' holds list.*\"id\""):
        _found(table)


# ---------------------------------------------------------------------- a real table
@pytest.mark.slow
def test_adult_is_found_sensibly_with_a_tenth_of_the_budget(tmp_path):
    from saddlesynth.synthesis.demo_data import load

    load().to_csv(tmp_path / "adult.csv", index=False)
    ledger = Ledger(1.0, 1e-9, reserved_delta=5e-10)
    columns = discover(open_table(tmp_path / "adult.csv"), ledger, noise_source(0)).columns
    assert ledger.spent_rho <= 0.1 * ledger.rho and ledger.spent_delta <= 1e-9
    assert set(columns["sex"].values) == {"Female", "Male"}
    assert {"Private", "Local-gov", "State-gov"} <= set(columns["workclass"].values)
    assert {"United-States", "Mexico"} <= set(columns["native-country"].values)
    assert columns["native-country"].other == "other"
    assert len(columns["occupation"].values) >= 12
    assert 16 <= columns["age"].min <= 19 and 70 <= columns["age"].max <= 96
    assert len(columns["age"].bins) >= 15
    for name in ("capital-gain", "capital-loss"):
        assert columns[name].bins[:2] == [0, 1]
    assert {40, 41} <= set(columns["hours-per-week"].bins)
