"""The embedded table is the one that its notice describes, and the schema fits it."""

import json

from saddlesynth.synthesis import demo_data


def test_the_demo_table_has_the_published_size_and_missing_values():
    table = demo_data.load()
    assert table.shape == (48_842, 14)
    missing = table.isna().sum()
    assert missing[missing > 0].to_dict() == {
        "workclass": 2_799,
        "occupation": 2_809,
        "native-country": 857,
    }


def test_no_text_of_the_demo_table_keeps_blanks_stops_or_question_marks():
    table = demo_data.load().select_dtypes("str")
    for name in table:
        values = set(table[name].dropna().unique())
        assert values == {value.strip() for value in values} and "?" not in values
    assert set(table["income"]) == {"<=50K", ">50K"}


def test_every_cell_of_the_demo_table_is_inside_the_hand_written_schema():
    table = demo_data.load()
    columns = json.loads(demo_data.schema_path().read_text("utf-8"))["columns"]
    assert list(columns) == list(table.columns)
    for name, column in columns.items():
        values = table[name].dropna()
        assert column.get("nullable", False) == table[name].isna().any()
        if column["type"] == "categorical":
            assert set(values) == set(column["values"])
        else:
            assert values.between(column["min"], column["max"]).all()


def test_the_notice_names_authors_source_and_licence():
    notice = demo_data.data_path().with_name("NOTICE").read_text("utf-8")
    for needed in ("Becker", "Kohavi", "10.24432/C5XW20", "CC BY 4.0", "Changes made"):
        assert needed in notice


def test_the_demo_table_stays_small():
    assert demo_data.data_path().stat().st_size < 260_000
