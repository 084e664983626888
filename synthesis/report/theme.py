"""Colours and type of all plots, and how a plot becomes part of a page.

Plots are drawn in the light colours below, so that they look right in a notebook.  On a page the
same colours become CSS variables, which a dark page sets anew, and text takes the page's font.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# name -> (light, dark); the light values are all different, so they can be found again.
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1f2a37", "#e6e9ee"),
    "muted": ("#5f6b7a", "#9aa6b5"),
    "line": ("#d5dae1", "#364152"),
    "paper": ("#ffffff", "#18202b"),
    "real": ("#33658a", "#6fb1e0"),
    "synthetic": ("#e07a3f", "#f5a066"),
    "majority": ("#a7b0bb", "#66717f"),
    "good": ("#2f8f6b", "#5cc79c"),
    "violet": ("#7a5ea8", "#b39be0"),
    "gold": ("#b98b1d", "#e3bd5a"),
    "rose": ("#b8476b", "#ee87a8"),
}
BUDGET = ("real", "synthetic", "good", "violet", "gold", "rose", "majority")


def colour(name: str) -> str:
    """The light colour of this name."""
    return COLOURS[name][0]


def css_variables(dark: bool) -> str:
    """The colours as CSS declarations, ``--ink:#1f2a37;...``."""
    return "".join(f"--{name}:{pair[dark]};" for name, pair in COLOURS.items())


@contextmanager
def drawing() -> Iterator[None]:
    """Matplotlib settings for drawing and saving a plot; the caller's are restored."""
    import matplotlib

    ink, muted, line = colour("ink"), colour("muted"), colour("line")
    settings: Any = {
        "font.family": ["sans-serif"],
        "font.size": 9.5,
        "text.color": ink,
        "axes.edgecolor": line,
        "axes.labelcolor": muted,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "xtick.color": line,
        "ytick.color": line,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": ink,
        "grid.color": line,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "text.parse_math": False,  # a dollar sign in a value is a dollar sign
        "svg.fonttype": "none",
        "svg.hashsalt": "saddlesynth",
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the page's font has it
        yield


def to_svg(figure: Figure, name: str, description: str) -> str:
    """The figure as an ``<svg>`` element for a page.

    Titles that figures gave to their parts become tooltips; ids start with ``name``, so that many
    plots fit on one page.  ``description`` is what a screen reader says.
    """
    buffer = io.StringIO()
    with drawing():
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing, bbox_inches="tight", pad_inches=0.04)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = svg.replace("xlink:href", "href")
    for variable, (light, _) in COLOURS.items():
        svg = re.sub(f"{light}(?![0-9a-f])", f"var(--{variable})", svg, flags=re.IGNORECASE)
    # Text keeps its size and weight, and takes the page's font.
    svg = re.sub(r"font: ((?:\w+ )*[\d.]+px)[^;\"]*", r"font: \1 var(--font)", svg)
    svg = _with_titles(svg, getattr(figure, "part_titles", {}))
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    width = float(size.group(1)) * 4 / 3 if size else 600.0  # points to CSS pixels
    start = (
        f'<svg class="plot" role="img" aria-label="{escape(description)}" '
        f'style="max-width:{width:.0f}px" '
    )
    return re.sub(r'<svg (?:width|height)="[^"]*" (?:width|height)="[^"]*"', start, svg, count=1)


def _with_titles(svg: str, titles: Mapping[str, str]) -> str:
    def titled(found: re.Match[str]) -> str:
        text = titles.get(found.group(1))
        return found.group(0) + (f"<title>{escape(text)}</title>" if text else "")

    return re.sub(r'<g id="([^"]+)">', titled, svg)
