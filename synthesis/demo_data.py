"""The embedded demo table: UCI Adult, 48,842 rows and 14 columns, and its public schema.

Source and licence (CC BY 4.0) stand in ``synthesis/data/NOTICE``; the table is made by
``benchmarks/make_demo_data.py``.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def data_path() -> Path:
    """Where the installed ``adult.parquet`` lies."""
    return Path(str(files("saddlesynth.synthesis") / "data" / "adult.parquet"))


def schema_path() -> Path:
    """Where the installed ``adult.schema.json`` lies."""
    return Path(str(files("saddlesynth.synthesis") / "data" / "adult.schema.json"))


def load() -> pd.DataFrame:
    """The demo table as a frame; missing values are nulls.

    >>> load().shape
    (48842, 14)
    """
    import pandas as pd

    return pd.read_parquet(data_path())
