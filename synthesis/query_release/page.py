"""One self-contained HTML page that steps through a game: slider, buttons, arrow keys; offline.

The page holds exact figures of a public table; it is for teaching, never part of a release.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from saddlesynth.synthesis.aside import file_aside
from saddlesynth.synthesis.query_release.lesson import Playthrough, in_words
from saddlesynth.synthesis.report.theme import css_variables

STORIES = {
    "fem": "Each round the data player answers all queries asked so far, perturbed by random "
    "costs; the query player then asks a query on which the answer is far off.",
    "sepfem": "As FEM, with two-sided random costs on a separator set.",
    "dualquery": "The query player keeps weights on all queries and draws some of them each "
    "round; the data player plays the record that satisfies most of those.",
    "dqrs": "As DualQuery, but most drawn queries are kept for the next round by rejection "
    "sampling.",
    "mwem": "Each round a query with a large error is chosen and measured, and the distribution "
    "is shifted towards the answer.",
    "pmw": "Queries stream by; only where the distribution is clearly wrong is one measured, and "
    "the distribution updated.",
    "smalldb": "One round: a small table that answers all queries well is drawn.",
}


def lesson_page(play: Playthrough) -> str:
    """The page of a game that was played; rounds not yet played are not on it."""
    template = files(__package__).joinpath("lesson.html").read_text(encoding="utf-8")
    # In a script element only "<" could end it early.
    data = json.dumps(lesson_data(play), ensure_ascii=False).replace("<", "\\u003c")
    for mark, text in (
        ("/*LIGHT*/", css_variables(dark=False)),
        ("/*DARK*/", css_variables(dark=True)),
        ("/*DATA*/", data),
    ):
        template = template.replace(mark, text)
    return template


def write_lesson(play: Playthrough, path: str | Path, *, force: bool = False) -> Path:
    """Write the page to a file, whole or not at all."""
    path = Path(path)
    with file_aside(path, force=force) as scratch:
        scratch.write_text(lesson_page(play), encoding="utf-8")
    return path


def lesson_data(play: Playthrough) -> dict[str, Any]:
    """All that the page shows, as JSON's own types."""
    names, labels = play.table.domain.names, play.table.labels
    blocks = [" x ".join(names[a] for a in b.attributes) for b in play.table.workload.blocks]
    matrix, solved = play.matrix(), play.equilibrium()
    spent = play.spent
    rounds: list[dict[str, Any]] = []
    for i, (made, figures) in enumerate(zip(play.rounds, play.exact, strict=True)):
        line: dict[str, Any] = {
            "asked": in_words(made.queries, names, labels),
            "payoff": figures.payoff,
            "meanPayoff": figures.mean_payoff,
            "error": figures.error,
            "meanError": figures.mean_error,
            "dataRegret": figures.data_regret,
            "queryRegret": figures.query_regret,
            "bound": play.table.value + figures.gap,
            "blocks": figures.by_block.tolist(),
            "epsilon": spent[i],
            "facts": dict(made.facts),
        }
        if matrix is not None:
            line["columns"] = sorted({matrix.queries.index(query) for query in made.queries})
            line["mix"] = play.mix(made.number).tolist()
            line["average"] = play.mix(made.number, average=True).tolist()
        rounds.append(line)
    return {
        "table": play.table.name,
        "story": play.table.story,
        "game": type(play.method).__name__,
        "rule": STORIES[play.method.name],
        "noise": play.noise,
        "value": play.table.value,
        "asked": play.game.curator.ledger.epsilon if play.noise else 0.0,
        "blocks": blocks,
        "rounds": rounds,
        "matrix": None if matrix is None else matrix.values.tolist(),
        "records": [] if matrix is None else matrix.record_names(),
        "queries": [] if matrix is None else matrix.query_names(),
        "equilibrium": None if solved is None else solved.data_mix.tolist(),
    }
