"""Upper bounds on the distance between raw and synthetic distribution, for pure epsilon-DP.

Setting: n rows; a Bayesian network of in-degree k, public or given; T joints of m cells each (with
v values an attribute m = v^(k+1)), every count with Laplace noise of scale S T / epsilon, where S
is 1 (add/remove, n public) or 2 (replace-one).  As fractions of the rows: scale b = S T / (n
epsilon).  The synthetic law is the product of conditionals of the processed joints; P is the
network fitted to the raw data without noise (the raw distribution itself, if that factorises).
With Z_t for the noise of joint t,

    TV  <=  sum over t of || processed_t - exact_t ||_1
    normalise:  ... <= 2 ||Z_t||_1           E TV <= 2 T m b  =  2 S m T^2 / (n epsilon)
    project:    ... <= sqrt(m) ||Z_t||_2     E TV <= sqrt(2) T m b
    full domain of M cells, one table, b = S / (n epsilon), TV = half the L1 distance:
                normalise E TV <= M b,  project E TV <= M b / sqrt(2),  L2 <= ||Z||_2
    always      L2 <= sqrt(2) TV,  TV <= 1.

T = d is the published setting; T = d - k where the first k attributes come from the joint of the
next one.  With confidence: ||Z||_1 is a Gamma variable; ||Z||_2^2 is bounded by Cantelli's
inequality.  Discrete Laplace noise, which we draw, is covered (``docs/theory.md``, section 2).

*Privacy.* Public inputs only.

Reference: Li, Wang, Cheng (2023), "Statistical Theory of Differentially Private Marginal-based Data
Synthesis Algorithms", ICLR.  Its constants were not at hand; these are ours, with the same rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.parameters import check_count, check_number

How = Literal["normalise", "project"]


@dataclass(frozen=True)
class Setting:
    """What the bounds depend on.

    Parameters
    ----------
    rows, attributes, degree
        n, d and k; every attribute has at most k parents.
    epsilon, relation
        The budget of all joints together.
    values
        Values of each attribute.
    joints
        T, the number of joints measured; default d.

    >>> Setting(rows=1000, attributes=4, degree=1, epsilon=0.5).scale
    0.008

    Raises
    ------
    InputError
        A number is not what it should be.
    """

    rows: int
    attributes: int
    degree: int
    epsilon: float
    relation: str = "add_remove"
    values: int = 2
    joints: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("rows", 1), ("attributes", 1), ("degree", 0), ("values", 2)):
            check_count(name, getattr(self, name), least)
        if self.degree >= self.attributes:
            raise InputError(
                f"degree is {self.degree}; with {self.attributes} attributes it is at most "
                f"{self.attributes - 1}"
            )
        check_number("epsilon", self.epsilon)
        if self.epsilon <= 0:
            raise InputError(f"epsilon is {self.epsilon!r}; it must be finite and above 0")
        if self.relation not in tuple(Relation):
            raise InputError(
                f"relation is {self.relation!r}; it must be one of {[str(r) for r in Relation]}"
            )
        if self.joints is not None:
            check_count("joints", self.joints)

    @property
    def cells(self) -> int:
        """m, of each joint."""
        return int(self.values ** (self.degree + 1))

    @property
    def domain_cells(self) -> int:
        """M, of the whole domain."""
        return int(self.values**self.attributes)

    @property
    def measured(self) -> int:
        """T."""
        return self.attributes if self.joints is None else self.joints

    @property
    def sensitivity(self) -> int:
        """S: L1 sensitivity of a joint."""
        return 2 if self.relation == Relation.REPLACE_ONE else 1

    @property
    def scale(self) -> float:
        """b: Laplace scale of the joints, as a fraction of the rows."""
        return self.sensitivity * self.measured / (self.rows * self.epsilon)


@dataclass(frozen=True)
class Bound:
    """Upper bounds on total variation (at most 1) and L2 distance (at most sqrt(2)).

    expected_tv, expected_l2 : of the mean
    tv, l2 : with confidence 1 - failure
    informative : whether the bound on the mean total variation is below 1
    rows_for_tenth : how many rows make it 0.1
    """

    name: str
    expected_tv: float
    tv: float
    expected_l2: float
    l2: float
    informative: bool
    rows_for_tenth: float


def network_bound(setting: Setting, how: How, failure: float = 0.05) -> Bound:
    """Bound for PrivBayes on a given network, with one of the two ways to process its joints.

    >>> bound = network_bound(Setting(10**6, attributes=10, degree=2, epsilon=1.0), "normalise")
    >>> round(bound.expected_tv, 6)  # 4 * 2^2 * 10^2 / 10^6
    0.0016
    """
    _check(how, failure)
    t, m, b = setting.measured, setting.cells, setting.scale
    if how == "normalise":
        mean, likely = 2 * t * m * b, 2 * _l1(t * m, b, setting.rows, failure)
    else:
        mean = math.sqrt(2) * t * m * b
        # The sum of T norms is at most sqrt(T) times the norm of all together.
        likely = math.sqrt(t * m) * _l2(t * m, b, setting.rows, failure)
    return _bound(how, setting.rows, mean, likely)


def full_domain_bound(setting: Setting, how: How, failure: float = 0.05) -> Bound:
    """Bound for the Laplace histogram of the whole domain; degree and joints do not matter.

    >>> setting = Setting(10**6, attributes=10, degree=2, epsilon=1.0)
    >>> round(full_domain_bound(setting, "normalise").expected_tv, 6)  # 2^10 / 10^6
    0.001024
    """
    _check(how, failure)
    cells, b = setting.domain_cells, setting.sensitivity / (setting.rows * setting.epsilon)
    if how == "normalise":
        return _bound("full domain, " + how, setting.rows, cells * b,
                      _l1(cells, b, setting.rows, failure))  # fmt: skip
    norm = math.sqrt(2 * cells) * b
    likely = _l2(cells, b, setting.rows, failure)
    half = math.sqrt(cells) / 2
    return _bound("full domain, " + how, setting.rows, half * norm, half * likely, norm, likely)


def sampling_distance(setting: Setting) -> float:
    """Bound on E TV between the population's network and that of n rows drawn from it.

    E ||empirical - true||_1 <= sqrt(m / n) for a table of m cells; added up over the joints.

    >>> sampling_distance(Setting(80_000, attributes=10, degree=2, epsilon=1.0))
    0.1
    """
    return min(1.0, setting.measured * math.sqrt(setting.cells / setting.rows))


def _l1(cells: int, scale: float, rows: int, failure: float) -> float:
    """What sum |Z| over the cells exceeds with probability ``failure`` at most.

    A discrete |Z| (in counts) is at most an exponential variable plus 1/2, stochastically.
    """
    from scipy.stats import gamma

    return float(scale * gamma.isf(failure, cells) + cells / (2 * rows))


def _l2(cells: int, scale: float, rows: int, failure: float) -> float:
    """The same for the Euclidean norm, by Cantelli's inequality for the sum of squares.

    E Z^2 <= 2 b^2 and Var Z^2 <= 20 b^4 + 2 b^2 / n^2, with discrete noise too.
    """
    variance = 20 * scale**4 + 2 * scale**2 / rows**2
    spread = math.sqrt(cells * variance * (1 - failure) / failure)
    return math.sqrt(2 * cells * scale**2 + spread)


def _bound(
    name: str,
    rows: int,
    mean: float,
    likely: float,
    mean_l2: float = math.inf,
    likely_l2: float = math.inf,
) -> Bound:
    return Bound(
        name,
        min(1.0, mean),
        min(1.0, likely),
        math.sqrt(2) * min(1.0, mean, mean_l2 / math.sqrt(2)),
        math.sqrt(2) * min(1.0, likely, likely_l2 / math.sqrt(2)),
        mean < 1,
        rows * mean / 0.1,
    )


def _check(how: str, failure: float) -> None:
    if how not in ("normalise", "project"):
        raise InputError(f"post_processing is {how!r}; it must be 'normalise' or 'project'")
    check_number("failure", failure)
    if not 0 < failure < 1:
        raise InputError(f"failure is {failure!r}; it must lie strictly between 0 and 1")
