"""Small text files that users name: schemas, settings, workloads, networks, instances."""

from __future__ import annotations

from pathlib import Path

from saddlesynth.synthesis.errors import InputError


def read_text(path: Path, what: str, expected: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark.

    what : names the file in a message, as in "config settings.toml";  expected : what to give

    Raises
    ------
    InputError
        In one line: there is no such file, it is a folder, it cannot be read, or it is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        found = "is not UTF-8 text"
    except FileNotFoundError:
        found = "does not exist"
    except IsADirectoryError:
        found = "is a folder"
    except OSError as error:
        found = f"cannot be read ({error.strerror})"
    raise InputError(f"{what} {found}; give {expected}")
