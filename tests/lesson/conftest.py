"""A lesson made quickly, and the headless browser (``browser.py``)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from saddlesynth.synthesis.lesson import Lesson, from_toy


@pytest.fixture
def lesson():
    """Makes a lesson and plays it: ``lesson("colors", "fem", rounds=6)``."""

    def make(toy="colors", game="fem", *, rounds=6, copies=100, **settings):
        settings = {"samples": 4, "seed": 1, **settings}
        return Lesson(from_toy(toy, copies), game, rounds=rounds, **settings).run()

    return make


@pytest.fixture(scope="session")
def browser():
    spec = importlib.util.spec_from_file_location("browser", Path(__file__).parent / "browser.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.CHROMIUM is None:
        pytest.skip("chromium is not installed")
    opened = module.Browser()
    yield opened
    opened.close()
