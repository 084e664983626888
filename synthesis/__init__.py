"""The outside world: tables in and out, synthesis methods, releases, reports, command line.

``Schema``, ``Release``, ``load``, ``make`` and the class of every method (``PrivSyn``, ...) can be
imported from here; they are looked up when they are first used, so that importing this package is
quick.

>>> import saddlesynth.synthesis as synthesis
>>> synthesis.Independent(epsilon=0.5).epsilon
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Release": "release",
    "Schema": "schema",
    "fit_marginals": "baselines.fit_marginals",
    "load": "release",
    "make": "methods",
}


def _homes() -> dict[str, str]:
    """Public name -> module that holds it."""
    from saddlesynth.synthesis.methods import METHODS

    classes = (where.split(":") for where in METHODS.values())
    own = {name: f"{__name__}.{module}" for name, module in _HOMES.items()}
    return own | {name: module for module, name in classes}


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in (homes := _homes()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)


def __dir__() -> list[str]:
    return sorted(_homes())
