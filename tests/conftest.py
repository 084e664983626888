"""Settings for all tests: Hypothesis draws the same examples in every run, without a time limit."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
