"""Makes the golden playthroughs of ``test_lesson.py`` anew."""

from __future__ import annotations

from pathlib import Path

from saddlesynth.games.toys import TOYS
from saddlesynth.synthesis.query_release.lesson import Playthrough

FEW = {"fem": {"rounds": 6, "samples": 4}, "dualquery": {"rounds": 6, "samples": 4}}

if __name__ == "__main__":
    folder = Path(__file__).parent / "playthroughs"
    folder.mkdir(exist_ok=True)
    for table in TOYS:
        for game in ("fem", "dualquery", "mwem"):
            play = Playthrough(table, game, **FEW.get(game, {"rounds": 6})).run()
            trace = play.trace().drop(columns=["seconds"], errors="ignore")
            trace.to_csv(folder / f"{table}_{game}.csv", index=False)
