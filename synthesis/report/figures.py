"""The plots of an evaluation.  Each draws on the axes it is given, or on a figure of its own, and
returns the figure; none calls ``show``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from saddlesynth.synthesis.evaluate.classify import ClassifierErrors
from saddlesynth.synthesis.evaluate.result import (
    ColumnShares,
    KWay,
    NamedError,
    NoiseFloor,
    RangeErrors,
    ReleaseFacts,
)
from saddlesynth.synthesis.report.theme import BUDGET, colour, drawing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS = 12  # values of a categorical column shown one by one
HEAT_MAP = 40  # columns of a heat map
NUMBERS = 16  # columns up to which a heat map prints its numbers
CLASSIFIER_NAMES = {"svm": "linear SVM", "boosting": "gradient boosting"}


# ---------------------------------------------------------------------- shared pieces
def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    from matplotlib.figure import Figure

    return ax if ax is not None else Figure(figsize=(width, height)).add_subplot()


def _figure(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def _title(ax: Axes, artist: Artist, text: str) -> None:
    """Give a part of the plot a tooltip, for pages; see ``theme.to_svg``."""
    figure = _figure(ax)
    titles: dict[str, str] = getattr(figure, "part_titles", {})
    name = f"part{len(titles)}"
    artist.set_gid(name)
    titles[name] = text
    figure.part_titles = titles  # type: ignore[attr-defined]


def _short(text: str, width: int = 24) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def _percent(ax: Axes, axis: str) -> None:
    """Few ticks, written as percentages."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    which = ax.xaxis if axis == "x" else ax.yaxis
    which.set_major_locator(MaxNLocator(5))
    which.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.4g}\u202f%"))


# ---------------------------------------------------------------------- one column
def column_bars(column: ColumnShares, ax: Axes | None = None) -> Figure:
    """Shares of rows by value: real and synthetic side by side."""
    with drawing():
        return _numeric_bars(column, ax) if column.numeric else _category_bars(column, ax)


