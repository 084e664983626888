"""Plots of a lesson, from exact figures of a public table.

Each draws on the axes it is given, or on a figure of its own, and returns the figure; none calls
``show``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from saddlesynth.games.payoff import PayoffMatrix
from saddlesynth.synthesis.lesson.lesson import Lesson
from saddlesynth.synthesis.report.theme import colour, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

SIZE = (6.4, 3.4)
NUMBERS = 200  # entries of a matrix up to which its numbers are written
CORNERS = np.array([[0.5, 0.75**0.5], [0.0, 0.0], [1.0, 0.0]])  # of the triangle of three records


def payoff_plot(lesson: Lesson, ax: Axes | None = None) -> Figure:
    """Payoff by round, its mean, and the bounds that both regrets put on the value."""
    numbers = [seen.round.number for seen in lesson.seen]
    figures = [seen.exact for seen in lesson.seen]
    low = [f.mean_payoff - f.data_regret for f in figures]
    high = [f.mean_payoff + f.query_regret for f in figures]
    with drawing():
        ax = _axes(ax)
        ax.fill_between(
            numbers, low, high, color=colour("violet"), alpha=0.22, lw=0, label="regret bounds"
        )
        payoffs = [f.payoff for f in figures]
        ax.plot(numbers, payoffs, "o", ms=3, color=colour("synthetic"), label="payoff of the round")
        ax.plot(numbers, [f.mean_payoff for f in figures], color=colour("real"), label="mean")
        if lesson.exhibit.value is not None:
            ax.axhline(lesson.exhibit.value, color=colour("good"), ls="--", label="value")
        ax.set(xlabel="round", ylabel="payoff")
        ax.grid(axis="y")
        ax.legend(fontsize=8)
        return _figure(ax)


def error_heat_map(lesson: Lesson, ax: Axes | None = None) -> Figure:
    """The largest error of the outcome so far on each marginal, by round; stronger is worse."""
    names = lesson.exhibit.domain.names
    blocks = [" × ".join(names[a] for a in m) for m in lesson.exhibit.workload.marginals]
    errors = np.array([seen.errors for seen in lesson.seen]).T
    with drawing():
        ax = _axes(ax)
        image = ax.imshow(
            errors, aspect="auto", cmap=_from_paper("synthetic"), vmin=0, interpolation="nearest",
            extent=(0.5, len(lesson.seen) + 0.5, len(blocks) - 0.5, -0.5),
        )  # fmt: skip
        if len(blocks) <= 30:
            ax.set_yticks(range(len(blocks)), blocks)
        ax.set(xlabel="round")
        _figure(ax).colorbar(image, ax=ax, label="largest error")
        return _figure(ax)


def payoff_heat_map(matrix: PayoffMatrix, ax: Axes | None = None) -> Figure:
    """The payoff matrix, with its numbers if they are few."""
    limit = max(float(np.abs(matrix.values).max()), 1e-9)
    with drawing():
        ax = _axes(ax)
        ax.imshow(matrix.values, aspect="auto", cmap=_two_sided(), vmin=-limit, vmax=limit)
        ax.set_xticks(range(len(matrix.queries)), matrix.query_names(), rotation=40, ha="right")
        ax.set_yticks(range(len(matrix.records)), matrix.record_names())
        ax.tick_params(length=0)
        if matrix.values.size <= NUMBERS:
            for (i, j), value in np.ndenumerate(matrix.values):
                ax.text(j, i, f"{value + 0.0:+.2f}", ha="center", va="center", fontsize=8)
        ax.set(xlabel="query player gains", ylabel="data player pays")
        return _figure(ax)


def simplex_plot(lesson: Lesson, ax: Axes | None = None) -> Figure:
    """The data player's mixes in a triangle: every round, and the average so far.

    Raises ``ValueError`` unless the game has exactly three records.
    """
    matrix, game = lesson.exhibit.matrix, lesson.exhibit.equilibrium
    if matrix is None or game is None or len(matrix.records) != 3:
        raise ValueError("a triangle needs a game with exactly three records, such as 'colors'")
    plays = lesson.data_play()
    average = np.cumsum(plays, axis=0) / np.arange(1, len(plays) + 1)[:, None] @ CORNERS
    each, best = plays @ CORNERS, game.data_mix @ CORNERS
    with drawing():
        ax = _axes(ax)
        ax.fill(*CORNERS.T, facecolor="none", edgecolor=colour("line"))
        ax.plot(*each.T, "o", ms=4, color=colour("majority"), label="each round")
        ax.plot(*average.T, ".-", color=colour("real"), label="average so far")
        ax.plot(*best, "P", ms=10, color=colour("good"), label="an optimal mix")
        for name, corner, shift in zip(
            matrix.record_names(), CORNERS, ((0, 7), (-4, -13), (4, -13)), strict=True
        ):
            ax.annotate(name, corner, xytext=shift, textcoords="offset points", ha="center")
        ax.set_aspect("equal")
        ax.axis("off")
        ax.legend(fontsize=8, loc="upper right")
        return _figure(ax)


def epsilon_plot(lesson: Lesson, ax: Axes | None = None) -> Figure:
    """Epsilon spent after each round, beside what was asked for."""
    numbers = [seen.round.number for seen in lesson.seen]
    with drawing():
        ax = _axes(ax)
        spent = [seen.epsilon for seen in lesson.seen]
        ax.step(numbers, spent, where="mid", color=colour("gold"), label="spent")
        if lesson.noise:
            ax.axhline(lesson.epsilon, color=colour("rose"), ls="--", label="asked for")
        ax.set(xlabel="round", ylabel="epsilon" if lesson.noise else "epsilon (no noise)")
        ax.set_ylim(bottom=0)
        ax.legend(fontsize=8)
        return _figure(ax)


# ---------------------------------------------------------------------- pieces
def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, layout="constrained").add_subplot()


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None  # axes are part of one
    return figure


def _from_paper(name: str) -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(name, [colour("paper"), colour(name)])


def _two_sided() -> LinearSegmentedColormap:
    """Blue pays the data player, orange costs it."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [colour("real"), colour("paper"), colour("synthetic")]
    return LinearSegmentedColormap.from_list("payoff", ends)
