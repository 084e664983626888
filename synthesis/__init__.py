"""The outside world: tables in and out, synthesis methods, releases, reports, command line.

The names below are imported when they are first used, so that importing this package is quick.

>>> import saddlesynth.synthesis as synthesis
>>> synthesis.make("independent", epsilon=0.5).epsilon
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saddlesynth.synthesis.independent import Independent
    from saddlesynth.synthesis.methods import make
    from saddlesynth.synthesis.privsyn.method import PrivSyn
    from saddlesynth.synthesis.release import Release, load
    from saddlesynth.synthesis.schema import Schema

_HOMES = {
    "Independent": "independent",
    "PrivSyn": "privsyn.method",
    "Release": "release",
    "Schema": "schema",
    "load": "release",
    "make": "methods",
}

__all__ = ["Independent", "PrivSyn", "Release", "Schema", "load", "make"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
