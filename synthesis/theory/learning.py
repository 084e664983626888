"""What a model loses by being trained on synthetic rows: a bound, and the measured loss.

Labels y are +1 or -1, features x have norm at most X, predictors are x -> <theta, x> with norm of
theta at most Lambda, and a margin is u = y <theta, x>, so |u| <= r = Lambda X.  R(theta) is the
mean loss under the raw distribution P.  Both predictors minimise mean loss + lambda/2 |theta|^2:

    theta      over the raw distribution P,
    theta_syn  over n_syn rows drawn independently from the synthetic distribution Q.

With B the largest loss, L its Lipschitz constant in u, and probability at least 1 - beta,

    |R(theta_syn) - R(theta)|  <=  2 B TV(P, Q)                               distribution
                                + 2 L Lambda X / sqrt(n_syn)                  rademacher
                                + 2 B sqrt(log(2 / beta) / (2 n_syn))         deviation
                                + lambda Lambda^2 / 2                         regularisation.

=========  ==================  ==============  =============
loss       of a margin u       L               B
=========  ==================  ==============  =============
hinge      max(0, 1 - u)       1               1 + r
logistic   log(1 + exp(-u))    1               log(1 + e^r)
squared    (1 - u)^2           2 (1 + r)       (1 + r)^2
=========  ==================  ==============  =============

*Privacy.* Functions of what they are given; ``gap`` compares with raw data and is not private.

Reference: Li, Wang, Cheng (2023), Theorem 4.4, whose constants were not at hand; these are ours
(``docs/theory.md``, section 6).  R is a mean there, too, although its display has a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.reference import cvxpy, solve
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.methods import unknown
from saddlesynth.synthesis.parameters import check_count, check_number

Loss = Literal["hinge", "logistic", "squared"]
Array = NDArray[np.float64]
ACCURACY = 1e-6  # of mean loss; kinked losses do not always allow the solver's own 1e-8


@dataclass(frozen=True)
class Sample:
    """A distribution on labelled rows: features (n, p), labels (n,) of +1 and -1, weights (n,)."""

    features: Array
    labels: Array
    weights: Array


@dataclass(frozen=True)
class Learner:
    """Regularised empirical risk minimisation over a ball.

    loss : "hinge", "logistic" or "squared";  radius : Lambda;  regularisation : lambda

    Raises
    ------
    InputError
        The loss is unknown, or a number is out of range.
    """

    loss: Loss
    radius: float = 1.0
    regularisation: float = 0.0

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise InputError(unknown("loss", self.loss, list(get_args(Loss))))
        for name in ("radius", "regularisation"):
            check_number(name, getattr(self, name))
        if self.radius <= 0 or self.regularisation < 0:
            raise InputError(
                f"radius is {self.radius!r} and regularisation {self.regularisation!r}; the first "
                "must be above 0, the second at least 0"
            )

    def lipschitz(self, norm: float) -> float:
        """L, for features of this norm at most."""
        return 2 * (1 + self.radius * norm) if self.loss == "squared" else 1.0

    def largest(self, norm: float) -> float:
        """B, for features of this norm at most."""
        return float(self._of(np.array([-self.radius * norm]))[0])

    def _of(self, margins: Array) -> Array:
        if self.loss == "hinge":
            return np.maximum(0.0, 1 - margins)
        if self.loss == "logistic":
            return np.logaddexp(0.0, -margins)
        return np.asarray((1 - margins) ** 2)

    def risk(self, theta: Array, sample: Sample) -> float:
        """Mean loss."""
        losses = self._of(sample.labels * (sample.features @ theta))
        return float(sample.weights @ losses / sample.weights.sum())

    def train(self, sample: Sample) -> Array:
        """The minimiser of mean loss + lambda/2 |theta|^2 with norm at most the radius; (p,).

        Raises
        ------
        ConvexSolverError
            The solver stopped early.
        """
        cp = cvxpy()
        used = sample.weights > 0
        signed = sample.labels[used, None] * sample.features[used]
        weights = sample.weights[used] / sample.weights[used].sum()
        theta = cp.Variable(signed.shape[1])
        margins = signed @ theta
        losses = {
            "hinge": lambda: cp.pos(1 - margins),
            "logistic": lambda: cp.logistic(-margins),
            "squared": lambda: cp.square(1 - margins),
        }[self.loss]()
        objective = weights @ losses + self.regularisation / 2 * cp.sum_squares(theta)
        problem = cp.Problem(cp.Minimize(objective), [cp.norm(theta) <= self.radius])
        solve(problem, "CLARABEL", tol_gap_abs=ACCURACY, tol_gap_rel=ACCURACY, tol_feas=ACCURACY)
        return np.asarray(theta.value, dtype=np.float64)


def gap(learner: Learner, raw: Sample, synthetic: Sample) -> float:
    """|R(theta_syn) - R(theta)|, both risks under the raw distribution.  Not private.

    >>> raw = Sample(np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), np.array([0.9, 0.1]))
    >>> other = Sample(raw.features, raw.labels, np.array([0.1, 0.9]))
    >>> round(gap(Learner("hinge"), raw, other), 3)  # 1 + 0.8 against 1 - 0.8
    1.6
    """
    best = learner.risk(learner.train(raw), raw)
    return abs(learner.risk(learner.train(synthetic), raw) - best)


@dataclass(frozen=True)
class UtilityBound:
    """The four parts of the bound, and what they add up to."""

    distribution: float
    rademacher: float
    deviation: float
    regularisation: float

    @property
    def total(self) -> float:
        """Bound on |R(theta_syn) - R(theta)|."""
        return self.distribution + self.rademacher + self.deviation + self.regularisation


def utility_bound(
    learner: Learner,
    distance: float,
    synthetic_rows: int | None = None,
    norm: float = 1.0,
    failure: float = 0.05,
) -> UtilityBound:
    """The bound, with probability at least 1 - ``failure`` over the synthetic rows.

    distance : (a bound on) the total variation between raw and synthetic distribution
    synthetic_rows : n_syn; None for training on the synthetic distribution itself
    norm : X, of the features

    >>> utility_bound(Learner("hinge"), distance=0.1).total
    0.4

    Raises
    ------
    InputError
        A number is out of range.
    """
    for name, value, least, most in (
        ("distance", distance, 0.0, 1.0),
        ("norm", norm, 0.0, math.inf),
        ("failure", failure, 0.0, 1.0),
    ):
        check_number(name, value)
        if not least <= value <= most:
            raise InputError(f"{name} is {value!r}; it must lie between {least:g} and {most:g}")
    largest = learner.largest(norm)
    rademacher = deviation = 0.0
    if synthetic_rows is not None:
        check_count("synthetic_rows", synthetic_rows)
        if failure == 0:
            raise InputError("failure is 0; with finitely many synthetic rows it must be above 0")
        rademacher = 2 * learner.lipschitz(norm) * learner.radius * norm / math.sqrt(synthetic_rows)
        deviation = 2 * largest * math.sqrt(math.log(2 / failure) / (2 * synthetic_rows))
    return UtilityBound(
        2 * largest * distance,
        rademacher,
        deviation,
        learner.regularisation * learner.radius**2 / 2,
    )
