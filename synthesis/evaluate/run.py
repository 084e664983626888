"""The whole evaluation: from two tables to an ``Evaluation``, step by step.

1. Read both tables as codes of one domain; check validity.
2. Errors of all 1-, 2- and 3-way marginals, inside and outside of what a release measured.
3. The workload of the FEM authors (64 random 3-way and 5-way marginals).
4. 1,000 random 3-attribute range queries.
5. Classifiers trained on synthetic rows and tested on real ones.
6. The noise floor, where a release says what its noise was.

A step that has no value on these tables is *skipped* with a reason and enters no mean.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.base import Progress, silent
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.evaluate.classify import ClassifierErrors, classifier_errors
from saddlesynth.synthesis.evaluate.floor import noise_floor
from saddlesynth.synthesis.evaluate.given import Measured, gather, measured_by, release_facts
from saddlesynth.synthesis.evaluate.inputs import Coded, code_real, code_synthetic
from saddlesynth.synthesis.evaluate.marginals import k_way
from saddlesynth.synthesis.evaluate.metrics import (
    Codes,
    NotComputable,
    range_errors,
    workload_error,
)
from saddlesynth.synthesis.evaluate.result import (
    ColumnShares,
    Evaluation,
    NoiseFloor,
    RangeErrors,
    Skipped,
)
from saddlesynth.synthesis.evaluate.shares import column_shares
from saddlesynth.synthesis.evaluate.validity import validity
from saddlesynth.synthesis.parameters import check_count
from saddlesynth.synthesis.schema import Boolean, Categorical, Schema

if TYPE_CHECKING:
    from saddlesynth.synthesis.release import Release

KS = (1, 2, 3)
WORKLOAD_KS = (3, 5)
FEW_LABELS = 20  # values of a column that is taken as the label unasked
MANY_LABELS = 100  # values of a column that may be named as the label

Given = ParamSpec("Given")
Part = TypeVar("Part")


def evaluate(
    real: Any,
    synthetic: Any,
    schema: Any = None,
    *,
    release: Release | str | Path | None = None,
    test: Any = None,
    label: str | None = None,
    max_marginals: int = 1000,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare a synthetic table with the real one.

    Parameters
    ----------
    real, synthetic
        Paths (CSV, Parquet), DataFrames or Arrow tables; ``synthetic`` may be a release folder,
        which is then also the ``release``.
    schema
        Meaning of the columns.  Default: the release's, else it is read off the two tables.
    release
        A release or its folder: tells what was measured, with which noise and at which cost.
    test
        Real rows that the synthetic table was not made from, for testing classifiers.  Default:
        one fifth of ``real``.
    label
        The column that classifiers predict.  Default: the last categorical or boolean column with
        2 to 20 values.
    max_marginals
        More k-way marginals than this are sampled.
    random_state
        Seed of the range queries and of sampled marginals.

    *Privacy.* Exact functions of the real data: not differentially private.

    Raises
    ------
    InputError
        A table cannot be read, a name is unknown, or the schemas of release and argument differ.

    >>> import pandas as pd
    >>> real = pd.DataFrame({"sex": ["F", "F", "M", "M"], "job": ["a", "a", "b", "b"]})
    >>> found = evaluate(real, real.assign(job=["a", "b", "a", "b"]))
    >>> found.k_way(1).mean, found.k_way(2).mean
    (0.0, 0.5)
    """
    check_count("max_marginals", max_marginals)
    say = progress or silent
    given = gather(real, synthetic, schema, release, test)
    say("reading", 0.0)
    r = code_real(given.real, given.schema)
    target, target_notes = _label(given.schema, r, label)
    say("reading", 0.4)
    s = code_synthetic(given.synthetic, given.schema, r.domain)
    unseen = None if given.test is None else code_real(given.test, given.schema, "test").columns
    measured = measured_by(given.release, r.domain)
    known = None if measured is None else [attributes for attributes, _ in measured]
    both = r.columns, s.columns, r.domain
    say("marginals", 0.0)
    marginals = [
        _part(
            f"{k}-way marginals", k_way, *both, k,
            measured=known, limit=max_marginals, seed=random_state,
        )
        for k in KS
    ]  # fmt: skip
    say("queries", 0.0)
    workloads = [_part(f"random {k}-way marginals", workload_error, *both, k) for k in WORKLOAD_KS]
    ranges = _part("range queries", _ranges, *both, random_state)
    floor = _part("noise floor", _floor, *both, measured, random_state)
    say("classifiers", 0.0)
    classifiers = _part("classifiers", _classifiers, *both, target, unseen)
    say("classifiers", 1.0)
    return Evaluation(
        real_rows=r.rows,
        synthetic_rows=s.rows,
        validity=validity(given.real, given.synthetic, given.schema, r, s),
        columns=_shares(r, s),
        marginals=tuple(marginals),
        workloads=tuple(workloads),
        ranges=ranges,
        classifiers=classifiers,
        floor=floor,
        release=None if given.release is None else release_facts(given.release),
        notes=(*given.notes, *target_notes),
    )


