"""What can be asked of a release by the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest


def test_sample_repeats_with_a_seed(shell, release) -> None:
    one = shell("sample", release, "--rows", 30, "--seed", 4, "--out", "-")
    two = shell("sample", release, "--rows", 30, "--seed", 4, "--out", "-")
    other = shell("sample", release, "--rows", 30, "--seed", 5, "--out", "-")
    assert one.code == 0
    assert one.out == two.out != other.out


def test_sample_writes_parquet_by_the_name(shell, release, tmp_path) -> None:
    import pandas as pd

    assert shell("sample", release, "--rows", 9, "--out", tmp_path / "s.parquet").code == 0
    assert pd.read_parquet(tmp_path / "s.parquet").shape == (9, 2)


def test_sample_does_not_overwrite_unasked(shell, refused, release, tmp_path) -> None:
    (tmp_path / "s.csv").write_text("mine")
    assert "exists" in refused("sample", release, "--out", tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == "mine"
    assert shell("sample", release, "--rows", 2, "--out", tmp_path / "s.csv", "--force").code == 0


def test_a_reader_that_goes_is_no_error(release) -> None:
    program = [sys.executable, "-c", "from saddlesynth.synthesis.cli import main; main()"]
    sample = [*program, "sample", str(release), "--rows", "200000", "--out", "-"]
    with subprocess.Popen(sample, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"sex,age\n"
        process.stdout.close()
        assert process.stderr and process.stderr.read() == b""
    assert process.returncode == 0


def test_closed_standard_streams_are_no_error(release, tmp_path) -> None:
    program = [sys.executable, "-c", "from saddlesynth.synthesis.cli import main; main()"]
    out = tmp_path / "rows.csv"
    sample = [*program, "sample", str(release), "--rows", "5", "--out", str(out)]
    assert subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *sample]).returncode == 0
    assert out.read_text().count("\n") == 6


@pytest.mark.parametrize("rows", ["0", "-5", "many"])
def test_odd_rows_are_refused(refused, release, rows, tmp_path) -> None:
    assert "--rows" in refused("sample", release, "--rows", rows, "--out", tmp_path / "s.csv")
    assert not (tmp_path / "s.csv").exists()


def test_marginals_are_a_table_on_stdout(shell, release) -> None:
    ran = shell("marginals", release, "age")
    header, *rows = ran.out.splitlines()
    assert (ran.code, header, len(rows)) == (0, "age,estimate,standard_error,source", 10)
    found = shell("marginals", release, "age,sex", "--json").json
    assert len(found) == 20
    assert set(found[0]) == {"age", "sex", "estimate", "standard_error", "source"}


def test_an_unknown_column_is_refused(refused, release) -> None:
    assert "agee" in refused("marginals", release, "agee")


def test_the_ledger_is_added_up_again(shell, release) -> None:
    ran = shell("ledger", release)
    assert ran.code == 0
    assert "discrete Gaussian" in ran.out
    found = shell("ledger", release, "--json").json
    assert found["recomputed"] == found["total"]
    assert found["total"]["epsilon"] <= 1.0


def test_a_ledger_that_does_not_add_up_is_refused(shell, release) -> None:
    saved = json.loads((release / "ledger.json").read_text())
    saved["total"]["epsilon"] = 0.1
    (release / "ledger.json").write_text(json.dumps(saved))
    assert shell("ledger", release).code == 3
    saved["lines"] *= 9
    (release / "ledger.json").write_text(json.dumps(saved))
    ran = shell("ledger", release)
    assert ran.code == 3
    assert "more than was asked" in ran.err


def damage(release, name: str) -> None:
    content = (release / name).read_bytes()
    (release / name).write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("name", ["manifest.json", "model.npz", "schema.json", "ledger.json"])
def test_a_damaged_release_is_refused_in_one_line(refused, release, name) -> None:
    damage(release, name)
    assert str(release) in refused("sample", release, "--out", "-")


@pytest.mark.parametrize("name", ["manifest.json", "model.npz", "schema.json", "ledger.json"])
def test_a_release_without_a_file_is_refused_in_one_line(refused, release, name) -> None:
    (release / name).unlink()
    refused("sample", release, "--out", "-")


def test_a_folder_that_is_no_release_is_refused(refused, tmp_path) -> None:
    assert "not a release" in refused("sample", tmp_path, "--out", "-")
    assert "no such release" in refused("sample", tmp_path / "none", "--out", "-")
    (tmp_path / "manifest.json").write_text('{"name": "some app"}')
    assert "not a saddlesynth release" in refused("ledger", tmp_path)


def test_a_release_of_a_newer_version_says_so(refused, release) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["format_version"] += 1
    manifest["versions"]["saddlesynth"] = "9.9"
    (release / "manifest.json").write_text(json.dumps(manifest))
    assert "9.9" in refused("sample", release, "--out", "-")


@pytest.mark.parametrize("command", ["sample --out -", "marginals age", "ledger"])
@pytest.mark.parametrize("key", ["relation", "unit", "dp", "notes", "rows", "facts", "files"])
def test_a_manifest_without_what_is_needed_is_refused(refused, release, key, command) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps({**manifest, key: None}))
    name, *more = command.split()
    assert key in refused(name, release, *more)


def test_a_release_can_be_moved(shell, release, tmp_path) -> None:
    shutil.move(release, tmp_path / "else where")
    assert shell("sample", tmp_path / "else where", "--rows", 3, "--out", "-").code == 0
