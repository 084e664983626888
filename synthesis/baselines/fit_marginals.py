"""Post-processing alone: rows from noisy marginals that someone else measured.

Nothing private is read and nothing is charged.  The release is exactly as private as the marginals
it is made from, which this package cannot check; its notes say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saddlesynth.synthesis.baselines.noisy_table import read_noisy
from saddlesynth.synthesis.baselines.rows import Progress, Via, Wanted, build_rows, check_via
from saddlesynth.synthesis.codec import Codec
from saddlesynth.synthesis.constraints import Constraints
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.manifest import manifest_of, notes_of
from saddlesynth.synthesis.model import Fit
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.parameters import RandomState, check_count, check_random_state
from saddlesynth.synthesis.release import Release

NOTE = (
    "made from noisy marginals that were measured elsewhere: no private table was read and nothing "
    "was charged here, so it is as private as those marginals are, which was not checked"
)
NOTHING = {"rho": 0.0, "epsilon": 0.0, "delta": 0.0}
UNCHARGED: dict[str, Any] = {
    "asked": {"epsilon": 0.0, "delta": 0.0},
    "rule": "none: no private table was read",
    "relation": "none",
    "unit": "row",
    "rows_per_unit": 1,
    "conversion_delta": 0.0,
    "lines": [],
    "total": NOTHING,
}


def fit_marginals(
    noisy: Any,
    schema: Any,
    *,
    via: Via = "projection",
    total: float | None = None,
    records: int | None = None,
    random_state: RandomState = None,
    progress: Progress = lambda step, done: None,
) -> Release:
    """A release whose rows have nearly the given noisy marginals.

    Parameters
    ----------
    noisy
        A CSV or Parquet file, DataFrame or Arrow table with one line a cell; see
        ``noisy_table.py``.
    schema
        Public meaning of the columns: a ``Schema``, a mapping, or a path.
    via
        ``"projection"``, ``"gum"``, ``"mcf"``, ``"pgm"`` or ``"independent"``; see ``rows.py``.
    total
        The number of rows, where it is known; default: estimated from the marginals.
    records
        Records in the model's pool; default: the builder's own.
    random_state
        Makes the rows repeat.  There is no privacy noise here that a seed could give away.
    progress
        Called as ``progress(step, done)`` with done in [0, 1].

    Privacy.  Post-processing: no charge.

    Raises
    ------
    InputError
        The marginals or a parameter are not what they should be.
    SchemaError
        The schema is wrong.
    SizeError, SolverError
        For ``via="pgm"``: the junction tree is too large; ``mbi`` is not installed.

    >>> import pandas as pd
    >>> noisy = pd.DataFrame({"columns": "sex", "values": ["F", "M"], "estimate": [61.0, 38.0],
    ...                       "standard_error": 2.0})
    >>> schema = {"columns": {"sex": {"type": "categorical", "values": ["F", "M"]}}}
    >>> release = fit_marginals(noisy, schema, via="independent", random_state=0)
    >>> release.default_rows, release.ledger["total"]["epsilon"]
    (99, 0.0)
    """
    from saddlesynth.synthesis.prepare import as_schema
    from saddlesynth.synthesis.tables import Layout

    check_via(via, records)
    check_random_state(random_state)
    if total is not None:
        check_count("total", total)
    meaning = as_schema(schema)
    codec = Codec(meaning, _text_table(list(meaning.columns)))
    impossible = tuple(codec.impossible)
    Constraints(codec.domain, impossible).check()
    measured = read_noisy(noisy, codec)
    if not any(m.attributes for m in measured):
        raise InputError("the noisy marginals speak of no column; give at least one marginal")
    rows = rows_estimate(measured) if total is None else float(total)
    fitting, sampling = np.random.default_rng(random_state).spawn(2)
    wanted = Wanted(codec.domain, measured, rows, impossible, records)
    built = build_rows(via, wanted, fitting, progress)
    facts = {"marginals": len(measured), **built.facts}
    manifest = manifest_of(
        method="fit-marginals",
        parameters={"via": via, "total": total, "records": records},
        schema=meaning,
        discovered=False,
        public=["the schema in schema.json", "the noisy marginals that this was made from"],
        ledger=UNCHARGED,
        seeded=False,
        dp=not meaning.draft,
        notes=[*notes_of(meaning.draft, False), NOTE],
        rows=rows,
        columns=codec.table_schema.names,
        facts=facts,
    )
    return Release(
        fit=Fit(built.model, rows, built.measured, facts),
        schema=meaning,
        codec=codec,
        layout=Layout("csv", codec.table_schema),
        ledger=UNCHARGED,
        manifest=manifest,
        _sampling=None if random_state is None else sampling,
    )


def _text_table(names: list[str]) -> Any:
    """The Arrow schema of a CSV file with these columns."""
    import pyarrow as pa

    from saddlesynth.synthesis.read import TEXT

    return pa.schema([(name, pa.string()) for name in names], metadata=TEXT)
