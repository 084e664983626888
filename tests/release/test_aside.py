"""A release is there whole or not at all, whatever ends the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from saddlesynth.synthesis import aside
from saddlesynth.synthesis.aside import check_destination, file_aside, folder_aside
from saddlesynth.synthesis.errors import InputError


def listing(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def fill(destination: Path, text: str, **options: object) -> None:
    with folder_aside(destination, marker="m", **options) as scratch:  # type: ignore[arg-type]
        (scratch / "m").write_text(text)


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    with folder_aside(tmp_path / "rel", marker="m") as scratch:
        (scratch / "m").write_text("new")
        assert not (tmp_path / "rel").exists()
    assert listing(tmp_path) == ["rel"]
    assert listing(tmp_path / "rel") == ["m"]


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt, SystemExit])
def test_trouble_leaves_nothing(tmp_path: Path, trouble: type[BaseException]) -> None:
    with pytest.raises(trouble), folder_aside(tmp_path / "rel") as scratch:
        (scratch / "half").write_text("half")
        raise trouble
    assert listing(tmp_path) == []


def test_trouble_keeps_the_old_folder(tmp_path: Path) -> None:
    fill(tmp_path / "rel", "old")
    with pytest.raises(ValueError), folder_aside(tmp_path / "rel", force=True, marker="m"):
        raise ValueError
    assert (tmp_path / "rel" / "m").read_text() == "old"


def test_force_replaces_a_release_and_nothing_else_remains(tmp_path: Path) -> None:
    fill(tmp_path / "rel", "old")
    fill(tmp_path / "rel", "new", force=True)
    assert (tmp_path / "rel" / "m").read_text() == "new"
    assert listing(tmp_path) == ["rel"]


def test_an_existing_destination_needs_force(tmp_path: Path) -> None:
    fill(tmp_path / "rel", "old")
    with pytest.raises(InputError, match="--force"):
        check_destination(tmp_path / "rel", marker="m")


def test_force_never_replaces_a_folder_that_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("precious")
    with pytest.raises(InputError, match="not one of ours"):
        check_destination(tmp_path / "thesis", force=True, marker="m")


def test_force_never_makes_a_folder_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("precious")
    with pytest.raises(InputError, match="is a file"):
        check_destination(tmp_path / "people.csv", force=True, marker="m")


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(InputError, match="--out -"):
        check_destination(Path(os.devnull), force=True)


@pytest.mark.parametrize("there", [False, True])
def test_a_link_is_written_through(tmp_path: Path, there: bool) -> None:
    if there:
        fill(tmp_path / "rel", "old")
    (tmp_path / "link").symlink_to(tmp_path / "rel")
    fill(tmp_path / "link", "new", force=there)
    assert listing(tmp_path) == ["link", "rel"]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "rel" / "m").read_text() == "new"


def test_without_force_the_quicker_of_two_runs_wins(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists"), folder_aside(tmp_path / "rel", marker="m"):
        fill(tmp_path / "rel", "quicker")
    assert (tmp_path / "rel" / "m").read_text() == "quicker"
    assert listing(tmp_path) == ["rel"]


@pytest.mark.parametrize("there", [False, True])
def test_of_two_runs_that_end_at_the_same_moment_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The other run's renames fall between this one's last look and its own first rename."""
    if there:
        fill(tmp_path / "rel", "old")
    rename = os.rename

    def late(source: Path, destination: Path) -> None:
        monkeypatch.setattr(os, "rename", rename)
        if there:
            rename(tmp_path / "rel", tmp_path / "elsewhere")
        else:
            fill(tmp_path / "rel", "other")
        rename(source, destination)

    monkeypatch.setattr(os, "rename", late)
    with pytest.raises(InputError, match="another run wrote .*rel at the same moment"):
        fill(tmp_path / "rel", "ours", force=there)
    monkeypatch.undo()
    assert listing(tmp_path) == (["elsewhere"] if there else ["rel"])


@pytest.mark.parametrize("name", ["[a]", "a b", "ä*?", "x" * 150])
def test_odd_names_are_written_and_cleaned(tmp_path: Path, name: str) -> None:
    left = tmp_path / f".{name}.saddlesynth-dead"
    left.mkdir()
    os.utime(left, (0, 0))
    fill(tmp_path / name, "new")
    assert listing(tmp_path) == [name]


def test_a_place_that_cannot_be_written_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="cannot write"):
        check_destination(Path("/proc/none/rel"))


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    with file_aside(tmp_path / "rows.csv") as scratch:
        scratch.write_text("a")
        assert not (tmp_path / "rows.csv").exists()
    assert listing(tmp_path) == ["rows.csv"]


def test_a_file_never_replaces_a_folder(tmp_path: Path) -> None:
    fill(tmp_path / "rel", "old")
    with pytest.raises(InputError, match="folder"), file_aside(tmp_path / "rel", force=True):
        pass


def test_a_kill_between_the_two_renames_is_mended(tmp_path: Path) -> None:
    fill(tmp_path / "rel", "old")
    os.rename(tmp_path / "rel", aside._old(tmp_path / "rel"))
    with pytest.raises(InputError, match="exists"):
        check_destination(tmp_path / "rel", marker="m")
    assert (tmp_path / "rel" / "m").read_text() == "old"
    assert listing(tmp_path) == ["rel"]


WRITER = """
import sys, time
from pathlib import Path
from saddlesynth.synthesis.aside import folder_aside
with folder_aside(Path(sys.argv[1])) as scratch:
    (scratch / "half").write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "rel")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def test_what_a_killed_run_left_is_cleaned_by_the_next(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    writer.kill()
    writer.wait()
    assert not (tmp_path / "rel").exists()
    fill(tmp_path / "rel", "new")
    assert listing(tmp_path) == ["rel"]


def test_a_living_run_is_left_alone(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    check_destination(tmp_path / "rel")
    assert len(listing(tmp_path)) == 1
    writer.kill()
    writer.wait()


def test_an_interrupted_run_cleans_up_itself(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    writer.send_signal(signal.SIGINT)
    writer.wait()
    deadline = time.monotonic() + 5
    while listing(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert listing(tmp_path) == []


KILLER = """
import os, signal, sys
from pathlib import Path
from saddlesynth.synthesis.aside import folder_aside
folder, left = sys.argv[1], int(sys.argv[2])
def hook(event, arguments):
    global left
    if folder in str(arguments):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
with folder_aside(Path(folder) / "rel", force=True, marker="m") as scratch:
    (scratch / "m").write_text("new")
    (scratch / "n").write_text("new")
"""


@pytest.mark.slow
def test_a_kill_at_any_file_operation_leaves_old_or_new_whole(tmp_path: Path) -> None:
    kills, code = 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        folder = tmp_path / str(kills)
        folder.mkdir()
        with folder_aside(folder / "rel") as scratch:
            (scratch / "m").write_text("old")
            (scratch / "n").write_text("old")
        code = subprocess.run([sys.executable, "-c", KILLER, str(folder), str(kills)]).returncode
        if (folder / "rel").exists():
            assert {p.read_text() for p in (folder / "rel").iterdir()} in ({"old"}, {"new"})
        aside.recover(folder / "rel")  # what the next run does first
        assert sorted(p.name for p in (folder / "rel").iterdir()) == ["m", "n"]
        assert len({p.read_text() for p in (folder / "rel").iterdir()}) == 1
        kills += 1
    assert code == 0
    assert kills > 12