def _numeric_bars(column: ColumnShares, ax: Axes | None) -> Figure:
    ax = _axes(ax, 4.6, 2.3)
    labels, real, synthetic = _with_invalid(column)
    places = np.arange(len(labels))
    for shares, name, shift in ((real, "real", -0.2), (synthetic, "synthetic", 0.2)):
        bars = ax.bar(places + shift, shares, 0.4, color=colour(name), label=name)
        for bar, label, a, b in zip(bars, labels, real, synthetic, strict=True):
            _title(ax, bar, f"{label}: real {a:.2%}, synthetic {b:.2%}")
    fits = max(2, 42 // (3 + max(map(len, labels))))  # so many labels fit side by side
    step = -(-len(labels) // fits)
    ax.set_xticks(places[::step], [_short(label, 18) for label in labels[::step]])
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y")
    _percent(ax, "y")
    return _figure(ax)


def _category_bars(column: ColumnShares, ax: Axes | None) -> Figure:
    labels, real, synthetic = _top(*_with_invalid(column))
    ax = _axes(ax, 4.6, 0.55 + 0.3 * len(labels))
    places = np.arange(len(labels))
    for shares, name, shift in ((real, "real", -0.19), (synthetic, "synthetic", 0.19)):
        bars = ax.barh(places + shift, shares, 0.38, color=colour(name), label=name)
        for bar, label, a, b in zip(bars, labels, real, synthetic, strict=True):
            _title(ax, bar, f"{label}: real {a:.2%}, synthetic {b:.2%}")
    ax.set_yticks(places, [_short(label) for label in labels])
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    _percent(ax, "x")
    return _figure(ax)


def _with_invalid(column: ColumnShares) -> tuple[list[str], list[float], list[float]]:
    labels, real, synthetic = list(column.labels), list(column.real), list(column.synthetic)
    if column.real_invalid or column.synthetic_invalid:
        labels.append("invalid")
        real.append(column.real_invalid)
        synthetic.append(column.synthetic_invalid)
    return labels, real, synthetic


def _top(
    labels: list[str], real: list[float], synthetic: list[float]
) -> tuple[list[str], list[float], list[float]]:
    """The most frequent values, then all others as one."""
    order = sorted(range(len(labels)), key=lambda i: -max(real[i], synthetic[i]))
    if len(labels) <= BARS:
        first, rest = order, []
    else:
        first, rest = order[: BARS - 1], order[BARS - 1 :]
    shown = [[values[i] for i in first] for values in (real, synthetic)]
    names = [labels[i] for i in first]
    if rest:
        names.append(f"{len(rest)} others")
        for values, own in zip((real, synthetic), shown, strict=True):
            own.append(sum(values[i] for i in rest))
    return names, shown[0], shown[1]


# ---------------------------------------------------------------------- marginals
def pair_heat_map(pairs: KWay, ax: Axes | None = None) -> Figure:
    """Total variation distance of every pair of columns; a stronger colour is worse."""
    from matplotlib.patches import Rectangle

    names = _worst_columns(pairs.errors)
    place = {name: i for i, name in enumerate(names)}
    top = max(pairs.max, 1e-12)
    with drawing():
        side = 1.8 + 0.46 * len(names)
        ax = _axes(ax, side, side * 0.82)
        for error in pairs.errors:
            if not all(name in place for name in error.columns):
                continue
            low, high = sorted(place[name] for name in error.columns)
            box = Rectangle((low, high), 1, 1, color=colour("synthetic"), lw=0)
            box.set_alpha(0.04 + 0.9 * error.tvd / top)
            ax.add_patch(box)
            _title(ax, box, f"{' x '.join(error.columns)}: {error.tvd:.4f}{_source(error)}")
            if len(names) <= NUMBERS:
                text = f"{100 * error.tvd:.1f}"
                ax.text(low + 0.5, high + 0.5, text, ha="center", va="center", fontsize=7.5)
            if error.measured:
                ax.plot(low + 0.86, high + 0.16, "o", ms=2.6, color=colour("real"))
        ax.set(xlim=(0, len(names) - 1), ylim=(len(names), 1), aspect="equal")
        ax.set_xticks(np.arange(len(names) - 1) + 0.5, names[:-1], rotation=45, ha="right")
        ax.set_yticks(np.arange(1, len(names)) + 0.5, names[1:])
        ax.tick_params(length=0, labelcolor=colour("ink"))
        for spine in ax.spines.values():
            spine.set_visible(False)
        return _figure(ax)


def _worst_columns(errors: Sequence[NamedError]) -> list[str]:
    """Columns in table order; of very many, those whose pairs are worst."""
    totals: dict[str, list[float]] = {}
    for error in errors:
        for name in error.columns:
            totals.setdefault(name, []).append(error.tvd)
    names = list(totals)
    kept = set(sorted(names, key=lambda name: -float(np.mean(totals[name])))[:HEAT_MAP])
    return [name for name in names if name in kept]


def _source(error: NamedError) -> str:
    if error.measured is None:
        return ""
    return ", measured" if error.measured else ", not measured"


def error_strips(parts: Sequence[KWay], ax: Axes | None = None) -> Figure:
    """One dot a marginal by its distance, one strip for each k; a bar marks the mean."""
    with drawing():
        ax = _axes(ax, 8.4, 0.7 + 0.75 * len(parts))
        generator = np.random.default_rng(0)  # where dots lie across the strip
        known = any(error.measured is not None for part in parts for error in part.errors)
        for row, part in enumerate(parts):
            for measured in (False, True):
                own = [e.tvd for e in part.errors if bool(e.measured) is measured]
                where = row + 0.28 * generator.uniform(-1, 1, len(own))
                name = "real" if measured else "synthetic"
                ax.plot(own, where, "o", ms=3.2, alpha=0.55, mew=0, color=colour(name))
            ax.plot([part.mean] * 2, [row - 0.36, row + 0.36], color=colour("ink"), lw=2)
        if known:
            for name, label in (("real", "measured"), ("synthetic", "not measured")):
                ax.plot([], [], "o", ms=4, color=colour(name), label=label)
        ax.plot([], [], color=colour("ink"), lw=2, label="mean")
        ax.set_yticks(range(len(parts)), [f"{part.k}-way" for part in parts])
        ax.set(ylim=(len(parts) - 0.5, -0.5), xlabel="total variation distance")
        ax.set_xlim(left=0)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
        _percent(ax, "x")
        _legend_above(ax)
        return _figure(ax)


def _legend_above(ax: Axes) -> None:
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0, handlelength=1.2)


def floor_scatter(floor: NoiseFloor, ax: Axes | None = None) -> Figure:
    """Achieved error of each measured marginal against what its noise allows."""
    with drawing():
        ax = _axes(ax, 4.6, 3.6)
        top = 1.05 * max(max(row.floor, row.achieved) for row in floor.rows) or 1.0
        ax.plot([0, top], [0, top], color=colour("muted"), lw=1, ls="--")
        for row in floor.rows:
            (dot,) = ax.plot(row.floor, row.achieved, "o", ms=5, mew=0, alpha=0.65)
            dot.set_color(colour("synthetic"))
            name = " x ".join(row.columns)
            _title(ax, dot, f"{name}: floor {row.floor:.4f}, achieved {row.achieved:.4f}")
        ax.set(xlim=(0, top), ylim=(0, top), xlabel="noise floor", ylabel="achieved")
        ax.grid()
        _percent(ax, "x")
        _percent(ax, "y")
        return _figure(ax)


# ---------------------------------------------------------------------- queries and classifiers
def range_histogram(ranges: RangeErrors, ax: Axes | None = None) -> Figure:
    """How the errors of the random range queries are distributed."""
    with drawing():
        ax = _axes(ax, 5.6, 2.5)
        top = max(ranges.max, 1e-12)
        counts, edges = np.histogram(ranges.errors, bins=30, range=(0, top))
        widths = np.diff(edges)
        bars = ax.bar(edges[:-1] + widths / 2, counts, widths * 0.92, color=colour("synthetic"))
        for bar, count, low, high in zip(bars, counts, edges[:-1], edges[1:], strict=True):
            _title(ax, bar, f"{count} queries are off by {low:.3%} to {high:.3%}")
        marks = (("mean", ranges.mean, "-"), ("95 % of queries", ranges.quantile95, "--"))
        for label, value, style in marks:
            ax.axvline(
                value,
                color=colour("ink"),
                lw=1.4,
                ls=style,
                label=f"{label}: {100 * value:.2g}\u202f%",
            )
        ax.set(xlabel="error, in share of all rows", ylabel="queries", xlim=(0, top))
        _percent(ax, "x")
        ax.grid(axis="y")
        ax.legend(loc="upper right")
        return _figure(ax)


def classifier_bars(errors: ClassifierErrors, ax: Axes | None = None) -> Figure:
    """Error rates of classifiers trained on real rows and on synthetic ones, beside Majority."""
    rows: list[tuple[str, float, str]] = []
    for name in errors.synthetic:
        title = CLASSIFIER_NAMES[name]
        rows.append((f"{title}, real rows", errors.real[name], "real"))
        rows.append((f"{title}, synthetic rows", errors.synthetic[name], "synthetic"))
    rows.append(("Majority (learns nothing)", errors.majority, "majority"))
    with drawing():
        ax = _axes(ax, 4.2, 0.4 + 0.36 * len(rows))
        top = max(value for _, value, _ in rows)
        for i, (label, value, name) in enumerate(rows):
            (bar,) = ax.barh(i, value, 0.68, color=colour(name))
            _title(ax, bar, f"{label}: {value:.4f}")
            ax.text(value + 0.015 * top, i, f"{100 * value:.1f}\u202f%", va="center", fontsize=9)
        ax.axvline(errors.majority, color=colour("muted"), lw=1, ls="--", zorder=0)
        ax.set_yticks(range(len(rows)), [label for label, _, _ in rows])
        ax.set(xlim=(0, 1.14 * top or 1), xlabel=f"error rate predicting {_short(errors.label)}")
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
        _percent(ax, "x")
        return _figure(ax)


def budget_bar(release: ReleaseFacts, ax: Axes | None = None) -> Figure:
    """One bar: what share of the privacy that was spent went to which step."""
    with drawing():
        ax = _axes(ax, 8.4, 0.75)
        left = 0.0
        for i, (step, share, lines) in enumerate(release.budget):
            name = BUDGET[min(i, len(BUDGET) - 1)]
            (bar,) = ax.barh(0, share, 0.7, left=left, color=colour(name))
            _title(ax, bar, f"{step}: {share:.1%}, {lines} ledger lines")
            if share > 0.07:
                x = left + share / 2
                text = f"{100 * share:.0f}\u202f%"
                ax.text(x, 0, text, ha="center", va="center", color=colour("paper"))
            label = textwrap.shorten(step, 48, placeholder="…")
            ax.plot([], [], "s", color=colour(name), label=f"{label}, {100 * share:.1f}\u202f%")
            left += share
        ax.set(xlim=(0, max(left, 1e-12)), ylim=(-0.4, 0.4))
        ax.axis("off")
        ax.legend(
            loc="upper left", bbox_to_anchor=(0, -0.05), borderaxespad=0, handlelength=1, ncols=3
        )
        return _figure(ax)
