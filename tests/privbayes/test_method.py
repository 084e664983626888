"""The whole method: what is charged, by which variant, and what it refuses."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.methods import make

ORIGINAL = {"variant": "original", "delta": 0.0}
RELATIONS = ["add_remove", "replace_one"]


def lines(ledger, start):
    return [line for line in ledger.lines if line.step.startswith(start)]


# ---------------------------------------------------------------------- charges
def test_the_improved_one_spends_rho_and_no_more(fit_to, chain):
    _, ledger = fit_to(chain, (2, 3, 4), epsilon=1.0)
    shares = [sum(line.rho for line in lines(ledger, s)) for s in ("1-way", "network", "joint")]
    assert np.array(shares) / ledger.rho == pytest.approx([0.2, 0.1, 0.7], rel=1e-3)
    assert ledger.spent_rho <= ledger.rho
    assert {line.mechanism for line in lines(ledger, "joint")} == {"discrete Gaussian"}


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_original_spends_a_pure_epsilon(fit_to, chain, relation):
    _, ledger = fit_to(chain, (2, 3, 4), epsilon=1.0, relation=relation, **ORIGINAL)
    spent = [sum(line.epsilon for line in lines(ledger, s)) for s in ("number", "network", "joint")]
    expected = [0.02, 0.294, 0.686] if relation == "add_remove" else [0.0, 0.294, 0.706]
    assert spent == pytest.approx(expected, rel=1e-6)
    assert 1 - 1e-6 < ledger.spent_epsilon <= 1
    assert {line.mechanism for line in lines(ledger, "joint")} == {"discrete Laplace"}


@pytest.mark.parametrize("relation, factor", [("add_remove", 1), ("replace_one", 2)])
def test_a_given_network_has_the_laplace_scale_of_the_theory(fit_to, relation, factor):
    """d joints, none part of another: scale d / epsilon in counts, twice that for replace-one."""
    records = np.random.default_rng(0).integers(2, size=(200, 4))
    network = {"b": ["a"], "c": ["b"], "d": ["c"]}
    fit, ledger = fit_to(
        records, (2, 2, 2, 2), epsilon=0.5, network=network, relation=relation, **ORIGINAL
    )
    assert [line.step for line in ledger.lines] == ["joint: a x b", "joint: b x c", "joint: c x d"]
    for line in ledger.lines:
        assert line.noise == pytest.approx(3 * factor / 0.5)
    assert fit.facts["network_from"] == "given, taken as public"


def test_a_network_from_the_data_is_charged_or_refused(fit_to, chain):
    _, ledger = fit_to(chain, (2, 3, 4), epsilon=1.0)
    assert len(lines(ledger, "network")) == 2
    with pytest.raises(InputError, match="must be charged"):
        make("privbayes", split=(0.2, 0, 0.8)).check_parameters()
    _, given = fit_to(chain, (2, 3, 4), epsilon=1.0, network={"b": ["a"]}, split=(0.2, 0, 0.8))
    assert not lines(given, "network")
    assert given.spent_rho == pytest.approx(given.rho, rel=1e-6)


def test_the_binary_original_measures_d_minus_k_joints(fit_to):
    records = np.random.default_rng(0).integers(2, size=(4000, 5))
    fit, ledger = fit_to(
        records, (2,) * 5, epsilon=1.0, degree=2, relation="replace_one", **ORIGINAL
    )
    assert len(lines(ledger, "joint")) == 3
    assert {line.mechanism for line in lines(ledger, "network")} == {"exponential mechanism on n F"}
    assert all(line.noise == pytest.approx(2 * 3 / 0.706) for line in lines(ledger, "joint"))


def test_a_private_number_of_rows_is_never_used(fit_to, chain):
    """Given the same noisy answers, the limits and the number of rows do not know the true one."""
    fit, _ = fit_to(chain, (2, 3, 4), epsilon=0.05, seed=3)
    assert fit.rows != len(chain)
    public, _ = fit_to(chain, (2, 3, 4), epsilon=0.05, relation="replace_one")
    assert public.rows == len(chain)
    known, ledger = fit_to(chain, (2, 3, 4), epsilon=0.05, known_rows=500, **ORIGINAL)
    assert known.rows == 500
    assert not lines(ledger, "number")


# ---------------------------------------------------------------------- what it learns
@pytest.mark.parametrize("how", ["consistent", "project", "normalise"])
def test_without_noise_it_is_the_network_fitted_to_the_data(fit_to, chain, how):
    network = {"b": ["a"], "c": ["b"]}
    fit, _ = fit_to(chain, (2, 3, 4), epsilon=1e7, network=network, post_processing=how)
    counts = np.zeros((2, 3, 4))
    np.add.at(counts, tuple(chain.T), 1 / len(chain))
    ab, bc = counts.sum(axis=2), counts.sum(axis=0)
    expected = ab[:, :, None] * bc[None] / bc.sum(axis=1)[None, :, None]
    assert fit.model.marginal((0, 1, 2)) == pytest.approx(expected, abs=1e-3)
    assert fit.rows == pytest.approx(600, abs=1)


@pytest.mark.parametrize("settings", [{}, {"delta": 0.0}, ORIGINAL, {"score": "I"}])
def test_it_finds_the_edges_of_a_chain(fit_to, chain, settings):
    fit, _ = fit_to(chain, (2, 3, 4), epsilon=200.0, degree=1, **settings)
    edges = {frozenset((x, *p)) for x, p in fit.facts["network"].items() if p}
    assert edges == {frozenset("ab"), frozenset("bc")}


def test_measured_tables_agree_on_what_they_share(fit_to, chain):
    fit, _ = fit_to(chain, (2, 3, 4), epsilon=1.0, network={"b": ["a"], "c": ["b"]})
    tables = {m.attributes: m.counts for m in fit.measured}
    assert tables[0, 1].sum(axis=0) == pytest.approx(tables[1, 2].sum(axis=1), abs=2.5)
    assert tables[0, 1].sum(axis=1) == pytest.approx(tables[(0,)], abs=2.5)
    assert min(t.min() for t in tables.values()) >= 0


def test_no_record_is_impossible(fit_to, chain):
    rules = ({0: 0, 1: 1}, {1: 0, 2: 3})
    network = {"b": ["a"], "c": ["b"]}
    fit, _ = fit_to(chain, (2, 3, 4), epsilon=2.0, network=network, impossible=rules)
    rows = next(fit.model.sample(5000, np.random.default_rng(0)))
    for rule in rules:
        assert not np.all([rows[:, a] == v for a, v in rule.items()], axis=0).any()


@pytest.mark.parametrize("settings", [{}, {"delta": 0.0}, ORIGINAL])
@pytest.mark.parametrize("sizes", [(3,), (1,), (1, 1), (1, 4), (2, 2)])
@pytest.mark.parametrize("rows", [0, 1, 30])
def test_odd_tables_are_no_trouble(fit_to, settings, sizes, rows):
    records = np.zeros((rows, len(sizes)), dtype=np.int64)
    for seed, relation in itertools.product(range(3), RELATIONS):
        fit, ledger = fit_to(records, sizes, epsilon=0.5, seed=seed, relation=relation, **settings)
        sample = np.concatenate(list(fit.model.sample(7, np.random.default_rng(0))))
        assert sample.shape == (7, len(sizes))
        assert (sample < np.array(sizes)).all()
        assert fit.rows >= 1
        assert ledger.spent_epsilon <= 0.5


# ---------------------------------------------------------------------- plans and refusals
def plan(sizes, rows=10_000, **parameters):
    columns = {
        f"x{i}": {"type": "categorical", "values": [f"v{v}" for v in range(size)]}
        for i, size in enumerate(sizes)
    }
    return make("privbayes", **parameters).plan({"columns": columns}, rows)


@pytest.mark.parametrize("settings", [{}, {"delta": 0.0}, ORIGINAL])
def test_a_plan_foretells_the_ledger(fit_to, settings):
    records = np.random.default_rng(1).integers(3, size=(5000, 5))
    fit, ledger = fit_to(records, (3,) * 5, epsilon=1.0, **settings)
    foretold = plan((3,) * 5, 5000, epsilon=1.0, **settings)
    by_step = {step["step"]: step for step in foretold.steps}
    joint = lines(ledger, "joint")
    assert by_step["joints"]["marginals"] >= len(joint)
    sigma = fit.measured[-1].sigma * np.sqrt(by_step["joints"]["marginals"] / len(joint))
    assert by_step["joints"]["sigma"] == pytest.approx(sigma, rel=1e-2)
    assert by_step["network"]["marginals"] == len(lines(ledger, "network"))
    assert foretold.queries >= sum(m.counts.size for m in fit.measured)


def test_the_original_searches_wide_tables_as_published():
    """20 binary columns, 3 parents each: C(10, 3) sets half-way, more than a tenth of 400."""
    steps = {
        variant: {step["step"]: step for step in plan((2,) * 20, degree=3, **settings).steps}
        for variant, settings in (("improved", {}), ("original", ORIGINAL))
    }
    assert steps["improved"]["network"]["marginals"] == 2 * 19
    assert steps["original"]["network"]["marginals"] == 19


def test_a_plan_of_a_wide_table_is_quick_and_small():
    start = time.monotonic()
    found = plan((2,) * 60, 100_000)
    assert time.monotonic() - start < 5
    assert found.queries < 60 * 2**9 + 200
    assert found.memory < 2**30


def test_a_network_with_a_joint_that_is_too_large_is_refused_in_one_line():
    network = {"x3": ["x0", "x1", "x2"]}
    with pytest.raises(SizeError, match="'x3'.*160,000 cells.*max_cells=1,000"):
        plan((20, 20, 20, 20), network=network, max_cells=1000)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"variant": "orginal"}, "variant 'orginal' is unknown; did you mean 'original'"),
        ({"variant": "original"}, "delta=0"),
        ({"score": "MI"}, "score 'MI' is unknown"),
        ({"post_processing": "clip"}, "post_processing 'clip' is unknown"),
        ({"theta": 0.0}, "theta"),
        ({"degree": -1}, "degree"),
        ({"degree": 1.5}, "degree"),
        ({"max_candidates": 0}, "max_candidates"),
        ({"known_rows": 0}, "known_rows"),
        ({"network": 3}, "network"),
        ({"split": (1, 2)}, "3 shares"),
        ({"split": 0.3}, "3 shares"),
        ({"split": (0.5, 0.5, 0.0)}, "the last above"),
        ({"split": (0.0, 0.3, 0.7)}, "number of rows"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(InputError, match=message):
        make("privbayes", **parameters).check_parameters()


def test_score_f_needs_two_values_in_every_column():
    with pytest.raises(InputError, match="'x1' has more"):
        plan((2, 3), score="F")
    assert plan((2, 2, 1), score="F").queries > 0
