"""Plots of a playthrough.  Each takes an optional ``ax`` and returns its Figure; none is shown.

They use exact figures of a public table (see ``lesson.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from saddlesynth.games.payoff import PayoffMatrix
from saddlesynth.synthesis.query_release.lesson import Playthrough
from saddlesynth.synthesis.report.theme import colour, drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 3.6)


def payoff_plot(play: Playthrough, ax: Axes | None = None) -> Figure:
    """Payoff of every round, its average, and the error with the bound that regrets give it."""
    with drawing():
        ax = _axes(ax)
        rounds = [made.number for made in play.rounds]
        ax.bar(
            rounds,
            [e.payoff for e in play.exact],
            color=colour("majority"),
            label="payoff of round",
        )
        series = [
            ("average payoff", "real", [e.mean_payoff for e in play.exact]),
            ("error of the average", "synthetic", [e.mean_error for e in play.exact]),
            ("bound: value + regrets", "violet", [play.table.value + e.gap for e in play.exact]),
        ]
        for label, name, values in series:
            ax.plot(rounds, values, color=colour(name), linewidth=1.8, label=label)
        ax.axhline(play.table.value, color=colour("ink"), linewidth=0.8, linestyle=":")
        _label(ax, "round", "fraction of the records")
        return _figure(ax)


def error_plot(play: Playthrough, ax: Axes | None = None) -> Figure:
    """Largest error of the average play in each marginal, after each round: a heat map."""
    with drawing():
        ax = _axes(ax)
        errors = np.array([e.by_block for e in play.exact]).T
        image = ax.imshow(errors, aspect="auto", cmap="magma_r", vmin=0, interpolation="nearest")
        names = play.table.domain.names
        blocks = [" x ".join(names[a] for a in b.attributes) for b in play.table.workload.blocks]
        if len(blocks) <= 20:
            ax.set_yticks(range(len(blocks)), blocks)
        else:
            ax.set_ylabel(f"{len(blocks)} marginals")
        ax.set_xticks(*_ticks(len(play.rounds)))
        ax.set_xlabel("round")
        ax.figure.colorbar(image, ax=ax, label="largest error")
        return _figure(ax, legend=False)


def matrix_plot(matrix: PayoffMatrix, ax: Axes | None = None) -> Figure:
    """The payoff matrix as a heat map with its numbers."""
    with drawing():
        ax = _axes(ax)
        limit = max(float(np.abs(matrix.values).max()), 1e-9)
        ax.imshow(matrix.values, aspect="auto", cmap="RdBu_r", vmin=-limit, vmax=limit)
        ax.set_xticks(range(len(matrix.queries)), matrix.query_names(), rotation=40, ha="right")
        ax.set_yticks(range(len(matrix.records)), matrix.record_names())
        if matrix.values.size <= 200:
            for (i, j), value in np.ndenumerate(matrix.values):
                strong = abs(value) > 0.6 * limit
                ink = colour("paper" if strong else "ink")
                ax.text(j, i, f"{value:+.2f}", ha="center", va="center", color=ink, fontsize=8)
        _label(ax, "query player maximises", "data player minimises")
        return _figure(ax, legend=False)


def simplex_plot(play: Playthrough, ax: Axes | None = None) -> Figure:
    """The data player's strategies in a triangle, for games with exactly three records.

    Raises ``ValueError`` for other games.
    """
    matrix = play.matrix()
    if matrix is None or len(matrix.records) != 3:
        raise ValueError("a triangle needs a game with exactly three records, such as 'colors'")
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    with drawing():
        ax = _axes(ax)
        outline = np.vstack([corners, corners[:1]])
        ax.plot(outline[:, 0], outline[:, 1], color=colour("line"))
        for name, corner, shift in zip(
            matrix.record_names(), corners, [(-8, -12), (8, -12), (0, 6)], strict=True
        ):
            ax.annotate(name, corner, xytext=shift, textcoords="offset points", ha="center")
        numbers = range(1, len(play.rounds) + 1)
        each = np.array([play.mix(n) for n in numbers]) @ corners
        average = np.array([play.mix(n, average=True) for n in numbers]) @ corners
        ax.scatter(each[:, 0], each[:, 1], s=14, color=colour("majority"), label="each round")
        ax.plot(
            average[:, 0],
            average[:, 1],
            color=colour("synthetic"),
            marker=".",
            label="average so far",
        )
        solved = play.equilibrium()
        if solved is not None:
            best = solved.data_mix @ corners
            ax.scatter(
                best[0],
                best[1],
                s=90,
                marker="*",
                color=colour("good"),
                zorder=5,
                label="equilibrium",
            )
        ax.set_aspect("equal")
        ax.axis("off")
        return _figure(ax)


def budget_plot(play: Playthrough, ax: Axes | None = None) -> Figure:
    """Epsilon spent after each round, and what was asked for."""
    with drawing():
        ax = _axes(ax)
        rounds = [made.number for made in play.rounds]
        ax.fill_between(rounds, play.spent, step="post", color=colour("real"), alpha=0.25)
        ax.step(rounds, play.spent, where="post", color=colour("real"), label="spent")
        asked = play.game.curator.ledger.epsilon if play.noise else 0.0
        ax.axhline(asked, color=colour("rose"), linestyle="--", linewidth=1, label="asked for")
        ax.set_ylim(bottom=0)
        _label(ax, "round", "epsilon")
        return _figure(ax)


# ---------------------------------------------------------------------- pieces
def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=SIZE, layout="constrained").add_subplot()


def _figure(ax: Axes, legend: bool = True) -> Figure:
    if legend:
        ax.legend(loc="best", fontsize=8)
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def _label(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def _ticks(rounds: int) -> tuple[list[int], list[str]]:
    """Positions and labels of at most eight rounds."""
    step = max(1, -(-rounds // 8))
    places = list(range(0, rounds, step))
    return places, [str(place + 1) for place in places]
