"""What was spent and what it means, in plain words: for README.txt of a release and for the CLI."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

UNITS = {
    "add_remove": "whether any one {unit} is in the table at all",
    "replace_one": "what any one {unit} says; the number of rows counts as public",
    "none": "what its noisy marginals protect, no more and no less: no private table was read",
}


def spent(ledger: dict[str, Any]) -> str:
    """One line: what the ledger's lines add up to, and what was asked."""
    total, asked = ledger["total"], ledger["asked"]
    return (
        f"spent epsilon {total['epsilon']:.6g} and delta {total['delta']:.3g} "
        f"(asked: {asked['epsilon']:.6g} and {asked['delta']:.3g}) in "
        f"{len(ledger['lines'])} ledger lines"
    )


def recomputed(ledger: dict[str, Any]) -> dict[str, float]:
    """Totals from the ledger's own lines, by the rule it names: rho, epsilon, delta."""
    from saddlesynth.games.privacy.budget import Charge, Ledger

    if not ledger["lines"]:
        return {"rho": 0.0, "epsilon": 0.0, "delta": 0.0}
    asked, used = Fraction(ledger["asked"]["delta"]), Fraction(ledger["conversion_delta"])
    again = Ledger(
        ledger["asked"]["epsilon"],
        ledger["asked"]["delta"],
        ledger["relation"],
        reserved_delta=float(asked - used),
        lines=[Charge(**line) for line in ledger["lines"]],
    )
    return {"rho": again.spent_rho, "epsilon": again.spent_epsilon, "delta": again.spent_delta}


def protects(manifest: dict[str, Any]) -> str:
    """One line: what the guarantee is about."""
    unit = "row" if manifest["unit"] == "row" else f"value of column {manifest['unit']!r}"
    return "protects " + UNITS[manifest["relation"]].format(unit=unit)


def _origin(manifest: dict[str, Any]) -> str:
    """What the folder was computed from, and who may have it."""
    if manifest["relation"] == "none":
        return "noisy marginals that were\nmeasured elsewhere, and may be published if they may"
    if manifest["dp"] and not manifest["seeded"]:
        return "a private table under differential privacy\nand may be published"
    return "a private table for tests or\nteaching: see the note above before anyone else gets it"


def _privacy(manifest: dict[str, Any], ledger: dict[str, Any]) -> str:
    """What the release guarantees, and about whom."""
    if manifest["relation"] == "none":
        return f"This release {protects(manifest)}."
    return f"""This release {spent(ledger)}.
It {protects(manifest)}.
Whatever someone knows already, seeing this release changes the odds of any guess about
one such unit by a factor of at most e^epsilon, up to a probability delta."""


def readme(manifest: dict[str, Any], ledger: dict[str, Any]) -> str:
    """The text of README.txt."""
    notes = "".join(f"\nNOTE: {note}\n" for note in manifest["notes"])
    origin = _origin(manifest)
    synthetic = manifest.get("synthetic")
    rows = (
        f"{synthetic['file']} holds {synthetic['rows']:,} synthetic rows. They are not records of "
        "real people;\nmore can be made:  saddlesynth sample FOLDER --rows 1000 --out more.csv\n"
        if synthetic
        else "No rows were written; make some:  saddlesynth sample FOLDER --rows 1000 --out s.csv\n"
    )
    made = f"{manifest['method']}, saddlesynth {manifest['versions']['saddlesynth']}"
    public = "".join(f"  * {fact}\n" for fact in manifest["public"])
    return f"""SYNTHETIC DATA RELEASE
{notes}
Everything in this folder was computed from {origin}.
Method: {made}.

{rows}
PRIVACY
{_privacy(manifest, ledger)}
Taken as known to everyone:
{public}
FILES
  manifest.json   how it was made, versions, settings, hashes of the other files
  ledger.json     every use of the private table, with its cost; "saddlesynth ledger FOLDER"
                  adds the lines up again
  schema.json     the meaning of the columns
  marginals.*     counts that were measured with noise: estimate and standard error
  model.npz       plain arrays from which more rows are made

USE
Counts and averages over a few columns are close to the real ones, within the standard
errors given. Rare combinations, and relations between columns that the method did not
measure, may be off. Do not treat single rows as facts.
"""
