"""``saddlesynth evaluate``."""

from __future__ import annotations

import json

import pytest

from saddlesynth.synthesis.cli import run


@pytest.fixture
def files(tmp_path, people, schema):
    people().to_csv(tmp_path / "real.csv", index=False)
    people(200, 1).to_csv(tmp_path / "made.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    return tmp_path


def call(*arguments):
    return run(["evaluate", *map(str, arguments)])


def test_two_files_give_a_report_and_a_summary(files, capsys):
    schema = files / "schema.json"
    out = files / "report"
    assert call(files / "real.csv", files / "made.csv", "--schema", schema, "--out", out) == 0
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("This evaluation was computed from the REAL data")
    assert said.err.rstrip().endswith("report.html")
    assert (out / "evaluation.json").is_file()


def test_without_out_the_summary_goes_to_standard_output(files, capsys):
    assert call(files / "real.csv", files / "made.csv") == 0
    said = capsys.readouterr()
    assert "2-way TVD" in said.out and said.err == ""


def test_json_goes_to_standard_output_alone(files, release, capsys):
    assert call(files / "real.csv", release, "--json", "--quiet") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["release"]["method"] == "independent" and said.err == ""


def test_options_carry_the_names_of_the_arguments(files, capsys):
    options = ["--label", "job", "--test", files / "made.csv", "--seed", 3, "--max-marginals", 4]
    assert call(files / "real.csv", files / "made.csv", *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["classifiers"]["label"] == "job" and found["classifiers"]["held_out"]
    assert found["marginals"][1]["computed"] == 4


@pytest.mark.parametrize(
    "arguments, needle",
    [
        (("real.csv", "gone.csv"), "gone.csv: no such file"),
        (("real.csv", "made.csv", "--label", "salary"), "label is 'salary'"),
        (("real.csv", "made.csv", "--schema", "gone.json"), "gone.json"),
        (("real.csv", "."), "is not a release"),
    ],
)
def test_bad_input_is_refused_in_one_line(files, arguments, needle, monkeypatch, capsys):
    monkeypatch.chdir(files)
    assert call(*arguments, "--out", "report") == 2
    said = capsys.readouterr().err
    assert needle in said and said.startswith("Error: ") and said.count("\n") == 1
    assert not (files / "report").exists()


def test_a_report_inside_a_release_is_refused_before_any_work(release, capsys):
    assert call("gone.csv", "gone.csv", "--out", release / "report") == 2
    assert "must not be published" in capsys.readouterr().err
    assert not (release / "report").exists()
