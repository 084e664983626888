"""The curator of columns whose values are not known yet: the second half of the one door.

Before a table has a domain its columns can still be asked, at a charge: how many cells look like a
number, a date, a text (``classes``), how many numbers lie between given edges (``histogram``), and
which values are frequent (``values``).  As everywhere, a method charges before it draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.budget import Cost, Ledger
from saddlesynth.games.privacy.calibrate import gaussian_sigma
from saddlesynth.games.privacy.mechanisms import Noise, draw_together, key_threshold
from saddlesynth.games.privacy.sensitivity import keys, largest, squared_l2


class PrivateColumns(Protocol):
    """Raw private columns, wherever they live.

    Each method reads the rows once, for all columns asked.  In each table a row adds to one cell at
    most, chosen by its own content and public arguments alone.
    """

    def classes(self, columns: Sequence[str]) -> list[NDArray[np.int64]]:
        """How many cells of each column are of each format, in a public list of formats."""
        ...

    def histograms(self, edges: Mapping[str, NDArray[np.float64]]) -> list[NDArray[np.int64]]:
        """How many numbers lie in [edges[i], edges[i+1]); others count nowhere."""
        ...

    def value_counts(self, columns: Sequence[str]) -> list[Mapping[str, int]]:
        """How often each value occurs, as text; missing cells count nowhere."""
        ...


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy counts of a public list of cells, and the standard deviation of each."""

    counts: NDArray[np.float64]
    sigma: float


@dataclass(frozen=True)
class FrequentValues:
    """Values that were found, in alphabetical order, with noisy counts.

    A value with fewer than about ``threshold`` rows is not found.
    """

    counts: dict[str, float]
    sigma: float
    threshold: float


class ColumnCurator:
    """Answers questions about raw private columns, with noise, against a ledger."""

    def __init__(self, columns: PrivateColumns, ledger: Ledger, noise: Noise) -> None:
        self._columns, self._noise = columns, noise
        self.ledger = ledger

    def classes(self, step: str, rhos: Mapping[str, float]) -> dict[str, NoisyCounts]:
        """Noisy number of cells of each format, for each column.

        Privacy.  ``rhos[column]``-zCDP each: a row is in one cell of the table, so it is a marginal
        (``sensitivity.py``), with discrete Gaussian noise.  One ledger line a column.
        """
        sigmas = self._charge(step, rhos)
        return self._noisy(list(rhos), self._columns.classes(list(rhos)), sigmas)

    def histogram(
        self, step: str, edges: Mapping[str, NDArray[np.float64]], rhos: Mapping[str, float]
    ) -> dict[str, NoisyCounts]:
        """Noisy number of numbers in each [edges[i], edges[i+1]), for each column.

        edges : rising, public or made from what was released before.

        Privacy.  As ``classes``: a row is in one interval at most.
        """
        sigmas = self._charge(step, {column: rhos[column] for column in edges})
        return self._noisy(list(edges), self._columns.histograms(edges), sigmas)

    def values(
        self, step: str, rhos: Mapping[str, float], deltas: Mapping[str, float]
    ) -> dict[str, FrequentValues]:
        """Values that occur often, with their noisy counts, for each column (partition selection).

        Counts get discrete Gaussian noise, and only those that reach a threshold are released.
        To spare the noise on values that are all but unique, counts are first lowered by a public
        whole number, a tenth of sigma, and dropped if nothing is left.

        Privacy.  ``rhos[column]``-approximate zCDP with failure ``deltas[column]``.  Lowering,
        c -> max(c - l, 0), moves no two counts apart, so sensitivities are those of a marginal.
        Values in both neighbours get Gaussian noise (rho).  At most k (2 k) values are in one of
        them only, with a lowered count of at most k; the threshold is such that any of these is
        released with probability delta.  One ledger line a column.

        Reference: Rogers (2023), "A Unifying Privacy Analysis Framework for Unknown Domain
        Algorithms in Differential Privacy".
        """
        sigmas = self._charge(step, rhos, deltas, "discrete Gaussian, thresholded")
        found = {}
        for column, exact in zip(rhos, self._columns.value_counts(list(rhos)), strict=True):
            sigma = sigmas[column]
            lower = math.floor(sigma / 10)
            kept = sorted(value for value, count in exact.items() if count > lower)
            counts = np.array([exact[value] - lower for value in kept], dtype=np.int64)
            threshold = key_threshold(
                sigma, deltas[column], keys(self.ledger), largest(self.ledger)
            )
            noisy = self._noise.gaussian_threshold(counts, sigma, threshold)
            found[column] = FrequentValues(
                {kept[i]: float(count + lower) for i, count in sorted(noisy.items())},
                sigma,
                float(threshold + lower),
            )
        return found

    def _charge(
        self,
        step: str,
        rhos: Mapping[str, float],
        deltas: Mapping[str, float] | None = None,
        mechanism: str = "discrete Gaussian",
    ) -> dict[str, float]:
        """One line a column; the standard deviation of the noise of each."""
        squared = squared_l2(self.ledger)
        sigmas = {column: gaussian_sigma(squared, rho) for column, rho in rhos.items()}
        self.ledger.charge_all(
            [
                Cost(
                    f"{step}: {column}",
                    mechanism,
                    math.sqrt(squared),
                    sigmas[column],
                    rho,
                    delta=deltas[column] if deltas else 0.0,
                )
                for column, rho in rhos.items()
            ]
        )
        return sigmas

    def _noisy(
        self, columns: list[str], tables: list[NDArray[np.int64]], sigmas: Mapping[str, float]
    ) -> dict[str, NoisyCounts]:
        scales = [sigmas[column] for column in columns]
        noisy = draw_together(self._noise.discrete_gaussian, tables, scales)
        return {
            column: NoisyCounts(table.astype(np.float64), sigmas[column])
            for column, table in zip(columns, noisy, strict=True)
        }
