"""Two bits: the polytope of their marginals, and noisy marginals projected onto it, step by step.

A distribution on two bits has three free numbers: how often the left bit is 1, the right one, both.
All distributions together are a tetrahedron whose corners are the four records.  Noisy marginals
contradict each other and may ask for a point outside; ``column_generation`` finds the closest
distribution, one corner at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.noiseless import Noiseless
from saddlesynth.games.play import SPENT, Allowance
from saddlesynth.games.privacy.budget import Ledger
from saddlesynth.games.privacy.curator import Curator, Measurement
from saddlesynth.games.privacy.mechanisms import noise_source, streams
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.oracles.exact import Exact
from saddlesynth.oracles.queries import marginal_counts
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.noisy import rows_estimate
from saddlesynth.synthesis.parameters import RandomState
from saddlesynth.synthesis.projection.entropic import Target
from saddlesynth.synthesis.projection.exact import certificate, column_generation
from saddlesynth.synthesis.projection.fit import target_of
from saddlesynth.synthesis.projection.pool import Floats, Pool
from saddlesynth.synthesis.projection.pricing import Price, Pricer
from saddlesynth.synthesis.query_release.method import measure

DOMAIN = Domain(("left", "right"), (2, 2))
RECORDS = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
COUNTS = (4, 0, 1, 3)  # nobody has right without left: the data lie on a face of the polytope
MARGINALS = ((0,), (1,), (0, 1))


@dataclass(frozen=True, eq=False)
class Step:
    """One step of the projection.

    ``weights`` (4,) is the distribution now, ``prices`` (4,) what one more unit of each record
    would add to the objective, ``entering`` the record that comes next (None: none helps), ``gap``
    a proven bound on what is left to gain.
    """

    weights: Floats
    objective: float
    prices: Floats
    gap: float
    entering: int | None


@dataclass(frozen=True, eq=False)
class TwoBits:
    """The whole lesson: data, measurements, the free optimum, and the steps.

    ``free`` (4,) fits best of all "distributions" that may have negative shares; it is where the
    projection would go if there were no polytope.
    """

    rows: int
    epsilon: float
    delta: float
    noise: bool
    spent: float
    shares: Floats
    measured: tuple[Measurement, ...]
    target: Target
    free: Floats
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class _OneAtATime(Pricer):
    """Prices all four records and hands over the best alone, so that every step can be seen."""

    def search(self, gradient: Floats, generator: np.random.Generator) -> Price:
        scores = Pool(self.cells, RECORDS).scores(gradient)
        best = int(np.argmin(scores))
        return Price(RECORDS[best : best + 1], float(scores[best]), None)


@dataclass(frozen=True, eq=False)
class _Bits:
    """Public records in memory, as a curator wants them."""

    records: NDArray[np.intp]
    domain: Domain = DOMAIN

    def count(self, marginals: Sequence[Attributes]) -> list[NDArray[np.int64]]:
        return marginal_counts(self.domain, marginals, self.records)


def two_bits(
    *,
    copies: int = 10,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    seed: RandomState = None,
    noise: bool = True,
) -> TwoBits:
    """Measure two bits of ``copies`` times eight public records, and project.

    Raises ``InputError`` on a budget or number of copies that is none.

    >>> lesson = two_bits(seed=0)
    >>> bool(lesson.steps[-1].gap < 1e-6)
    True
    """
    if copies < 1:
        raise InputError(f"copies is {copies}; it must be at least 1")
    try:
        ledger = Ledger(epsilon, delta)
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from error
    table = _Bits(np.repeat(RECORDS, np.asarray(COUNTS) * copies, axis=0))
    curator = Curator(table, ledger, noise_source(seed)) if noise else Noiseless(table, public=True)
    measured = measure(curator, "measure", MARGINALS, Allowance.of(ledger).part(SPENT))
    target = target_of(DOMAIN, measured, rows_estimate(measured))
    return TwoBits(
        len(table.records),
        epsilon,
        delta,
        noise,
        curator.ledger.spent_epsilon,
        np.asarray(COUNTS) / sum(COUNTS),
        tuple(measured),
        target,
        _free_optimum(target),
        tuple(_steps(target, streams(seed)[1])),
    )


def _steps(target: Target, generator: np.random.Generator) -> Iterator[Step]:
    """The projection, looked at after every step."""
    pricer = _OneAtATime(target.cells, oracle=Exact())
    corners = Pool(target.cells, RECORDS)
    for fitted in column_generation(target, pricer, generator):
        weights = np.zeros(len(RECORDS))
        weights[fitted.records @ (2, 1)] = fitted.weights
        marginals = corners.marginals(weights)
        objective, gap, _ = certificate(target, marginals, pricer)
        assert gap is not None  # listing all four records proves a bound
        gradient = (marginals - target.fractions) / target.sigmas**2
        prices = corners.scores(gradient) - float(gradient @ marginals)
        best = int(np.argmin(prices))
        entering = best if prices[best] < 0 and fitted.gap is None else None
        yield Step(weights, objective, prices, gap, entering)


def _free_optimum(target: Target) -> Floats:
    """The minimiser of the objective over all weights that sum to 1, negative ones too."""
    rows = np.array(
        [Pool(target.cells, RECORDS[i : i + 1]).marginals(np.ones(1)) for i in range(4)]
    )
    scaled = rows / target.sigmas  # (4, cells)
    system = np.ones((5, 5))
    system[:4, :4], system[4, 4] = scaled @ scaled.T, 0.0
    right = np.append(scaled @ (target.fractions / target.sigmas), 1.0)
    return np.asarray(np.linalg.solve(system, right)[:4])


def point(weights: Floats) -> Floats:
    """Where a distribution on the four records lies: P(left=1), P(right=1), P(both=1).

    >>> point(np.array([0.5, 0, 0.125, 0.375]))
    array([0.5  , 0.375, 0.375])
    """
    return np.asarray(weights @ np.column_stack([RECORDS, RECORDS.prod(axis=1)]))


# ---------------------------------------------------------------------- in words
def record_name(record: int) -> str:
    """``"10"``: left is 1, right is 0."""
    return "".join(map(str, RECORDS[record].tolist()))


def opening(lesson: TwoBits) -> str:
    """What was measured, before the first step."""
    tables = [
        f"  {' x '.join(DOMAIN.names[a] for a in m.attributes):<13} "
        + "  ".join(f"{count:6.1f}" for count in m.counts.ravel())
        for m in lesson.measured
    ]
    free = ", ".join(f"{record_name(i)} {share:+.3f}" for i, share in enumerate(lesson.free))
    outside = "outside the polytope" if lesson.free.min() < 0 else "inside the polytope, by luck"
    noise = f"noise of ±{lesson.measured[0].sigma:.1f}" if lesson.noise else "no noise: not private"
    return "\n".join(
        [
            f"two-bits: {lesson.rows} records with two bits, left and right.",
            f"Measured, in records ({noise}):",
            *tables,
            "The tables contradict each other.  What fits them best if shares may be negative:",
            f"  {free}   ({outside})",
            "Now the same over distributions: mixes of the four records, the polytope's corners.",
        ]
    )


def step_words(lesson: TwoBits, number: int) -> str:
    """One step, from 1."""
    step = lesson.steps[number - 1]
    held = ", ".join(
        f"{record_name(i)} {share:.1%}" for i, share in enumerate(step.weights) if share > 0
    )
    if number == 1:
        came = f"start at the corner that the measurements like best, {held}"
    else:
        entered = lesson.steps[number - 2].entering
        assert entered is not None  # else there would have been no further step
        came = f"take in {record_name(entered)}; the best mix is now {held}"
    proof = f"no distribution is better by more than {step.gap:.3g}"
    if step.entering is None:
        proof += ": no record has a negative price, so this is the projection"
    else:
        price = step.prices[step.entering]
        proof += f"; record {record_name(step.entering)} is priced at {price:+.3g}, the least"
    return f"{came}.\nMisfit {step.objective:.4g}; {proof}."


def closing(lesson: TwoBits) -> str:
    """What came out, beside the data."""
    last = lesson.steps[-1].weights
    rows = [
        f"  {record_name(i)}   data {lesson.shares[i]:.3f}   projected {last[i]:.3f}"
        for i in range(len(RECORDS))
    ]
    spent = f"spent epsilon {lesson.spent:.6g} of {lesson.epsilon:g}, delta {lesson.delta:g}"
    return "\n".join([f"After {len(lesson.steps)} steps", *rows, f"  {spent}"])
