"""Write aside, then rename: at any moment a folder or file is there whole, or not at all.

Work happens in a hidden neighbour of the destination, on the same file system, and one rename puts
it in place.  An interrupted run cleans up after itself; a killed one cannot, so the next run for
the same destination recognises what it left (nobody holds its lock) and removes it.  Replacing
an old folder takes two renames; if a run is killed between them, the next one puts the old folder
back.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from saddlesynth.synthesis.errors import InputError

LOCK = ".lock"
GRACE = 10.0  # seconds for which a folder without a lock file is left alone


def check_destination(destination: Path, *, force: bool = False, marker: str = "") -> None:
    """Refuse, before any work, a destination that exists or that cannot be written.

    With ``force`` a file is overwritten by a file, and a folder by a folder if it is empty or holds
    a file named ``marker``: nothing else is ever replaced.  A link stays; what it leads to counts.
    """
    if not destination.name:
        raise InputError(f"{destination} cannot be written as a whole; give a new name")
    place = _place(destination)
    recover(place)
    _refuse_existing(destination, force=force, marker=marker)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.rmdir(tempfile.mkdtemp(prefix=_prefix(place), dir=place.parent))
    except OSError as error:
        raise InputError(f"cannot write {destination}: {error.strerror}") from error


def _refuse_existing(destination: Path, *, force: bool, marker: str) -> None:
    """Refuse to replace what is there, if something is and it may not be."""
    if not destination.exists():
        return
    if not (destination.is_file() or destination.is_dir()):
        raise InputError(f"{destination} is neither file nor folder; for a stream use --out -")
    if not force:
        raise InputError(f"{destination} exists; choose another --out, or overwrite with --force")
    if marker and destination.is_file():
        raise InputError(f"{destination} is a file; --out must name a folder")
    if destination.is_dir() and any(destination.iterdir()):
        if not marker:
            raise InputError(f"{destination} is a folder; --out must name a file")
        if not (destination / marker).is_file():
            raise InputError(
                f"{destination} is a folder without {marker}, so not one of ours; not overwritten"
            )


@contextmanager
def folder_aside(destination: Path, *, force: bool = False, marker: str = "") -> Iterator[Path]:
    """An empty folder to fill; it becomes ``destination`` when the block ends without an error."""
    check_destination(destination, force=force, marker=marker)
    place = _place(destination)
    with _scratch(place) as folder:
        yield folder
        (folder / LOCK).unlink(missing_ok=True)
        folder.chmod(0o777 & ~_umask())
        _refuse_existing(destination, force=force, marker=marker)  # of a run that was quicker
        _replace(folder, place)


@contextmanager
def file_aside(destination: Path, *, force: bool = False) -> Iterator[Path]:
    """A path to write; it becomes ``destination`` when the block ends without an error."""
    check_destination(destination, force=force)
    place = _place(destination)
    with _scratch(place) as folder:
        yield folder / destination.name
        _refuse_existing(destination, force=force, marker="")
        os.replace(folder / destination.name, place)


@contextmanager
def _scratch(destination: Path) -> Iterator[Path]:
    """A hidden folder beside ``destination``, locked while we live, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=_prefix(destination), dir=destination.parent))
    lock = _lock(folder)
    try:
        yield folder
    finally:
        if lock is not None:
            lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def recover(destination: Path) -> None:
    """Clean what killed runs left beside ``destination``; put back an old folder they set aside."""
    old = _old(destination)
    if old.exists():
        if destination.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(old, destination)
    for aside in destination.parent.glob(_escape(_prefix(destination)) + "*"):
        if aside.is_dir() and not _held(aside):
            shutil.rmtree(aside, ignore_errors=True)


def _replace(aside: Path, destination: Path) -> None:
    """Put a folder in place; one that another run puts there at the same moment stays."""
    try:
        _exchange(aside, destination)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
            raise
        raise InputError(
            f"another run wrote {destination} at the same moment; its result stays, this one is "
            "discarded; give each run an --out of its own"
        ) from error


def _exchange(aside: Path, destination: Path) -> None:
    if not destination.exists():
        os.rename(aside, destination)
        return
    old = _old(destination)
    os.rename(destination, old)
    try:
        os.rename(aside, destination)
    except BaseException:
        if not destination.exists():
            os.rename(old, destination)
        raise
    if old.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink(missing_ok=True)


def _place(destination: Path) -> Path:
    """Where links lead: a link is written through, not replaced."""
    return Path(os.path.realpath(destination))


def _prefix(destination: Path) -> str:
    return f".{destination.name}.saddlesynth-"


def _old(destination: Path) -> Path:
    return destination.parent / f".{destination.name}.saddlesynth_old"


def _escape(name: str) -> str:
    """Make a file name mean itself in a glob."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _lock(folder: Path) -> IO[bytes] | None:
    """Hold a lock that the system drops when this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: killed runs are then not recognised
        return None
    handle = (folder / LOCK).open("wb")
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def _held(folder: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        with (folder / LOCK).open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:  # just made, or just about to be renamed, if it is young
        return time.time() - folder.stat().st_mtime < GRACE
    except OSError:
        return True
    return False
