"""From a table to a release by the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

METHOD = ["--method", "independent"]


def test_a_release_is_written_and_the_talk_goes_to_stderr(shell, people) -> None:
    out = people.parent / "rel"
    schema = people.parent / "schema.json"
    ran = shell("synthesize", people, "--schema", schema, "--epsilon", 1, "--out", out)
    assert (ran.code, ran.out) == (0, "")
    assert "spent epsilon" in ran.err
    assert (out / "synthetic.csv").read_text().startswith("sex,age\n")


def test_quiet_says_nothing(shell, people) -> None:
    out = people.parent / "rel"
    ran = shell(
        "synthesize", people, "--schema", people.parent / "schema.json", "--out", out, "--quiet"
    )
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_json_is_for_machines(shell, people) -> None:
    schema, out = people.parent / "schema.json", people.parent / "rel"
    ran = shell("synthesize", people, "--schema", schema, "--out", out, "--json", "--rows", 7)
    assert ran.json["rows"] == 7
    assert ran.json["spent"]["epsilon"] <= 1.0


def test_rows_go_to_stdout_when_asked(shell, people) -> None:
    schema = people.parent / "schema.json"
    ran = shell("synthesize", people, "--schema", schema, "--out", "-", "--rows", 5)
    lines = ran.out.splitlines()
    assert (ran.code, lines[0], len(lines)) == (0, "sex,age", 6)
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "schema.json"]


def test_a_dry_run_writes_and_spends_nothing(shell, people) -> None:
    schema, out = people.parent / "schema.json", people.parent / "rel"
    ran = shell("synthesize", people, "--schema", schema, "--out", out, "--dry-run")
    assert ran.code == 0
    assert "queries" in ran.out
    assert not out.exists()


def test_fit_then_sample_equals_synthesize(shell, people) -> None:
    schema, folder = people.parent / "schema.json", people.parent
    common = ["--schema", schema, "--seed", 5, *METHOD]
    assert shell("fit", people, *common, "--out", folder / "fitted").code == 0
    assert not (folder / "fitted" / "synthetic.csv").exists()
    ran = shell("sample", folder / "fitted", "--rows", 20, "--seed", 1, "--out", folder / "s.csv")
    assert ran.code == 0
    assert "NOTE" in ran.err
    assert len((folder / "s.csv").read_text().splitlines()) == 21


def test_the_same_seed_gives_the_same_folder(shell, people) -> None:
    for name in ("one", "two"):
        out = people.parent / name
        shell(
            "synthesize",
            people,
            "--schema",
            people.parent / "schema.json",
            "--seed",
            3,
            "--out",
            out,
        )
    one, two = (
        {p.name: p.read_bytes() for p in (people.parent / name).iterdir()}
        for name in ("one", "two")
    )
    assert one == two


@pytest.mark.parametrize("suffix", ["json", "yaml", "toml"])
def test_a_config_file_has_the_same_keys(shell, people, suffix) -> None:
    schema = str(people.parent / "schema.json")
    text = {
        "json": json.dumps({"epsilon": 2.5, "schema": schema, "max-rows-per-unit": 1, "seed": 1}),
        "yaml": f"epsilon: 2.5\nschema: {schema}\nseed: 1\nset: {{n_jobs: 2}}\n",
        "toml": f'epsilon = 2.5\nschema = "{schema}"\nseed = 1\n[set]\nn_jobs = 2\n',
    }[suffix]
    config = people.parent / f"config.{suffix}"
    config.write_text(text)
    ran = shell("synthesize", people, "--config", config, "--out", people.parent / "rel", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["asked"]["epsilon"] == 2.5
    again = shell("synthesize", people, "--config", config, "--out", people.parent / "r2",
                  "--json", "--epsilon", 1)  # fmt: skip
    assert again.json["asked"]["epsilon"] == 1


BAD_OPTIONS = [
    (["--epsilon", "0"], 2, "epsilon"),
    (["--epsilon", "-1"], 2, "epsilon"),
    (["--epsilon", "nan"], 2, "epsilon"),
    (["--epsilon", "inf"], 2, "epsilon"),
    (["--epsilon", "one"], 2, "epsilon"),
    (["--delta", "1"], 2, "delta"),
    (["--relation", "add-remove"], 2, "relation"),
    (["--method", "independant"], 2, "did you mean 'independent'"),
    (["--rows", "0"], 2, "rows"),
    (["--rows", "-5"], 2, "rows"),
    (["--seed", "-1"], 2, "--seed"),
    (["--format", "xlsx"], 2, "format"),
    (["--engine", "abacus"], 2, "engine"),
    (["--set", "n_jobs"], 2, "NAME=VALUE"),
    (["--set", "n_jops=2"], 2, "did you mean 'n_jobs'"),
    (["--set", "max_queries=3"], 5, "queries"),
    (["--unit", "person"], 2, "person"),
    (["--max-rows-per-unit", "4"], 2, "max_rows_per_unit"),
    (["--epsilom", "1"], 2, "epsilom"),
    (["--config", "nowhere.yaml"], 2, "nowhere.yaml"),
    (["--schema", "nowhere.json"], 2, "nowhere.json"),
]


@pytest.mark.parametrize("options, code, word", BAD_OPTIONS, ids=lambda v: str(v))
def test_bad_options_are_refused_in_one_line_and_leave_nothing(
    refused, people, options, code, word
) -> None:
    schema, out = people.parent / "schema.json", people.parent / "rel"
    given = [] if "--schema" in options else ["--schema", schema]
    assert word in refused("synthesize", people, *given, *METHOD, "--out", out, *options, code=code)
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "schema.json"]


def test_a_solver_is_refused_by_a_method_that_uses_none(refused, people) -> None:
    schema, out = people.parent / "schema.json", people.parent / "rel"
    said = refused(
        "synthesize", people, "--schema", schema, *METHOD, "--solver", "cbc", "--out", out
    )
    assert "solver" in said


def test_bad_places_are_refused_before_data_are_read(refused, people) -> None:
    folder, gone = people.parent, people.parent / "gone.csv"
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("precious")
    assert "exists" in refused("synthesize", gone, "--out", folder / "full")
    assert "not one of ours" in refused("synthesize", gone, "--out", folder / "full", "--force")
    assert "cannot write" in refused("synthesize", gone, "--out", "/proc/none/rel")
    assert "gone.csv" in refused("synthesize", gone, "--out", folder / "rel")
    assert "precious" == (folder / "full" / "file").read_text()


def test_force_never_replaces_what_is_no_release(refused, people) -> None:
    folder = people.parent / "app"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"name": "somebody else\'s"}')
    assert "not a release" in refused("synthesize", people, "--out", folder, "--force")
    assert (folder / "manifest.json").exists()


def test_nothing_is_written_into_a_release(refused, people, release) -> None:
    schema = people.parent / "schema.json"
    said = refused("synthesize", people, "--schema", schema, "--out", release / "inner")
    assert "inside the release" in said


def test_force_overwrites_a_release(shell, people, release) -> None:
    schema = people.parent / "schema.json"
    again = ["synthesize", people, "--schema", schema, "--out", release, "--rows", 3]
    assert shell(*again).code == 2
    assert shell(*again, "--force").code == 0
    assert len((release / "synthetic.csv").read_text().splitlines()) == 4


def test_relative_and_odd_paths_work(shell, people, monkeypatch) -> None:
    monkeypatch.chdir(people.parent)
    ran = shell("synthesize", "people.csv", "--schema", "./schema.json", "--out", "a b/ü [x]/rel")
    assert ran.code == 0, ran.err
    assert (people.parent / "a b" / "ü [x]" / "rel" / "manifest.json").exists()


# ---------------------------------------------------------------------- separate processes
def command(*arguments: object) -> list[str]:
    script = "from saddlesynth.synthesis.cli import main; main()"
    return [sys.executable, "-c", script, *map(str, arguments)]


def test_output_is_utf8_in_any_locale(people) -> None:
    (people.parent / "in.csv").write_text("größe\nß\nä\n", encoding="utf-8")
    schema = people.parent / "s.json"
    schema.write_text(
        '{"columns": {"größe": {"type": "categorical", "values": ["ß", "ä"]}}}', "utf-8"
    )
    done = subprocess.run(
        command("synthesize", people.parent / "in.csv", "--schema", schema, "--out", "-"),
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        check=True,
    )
    assert done.stdout.decode().startswith("größe\n")


# A shell's background jobs inherit an ignored SIGINT, so the handler is set.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from saddlesynth.synthesis import write
inner = write.csv_text
def slowly(batch):
    print("writing", flush=True)
    time.sleep(0.05)
    return inner(batch)
write.csv_text = slowly
from saddlesynth.synthesis.cli import main
main(sys.argv[1:])
"""


