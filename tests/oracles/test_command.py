"""``saddlesynth oracle``: what a shell sees."""

import csv
import json

import pytest

from saddlesynth.synthesis.cli import run

EXAMPLE = {
    "attributes": {"color": ["red", "green"], "size": ["S", "L"]},
    "queries": [
        {"weight": 1.0, "all": {"color": "red", "size": "S"}},
        {"weight": 2.0, "not_all": {"size": "L"}},
    ],
    "perturbation": {"color": {"red": 0.9, "green": 0.2}, "size": {"S": 0.3, "L": 0.6}},
    "impossible": [{"color": "green", "size": "L"}],
}


@pytest.fixture
def shell(capfd):
    """Run a command in this process: exit code, standard output and error, solvers' included."""

    def call(*arguments):
        capfd.readouterr()
        code = run(["oracle", *map(str, arguments)])
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def example(tmp_path):
    file = tmp_path / "example.json"
    file.write_text(json.dumps(EXAMPLE))
    return file


@pytest.fixture
def folder(shell, tmp_path):
    """Three planted instances."""
    out = tmp_path / "set"
    size = ("--attributes", 6, "--values", 4, "--queries", 30)
    code, printed, _ = shell("generate", "--kind", "planted", "--count", 3, *size, "--out", out)
    assert (code, printed) == (0, "")
    return out


@pytest.mark.parametrize("solver", ["portfolio", "exact", "local", "cp-sat", "highs", "pulp-highs"])
def test_solve_prints_one_json_object(shell, example, solver):
    code, out, _ = shell("solve", example, "--solver", solver, "--json")
    report = json.loads(out)
    assert code == 0
    assert report["record"] == {"color": "red", "size": "S"}
    assert report["value"] == pytest.approx(1.8)
    assert report["status"] == "optimal"
    assert report["bound"] - report["value"] == pytest.approx(report["gap"])
    assert {"solver", "seconds", "reason", "version", "nodes", "tolerance"} <= set(report)


def test_solve_prints_for_people_too(shell, example):
    code, out, err = shell("solve", example)
    assert code == 0
    assert "record    color=red, size=S" in out and "status    optimal" in out
    assert "2 attributes, 2 queries" in err


def test_quiet_says_nothing_on_standard_error(shell, example):
    assert shell("solve", example, "--solver", "exact", "--quiet")[2] == ""


def test_a_known_optimum_is_printed_beside_the_value(shell, folder):
    report = json.loads(shell("solve", folder / "planted-000.json", "--json")[1])
    assert report["value"] == pytest.approx(report["optimum"])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--solver", "cplex"], 2, "unknown oracle 'cplex'"),
        (["--solver", "exact", "--form", "aggregated"], 2, "exact has no option 'form'"),
        (["--solver", "highs", "--deterministic-time", "1"], 2, "highs has no limit"),
        (["--time-limit", "0"], 2, "seconds is 0.0; it must be positive"),
        (["--solver", "local", "--reduction", "merge", "--require-optimal"], 4, "was required"),
    ],
)
def test_trouble_is_one_line_and_an_exit_code(shell, example, arguments, code, message):
    got, out, err = shell("solve", example, "--quiet", *arguments)
    assert (got, out) == (code, "")
    assert err.startswith("Error: ") and err.count("\n") == 1 and message in err


def test_a_missing_solver_is_exit_4_with_the_install_line(shell, example, monkeypatch):
    from saddlesynth.oracles.cvxpy_mip import Cvxpy

    monkeypatch.setattr(Cvxpy, "package", "no-such-package")
    code, out, err = shell("solve", example, "--solver", "cvxpy-highs", "--json", "--quiet")
    assert code == 4 and "pip install cvxpy" in err
    assert json.loads(out)["status"] == "error"


def test_no_valid_record_is_exit_4_and_status_error(shell, tmp_path):
    file = tmp_path / "none.json"
    nothing = [{"size": "S"}, {"size": "L"}]
    file.write_text(json.dumps({**EXAMPLE, "impossible": nothing}))
    code, out, err = shell("solve", file, "--json", "--quiet")
    assert code == 4 and "exclude every record" in err
    assert json.loads(out)["record"] is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"attributes": {"a": [1]}, "x": 1}', "\xff"])
def test_a_file_that_is_no_instance_is_refused_by_name(shell, tmp_path, text):
    file = tmp_path / "bad.json"
    file.write_bytes(text.encode("latin-1"))
    code, out, err = shell("solve", file)
    assert (code, out) == (2, "")
    assert "bad.json" in err and "Traceback" not in err


@pytest.mark.parametrize("command", ["solve", "race"])
def test_a_missing_file_is_refused(shell, tmp_path, command):
    code, _, err = shell(command, tmp_path / "nowhere.json")
    assert code == 2 and "nowhere.json" in err


