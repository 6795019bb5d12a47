"""How far one protected unit can move the answer, derived from the plan and the card (never from rows).

Proof: docs/proofs/count-sensitivity.md
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.data.card import Card, Size
from discreet.guarantees.types import Neighbours
from discreet.plan.nodes import CountPlan

__all__ = ["Sensitivity", "count_sensitivity"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The l1 bound over all cells of an answer, and the sentence that derives it."""

    l1: int
    derivation: str


def count_sensitivity(plan: CountPlan, card: Card) -> Sensitivity:
    """The most that the cells of a count can change, in sum, between neighbouring data sets."""
    k = plan.rows_per_unit
    unit = f"one unit holds at most {k} row{'s' if k > 1 else ''}"
    if card.neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(k, f"{unit}, and each row counts in one cell: adding or removing it moves the counts by {k}")
    public = all(card.column(name).public for name in plan.columns_used())
    keyed_publicly = all(card.column(key.column).public for key in plan.keys)
    if public and k == 1 and card.size is Size.PUBLIC:
        return Sensitivity(0, "the size is public, one row per unit, and only public columns decide what is counted")
    if keyed_publicly:
        return Sensitivity(k, f"{unit} and stays in its public group: replacing it moves one count by at most {k}")
    return Sensitivity(2 * k, f"{unit}, which may leave one cell and enter another: replacing it moves {2 * k}")