def start(people: Path, *more: str) -> subprocess.Popen[bytes]:
    arguments = ["synthesize", str(people), "--schema", str(people.parent / "schema.json"),
                 "--out", str(people.parent / "rel"), "--rows", "2000000", *more]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_ctrl_c_ends_with_130_and_leaves_nothing(people) -> None:
    process = start(people)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.decode().split() == "Error: interrupted; nothing half-written is left".split()
    assert sorted(p.name for p in people.parent.iterdir()) == ["people.csv", "schema.json"]


@pytest.mark.slow
def test_a_kill_while_rows_are_written_leaves_the_old_release_whole(people, release) -> None:
    """Every single file operation is tried in ``tests/release/test_aside.py``."""
    before = {p.name: p.read_bytes() for p in release.iterdir()}
    for batches in (1, 3, 9):
        process = start(people, "--force")
        assert process.stdout is not None
        for _ in range(batches):
            process.stdout.readline()
        process.kill()
        process.communicate()
        assert {p.name: p.read_bytes() for p in release.iterdir()} == before
        hidden = [p for p in people.parent.iterdir() if p.name.startswith(".")]
        assert len(hidden) == 1  # what the kill left is found and removed by the next run


def test_a_warning_about_the_data_is_one_line(shell, people) -> None:
    schema = people.parent / "schema.json"
    said = json.loads(schema.read_text())
    said["impossible"] = [{"sex": "M", "age": [0, 9]}]
    schema.write_text(json.dumps(said))
    ran = shell("synthesize", people, "--schema", schema, "--out", people.parent / "rel")
    assert ran.code == 0
    assert ran.err.startswith("Warning: the data have rows with the impossible combination")
    assert ".py" not in ran.err


def test_a_draft_schema_is_said_not_to_be_private(shell, people) -> None:
    folder = people.parent
    assert shell("schema", "draft", people, "--out", folder / "draft.json").code == 0
    ran = shell("synthesize", people, "--schema", folder / "draft.json", "--out", folder / "rel")
    assert ran.err.count("NOT differentially private") == 1
    again = shell("sample", folder / "rel", "--rows", 2, "--out", "-")
    assert again.err.count("NOT differentially private") == 1
