"""Two exercises for each page, with the answers worked out for the lesson at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from saddlesynth.synthesis.lesson import polytope, words
from saddlesynth.synthesis.lesson.lesson import Lesson
from saddlesynth.synthesis.lesson.polytope import TwoBits


@dataclass(frozen=True)
class Exercise:
    """A question, and the paragraphs of its answer."""

    question: str
    answer: tuple[str, ...]


def game_exercises(lesson: Lesson) -> tuple[Exercise, Exercise]:
    """One on the matrix, one on the privacy of the query player's choice."""
    return _on_the_value(lesson), _on_privacy(lesson) if lesson.noise else _on_noise(lesson)


def _on_the_value(lesson: Lesson) -> Exercise:
    exhibit = lesson.exhibit
    matrix, game = exhibit.matrix, exhibit.equilibrium
    if matrix is None or game is None:
        return _on_the_data(lesson)
    lonely = matrix.values.max(axis=1)
    best = int(np.argmin(lonely))
    reply = int(np.argmax(matrix.values[best]))
    name = words.record_words(exhibit, matrix.records[best].tolist())
    query = words.query_words(exhibit, matrix.queries[reply])
    zero = abs(game.value) < 1e-9
    why = (
        "Each payoff is q(data) − q(record), so a mix in the proportions of the data makes every "
        "one of them 0 on average: the data player can always play the data, and the value is 0."
        if zero
        else "No mix brings it to 0, for the data hold a combination that no record may have: the "
        "query that asks for it is off whatever is played."
    )
    return Exercise(
        "By hand: which single record is the data player's best, if it must play the same one "
        "in every round, and what does it pay then? And what is the least it must pay with a mix?",
        (
            "Look for the largest number of each row; the smallest of these is "
            f"{lonely[best]:.3f}, in the row “{name}” (the query player replies “{query}”).",
            f"With a mix it pays {game.value:.3f}, for example "
            f"{words.mix_words(matrix, game.data_mix)}. {why}",
        ),
    )


def _on_the_data(lesson: Lesson) -> Exercise:
    last = lesson.seen[-1]
    return Exercise(
        "The matrix of this game is too large to write out. What is its value all the same, if "
        "every record may be played, and why?",
        (
            "0. The data player can play each record as often as it occurs in the data; then "
            "q(data) − q(mix) is 0 for every query. And it cannot do better than 0: for every "
            "query its negation is a query too, and pays the opposite.",
            f"So the largest error, {last.error:.3f} after {len(lesson.seen)} rounds, is what is "
            "still to be lost, and the regrets bound it.",
        ),
    )


def _on_privacy(lesson: Lesson) -> Exercise:
    last = lesson.seen[-1]
    selection = last.selection
    if selection is None:
        return _on_the_bound(lesson)
    epsilon, top = selection.epsilon, selection.scores.max() - selection.scores.min()
    per_record, spread = math.exp(epsilon / 2), math.exp(min(600.0, epsilon / 2 * top))
    return Exercise(
        f"In the last round a query was drawn with epsilon₀ = {epsilon:.3g}. How much likelier is "
        "a query that is off by one record more? One person is added to the data: by which factor "
        "can the chance of any query change?",
        (
            "Chances are proportional to exp(epsilon₀ · score / 2), so one record more makes a "
            f"query exp({epsilon:.3g} / 2) = {per_record:.4f} times as likely. Here the scores "
            f"spread over {top:.4g} records; that is a factor of {spread:.3g}.",
            "A person moves every score by at most 1, up or down: numerator and denominator each "
            "change by at most exp(epsilon₀ / 2), so no chance changes by more than exp(epsilon₀) "
            f"= {math.exp(epsilon):.4f}.",
            f"All rounds together spent epsilon = {last.epsilon:.4g} (delta {lesson.delta:g})"
            f"{_less_than_the_sum(lesson)}.",
        ),
    )


def _on_the_bound(lesson: Lesson) -> Exercise:
    last, figures = lesson.seen[-1], lesson.seen[-1].exact
    value = lesson.exhibit.value or 0.0
    return Exercise(
        "Add the two regrets after the last round. What does that promise about the worst query, "
        "and what is true of it?",
        (
            f"{figures.data_regret:.3f} + {figures.query_regret:.3f} = {figures.gap:.3f}, the "
            f"duality gap. No query is off by more than value + gap = {value + figures.gap:.3f} in "
            "the average mix.",
            f"The average mix is off by {figures.mean_error:.3f} at most; what would be handed out "
            f"now by {last.error:.3f}.",
        ),
    )


def _less_than_the_sum(lesson: Lesson) -> str:
    """What composition saves, where it does."""
    parts = [seen.round.price.epsilon for seen in lesson.seen]
    total = sum(part for part in parts if part is not None)
    if None in parts or total <= lesson.seen[-1].epsilon:
        return ""
    return (
        f"; their own epsilons add up to {total:.4g}, but losses of different rounds partly cancel"
    )


def _on_noise(lesson: Lesson) -> Exercise:
    worst = lesson.seen[0].error * lesson.exhibit.rows
    return Exercise(
        "The query player always asked the query that is furthest off. Why is the outcome not "
        "private then, although only queries and synthetic records were shown?",
        (
            "Whether one person is in the data can decide which of two queries is further off. "
            "Then the query that is asked, and all records played after it, tell for certain "
            "whether that person is there: no epsilon, however large, allows that.",
            f"In round 1 the worst query was off by {worst:.4g} records. Chances that change "
            "smoothly with the scores hide one record; that is the exponential mechanism.",
        ),
    )


def polytope_exercises(lesson: TwoBits) -> tuple[Exercise, Exercise]:
    """One on the polytope, one on the certificate."""
    negative = [i for i, share in enumerate(lesson.free) if share < 0]
    seen = (
        f"Here it wants a share of {lesson.free[negative[0]]:+.3f} for "
        f"{polytope.record_name(negative[0])}, which no table has."
        if negative
        else "Here it happens to lie inside, so the projection is the point itself."
    )
    last = lesson.steps[-1]
    prices = ", ".join(
        f"{polytope.record_name(i)} {price:+.2g}" for i, price in enumerate(last.prices)
    )
    return (
        Exercise(
            "P(left=1) = 0.3 and P(right=1) = 0.9. Between which numbers must P(both=1) lie, and "
            "where are these two points on the tetrahedron?",
            (
                "At most min(0.3, 0.9) = 0.3, and at least 0.3 + 0.9 − 1 = 0.2, else the two would "
                "not fit into one table. Each bound is a face: at 0.3 no record is 10, at 0.2 no "
                "record is 00. The other two faces are P(both=1) ≥ 0 and P(both=1) ≤ P(right=1).",
                f"Noisy marginals know nothing of this. {seen}",
            ),
        ),
        Exercise(
            "At the end every record has a price of at least 0. Why does that prove that no "
            "distribution fits better, although only four points were looked at?",
            (
                "The price of a record is how fast the misfit grows when a little weight moves to "
                "it. Every distribution is a mix of records, so moving towards it changes the "
                "misfit at the mean of their prices, which is not negative; and the misfit is "
                "convex, so it cannot fall later if it does not fall at first.",
                f"Final prices: {prices}. Records in use have price 0. With millions of records "
                "nobody lists the prices: an integer program finds the least one, and its bound is "
                "the proof.",
            ),
        ),
    )
