"""From an embedded table to a report: ``demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from saddlesynth.synthesis.cli.options import DEFAULT_METHOD, FORCE, QUIET, SEED_RANGE
from saddlesynth.synthesis.cli.talk import progress_bar, say

if TYPE_CHECKING:
    from saddlesynth.synthesis.evaluate import Evaluation

RELEASE, REPORT = "release", "report"


@click.command(short_help="From an embedded table to a report.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default="saddlesynth-demo",
    show_default=True,
    help="Folder for the release and the report.",
)
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="Privacy budget.")
@click.option("--delta", type=float, default=1e-9, show_default=True)
@click.option("--seed", type=SEED_RANGE, help="Repeatable randomness; stamps the release.")
@FORCE
@QUIET
def demo(
    out: Path, epsilon: float, delta: float, seed: int | None, force: bool, quiet: bool
) -> None:
    """Synthesize the embedded UCI Adult table, evaluate, write release and report.

    \b
    saddlesynth demo
    saddlesynth demo --epsilon 0.2 --out little-budget
    """
    from saddlesynth.synthesis.demo_data import data_path, schema_path
    from saddlesynth.synthesis.evaluate import evaluate
    from saddlesynth.synthesis.folder import check_release_destination
    from saddlesynth.synthesis.methods import make
    from saddlesynth.synthesis.plain_words import protects, spent
    from saddlesynth.synthesis.report import check_report_destination, write_report

    start = time.monotonic()
    check_release_destination(out / RELEASE, force=force)
    check_report_destination(out / REPORT, force=force)
    say(f"UCI Adult: 48,842 people, 14 columns. Synthesizing by {DEFAULT_METHOD} ...", quiet)
    with progress_bar(quiet) as progress:
        method = make(
            DEFAULT_METHOD,
            epsilon=epsilon,
            delta=delta,
            schema=schema_path(),
            random_state=seed,
            progress=progress,
        ).fit(data_path())
        method.save(out / RELEASE, force=force, format="csv")
        say("Comparing with the real table (this is not private) ...", quiet)
        found = evaluate(data_path(), out / RELEASE, label="income", progress=progress)
    page = write_report(found, out / REPORT, force=force)
    release = method.release_
    say("", quiet)
    say(f"Privacy   {spent(release.ledger)}; {protects(release.manifest)}.", quiet)
    for line in _findings(found):
        say(line, quiet)
    say(f"Release   {out / RELEASE}  (may be published; see README.txt in it)", quiet)
    say(f"Report    {page}  (uses the real data: keep it)", quiet)
    say(f"Done in {time.monotonic() - start:.0f} s. Next: saddlesynth synthesize --help", quiet)


def _findings(found: Evaluation) -> list[str]:
    """What the evaluation found, in plain words."""
    from saddlesynth.synthesis.evaluate.result import RangeErrors, Skipped

    lines = ["Accuracy  share of rows that would have to move to give the real counts, on average:"]
    for k, what in ((1, "single columns"), (2, "pairs of columns"), (3, "triples of columns")):
        if (part := found.k_way(k)) is not None:
            lines.append(f"          {part.mean:.1%} for {what}")
    if isinstance(found.ranges, RangeErrors):
        lines.append(f"          random range queries are off by {found.ranges.mean:.2%} of rows")
    if not isinstance(errors := found.classifiers, Skipped):
        for name, error in errors.synthetic.items():
            lines.append(
                f"          {name} trained on synthetic rows errs on {error:.1%} of real ones "
                f"({errors.real[name]:.1%} if trained on real rows, {errors.majority:.1%} guessing)"
            )
    return lines
