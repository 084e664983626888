"""The door for noisy marginals made elsewhere: what is taken, what is said, what is not charged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis import fit_marginals
from saddlesynth.synthesis.cli import run
from saddlesynth.synthesis.errors import InputError, SchemaError
from saddlesynth.synthesis.release import load

SCHEMA: dict[str, Any] = {
    "columns": {
        "age": {"type": "integer", "min": 0, "max": 29, "bins": 3},
        "sex": {"type": "categorical", "values": ["F", "M"], "nullable": True},
    }
}
AGES = ["0 to 9", "10 to 19", "20 to 29"]
SEXES = ["F", "M", "(missing)"]
COUNTS = [[90.0, 10.0, 5.0], [15.0, 80.0, -3.0], [0.0, 100.0, 2.0]]


def long_form() -> pd.DataFrame:
    cells = [(age, sex) for age in AGES for sex in SEXES]
    return pd.DataFrame(
        {
            "columns": json.dumps(["age", "sex"]),
            "values": [json.dumps(cell) for cell in cells],
            "estimate": np.ravel(COUNTS),
            "standard_error": 2.0,
        }
    )


@pytest.mark.parametrize("via", ["projection", "gum", "mcf"])
def test_rows_follow_the_marginals(via) -> None:
    rows = fit_marginals(long_form(), SCHEMA, via=via, random_state=0).sample(3000)
    ages = rows["age"].astype(int) // 10
    shares = pd.crosstab(ages, rows["sex"].fillna("(missing)"), normalize="all")
    wanted = np.clip(COUNTS, 0, None) / np.clip(COUNTS, 0, None).sum()
    for (i, j), share in np.ndenumerate(wanted):
        held = shares.get(SEXES[j], pd.Series(dtype=float)).get(i, 0.0)
        assert held == pytest.approx(share, abs=0.03)


def test_nothing_is_charged_and_the_release_says_so(tmp_path) -> None:
    release = fit_marginals(long_form(), SCHEMA, via="gum")
    assert release.ledger["lines"] == []
    assert release.ledger["total"] == {"rho": 0.0, "epsilon": 0.0, "delta": 0.0}
    assert "measured elsewhere" in release.manifest["notes"][0]
    release.save(tmp_path / "rel")
    text = (tmp_path / "rel" / "README.txt").read_text()
    assert "no private table was read" in text and "from a private table" not in text
    assert run(["ledger", str(tmp_path / "rel")]) == 0


def test_the_marginals_of_a_release_come_in_as_they_went_out(fitted, schema, tmp_path) -> None:
    first = fitted("priview").save(tmp_path / "first")
    again = fit_marginals(first / "marginals.csv", schema, via="gum", random_state=0)
    told = pd.read_csv(first / "marginals.csv")
    assert again.manifest["facts"]["marginals"] == told["columns"].nunique()
    assert again.fit.measured[0].sigma == pytest.approx(told["standard_error"][0])


def test_columns_may_be_named_as_sql_does(tmp_path) -> None:
    path = tmp_path / "noisy.csv"
    path.write_text(
        "columns,values,estimate,standard_deviation\n"
        "sex,F,50,3\nsex,M,40,3\nsex,(missing),1,3\n"
        '"age","0 to 9",30,3\nage,10 to 19,30,3\nage,20 to 29,31,3\n'
    )
    release = fit_marginals(path, SCHEMA, via="independent")
    assert release.default_rows == pytest.approx(91, abs=1)
    assert {m.attributes for m in release.fit.measured} == {(0,), (1,)}


def test_a_known_number_of_rows_is_kept() -> None:
    assert fit_marginals(long_form(), SCHEMA, via="gum", total=1234).default_rows == 1234


def test_the_same_seed_makes_the_same_rows_before_and_after_loading(tmp_path) -> None:
    one, two = (fit_marginals(long_form(), SCHEMA, via="gum", random_state=3) for _ in "ab")
    pd.testing.assert_frame_equal(one.sample(50), two.sample(50))
    one.save(tmp_path / "rel")
    pd.testing.assert_frame_equal(
        load(tmp_path / "rel").sample(50, random_state=5), one.sample(50, random_state=5)
    )


def test_impossible_rows_are_not_made() -> None:
    ruled = {**SCHEMA, "impossible": [{"age": [0, 9], "sex": "M"}]}
    rows = fit_marginals(long_form(), ruled, via="gum", random_state=0).sample(500)
    assert not ((rows["age"].astype(int) < 10) & (rows["sex"] == "M")).any()


def change(**cells: Any) -> pd.DataFrame:
    frame = long_form().astype({"estimate": object, "standard_error": object})
    for column, value in cells.items():
        frame.loc[1, column] = value
    return frame.astype({c: str for c in cells})


@pytest.mark.parametrize(
    ("noisy", "message"),
    [
        (long_form().drop(index=4), "lacks 1 of its 9 cells"),
        (pd.concat([long_form(), long_form()[:1]]), "occurs twice"),
        (long_form().drop(columns="estimate"), "no column 'estimate'"),
        (long_form().drop(columns="standard_error"), "standard_error"),
        (change(standard_error=0), "above 0"),
        (change(estimate="nan"), "finite"),
        (change(estimate="many"), "line 3 .*'many' is not a number"),
        (change(values='["0 to 9", "W"]'), "no value 'W'"),
        (change(values='["0 to 9"]'), "1 values for 2 columns"),
        (change(columns='["age", "sx"]'), "did you mean 'sex'"),
    ],
    ids=range(10),
)
def test_what_does_not_fit_is_refused_in_one_line(noisy, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        fit_marginals(noisy, SCHEMA)
    assert "\n" not in str(caught.value)


def test_rules_that_leave_nothing_are_refused() -> None:
    ruled = {**SCHEMA, "impossible": [{"age": [0, 29]}]}
    with pytest.raises(SchemaError, match="impossible"):
        fit_marginals(long_form(), ruled)


def test_the_command_writes_a_release(tmp_path, capsys) -> None:
    long_form().to_csv(tmp_path / "noisy.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    out = tmp_path / "rel"
    call = ["fit-marginals", tmp_path / "noisy.csv", "--schema", tmp_path / "schema.json"]
    settings = ["--via", "gum", "--rows", 40, "--seed", 1, "--json", "--quiet", "--out", out]
    assert run([str(a) for a in [*call, *settings]]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"] == 40
    assert len(pd.read_csv(out / "synthetic.csv")) == 40
    assert run([str(a) for a in [*call, "--out", out]]) == 2
    assert "--force" in capsys.readouterr().err
