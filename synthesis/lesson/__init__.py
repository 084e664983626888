"""Games on show: walk through one round by round, as a table, as plots, as a page.

>>> from saddlesynth.synthesis.lesson import Lesson, from_toy
>>> lesson = Lesson(from_toy("coin"), rounds=3, samples=2, seed=0).run()
>>> list(lesson.transcript().frame["round"])
[1, 2, 3]
"""

from saddlesynth.synthesis.lesson.exhibit import Exhibit, from_table, from_toy
from saddlesynth.synthesis.lesson.lesson import Lesson
from saddlesynth.synthesis.lesson.page import render
from saddlesynth.synthesis.lesson.transcript import Transcript, replay

__all__ = ["Exhibit", "Lesson", "Transcript", "from_table", "from_toy", "render", "replay"]
