"""Tables that are invented here, and methods fitted to them through the public door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.base import Synthesizer
from saddlesynth.synthesis.methods import make

SIZES = (3, 2, 4)


def schema_of(sizes: tuple[int, ...]) -> dict[str, Any]:
    return {
        "columns": {
            f"x{i}": {"type": "categorical", "values": list(range(size))}
            for i, size in enumerate(sizes)
        }
    }


def domain_of(*sizes: int) -> Domain:
    return Domain(tuple(f"x{i}" for i in range(len(sizes))), sizes)


@pytest.fixture
def frame() -> pd.DataFrame:
    """800 rows; x1 follows x0, x2 is skewed."""
    generator = np.random.default_rng(0)
    x0 = generator.integers(0, 3, 800)
    x1 = np.where(generator.random(800) < 0.9, x0 > 0, generator.random(800) < 0.5).astype(int)
    x2 = generator.choice(4, 800, p=[0.6, 0.3, 0.1, 0.0])
    return pd.DataFrame({"x0": x0, "x1": x1, "x2": x2})


@pytest.fixture
def schema() -> dict[str, Any]:
    return schema_of(SIZES)


@pytest.fixture
def fitted(frame: pd.DataFrame, schema: dict[str, Any]) -> Callable[..., Synthesizer]:
    """Fits a method to ``frame``: ``fitted("hdmm", epsilon=2.0)``."""

    def fit(name: str, **parameters: Any) -> Synthesizer:
        always = {"epsilon": 1.0, "delta": 1e-6, "random_state": 0, "schema": schema}
        return make(name, **{**always, **parameters}).fit(frame)

    return fit


@pytest.fixture
def counts(frame: pd.DataFrame) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Exact counts of a marginal of ``frame``."""

    def count(attributes: tuple[int, ...]) -> np.ndarray:
        table = np.zeros([SIZES[a] for a in attributes])
        np.add.at(table, tuple(frame[f"x{a}"] for a in attributes), 1)
        return table

    return count
