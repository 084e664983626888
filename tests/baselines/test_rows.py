"""One door to the builders of rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.baselines import rows as rows_module
from saddlesynth.synthesis.baselines.rows import Wanted, build_rows, check_via, maximal
from saddlesynth.synthesis.errors import InputError, SolverError

DOMAIN = Domain(("a", "b", "c"), (2, 2, 3))
COUPLED = Measurement((0, 1), np.array([[480.0, 20.0], [20.0, 480.0]]), 3.0, 1 / 18)
SKEWED = Measurement((2,), np.array([700.0, 300.0, -4.0]), 3.0, 1 / 18)


def built(via: str, **more):
    wanted = Wanted(DOMAIN, [COUPLED, SKEWED], 1000.0, records=2000, **more)
    return build_rows(via, wanted, np.random.default_rng(0))


@pytest.mark.parametrize("via", ["projection", "gum", "mcf"])
def test_rows_have_the_marginals_that_were_given(via) -> None:
    model = built(via).model
    np.testing.assert_allclose(model.marginal((0, 1)), COUPLED.counts / 1000, atol=0.02)
    np.testing.assert_allclose(model.marginal((2,)), [0.7, 0.3, 0.0], atol=0.02)


def test_independent_rows_have_the_columns_alone() -> None:
    model = built("independent").model
    np.testing.assert_allclose(model.marginal((0, 1)), np.full((2, 2), 0.25), atol=0.02)


def test_an_attribute_that_nothing_speaks_of_is_uniform() -> None:
    wanted = Wanted(DOMAIN, [SKEWED], 1000.0)
    for via in ("independent", "gum"):
        model = build_rows(via, wanted, np.random.default_rng(0)).model
        np.testing.assert_allclose(model.marginal((0,)), [0.5, 0.5], atol=0.02)


@pytest.mark.parametrize("via", ["projection", "gum"])
def test_known_zeros_stay_zero(via) -> None:
    model = built(via, impossible=({0: 0, 1: 1},)).model
    assert model.marginal((0, 1))[0, 1] == 0


def test_contained_marginals_are_left_to_those_that_contain_them() -> None:
    one = Measurement((0,), np.ones(2), 1.0, 1.0)
    assert maximal([one, COUPLED, COUPLED, SKEWED]) == [COUPLED, SKEWED]


def test_an_unknown_builder_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'gum'"):
        check_via("gun", None)


def test_without_mbi_the_refusal_names_the_command_that_installs_it(monkeypatch) -> None:
    monkeypatch.setattr("saddlesynth.synthesis.baselines.graphical.find_spec", lambda name: None)
    with pytest.raises(SolverError, match=r'pip install "saddlesynth\[pgm\]"'):
        rows_module.check_via("pgm", None)


def _note(told: list[tuple[str, float]], step: str, done: float) -> None:
    told.append((step, done))


def test_a_projection_tells_how_far_it_is_and_computes_no_errors_unasked() -> None:
    for with_errors in (False, True):
        told: list[tuple[str, float]] = []
        wanted = Wanted(DOMAIN, [COUPLED, SKEWED], 1000.0, with_errors=with_errors)
        tell = partial(_note, told)
        made = build_rows("projection", wanted, np.random.default_rng(0), tell)
        steps = {step for step, _ in told}
        assert {"temperature", "settle"} <= steps
        assert ("standard errors" in steps) == with_errors
        assert all((m.errors is not None) == with_errors for m in made.measured)
        assert all(0 < done <= 1 for _, done in told)