# ---------------------------------------------------------------------- steps
def _part(
    what: str, compute: Callable[Given, Part], *args: Given.args, **kwargs: Given.kwargs
) -> Part | Skipped:
    """The result of a step, or why it has none."""
    try:
        return compute(*args, **kwargs)
    except NotComputable as error:
        return Skipped(what, str(error))


def _shares(real: Coded, synthetic: Coded) -> tuple[ColumnShares, ...]:
    names = real.domain.names
    labels = [[str(label) for label in real.codec.labels(name)] for name in names]
    numeric = [real.codec.edges(name) is not None for name in names]
    return column_shares(real.columns, synthetic.columns, real.domain, labels, numeric)


def _ranges(real: Codes, synthetic: Codes, domain: Domain, seed: int) -> RangeErrors:
    errors = range_errors(real, synthetic, domain, seed=seed)
    return RangeErrors(
        float(errors.mean()),
        float(np.quantile(errors, 0.95)),
        float(errors.max()),
        tuple(errors.tolist()),
    )


def _floor(
    real: Codes, synthetic: Codes, domain: Domain, measured: Measured | None, seed: int
) -> NoiseFloor:
    if measured is None:
        raise NotComputable("no release was given, so its noise is not known")
    return noise_floor(real, synthetic, domain, measured, seed)


def _label(schema: Schema, real: Coded, label: str | None) -> tuple[int | None, tuple[str, ...]]:
    """Position of the label, None if no column suits, and a note if it was not named."""
    names, sizes = real.domain.names, real.domain.sizes
    if label is not None:
        if label not in names:
            raise InputError(f"label is {label!r}; the columns are {', '.join(names)}")
        return names.index(label), ()
    listed = [
        i
        for i, name in enumerate(names)
        if isinstance(schema.columns[name], Categorical | Boolean) and 2 <= sizes[i] <= FEW_LABELS
    ]
    if not listed:
        return None, ()
    note = (
        f"label {names[listed[-1]]!r}: the last categorical or boolean column with 2 to "
        f"{FEW_LABELS} values; another can be named"
    )
    return listed[-1], (note,)


def _classifiers(
    real: Codes, synthetic: Codes, domain: Domain, label: int | None, test: Codes | None
) -> ClassifierErrors:
    if label is None:
        raise NotComputable(
            f"no categorical or boolean column has 2 to {FEW_LABELS} values; name a label"
        )
    if domain.sizes[label] > MANY_LABELS:
        raise NotComputable(
            f"label {domain.names[label]!r} has {domain.sizes[label]:,} values; at most "
            f"{MANY_LABELS} can be told apart"
        )
    return classifier_errors(real, synthetic, domain, label, test)
