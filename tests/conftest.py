"""Settings for all tests: Hypothesis draws the same examples in every run, without a time limit."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def audit():
    """``tests/privacy/audit.py``: an empirical check of (epsilon, delta) for any method."""
    return _module("audit")


@pytest.fixture(scope="session")
def replay():
    """``tests/privacy/replay.py``: what a method's noisy answers say about which table it saw."""
    return _module("replay")


def _module(name):
    path = Path(__file__).parent / "privacy" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"privacy_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
