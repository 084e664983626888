"""Bounds on the distance: they hold in simulation, and the rates show."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator
from saddlesynth.games.privacy.mechanisms import noise_source
from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.errors import InputError, SizeError
from saddlesynth.synthesis.noisy import fractions, normalised
from saddlesynth.synthesis.theory.distance import (
    Setting,
    full_domain_bound,
    network_bound,
    sampling_distance,
)
from saddlesynth.synthesis.theory.packing import lower_bound
from saddlesynth.synthesis.theory.simulate import (
    Raw,
    network_of,
    random_raw,
    simulate,
    simulate_full_domain,
    with_joints_of,
)

WAYS = ["normalise", "project"]
RELATIONS = ["add_remove", "replace_one"]
BASE = Setting(rows=50_000, attributes=6, degree=1, epsilon=1.0)


def mean_tv(setting, how, runs=8):
    return float(np.mean([simulate(setting, how, seed).tv for seed in range(runs)]))


# ---------------------------------------------------------------------- noise
@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 3.0, 40.0])
def test_discrete_laplace_noise_is_covered(scale):
    """E|Z| <= s, E Z^2 <= 2 s^2, Var Z^2 <= 20 s^4 + 2 s^2, and |Z| <= Exp(s) + 1/2 in law."""
    z = np.arange(0, 60 * math.ceil(scale) + 60)
    mass = np.exp(-z / scale) * np.where(z == 0, 1, 2)
    mass /= mass.sum()
    mean, square, fourth = (float((mass * z.astype(float) ** p).sum()) for p in (1, 2, 4))
    assert mean <= scale
    assert square <= 2 * scale**2
    assert fourth - square**2 <= 20 * scale**4 + 2 * scale**2
    at_least = mass[::-1].cumsum()[::-1]  # P(|Z| >= z)
    exponential = np.exp(-np.maximum(0.0, z - 0.5) / scale)
    assert (at_least <= exponential * (1 + 1e-9) + 1e-300).all()


# ---------------------------------------------------------------------- upper bounds
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("degree, values", [(0, 2), (1, 2), (3, 2), (1, 3)])
def test_the_network_bounds_hold(how, relation, degree, values):
    """Mean of 8 runs below the bound on the mean, and every run below the one of confidence 95 %:
    were that bound met with equality, 3 or more of 8 would exceed it in under 0.6 % of cases."""
    setting = with_joints_of(
        Setting(3000, 5, degree, epsilon=1.0, relation=relation, values=values)
    )
    found = [simulate(setting, how, seed) for seed in range(8)]
    bound = network_bound(setting, how, failure=0.05)
    assert 0 < np.mean([f.tv for f in found]) <= bound.expected_tv
    assert 0 < np.mean([f.l2 for f in found]) <= bound.expected_l2
    assert sum(f.tv > bound.tv for f in found) < 3
    assert sum(f.l2 > bound.l2 for f in found) < 3
    assert bound.expected_tv < 1


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_full_domain_bounds_hold(how, relation):
    setting = Setting(3000, 6, 0, epsilon=0.5, relation=relation)
    found = [simulate_full_domain(setting, how, seed) for seed in range(8)]
    bound = full_domain_bound(setting, how)
    assert 0 < np.mean([f.tv for f in found]) <= bound.expected_tv
    assert 0 < np.mean([f.l2 for f in found]) <= bound.expected_l2
    assert sum(f.tv > bound.tv for f in found) < 3
    assert sum(f.l2 > bound.l2 for f in found) < 3


def test_where_noise_swamps_the_rows_the_bound_says_nothing():
    bound = network_bound(Setting(10, 8, 3, 0.1), "normalise")
    assert (bound.expected_tv, bound.tv, bound.informative) == (1.0, 1.0, False)
    assert bound.expected_l2 == pytest.approx(math.sqrt(2))
    assert network_bound(Setting(round(bound.rows_for_tenth), 8, 3, 0.1), "normalise").expected_tv
    enough = replace(Setting(10, 8, 3, 0.1), rows=round(bound.rows_for_tenth))
    assert network_bound(enough, "normalise").expected_tv == pytest.approx(0.1)


def test_the_bounds_have_the_published_rates():
    """Of the mean: 1/(n epsilon), 2^k, d^2, twice as much for replace-one; project is smaller by
    sqrt(2); the full domain grows with 2^d."""

    def tv(how="normalise", **changes):
        return network_bound(replace(BASE, **changes), how).expected_tv

    assert tv() == pytest.approx(4 * 2 * 36 / 50_000)
    assert tv(rows=100_000) == tv(epsilon=2.0) == pytest.approx(tv() / 2)
    assert tv(degree=3) == pytest.approx(4 * tv())
    assert tv(attributes=12) == pytest.approx(4 * tv())
    assert tv(relation="replace_one") == pytest.approx(2 * tv())
    assert tv("project") == pytest.approx(tv() / math.sqrt(2))
    whole = [full_domain_bound(replace(BASE, attributes=d), "project").expected_tv for d in (6, 8)]
    assert whole[1] == pytest.approx(4 * whole[0])


@pytest.mark.parametrize("how", WAYS)
def test_the_measured_distance_has_these_rates(how):
    """In proportion to 1/n and 1/epsilon within a quarter; it grows with k and d, by no more than
    the bound does."""
    base = mean_tv(BASE, how, 16)
    assert mean_tv(replace(BASE, rows=200_000), how, 16) == pytest.approx(base / 4, rel=0.25)
    assert mean_tv(replace(BASE, epsilon=4.0), how, 16) == pytest.approx(base / 4, rel=0.25)
    twice = mean_tv(replace(BASE, relation="replace_one"), how, 16)
    assert twice == pytest.approx(2 * base, rel=0.25)
    assert base < mean_tv(replace(BASE, degree=3), how, 16) < 4 * 1.2 * base
    assert base < mean_tv(replace(BASE, attributes=9), how, 16) < (9 / 6) ** 2 * 1.5 * base


def test_rows_from_a_population_add_no_more_than_the_bound():
    setting = with_joints_of(replace(BASE, rows=2000))
    network = network_of(setting)
    many = random_raw(replace(setting, rows=10**8), np.random.default_rng(0))
    law = many.counts / many.counts.sum()
    generator = np.random.default_rng(1)
    distances = []
    for _ in range(8):
        drawn = generator.multinomial(setting.rows, law.ravel()).reshape(law.shape)
        exact = [_fitted(t, network, many.domain) for t in (law * 1e8, drawn.astype(float))]
        distances.append(np.abs(exact[0] - exact[1]).sum() / 2)
    assert 0 < np.mean(distances) <= sampling_distance(setting) < 1


def _fitted(counts, network, domain):
    """The network fitted to counts without noise, from the definition."""
    law = np.ones(counts.shape)
    axes = range(counts.ndim)
    for node in network:
        others = tuple(a for a in axes if a not in node.family)
        joint = counts.sum(axis=others, keepdims=True)
        law = law * joint / np.maximum(joint.sum(axis=node.attribute, keepdims=True), 1e-300)
    return law


@pytest.mark.parametrize("how", WAYS)
def test_a_seed_repeats_a_simulation(how):
    assert simulate(BASE, how, 3).tv == simulate(BASE, how, 3).tv != simulate(BASE, how, 4).tv


def test_a_simulation_that_is_too_large_is_refused():
    with pytest.raises(SizeError, match="at most"):
        simulate(Setting(1000, 30, 1, 1.0), "project")


# ---------------------------------------------------------------------- lower bound
@pytest.mark.parametrize("letters, blocks, differing", [(2, 5, 3), (2, 7, 3), (3, 4, 3), (4, 3, 2)])
def test_there_are_as_many_words_as_the_packing_counts(letters, blocks, differing):
    """Greedily chosen words at distance r or more are at least q^h / V."""
    words: list[tuple[int, ...]] = []
    for word in itertools.product(range(letters), repeat=blocks):
        if all(sum(a != b for a, b in zip(word, w, strict=True)) >= differing for w in words):
            words.append(word)
    volume = sum(math.comb(blocks, i) * (letters - 1) ** i for i in range(differing))
    assert len(words) >= letters**blocks / volume


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("degree, epsilon", [(3, 0.05), (5, 0.2), (7, 1.0)])
def test_the_lower_bound_is_what_its_packing_gives(relation, degree, epsilon):
    setting = Setting(20_000, 10, degree, epsilon, relation)
    found = lower_bound(setting)
    h, q, r, s = found.blocks, found.letters, found.differing, found.moved
    assert h * q <= setting.cells and s * h <= setting.rows
    volume = sum(math.comb(h, i) * (q - 1) ** i for i in range(r))
    cost = epsilon * s * h * (1 if relation == "replace_one" else 2)
    chance = 1 - math.exp(cost) * volume / q**h
    assert found.expected_tv == pytest.approx(chance * r * s / (2 * setting.rows))
    assert 0 < found.expected_tv < network_bound(setting, "project").expected_tv


def test_the_lower_bound_grows_with_the_cells_and_falls_with_the_budget():
    """Omega(2^k / (n epsilon)): between constants times the rate, over a range of settings."""
    rates = []
    for degree, epsilon, rows in itertools.product((6, 9, 12), (0.01, 0.1), (10**6, 10**7)):
        bound = lower_bound(Setting(rows, 14, degree, epsilon, "replace_one"))
        rates.append(bound.expected_tv * rows * epsilon / 2**degree)
    assert 0.01 < min(rates) and max(rates) < 3 * min(rates)


@pytest.mark.parametrize("how", WAYS)
def test_no_table_of_the_packing_is_released_closer_than_the_lower_bound(how):
    """The histogram of k + 1 attributes, an epsilon-DP method, on tables of the packing: the bound
    is on the worst of all words, so the mean over random words may be smaller, but is not."""
    setting = Setting(5000, 6, 5, 0.1, "replace_one")
    found = lower_bound(setting)
    generator = np.random.default_rng(0)
    domain = Domain(tuple("abcdef"), (2,) * 6)
    distances = []
    for seed in range(20):
        counts = np.zeros(64, dtype=np.int64)
        letters = generator.integers(found.letters, size=found.blocks)
        counts[np.arange(found.blocks) * found.letters + letters] = found.moved
        counts[-1] += setting.rows - counts.sum()
        raw = Raw(domain, counts.reshape(domain.sizes))
        curator = Curator(raw, Ledger(0.1, 0.0, "replace_one"), noise_source(seed))
        (noisy,) = curator.measure_laplace("all", [tuple(range(6))], [0.1])
        shares = normalised(noisy.counts) if how == "normalise" else fractions(noisy.counts, 5000.0)
        distances.append(np.abs(shares - raw.counts / 5000).sum() / 2)
    assert np.mean(distances) > found.expected_tv > 0


# ---------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    "changes, message",
    [
        ({"rows": 0}, "rows"),
        ({"degree": 6}, "degree is 6"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"relation": "both"}, "relation"),
        ({"values": 1}, "values"),
        ({"joints": 0}, "joints"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        replace(BASE, **changes)


def test_other_ways_and_confidences_are_refused():
    with pytest.raises(InputError, match="post_processing"):
        network_bound(BASE, "clip")
    with pytest.raises(InputError, match="failure"):
        full_domain_bound(BASE, "project", failure=0.0)
