"""The page: self-contained, honest on the first screen, and never inside a release."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from saddlesynth.synthesis.errors import InputError
from saddlesynth.synthesis.evaluate import evaluate
from saddlesynth.synthesis.report import figures, render, write_report
from saddlesynth.synthesis.report.page import headlines, percent, plots
from saddlesynth.synthesis.report.theme import COLOURS, css_variables

EVERY_PLOT = {
    *(f"column{i}" for i in range(5)),
    *("pairs", "strips", "floor", "ranges", "classifiers", "budget"),
}


@pytest.fixture(scope="session")
def page(evaluation):
    return render(evaluation)


class Outline(html.parser.HTMLParser):
    """All tags with their attributes, and the text in reading order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self._style = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._style = tag in ("style", "title")

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self.text.append(data)


# ---------------------------------------------------------------------- what it says
def test_the_first_words_say_that_real_data_were_used_and_it_is_not_private(page):
    text = " ".join(" ".join(Outline(page).text).split())
    assert text.index("REAL data") < 300 and text.index("NOT differentially private") < 300
    assert text.index("NOT differentially private") < text.index("valid rows")


def test_the_first_screen_explains_its_figures(evaluation):
    found = headlines(evaluation)
    assert [head.label for head in found] == [
        "valid rows", "mean error of a pair of columns", "mean error of a count",
        "error predicting rich",
    ]  # fmt: skip
    assert found[1].value == percent(evaluation.k_way(2).mean)
    assert percent(evaluation.k_way(2).max) in found[1].meaning


def test_every_plot_is_on_the_page_once(evaluation, page):
    assert set(plots(evaluation)) == EVERY_PLOT
    drawn = [attrs for tag, attrs in Outline(page).tags if tag == "svg"]
    assert len(drawn) == len(EVERY_PLOT)
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in drawn)


def test_every_entry_of_the_contents_leads_somewhere(page):
    tags = Outline(page).tags
    targets = {attrs["href"][1:] for tag, attrs in tags if tag == "a"}
    assert len(targets) == 8 and targets <= {attrs.get("id") for _, attrs in tags}


def test_ids_are_unique_so_that_plots_do_not_disturb_each_other(page):
    ids = [attrs["id"] for _, attrs in Outline(page).tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page))
    assert {a or b for a, b in used} <= set(ids)


def test_bars_have_tooltips(evaluation, page):
    first = evaluation.columns[0]
    expected = f"F: real {first.real[0]:.2%}, synthetic {first.synthetic[0]:.2%}"
    assert f"<title>{expected}</title>" in page


def test_what_was_skipped_is_said_with_its_reason(evaluation, page):
    assert [part.what for part in evaluation.skipped] == ["random 5-way marginals"]
    assert "random 5-way marginals: every 5-way marginal has more cells" in page


def test_a_page_without_release_or_label_says_so():
    frame = pd.DataFrame({"n": range(30), "m": [1.5 * i for i in range(30)]})
    text = " ".join(render(evaluate(frame, frame)).split())
    assert "Skipped: no categorical or boolean column" in text
    assert "Privacy budget" not in text and "Noise floor" not in text
    assert "Skipped: range queries need 3 attributes" in text


# ---------------------------------------------------------------------- self-contained
def test_the_page_asks_nothing_of_the_network_and_runs_no_script(page):
    outline = Outline(page)
    assert not {tag for tag, _ in outline.tags} & {"script", "iframe", "img", "object", "embed"}
    for tag, attrs in outline.tags:
        for name, value in attrs.items():
            if name in ("src", "srcset", "href", "data", "action", "poster"):
                assert value.startswith(("#", "data:")), (tag, name, value)
            assert not name.startswith("on")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in page and not re.search(r"url\((?!#)", page)


def test_dark_and_light_have_every_colour_and_plots_use_only_those(page):
    for dark in (False, True):
        assert css_variables(dark).count("--") == len(COLOURS)
    fixed = re.findall(r"(?:fill|stroke): (#[0-9a-fA-F]{3,8})", page)
    assert fixed == []


def test_values_that_look_like_markup_or_formulas_stay_text():
    odd = ["<script>alert(1)</script>", "$x_1$ & co", 'a"b', "größe 東京 😀"]
    frame = pd.DataFrame({"<b>col</b>": odd * 6, "other": ["x", "y"] * 12})
    page = render(evaluate(frame, frame))
    assert "<script" not in page and "<b>col" not in page
    assert "&lt;script&gt;" in page and "$x_1$ &amp; co" in page and "東京" in page


def test_of_many_columns_the_first_are_drawn_and_the_rest_counted(monkeypatch):
    monkeypatch.setattr("saddlesynth.synthesis.report.page.MANY_COLUMNS", 2)
    wide = pd.DataFrame({f"q{i}": [i % 2, 1] * 10 for i in range(5)})
    page = render(evaluate(wide, wide, max_marginals=4))
    drawn = {attrs["aria-label"] for tag, attrs in Outline(page).tags if tag == "svg"}
    assert {name for name in drawn if name.startswith("Shares")} == {
        "Shares of the values of q0", "Shares of the values of q1",
    }  # fmt: skip
    assert "3 more columns are in" in page and "4 of 10 2-way marginals" in page


