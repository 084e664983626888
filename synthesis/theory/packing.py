"""A lower bound: no epsilon-DP generator is nearer to every table than this.

Take k + 1 attributes that depend on each other in any way, which a network of in-degree k allows;
M = v^(k+1) cells.  Divide q h <= M cells into h blocks of q.  For a word c of h letters out of q,
the table D_c has s rows in cell c_j of each block j, and its other n - s h rows in one fixed cell.

* Two words that differ in at least r letters give tables at total variation r s / n or more.  By
  Gilbert's and Varshamov's argument there are L >= q^h / V words at such distances from each other,
  V = sum over i < r of C(h, i) (q - 1)^i.
* Any two of the tables differ by at most s h replaced rows, that is 2 s h added or removed ones:
  by group privacy probabilities differ by a factor of at most exp(x), x = epsilon s h (2 s h).
* The balls of radius r s / (2 n) around the L distributions are disjoint.  If the synthetic
  distribution were inside the right ball with probability above p for every word, then, seen from
  one table, the disjoint balls had probability L p exp(-x) <= 1 in sum.

So for some table it is outside with probability at least 1 - exp(x) / L, and

    E TV  >=  (1 - exp(x) / L) r s / (2 n),

for every q, h, r, s: the largest is taken.  With q fixed and r, s h in proportion to M this is
Omega(v^(k+1) / (n epsilon)) as long as that is below a constant.

*Privacy.* Public inputs only.

Reference: Hardt and Talwar (2010), "On the Geometry of Differential Privacy", for packing.  Li,
Wang, Cheng (2023) state a lower bound, Theorem 5.1, whose dependence on d was not at hand; this one
is ours and does not grow with d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Relation
from saddlesynth.synthesis.theory.distance import Setting


@dataclass(frozen=True)
class LowerBound:
    """``expected_tv`` is what the mean total variation of some table is at least.

    blocks, letters, differing, moved : h, q, r, s of the packing that gives it; 0 if none does
    """

    expected_tv: float
    blocks: int = 0
    letters: int = 0
    differing: int = 0
    moved: int = 0


def lower_bound(setting: Setting) -> LowerBound:
    """The best packing found; for pure epsilon-DP, whatever the method.

    >>> bound = lower_bound(Setting(10**5, attributes=10, degree=5, epsilon=1.0))
    >>> 0 < bound.expected_tv < 64 / 1e5
    True
    """
    best = LowerBound(0.0)
    letters = setting.values
    while letters <= setting.cells:
        for blocks in sorted({max(1, setting.cells // letters >> j) for j in range(40)}):
            best = max(best, _best(setting, blocks, letters), key=lambda b: b.expected_tv)
        letters *= setting.values
    return best


def _best(setting: Setting, blocks: int, letters: int) -> LowerBound:
    """Over r and s: for given r the best s is near log L - log(1 + log L) over what s costs."""
    cost = setting.epsilon * blocks * (1 if setting.relation == Relation.REPLACE_ONE else 2)
    distances = _distances(blocks)
    words = blocks * math.log(letters) - _log_volumes(blocks, letters)[distances - 1]
    target = np.maximum(0.0, words - np.log1p(np.maximum(0.0, words))) / cost
    found = LowerBound(0.0)
    for rounding in (np.floor, np.ceil):
        moved = np.minimum(rounding(target), setting.rows // blocks)
        chance = -np.expm1(np.minimum(0.0, cost * moved - words))
        values = chance * distances * moved / (2 * setting.rows)
        i = int(np.argmax(values))
        if values[i] > found.expected_tv:
            found = LowerBound(float(values[i]), blocks, letters, int(distances[i]), int(moved[i]))
    return found


def _distances(blocks: int) -> NDArray[np.int64]:
    """r = 1 .. h, thinned where there are many."""
    return np.unique(np.round(np.linspace(1, blocks, min(blocks, 512))).astype(np.int64))


def _log_volumes(blocks: int, letters: int) -> NDArray[np.float64]:
    """log V for r = 1 .. h."""
    from scipy.special import gammaln

    i = np.arange(blocks)
    binomial = gammaln(blocks + 1) - gammaln(i + 1) - gammaln(blocks - i + 1)
    return np.asarray(np.logaddexp.accumulate(binomial + i * math.log(letters - 1)))
