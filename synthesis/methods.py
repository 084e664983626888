"""The methods by name: one row each.  Nothing is imported before it is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from saddlesynth.synthesis.errors import InputError

if TYPE_CHECKING:
    from saddlesynth.synthesis.base import Synthesizer
    from saddlesynth.synthesis.engines import LocalRecords
    from saddlesynth.synthesis.model import Model

METHODS: dict[str, str] = {
    "privsyn": "saddlesynth.synthesis.privsyn.method:PrivSyn",
    "projection": "saddlesynth.synthesis.projection.method:Projection",
    "fem": "saddlesynth.synthesis.query_release.fem:FEM",
    "sepfem": "saddlesynth.synthesis.query_release.fem:SepFEM",
    "dualquery": "saddlesynth.synthesis.query_release.dual:DualQuery",
    "dqrs": "saddlesynth.synthesis.query_release.dual:DQRS",
    "mwem": "saddlesynth.synthesis.query_release.histogram:MWEM",
    "pmw": "saddlesynth.synthesis.query_release.histogram:PMW",
    "smalldb": "saddlesynth.synthesis.query_release.histogram:SmallDB",
    "privbayes": "saddlesynth.synthesis.privbayes.method:PrivBayes",
    "residual": "saddlesynth.synthesis.baselines.residual_planning:ResidualPlanning",
    "hdmm": "saddlesynth.synthesis.baselines.hdmm:HDMM",
    "priview": "saddlesynth.synthesis.baselines.priview:PriView",
    "histogram": "saddlesynth.synthesis.baselines.histogram:Histogram",
    "pgm": "saddlesynth.synthesis.baselines.pgm:PGM",
    "mst": "saddlesynth.synthesis.baselines.mst:MST",
    "aim": "saddlesynth.synthesis.baselines.aim:AIM",
    "mwem-pgm": "saddlesynth.synthesis.baselines.mwem_pgm:MWEMPGM",
    "independent": "saddlesynth.synthesis.independent:Independent",
}

# What a fitted method leaves in a release, by Model.kind.
MODELS: dict[str, str] = {
    "records": "saddlesynth.synthesis.model:RecordModel",
    "network": "saddlesynth.synthesis.privbayes.model:NetworkModel",
    "views": "saddlesynth.synthesis.baselines.views:ViewsModel",
    "independent": "saddlesynth.synthesis.independent:IndependentModel",
    "product": "saddlesynth.synthesis.query_release.product:ProductModel",
}

# Where private records are counted.
ENGINES: dict[str, str] = {
    "local": "saddlesynth.synthesis.engines.local:LocalRecords",
}


def method(name: str) -> type[Synthesizer]:
    """The class of a method; an unknown name is refused with the nearest known one."""
    found: type[Synthesizer] = _load(METHODS, name, "method")
    return found


def make(name: str, **parameters: Any) -> Synthesizer:
    """A method by name, with its parameters; unknown parameters are refused.

    >>> make("independent", epsilon=2.0).epsilon
    2.0
    >>> make("independant")
    Traceback (most recent call last):
    ...
    saddlesynth.synthesis.errors.InputError: method 'independant' is unknown; did you mean ...
    """
    klass = method(name)
    known = klass.parameter_names()
    for parameter in parameters:
        if parameter not in known:
            raise InputError(unknown("parameter", parameter, known, f"method {name!r} has no"))
    return klass(**parameters)


def model_class(kind: str) -> type[Model]:
    """The class that reads a saved model."""
    found: type[Model] = _load(MODELS, kind, "model kind")
    return found


def engine_class(name: str) -> type[LocalRecords]:
    """The class of an engine's records."""
    found: type[LocalRecords] = _load(ENGINES, name, "engine")
    return found


def unknown(what: str, name: str, known: list[str], start: str = "") -> str:
    """One line that names what is unknown, the nearest known name, and all of them."""
    near = difflib.get_close_matches(str(name), known, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    head = f"{start} {what} {name!r}" if start else f"{what} {name!r} is unknown"
    return f"{head}; {guess}there are: {', '.join(known)}"


def _load(table: dict[str, str], name: str, what: str) -> Any:
    if name not in table:
        raise InputError(unknown(what, name, list(table)))
    module, attribute = table[name].split(":")
    return getattr(import_module(module), attribute)
