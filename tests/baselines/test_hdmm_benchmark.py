"""The benchmark of HDMM's answers runs, at a size that takes a moment."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hdmm.py"


def test_the_error_falls_as_one_over_epsilon(tmp_path) -> None:
    spec = importlib.util.spec_from_file_location("benchmark_hdmm", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    generator = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, "c": 2, "d": 4}
    frame = pd.DataFrame({n: generator.integers(0, s, 300) for n, s in sizes.items()})
    frame.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "domain.json").write_text(json.dumps(sizes))
    paths = [str(tmp_path / "table.csv"), str(tmp_path / "domain.json")]
    found = module.main([*paths, "--epsilon", "0.1", "1", "--runs", "2", "--workload", "all:2"])
    pure = [np.mean(line["errors"]) for line in found if line.get("delta", 0.0) == 0.0]
    assert len(found) == 12
    for poor, rich in zip(pure[::2], pure[1::2], strict=True):
        assert 5 < poor / rich < 20
