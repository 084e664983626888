"""How to divide a budget over residuals so that a workload's answers vary least.

The residual on T, measured with rho_T, has noise of variance D_T^2 / (2 rho_T) a cell
(``games/privacy/residuals.py``), so a cell of the marginal on A has the variance

    Var_A = sum over T in A of V_AT D_T^2 / (2 rho_T).

``total``   minimise sum over A of weight_A cells(A) Var_A = sum over T of a_T / rho_T subject to
            sum of rho_T = rho.  By Cauchy and Schwarz rho_T is in proportion to sqrt(a_T).
``max``     minimise the largest weight_A Var_A: a convex program in rho, solved as in
            ``strategy.py`` (Gaussian noise, one candidate a residual); cvxpy agrees (test).

Under add/remove no other way of adding Gaussian noise to linear queries answers marginals with less
total variance.  Under replace-one each residual is charged for its own worst pair of rows, which no
single pair is for all of them, so a few per cent are left on the table.

Privacy.  Public inputs only.

Reference: Xiao, He, Zhang, Kifer (2023), "An Optimal and Scalable Matrix Mechanism for Noisy
Marginals under Convex Loss Functions" (ResidualPlanner).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saddlesynth.synthesis.baselines.lattice import shrinkage_matrix
from saddlesynth.synthesis.baselines.strategy import Objective, Workload, minimise


def residual_shares(
    workload: Workload, squared_sensitivities: Sequence[float], objective: Objective = "total"
) -> NDArray[np.float64]:
    """Share of rho of each of ``workload.parts``; they sum to 1.

    squared_sensitivities : D_T^2 of each part
    """
    from scipy.sparse import diags_array

    variance = shrinkage_matrix(workload.marginals, workload.parts, workload.domain)
    squares = np.asarray(squared_sensitivities, dtype=np.float64)
    needed = np.sqrt((variance.T @ workload.importance("total")) * squares)
    if objective == "total" or len(needed) < 2:
        return np.asarray(needed / needed.sum())
    information = diags_array(1 / squares).tocsr()
    start = np.sqrt(needed / needed.max())
    theta, _ = minimise(variance, information, workload.importance("max"), 2, "max", start)
    return np.asarray(theta**2 / (theta**2).sum())
