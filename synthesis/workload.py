"""Workloads: which queries a game is about, as users write them.

====================  ==========================================================================
``all:K``             every marginal of K columns
``random:N:K:SEED``   N of them, drawn at random; the FEM authors' rule, so that figures compare
``FILE.json``         named marginals, importance weights, prefixes and ranges (below)
====================  ==========================================================================

``all`` and ``random`` leave out marginals of more than ``max_cells`` cells.  A file holds

    {"marginals": [["age", "sex"],
                   {"columns": ["age", "job"], "weight": 0.5},
                   {"columns": ["age", "pay"], "kinds": {"age": "prefix", "pay": "range"}}]}

A weight says how much an error counts; weights are divided by the largest.  ``prefix`` asks how
many are at most v, for every value v, ``range`` how many lie between v and w, for every pair; both
use the order of the values in the schema.

Everything here is public: names, sizes, and a public bound on the number of rows.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from saddlesynth.games.query_class import Block, Kind, QueryClass
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.text_files import read_text

FORMS = "all:K, random:COUNT:K:SEED, or the path of a JSON file"
LISTED = 5_000_000  # k-subsets of the columns that are listed at most


def parse_workload(workload: Any, domain: Domain, max_cells: int | None = None) -> QueryClass:
    """The queries that ``workload`` stands for.

    Parameters
    ----------
    workload
        One of the forms above, or what a file holds (a mapping, or a list of marginals).
    max_cells
        Public bound on the cells of a marginal, for ``all`` and ``random``; None for no bound.

    Raises
    ------
    InputError
        It is none of the forms, or does not fit the columns; the message says what would.
    SizeError
        There are too many subsets of columns to list.

    >>> domain = Domain(("age", "sex", "job"), (10, 2, 5))
    >>> parse_workload("all:2", domain).marginals
    [(0, 1), (0, 2), (1, 2)]
    >>> parse_workload("random:1:2:0", domain, max_cells=20).size
    10
    """
    if isinstance(workload, str) and ":" in workload and not workload.endswith(".json"):
        return QueryClass.of(domain, _by_rule(workload, domain, max_cells))
    if isinstance(workload, str | Path):
        workload = _load(Path(workload))
    return QueryClass(domain, _blocks(workload, domain))


def check_workload(workload: Any) -> None:
    """Refuse what cannot be a workload of any table, before data are read."""
    if isinstance(workload, str) and ":" in workload and not workload.endswith(".json"):
        _rule(workload)
    elif isinstance(workload, str | Path):
        _entries(_load(Path(workload)))
    else:
        _entries(workload)


# ---------------------------------------------------------------------- all:K and random:N:K:SEED
def _rule(text: str) -> tuple[int | None, int, int]:
    """(count or None for all, k, seed)."""
    name, *numbers = text.split(":")
    if (name, len(numbers)) not in {("all", 1), ("random", 3)}:
        raise InputError(f"workload is {text!r}; it must be {FORMS}")
    try:
        values = [int(number) for number in numbers]
    except ValueError as error:
        raise InputError(f"workload is {text!r}; {FORMS}, in whole numbers") from error
    count, k, seed = (None, values[0], 0) if name == "all" else values
    if k < 1 or seed < 0 or (count is not None and count < 1):
        raise InputError(f"workload is {text!r}; COUNT and K must be at least 1, SEED at least 0")
    return count, k, seed


def _by_rule(text: str, domain: Domain, max_cells: int | None) -> list[Attributes]:
    count, k, seed = _rule(text)
    if k > len(domain):
        raise InputError(
            f"workload is {text!r}, but the table has {len(domain)} column"
            f"{'s' if len(domain) != 1 else ''}; K may be at most that, "
            f"e.g. --set workload=all:{len(domain)}"
        )
    if math.comb(len(domain), k) > LISTED:
        raise SizeError(
            f"workload {text!r} has {math.comb(len(domain), k):,} marginals; at most {LISTED:,} "
            "can be listed. Smaller: a smaller K, or named marginals in a file"
        )
    every = itertools.combinations(range(len(domain)), k)
    fitting = [m for m in every if max_cells is None or domain.cells(m) <= max_cells]
    if not fitting:
        raise InputError(
            f"workload {text!r} has no marginal of at most {max_cells:,} cells; raise max_cells"
        )
    if count is None or len(fitting) <= count:
        return fitting
    # The legacy generator, seeded as the FEM authors do, so that the choice is theirs.
    chosen = np.random.RandomState(seed).choice(len(fitting), count, replace=False)
    return [fitting[i] for i in chosen]


# ---------------------------------------------------------------------- files
def _load(path: Path) -> Any:
    text = read_text(path, f"workload {str(path)!r}", FORMS)
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"workload {path} is not JSON: {error}") from error


def _entries(content: Any) -> list[dict[str, Any]]:
    """Every marginal as {"columns", "weight", "kinds"}, checked as far as it can be alone."""
    if isinstance(content, Mapping):
        if set(content) != {"marginals"}:
            raise InputError(f'workload has {sorted(content)}; it must be {{"marginals": [...]}}')
        content = content["marginals"]
    if not isinstance(content, Sequence) or isinstance(content, str) or not content:
        raise InputError("workload must list at least one marginal, e.g. [['age', 'sex']]")
    entries = []
    for item in content:
        entry = dict(item) if isinstance(item, Mapping) else {"columns": item}
        if unknown := set(entry) - {"columns", "weight", "kinds"}:
            raise InputError(
                f"a marginal of the workload has {sorted(unknown)}; it may have columns, "
                "weight and kinds"
            )
        columns = entry.get("columns")
        if not isinstance(columns, Sequence) or isinstance(columns, str) or not columns:
            raise InputError(f"a marginal of the workload has columns {columns!r}; list some names")
        if len(set(columns)) != len(columns):
            raise InputError(f"workload marginal {list(columns)} names a column twice")
        weight = entry.setdefault("weight", 1.0)
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise InputError(f"workload marginal {list(columns)} has weight {weight!r}")
        if not (math.isfinite(weight) and weight > 0):
            raise InputError(
                f"workload marginal {list(columns)} has weight {weight}; it must be positive"
            )
        _check_kinds(columns, entry.setdefault("kinds", {}))
        entries.append(entry)
    return entries


def _check_kinds(columns: Sequence[str], kinds: Any) -> None:
    known = [str(kind) for kind in Kind]
    if not isinstance(kinds, Mapping):
        raise InputError(f"workload marginal {list(columns)}: kinds must be column -> {known}")
    for column, kind in kinds.items():
        if column not in columns or kind not in known:
            raise InputError(
                f"workload marginal {list(columns)} has kind {kind!r} for {column!r}; kinds are "
                f"{known}, for its own columns"
            )


def _blocks(content: Any, domain: Domain) -> tuple[Block, ...]:
    entries = _entries(content)
    largest = max(entry["weight"] for entry in entries)
    blocks = []
    for entry in entries:
        try:
            attributes = domain.positions(entry["columns"])
        except ValueError as error:
            raise InputError(f"workload: {error}") from error
        kinds = tuple(Kind(entry["kinds"].get(name, Kind.CELL)) for name in entry["columns"])
        blocks.append(Block(attributes, kinds, entry["weight"] / largest))
    return tuple(blocks)
