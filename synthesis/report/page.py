"""One self-contained HTML page of an evaluation, and the same numbers as JSON beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saddlesynth.synthesis.aside import check_destination, folder_aside
from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.evaluate.classify import ClassifierErrors
from saddlesynth.synthesis.evaluate.metrics import WorkloadError
from saddlesynth.synthesis.evaluate.result import (
    WARNING,
    Evaluation,
    FloorRow,
    KWay,
    NoiseFloor,
    RangeErrors,
)
from saddlesynth.synthesis.folder import is_release
from saddlesynth.synthesis.report import figures
from saddlesynth.synthesis.report.theme import css_variables, to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "report.html"
NUMBERS = "evaluation.json"
MARKER = NUMBERS  # a folder that holds this file is a report, and may be replaced by one
MANY_COLUMNS = 60  # one plot a column, up to here


# ---------------------------------------------------------------------- files
def check_report_destination(folder: Path, *, force: bool = False) -> None:
    """Refuse, before any work, a folder that could not or must not be written as a report."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if is_release(place):
            raise InputError(
                f"{folder} is inside the release {place}; a report uses real data and must not be "
                "published with it, choose another --out"
            )
    check_destination(folder, force=force, marker=MARKER)


def write_report(evaluation: Evaluation, folder: str | Path, *, force: bool = False) -> Path:
    """Write ``report.html`` and ``evaluation.json`` into a new folder, whole or not at all.

    *Privacy.* Exact functions of real data: not for publication.

    Raises
    ------
    InputError
        The folder exists (without ``force``), is not a report, or lies in a release.
    """
    folder = Path(folder)
    check_report_destination(folder, force=force)
    page = render(evaluation)
    with folder_aside(folder, force=force, marker=MARKER) as aside:
        (aside / PAGE).write_text(page, encoding="utf-8")
        (aside / NUMBERS).write_text(evaluation.to_json(), encoding="utf-8")
    return folder / PAGE


# ---------------------------------------------------------------------- the page
@dataclass(frozen=True)
class Headline:
    """A figure of the first screen."""

    value: str
    label: str
    meaning: str


def render(evaluation: Evaluation) -> str:
    """The page as text: inline style and plots, no script, nothing fetched from anywhere."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["percent"] = percent
    template = files("saddlesynth.synthesis.report") / "report.html"
    return environment.from_string(template.read_text("utf-8")).render(
        e=evaluation,
        warning=WARNING,
        headlines=headlines(evaluation),
        plots={name: Markup(svg) for name, svg in plots(evaluation).items()},
        light=Markup(css_variables(dark=False)),
        dark=Markup(css_variables(dark=True)),
        shown_columns=evaluation.columns[:MANY_COLUMNS],
        k_ways=[part for part in evaluation.marginals if isinstance(part, KWay)],
        workloads=[part for part in evaluation.workloads if isinstance(part, WorkloadError)],
        ranges=_if(evaluation.ranges, RangeErrors),
        classifiers=_if(evaluation.classifiers, ClassifierErrors),
        classifier_names=figures.CLASSIFIER_NAMES,
        floor=_if(evaluation.floor, NoiseFloor),
        above_floor=above_floor(evaluation),
    )


def _if(part: Any, kind: type) -> Any:
    """The part if it was computed, else None."""
    return part if isinstance(part, kind) else None


def above_floor(evaluation: Evaluation) -> list[FloorRow]:
    """The measured marginals that are furthest above their noise floor."""
    rows = evaluation.floor.rows if isinstance(evaluation.floor, NoiseFloor) else ()
    above = [row for row in rows if row.achieved > row.floor]
    return sorted(above, key=lambda row: row.floor - row.achieved)[:8]


def percent(share: float, digits: int = 1) -> str:
    r"""A share for people; small ones are not rounded away.

    >>> percent(0.0342), percent(0.00012), percent(0.0), percent(1.0)
    ('3.4\u202f%', '0.012\u202f%', '0\u202f%', '100\u202f%')
    """
    if share in (0, 1):
        return f"{100 * share:.0f}\u202f%"
    while digits < 6 and round(100 * abs(share), digits) < 10**-digits * 9.5:
        digits += 1
    return f"{100 * share:.{digits}f}\u202f%"


def headlines(evaluation: Evaluation) -> list[Headline]:
    """The figures of the first screen, each with what it means."""
    found = [
        Headline(
            percent(evaluation.validity.valid_share),
            "valid rows",
            "of the synthetic rows have only values and combinations that the schema allows.",
        )
    ]
    pairs = evaluation.k_way(2) or evaluation.k_way(1)
    if pairs is not None:
        what = "pair of columns" if pairs.k == 2 else "column"
        found.append(
            Headline(
                percent(pairs.mean),
                f"mean error of a {what}",
                f"of rows would have to change to make the table of a {what} agree with the real "
                f"one, on average. Worst: {percent(pairs.max)}, "
                f"{' × '.join(pairs.worst[0].columns)}.",
            )
        )
    if isinstance(evaluation.ranges, RangeErrors):
        found.append(
            Headline(
                percent(evaluation.ranges.mean, 2),
                "mean error of a count",
                "of all rows: by so much a count over ranges of three columns is off, on average. "
                f"95 % of counts are off by less than {percent(evaluation.ranges.quantile95, 2)}.",
            )
        )
    if isinstance(evaluation.classifiers, ClassifierErrors):
        c = evaluation.classifiers
        best = min(c.synthetic, key=lambda name: c.synthetic[name])
        found.append(
            Headline(
                percent(c.synthetic[best]),
                f"error predicting {c.label}",
                f"by {figures.CLASSIFIER_NAMES[best]} trained on synthetic rows. Trained on real "
                f"rows it is {percent(c.real[best])}; without learning {percent(c.majority)}.",
            )
        )
    return found


def plots(evaluation: Evaluation) -> dict[str, str]:
    """All plots that this evaluation has, by name, as ``<svg>`` elements."""
    found: dict[str, str] = {}

    def add(name: str, draw: Callable[..., Figure], subject: Any, description: str) -> None:
        found[name] = to_svg(draw(subject), name, description)

    for i, column in enumerate(evaluation.columns[:MANY_COLUMNS]):
        add(f"column{i}", figures.column_bars, column, f"Shares of the values of {column.name}")
    pairs = evaluation.k_way(2)
    if pairs is not None:
        add("pairs", figures.pair_heat_map, pairs, "Error of every pair of columns")
    k_ways = [part for part in evaluation.marginals if isinstance(part, KWay)]
    if k_ways:
        add("strips", figures.error_strips, k_ways, "Errors of all marginals, a dot each")
    if isinstance(evaluation.floor, NoiseFloor):
        add("floor", figures.floor_scatter, evaluation.floor, "Achieved error and noise floor")
    if isinstance(evaluation.ranges, RangeErrors):
        add("ranges", figures.range_histogram, evaluation.ranges, "Errors of range queries")
    if isinstance(evaluation.classifiers, ClassifierErrors):
        add("classifiers", figures.classifier_bars, evaluation.classifiers, "Classifier errors")
    if evaluation.release is not None:
        add("budget", figures.budget_bar, evaluation.release, "What the privacy was spent on")
    return found
