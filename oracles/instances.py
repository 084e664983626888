"""Instances as JSON text, so that anybody's problem can be tried on any solver.

    {"attributes": {"color": ["red", "green"], "size": ["S", "L"]},
     "queries": [{"weight": 1.0, "all": {"color": "red", "size": "S"}},
                 {"weight": 2.0, "not_all": {"size": "L"}}],
     "perturbation": {"color": {"red": 0.9, "green": 0.2}, "size": {"S": 0.3}},
     "impossible": [{"color": "green", "size": "L"}]}

The value of a record is the sum of the weights of true ``all`` and true ``not_all`` queries minus
the perturbation of its values; a value without an entry has perturbation 0.  ``weight`` defaults
to 1; ``perturbation`` and ``impossible`` may be left out; ``optimum`` may say what is known to be
the best value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.reduce import Floats

Label = str | int | float | bool | None
KEYS = {"attributes", "queries", "perturbation", "impossible", "optimum", "name"}


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem under one perturbation, with the names of its values.

    ``labels[a][v]`` is the name of code v of attribute a.  ``optimum`` is the best value where it
    is known.  Raises ``ValueError`` if labels or perturbation do not fit the domain.
    """

    problem: Problem
    perturbation: Floats
    labels: tuple[tuple[Label, ...], ...]
    name: str = ""
    optimum: float | None = None

    def __post_init__(self) -> None:
        self.problem.check_perturbations(self.perturbation)
        if tuple(len(values) for values in self.labels) != self.problem.domain.sizes:
            raise ValueError("labels must name every value of every attribute")

    @classmethod
    def of(
        cls,
        problem: Problem,
        perturbation: Floats,
        labels: Sequence[Sequence[Label]] | None = None,
        name: str = "",
        optimum: float | None = None,
    ) -> Instance:
        """With codes as labels if none are given."""
        named = [range(n) for n in problem.domain.sizes] if labels is None else labels
        fixed = tuple(tuple(values) for values in named)
        return cls(problem, np.asarray(perturbation, dtype=np.float64), fixed, name, optimum)

    def named(self, record: NDArray[np.integer]) -> dict[str, Label]:
        """A record as {attribute: value}."""
        names = self.problem.domain.names
        return {name: self.labels[a][int(record[a])] for a, name in enumerate(names)}

    def to_json(self) -> str:
        """The instance as JSON text; ``parse`` reads it back to the same problem."""
        domain, queries = self.problem.domain, self.problem.queries
        perturbation = {
            name: {
                key(label): float(self.perturbation[domain.offsets[a] + v])
                for v, label in enumerate(self.labels[a])
            }
            for a, name in enumerate(domain.names)
        }
        content: dict[str, Any] = {"name": self.name} if self.name else {}
        content |= {
            "attributes": {n: list(v) for n, v in zip(domain.names, self.labels, strict=True)},
            "queries": [self._query(queries, j) for j in range(len(queries))],
            "perturbation": perturbation,
            "impossible": [self._literals(c) for c in self.problem.impossible],
        }
        if self.optimum is not None:
            content["optimum"] = self.optimum
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    def _query(self, queries: Conjunctions, j: int) -> dict[str, Any]:
        present = queries.attributes[j] >= 0
        literals = zip(queries.attributes[j][present], queries.values[j][present], strict=True)
        kind = "not_all" if queries.negated[j] else "all"
        named = self._literals({int(a): int(v) for a, v in literals})
        return {"weight": float(self.problem.weights[j]), kind: named}

    def _literals(self, literals: Mapping[int, int]) -> dict[str, Label]:
        names = self.problem.domain.names
        return {names[a]: self.labels[a][v] for a, v in literals.items()}


def key(label: Label) -> str:
    """A value as the key of a JSON object: text as it is, other values as JSON writes them."""
    return label if isinstance(label, str) else json.dumps(label)