def test_a_heat_map_shows_the_worst_columns_of_very_many(monkeypatch):
    monkeypatch.setattr("saddlesynth.synthesis.report.figures.HEAT_MAP", 3)
    real = pd.DataFrame({f"q{i}": [0, 1] * 10 for i in range(5)})
    made = real.assign(q3=[1, 0] * 10)  # off with all others
    ax = figures.pair_heat_map(evaluate(real, made).k_way(2)).axes[0]
    shown = {tick.get_text() for tick in [*ax.get_xticklabels(), *ax.get_yticklabels()]}
    assert "q3" in shown and len(shown) == 3


def test_a_table_of_one_row_gets_a_page(people, schema):
    assert "NOT differentially private" in render(evaluate(people(1), people(1), schema))


@pytest.mark.parametrize(
    "share, text",
    [(0, "0"), (1, "100"), (0.5, "50.0"), (0.00012, "0.012"), (0.0951, "9.5"), (1e-9, "0.000000")],
)
def test_shares_are_written_for_people(share, text):
    assert percent(share) == f"{text}\u202f%"


# ---------------------------------------------------------------------- figures
def test_figures_draw_on_the_axes_they_are_given(evaluation):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot()
    assert figures.classifier_bars(evaluation.classifiers, ax) is figure
    assert len(ax.patches) == 5


def test_figures_leave_matplotlibs_settings_and_pyplot_alone(evaluation):
    code = (
        "import sys, matplotlib\n"
        "names = 'font.size', 'text.color', 'svg.fonttype', 'axes.grid'\n"
        "before = [matplotlib.rcParams[name] for name in names]\n"
        "from saddlesynth.synthesis.report import figures\n"
        "from saddlesynth.synthesis.evaluate.result import RangeErrors\n"
        "figures.range_histogram(RangeErrors(0.1, 0.2, 0.3, (0.0, 0.1, 0.3)))\n"
        "assert [matplotlib.rcParams[name] for name in names] == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_same_evaluation_gives_the_same_page(evaluation, page):
    assert render(evaluation) == page


# ---------------------------------------------------------------------- files
def test_a_report_is_a_page_and_its_numbers(evaluation, tmp_path):
    written = write_report(evaluation, tmp_path / "deep" / "report")
    assert written.read_text("utf-8").startswith("<!doctype html>")
    assert sorted(p.name for p in written.parent.iterdir()) == ["evaluation.json", "report.html"]
    assert json.loads((written.parent / "evaluation.json").read_text("utf-8"))["real_rows"] == 300


def test_an_existing_report_is_replaced_only_by_force(evaluation, tmp_path):
    write_report(evaluation, tmp_path / "report")
    with pytest.raises(InputError, match="--force"):
        write_report(evaluation, tmp_path / "report")
    changed = dataclasses.replace(evaluation, notes=("a new note",))
    page = write_report(changed, tmp_path / "report", force=True)
    assert "a new note" in page.read_text("utf-8")


def test_force_does_not_replace_a_folder_that_is_no_report(evaluation, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("precious")
    with pytest.raises(InputError, match="not one of ours"):
        write_report(evaluation, tmp_path / "thesis", force=True)


@pytest.mark.parametrize("inside", ["", "report", "a/b"])
def test_a_report_is_never_written_into_a_release(evaluation, release, inside):
    before = sorted(release.rglob("*"))
    for force in (False, True):
        with pytest.raises(InputError, match="real data and must not be published"):
            write_report(evaluation, release / inside, force=force)
    assert sorted(release.rglob("*")) == before


def test_a_report_is_not_written_into_a_release_through_a_link(evaluation, release, tmp_path):
    (tmp_path / "link").symlink_to(release)
    with pytest.raises(InputError, match="must not be published"):
        write_report(evaluation, tmp_path / "link" / "report")


def test_a_failed_report_leaves_nothing_behind(evaluation, tmp_path, monkeypatch):
    monkeypatch.setattr(type(evaluation), "to_json", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(evaluation, tmp_path / "report")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- in a browser
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--enable-logging=stderr --virtual-time-budget=3000"
).split()
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
PROBE = """<script>
addEventListener("load", () => {
  const plots = [...document.querySelectorAll("svg.plot")].map(s => s.getBoundingClientRect());
  const wide = document.documentElement.scrollWidth > innerWidth + 1;
  const asked = performance.getEntriesByType("resource").map(e => e.name);
  const drawn = plots.filter(b => b.width > 100 && b.height > 30).length;
  document.title = JSON.stringify({drawn, wide, asked, width: innerWidth});
});
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_draws_every_plot_and_asks_for_nothing(page, tmp_path, width):
    file = tmp_path / "probe.html"
    file.write_text(page.replace("</body>", PROBE), "utf-8")
    size = [f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}"]
    ran = subprocess.run(
        [str(BROWSER), *FLAGS, *size, "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    title = re.search(r"<title>(\{.*?\})</title>", ran.stdout)
    assert title is not None, ran.stderr[-500:]
    seen = json.loads(html.unescape(title.group(1)))
    assert seen["drawn"] == len(EVERY_PLOT)
    assert seen["asked"] == [] and not seen["wide"]
    assert "CONSOLE" not in ran.stderr


def test_the_template_is_part_of_the_package():
    import saddlesynth.synthesis.report as report

    assert (Path(report.__file__).parent / "report.html").is_file()
