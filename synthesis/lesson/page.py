"""One self-contained page that steps through a lesson: inline style and script, nothing fetched."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from saddlesynth.synthesis.lesson.exercises import game_exercises, polytope_exercises
from saddlesynth.synthesis.lesson.lesson import Lesson
from saddlesynth.synthesis.lesson.polytope import TwoBits
from saddlesynth.synthesis.lesson.scene import game_scene, polytope_scene
from saddlesynth.synthesis.report.theme import css_variables

if TYPE_CHECKING:
    import jinja2

HERE = "saddlesynth.synthesis.lesson"


def render(lesson: Lesson | TwoBits) -> str:
    """The page of a game (its rounds so far), or of the projection of two bits.

    It works without a network, by keyboard, on a phone, light and dark; ``#round=7`` at the end of
    its address opens it there.

    Raises ``ValueError`` if no round was played.
    """
    if isinstance(lesson, TwoBits):
        scene, exercises = polytope_scene(lesson), polytope_exercises(lesson)
    else:
        if not lesson.seen:
            raise ValueError("no round was played yet; call run() or step() first")
        scene, exercises = game_scene(lesson), game_exercises(lesson)
    template = _environment().get_template(f"{scene['kind']}.html")
    return template.render(scene=scene, exercises=exercises, **_colours())


def _colours() -> dict[str, Any]:
    from markupsafe import Markup

    return {
        "light": Markup(css_variables(dark=False)),
        "dark": Markup(css_variables(dark=True)),
    }


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    folder = files(HERE)
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