def parse(text: str) -> Instance:
    """An instance from JSON text.

    Raises ``ValueError`` with one line that names the field: JSON that does not parse, an unknown
    key, attribute or value, a number that is not finite.

    >>> text = '{"attributes": {"color": ["red", "green"]}, "queries": [{"all": {"color": "red"}}]}'
    >>> instance = parse(text)
    >>> instance.named(np.array([0])), instance.problem.value(np.array([0]), np.zeros(2))
    ({'color': 'red'}, array([1.]))
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from None
    content = _object(content, "the instance")
    unknown = sorted(set(content) - KEYS)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; an instance has {sorted(KEYS)}")
    labels = {
        name: _labels(values, name)
        for name, values in _object(content.get("attributes"), "attributes").items()
    }
    domain = Domain(tuple(labels), tuple(len(values) for values in labels.values()))
    names = _Names(labels)
    literals, negated, weights = [], [], []
    for j, entry in enumerate(_list(content.get("queries", []), "queries")):
        query, flag, weight = _query(entry, f"queries[{j}]", names)
        literals.append(query)
        negated.append(flag)
        weights.append(weight)
    impossible = [
        names.literals(entry, f"impossible[{i}]")
        for i, entry in enumerate(_list(content.get("impossible", []), "impossible"))
    ]
    problem = Problem(domain, Conjunctions.of(literals, negated), weights, impossible)
    perturbation = names.perturbation(content.get("perturbation", {}), domain)
    optimum = content.get("optimum")
    return Instance.of(
        problem,
        perturbation,
        list(labels.values()),
        str(content.get("name", "")),
        None if optimum is None else _number(optimum, "optimum"),
    )


class _Names:
    """Positions of attributes and codes of values, by name."""

    def __init__(self, labels: Mapping[str, Sequence[Label]]) -> None:
        self.attributes = {name: a for a, name in enumerate(labels)}
        self.codes = [{key(v): i for i, v in enumerate(values)} for values in labels.values()]

    def attribute(self, name: str, where: str) -> int:
        if name not in self.attributes:
            raise ValueError(
                f"{where}: unknown attribute {name!r}; there are {list(self.attributes)}"
            )
        return self.attributes[name]

    def code(self, a: int, label: Any, where: str) -> int:
        if isinstance(label, dict | list) or key(label) not in self.codes[a]:
            raise ValueError(f"{where}: unknown value {label!r}; known are {list(self.codes[a])}")
        return self.codes[a][key(label)]

    def literals(self, entry: Any, where: str) -> dict[int, int]:
        result = {}
        for name, label in _object(entry, where).items():
            a = self.attribute(name, where)
            result[a] = self.code(a, label, f"{where}.{name}")
        return result

    def perturbation(self, entry: Any, domain: Domain) -> Floats:
        costs = np.zeros(domain.width)
        for name, values in _object(entry, "perturbation").items():
            where = f"perturbation.{name}"
            a = self.attribute(name, "perturbation")
            for label, cost in _object(values, where).items():
                place = domain.offsets[a] + self.code(a, label, where)
                costs[place] = _number(cost, f"{where}.{label}")
        return costs


def _query(entry: Any, where: str, names: _Names) -> tuple[dict[int, int], bool, float]:
    """Literals, whether negated, weight."""
    fields = _object(entry, where)
    kinds = set(fields) - {"weight"}
    if kinds not in ({"all"}, {"not_all"}):
        raise ValueError(f"{where} has {sorted(fields)}; expected weight and either all or not_all")
    kind = kinds.pop()
    weight = _number(fields.get("weight", 1.0), f"{where}.weight")
    return names.literals(fields[kind], f"{where}.{kind}"), kind == "not_all", weight


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a JSON object")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a JSON list")
    return value


def _labels(values: Any, name: str) -> tuple[Label, ...]:
    where = f"attributes.{name}"
    labels = tuple(_list(values, where))
    if any(isinstance(v, dict | list) for v in labels):
        raise ValueError(f"{where} must list values, not objects or lists")
    if len({key(v) for v in labels}) != len(labels):
        raise ValueError(f'{where} lists a value twice (1 and "1" count as the same)')
    return labels


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{where} is {value!r}; it must be a finite number")
    return float(value)
