"""The pages: self-contained, safe, and stepped through in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from saddlesynth.synthesis.lesson import Lesson, from_toy, render
from saddlesynth.synthesis.lesson.polytope import two_bits


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page in the browser; afterwards nothing may have gone wrong or been fetched."""
    browser.problems.clear()
    browser.asked.clear()

    def call(page, width=1280, dark=False, fragment=""):
        file = tmp_path / "lesson.html"
        file.write_text(page, encoding="utf-8")
        browser.look(width, 900, dark=dark)
        browser.open(file.as_uri() + fragment)
        return browser

    yield call
    assert browser.problems == []
    assert {address for address in browser.asked if not address.startswith("file://")} <= {
        "about:blank",
        "data:,",
    }


def where(browser):
    return browser.ask("[Number(document.body.dataset.round), "
                       "document.getElementById('where').textContent, "
                       "document.querySelector('#move-query .what').textContent]")  # fmt: skip


# ---------------------------------------------------------------------- without a browser
@pytest.mark.parametrize("page", ["game", "polytope"])
def test_a_page_needs_nothing_from_outside(lesson, page):
    text = render(lesson() if page == "game" else two_bits(seed=5, copies=4))
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text
    assert not re.search(r"<(?:img|iframe|object|embed|link rel=.stylesheet)", text)


def test_names_from_the_data_cannot_break_out_of_the_page():
    evil = "</script><img src=x onerror=alert(1)>"
    exhibit = replace(from_toy("coin", 10), name=evil, story=evil, labels=((evil, "b"),))
    text = render(Lesson(exhibit, rounds=2, seed=0).run())
    assert "<img" not in text and text.count("</script>") == 2


def test_three_captions_and_two_exercises_with_hidden_answers(lesson):
    for page in (lesson(), lesson(noise=False), lesson(game="dqrs"), two_bits(seed=5)):
        text = render(page)
        assert text.count('third caption"') == 3
        assert text.count("<details><summary>Answer") == 2


@pytest.mark.parametrize(
    ("game", "caption"),
    [
        ("fem", "Following the perturbed leader"),
        ("sepfem", "Following the perturbed leader"),
        ("dualquery", "Answering a sample"),
        ("dqrs", "Answering a sample"),
        ("mwem", "Multiplicative weights"),
        ("pmw", "Multiplicative weights"),
    ],
)
def test_the_first_caption_is_about_this_data_player(lesson, game, caption):
    assert f"<h2>{caption}</h2>" in render(lesson(game=game))


def test_a_page_needs_a_round():
    with pytest.raises(ValueError, match="no round"):
        render(Lesson(from_toy("coin")))


def test_the_theorem_of_the_exercise_holds_for_two_bits():
    made = two_bits(seed=5, copies=4)
    last = made.steps[-1]
    assert last.gap < 1e-6 and min(last.prices) > -1e-6
    assert [s.objective for s in made.steps] == sorted(s.objective for s in made.steps)[::-1]


# ---------------------------------------------------------------------- in a browser
def test_buttons_slider_and_keys_change_what_is_shown(opened, lesson):
    page = opened(render(lesson("forbidden", rounds=8)))
    assert where(page)[:2] == [1, "Round 1 of 8"]
    shown = [where(page)]
    page.ask("document.getElementById('next').click()")
    shown.append(where(page))
    page.press("ArrowRight")
    shown.append(where(page))
    page.ask("slider.value = 6; slider.dispatchEvent(new Event('input'))")
    shown.append(where(page))
    page.ask("document.getElementById('back').click()")
    shown.append(where(page))
    page.press("End")
    shown.append(where(page))
    assert [number for number, *_ in shown] == [1, 2, 3, 6, 5, 8]
    assert len({what for *_, what in shown}) > 1
    assert page.ask("document.getElementById('next').disabled")


def test_play_runs_to_the_end_and_stops(opened, lesson):
    page = opened(render(lesson("coin", rounds=4)))
    page.ask("speed.value = '250'; document.getElementById('play').click()")
    assert page.ask("play.textContent") == "Pause"
    page.wait_for("document.body.dataset.round === '4'")
    assert page.ask("play.textContent") == "Again"


def test_the_board_shows_the_pick_the_mixes_and_the_gap(opened, lesson):
    played = lesson("colors", rounds=5)
    page = opened(render(played), fragment="#round=5")
    seen = played.seen[-1]
    assert page.ask("document.querySelectorAll('#board td.hit').length") == len(
        {tuple(record) for record in seen.records.tolist()}
    )
    assert page.ask("document.getElementById('gap').textContent") == f"{seen.exact.gap:.3f}"
    widths = page.ask(
        "[...document.querySelectorAll('.hbar i')].map((b) => parseFloat(b.style.width))"
    )
    assert widths == pytest.approx(100 * played.data_play().mean(axis=0), abs=1e-3)


@pytest.mark.parametrize("game", ["sepfem", "dualquery", "dqrs", "mwem", "pmw"])
def test_every_game_has_a_page_without_errors(opened, lesson, game):
    page = opened(render(lesson(game=game)), fragment="#round=2")
    assert where(page)[0] == 2


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_does_not_scroll_sideways(opened, lesson, dark):
    for made in (lesson("forbidden", "dualquery"), two_bits(seed=5, copies=4)):
        page = opened(render(made), width=390, dark=dark)
        assert page.ask("document.documentElement.scrollWidth") <= 390
    back = page.ask("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(16, 22, 30)" if dark else "rgb(243, 245, 248)")


def test_two_bits_step_and_turn(opened):
    page = opened(render(two_bits(seed=5, copies=4)))
    first = page.ask("document.querySelector('#solid svg').innerHTML")
    page.ask("document.getElementById('next').click()")
    second = page.ask("document.querySelector('#solid svg').innerHTML")
    page.ask("document.getElementById('solid').focus()")
    page.press("ArrowLeft")
    assert len({first, second, page.ask("document.querySelector('#solid svg').innerHTML")}) == 3
    assert page.ask("document.body.dataset.round") == "2"  # the arrow turned, it did not step
