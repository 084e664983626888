"""How far one unit moves a table of counts in which every row is in one cell.

A unit has at most k rows, so adding one moves a table by a vector u >= 0 with sum at most k.
"""

from __future__ import annotations

from saddlesynth.games.privacy.budget import Ledger, Relation


def squared_l2(ledger: Ledger) -> int:
    """Square of the L2 sensitivity: k^2, or 2 k^2 where a unit is replaced.

    Adding: |u|_2 <= |u|_1 <= k.  Replacing u by v: no entry of either is negative, so
    |v - u|^2 <= |u|^2 + |v|^2 <= 2 k^2.
    """
    return (1 + _replaces(ledger)) * ledger.rows_per_unit**2


def l1(ledger: Ledger) -> int:
    """L1 sensitivity: k, or 2 k where a unit is replaced."""
    return (1 + _replaces(ledger)) * ledger.rows_per_unit


def keys(ledger: Ledger) -> int:
    """How many cells change, and how many can be in one of two neighbours only: k, or 2 k."""
    return l1(ledger)


def largest(ledger: Ledger) -> int:
    """How much one cell can change: k (a replaced unit removes at most k and adds at most k)."""
    return ledger.rows_per_unit


def _replaces(ledger: Ledger) -> bool:
    return ledger.relation is Relation.REPLACE_ONE
