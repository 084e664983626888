"""PriView: views, maximum entropy, and which design is chosen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.baselines.priview import design
from saddlesynth.synthesis.baselines.views import ViewsModel, maximum_entropy
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.model import RecordModel
from saddlesynth.synthesis.release import load

DOMAIN = Domain(("a", "b", "c"), (2, 3, 2))
FIRST = np.array([[0.3, 0.1, 0.1], [0.0, 0.2, 0.3]])  # on (a, b)
SECOND = np.array([[0.2, 0.1], [0.1, 0.2], [0.4, 0.0]])  # on (b, c)


def model_of(*views) -> ViewsModel:
    return ViewsModel(DOMAIN, views, RecordModel(DOMAIN, np.zeros((1, 3), dtype=np.uint8)))


def test_a_marginal_inside_a_view_is_summed_from_it() -> None:
    model = model_of(((0, 1), FIRST), ((1, 2), SECOND))
    np.testing.assert_allclose(model.marginal((0, 1)), FIRST)
    np.testing.assert_allclose(model.marginal((1, 0)), FIRST.T)
    np.testing.assert_allclose(model.marginal((2,)), SECOND.sum(axis=0))


def test_a_chain_of_views_gives_conditional_independence() -> None:
    """The maximum-entropy table of p(a, b) and p(b, c) is p(a, b) p(b, c) / p(b)."""
    model = model_of(((0, 1), FIRST), ((1, 2), SECOND))
    middle = FIRST.sum(axis=0)
    np.testing.assert_allclose(middle, SECOND.sum(axis=1), atol=0.11)
    second = SECOND / SECOND.sum(axis=1, keepdims=True) * middle[:, None]
    agreed = model_of(((0, 1), FIRST), ((1, 2), second))
    expected = FIRST[:, :, None] * second[None] / middle[None, :, None]
    np.testing.assert_allclose(agreed.marginal((0, 1, 2)), expected, atol=1e-6)
    assert model.marginal((0, 1, 2)).sum() == pytest.approx(1)


def test_maximum_entropy_has_the_largest_entropy_of_what_fits() -> None:
    joint = np.random.default_rng(0).dirichlet(np.full(12, 5.0)).reshape(2, 3, 2)
    pairs = itertools.combinations(range(3), 2)
    margins = [(pair, joint.sum(axis=3 - sum(pair))) for pair in pairs]
    table = maximum_entropy((0, 1, 2), margins, DOMAIN)
    for own, wanted in margins:
        np.testing.assert_allclose(table.sum(axis=3 - sum(own)), wanted, atol=1e-5)
    bump = np.array([[[1, -1], [-1, 1], [0, 0]], [[-1, 1], [1, -1], [0, 0]]])  # margins stay
    for step in (-0.01, 0.01):
        moved = table + step * bump
        assert moved.min() > 0
        assert -(moved * np.log(moved)).sum() < -(table * np.log(table)).sum()


def test_views_of_many_binary_attributes_are_of_some_eight() -> None:
    binary = Domain(tuple(f"x{i}" for i in range(32)), (2,) * 32)
    sizes = {power: [len(v) for v in design(binary, 2, None, power)] for power in (1, 2)}
    assert 6 <= np.median(sizes[1]) <= 10
    assert np.median(sizes[2]) <= np.median(sizes[1])  # more views cost Gaussian noise less


def test_triples_are_covered_where_they_are_asked_for() -> None:
    domain = Domain(tuple(f"x{i}" for i in range(9)), (2,) * 9)
    views = design(domain, 3, 16, 2)
    for triple in itertools.combinations(range(9), 3):
        assert any(set(triple) <= set(view) for view in views)


def test_views_get_equal_shares_and_agree(fitted) -> None:
    made = fitted("priview", view_cells=8)
    lines = made.ledger_.lines
    assert len(lines) > 1 and len({line.rho for line in lines}) == 1
    sums = [
        m.counts.sum(axis=tuple(i for i, a in enumerate(m.attributes) if a != 2))
        for m in made.release_.fit.measured
        if 2 in m.attributes
    ]
    np.testing.assert_allclose(sums[0], sums[1], atol=1.0)


def test_a_marginal_in_no_view_has_no_standard_error_but_an_answer(fitted, tmp_path) -> None:
    made = fitted("priview", view_cells=8, epsilon=20.0)
    found = made.marginals(("x0", "x1", "x2"))
    assert found["standard_error"].isna().all()
    assert found["estimate"].sum() == pytest.approx(800, rel=0.05)
    made.save(tmp_path / "rel")
    again = load(tmp_path / "rel").marginals(("x0", "x1", "x2"))
    np.testing.assert_allclose(again["estimate"], found["estimate"])


def test_a_strength_that_is_not_two_or_three_is_refused(fitted) -> None:
    with pytest.raises(InputError, match="strength"):
        fitted("priview", strength=4)
