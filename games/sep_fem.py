"""sepFEM: FEM with the perturbation on a separator set, two-sided.

    input: as FEM, and a set of queries that separates any two records
    1  S = {}
    2  for t = 1 .. T:
    3      for j = 1 .. s:  sigma ~ Laplace(scale), one cost a separator query
    4                       x_tj = argmax_x sum_{q in S} q(x) - sum_i sigma_i sep_i(x)    oracle
    5 - 8  as FEM

A set of queries *separates* if any two different records differ on at least one of them.  For
tables of codes the queries "attribute = value" do, and sep_i(x) is an entry of the one-hot record;
so line 4 is FEM's oracle with Laplace costs in place of exponential ones, and the whole algorithm
is FEM with another law of noise.  That is what stands below.

=================  ====================  ==========================================
paper              here                  meaning
=================  ====================  ==========================================
sep                attribute = value     separator queries; their number is the domain's width
sigma              scale                 of the Laplace costs, ``multiple * sqrt(rounds)``
others             as in ``fem.py``
=================  ====================  ==========================================

**Privacy.**  As FEM: T eps0^2 / 8 in zCDP.

Why two-sided noise on few queries is better in theory: the leader's regret grows with
|sep|^(3/4) (Syrgkanis et al. 2016), which gives error of order d^(5/8) where FEM has d^(3/4).

Reference: Vietri, Tian, Bun, Steinke, Wu (2020), Algorithm 2; Syrgkanis, Krishnamurthy, Schapire
(2016), "Efficient algorithms for adversarial contextual learning".
"""

from __future__ import annotations

from dataclasses import dataclass

from saddlesynth.games.fem import FEM, play
from saddlesynth.games.players import Perturbation

__all__ = ["SepFEM", "play"]


@dataclass(frozen=True, eq=False)
class SepFEM(FEM):
    """Parameters of one play; as ``FEM``, without a start (Laplace costs have no such law)."""

    perturbation = Perturbation.LAPLACE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start is not None:
            raise ValueError("start needs exponential costs; sepFEM's are Laplace: use FEM")
