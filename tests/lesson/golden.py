"""Golden playthroughs: what ``saddlesynth play`` says of every toy and game.

    python tests/lesson/golden.py

makes ``golden/*.txt`` anew.  A file that changes is explained in the commit.
"""

from __future__ import annotations

from pathlib import Path

from saddlesynth.games.toys import TOYS
from saddlesynth.synthesis.lesson import Lesson, from_toy, words
from saddlesynth.synthesis.lesson.games import GAMES

FOLDER = Path(__file__).parent / "golden"
NAMES = [(toy, game) for toy in TOYS for game in GAMES]


def playthrough(toy: str, game: str) -> str:
    """Six rounds in words, without anything that depends on the clock."""
    lesson = Lesson(from_toy(toy, 100), game, rounds=6, samples=4, seed=1)
    parts = [words.opening(lesson)]
    while (seen := lesson.step()) is not None:
        parts.append(words.round_words(lesson, seen))
    return "\n\n".join([*parts, words.closing(lesson)]) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for toy, game in NAMES:
        (FOLDER / f"{toy}-{game}.txt").write_text(playthrough(toy, game), "utf-8")
