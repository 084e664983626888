"""Add up the ledger of a release again, in plain Python, independently of the package.

    python recompute_ledger.py RELEASE/ledger.json

Prints what the lines cost together and exits with 1 if that is more than was asked.
"""

import json
import math
import sys
from fractions import Fraction


def epsilon_of(rho, delta):
    """Smallest epsilon found over alpha > 1; every alpha gives a valid one.

    rho-zCDP implies (epsilon, delta)-DP for delta = exp((alpha-1)(alpha rho - epsilon))
    (1 - 1/alpha)^alpha / (alpha - 1)  (Canonne, Kamath, Steinke 2020).
    """

    def at(u):  # alpha = 1 + e^u; solved for epsilon
        alpha = 1 + math.exp(u)
        log = alpha * (u - math.log(alpha)) - u - math.log(delta)
        return alpha * rho + log / (alpha - 1)

    low, high = -30.0, 60.0
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if at(a) < at(b) else (a, high)
    return max(0.0, at(low)) if rho else 0.0


def recompute(ledger):
    """Total (epsilon, delta) of a ledger, by the rule it names."""
    lines = ledger["lines"]
    if ledger["rule"].startswith("pure"):
        return float(sum(Fraction(line["epsilon"]) for line in lines)), 0.0
    rho = float(sum(Fraction(line["rho"]) for line in lines))
    failures = sum(Fraction(line["delta"]) for line in lines)
    return epsilon_of(rho, ledger["conversion_delta"]), float(
        failures + Fraction(ledger["conversion_delta"])
    )


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        ledger = json.load(file)
    epsilon, delta = recompute(ledger)
    asked = ledger["asked"]
    print(f"{len(ledger['lines'])} lines cost epsilon {epsilon:.12g} and delta {delta:.12g}")
    print(f"asked were epsilon {asked['epsilon']:.12g} and delta {asked['delta']:.12g}")
    sys.exit(epsilon > asked["epsilon"] or delta > asked["delta"])
