"""A small invented table, a synthetic one beside it, and a release made from it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.evaluate import Evaluation, evaluate
from saddlesynth.synthesis.independent import Independent

SCHEMA = {
    "columns": {
        "sex": {"type": "categorical", "values": ["F", "M"]},
        "job": {"type": "categorical", "values": ["clerk", "driver", "nurse"], "nullable": True},
        "age": {"type": "integer", "min": 18, "max": 67, "bins": 5},
        "pay": {"type": "float", "min": 0, "max": 100, "bins": 4, "decimals": 1},
        "rich": {"type": "boolean"},
    },
    "impossible": [{"sex": "F", "job": "driver"}],
}


def make_people(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Rows whose columns depend on each other; no woman is a driver."""
    generator = np.random.default_rng(seed)
    sex = generator.choice(["F", "M"], rows)
    job = np.where(sex == "F", "nurse", "driver").astype(object)
    job[generator.random(rows) < 0.3] = "clerk"
    job[generator.random(rows) < 0.1] = None
    pay = np.round(np.clip(generator.normal(50, 20, rows) + 15 * (sex == "M"), 0, 100), 1)
    return pd.DataFrame(
        {"sex": sex, "job": job, "age": generator.integers(18, 68, rows), "pay": pay,
         "rich": pay > 60}
    )  # fmt: skip


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "rel"
    method = Independent(epsilon=5.0, delta=1e-6, random_state=1)
    return method.fit(make_people(), schema=SCHEMA).save(folder)


@pytest.fixture(scope="session")
def evaluation(release: Path) -> Evaluation:
    return evaluate(make_people(), release)


@pytest.fixture(scope="session")
def people() -> Callable[..., pd.DataFrame]:
    """``people(rows, seed)``: see ``make_people``."""
    return make_people


@pytest.fixture
def schema() -> dict[str, Any]:
    return copy.deepcopy(SCHEMA)