@pytest.mark.parametrize("format", ["lp", "mps", "json"])
def test_export_writes_a_file_or_standard_output(shell, example, tmp_path, format):
    out = tmp_path / f"out.{format}"
    assert shell("export", example, "--format", format, "--out", out)[0] == 0
    code, printed, err = shell("export", example, "--format", format, "--out", "-")
    assert (code, err) == (0, "") and printed == out.read_text()


def test_an_exported_file_is_not_overwritten_without_force(shell, example, tmp_path):
    out = tmp_path / "out.lp"
    arguments = ("export", example, "--format", "lp", "--out", out)
    assert [shell(*arguments)[0], shell(*arguments)[0]] == [0, 2]
    assert shell(*arguments, "--force")[0] == 0


def test_json_export_solves_to_the_same(shell, example, tmp_path):
    out = tmp_path / "again.json"
    shell("export", example, "--format", "json", "--out", out)
    values = [json.loads(shell("solve", f, "--json")[1])["value"] for f in (example, out)]
    assert values[0] == values[1]


def test_generate_repeats_with_its_seed(shell, folder, tmp_path):
    again = tmp_path / "again"
    size = ("--attributes", 6, "--values", 4, "--queries", 30)
    shell("generate", "--kind", "planted", "--count", 3, *size, "--out", again)
    for file in folder.iterdir():
        assert file.read_text() == (again / file.name).read_text()


def test_generate_refuses_what_makes_no_sense(shell, tmp_path):
    for arguments in (["--count", 0], ["--values", 0], ["--literals", 99]):
        code, _, err = shell("generate", *arguments, "--out", tmp_path / "x")
        assert code == 2 and err.startswith("Error: ")
    assert not (tmp_path / "x").exists()


def test_race_writes_table_csv_and_plot(shell, folder, tmp_path):
    table, plot = tmp_path / "race.csv", tmp_path / "race.png"
    solvers = ("--solver", "exact", "--solver", "highs", "--solver", "cp-sat")
    forms = ("--form", "aggregated", "--form", "exclusive")
    code, out, _ = shell("race", folder, *solvers, *forms, "--csv", table, "--plot", plot)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("3 instances")
    assert len(lines) == 2 + 1 + 2 * 2  # exact has no formulations
    runs = list(csv.DictReader(table.open()))
    assert len(runs) == 3 * 5
    assert {run["status"] for run in runs} == {"optimal"} and {run["best"] for run in runs} == {
        "True"
    }
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_race_in_json_has_a_row_for_each_contender(shell, folder):
    code, out, _ = shell("race", folder, "--solver", "exact", "--solver", "local", "--json")
    rows = json.loads(out)
    assert code == 0 and [row["contender"] for row in rows] == ["exact full", "local full"]


def test_race_refuses_an_unknown_plot_format_and_an_empty_folder(shell, folder, tmp_path):
    arguments = ("race", folder, "--solver", "exact", "--plot", tmp_path / "race.doc")
    code, _, err = shell(*arguments)
    assert code == 2 and "race.doc" in err and not (tmp_path / "race.doc").exists()
    (tmp_path / "empty").mkdir()
    code, _, err = shell("race", tmp_path / "empty")
    assert code == 2 and "holds no instance" in err


def test_a_game_on_a_table_gives_instances(shell, tmp_path):
    table, schema, out = tmp_path / "t.csv", tmp_path / "s.json", tmp_path / "set"
    table.write_text("a,b,c\n" + "\n".join(f"{i % 3},{i % 2},{i % 5}" for i in range(400)))
    columns = {n: {"type": "categorical", "values": [str(v) for v in range(5)]} for n in "abc"}
    schema.write_text(json.dumps({"columns": columns}))
    game = ("--kind", "fem", "--schema", schema, "--set", "rounds=8", "--count", 3)
    code, printed, _ = shell("generate", table, *game, "--out", out)
    assert (code, printed) == (0, "")
    assert "seed" not in json.loads((out / "index.json").read_text())
    last = json.loads((out / "fem-0005.json").read_text())
    assert len(last["queries"]) == len(set(map(str, last["queries"]))) <= 4
    report = json.loads(shell("solve", out / "fem-0005.json", "--json")[1])
    assert report["status"] == "optimal"


def test_a_kind_that_does_not_fit_is_refused(shell, tmp_path):
    for arguments in (["--kind", "fem"], [tmp_path / "t.csv"], [tmp_path / "t.csv", "--kind", "x"]):
        code, _, err = shell("generate", *arguments, "--out", tmp_path / "y")
        assert code == 2 and "kind" in err
