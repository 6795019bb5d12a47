"""About which value the sums of a mean are taken, and what part of epsilon they get.

A mean is centre + noisy Σ(x − centre) ÷ noisy size. The middle of the bounds makes the noise of the sum smallest. A
card may say what value is usual, from what is public; a centre nearer to it makes the noise of the size matter less.
Proof: docs/proofs/mean.md
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from discreet.cards import Card
from discreet.sql.algebra import Identity, Relation, Scan, walk

__all__ = ["TOTAL_OF_MEAN", "choose_centre", "usual_values"]

TOTAL_OF_MEAN: Final = Fraction(3, 4)
"""What the centred total of a mean gets of its budget, the size getting the rest."""


def usual_values(relation: Relation, cards: Mapping[str, Card]) -> dict[Identity, Fraction]:
    """What the cards call typical of the columns of a relation, in whole steps."""
    return {
        identity: Fraction(column.typical) / Fraction(column.step)
        for scan in walk(relation)
        if isinstance(scan, Scan)
        for identity, name in scan.columns
        if (column := cards[scan.dataset].column(name)).typical is not None and column.step is not None
    }


def choose_centre(low: int, high: int, typical: Fraction | None) -> int:
    """The centre between the middle and the usual value with the least error at that value; whole steps throughout.

    The noise of the total grows with the farthest value from the centre, that of the size counts as far as the mean
    lies from it. With the middle M, the half range D and a part f of the budget for the total, the error is least at a
    distance (f²·|typical − M| − (1 − f)²·D) ÷ (f² + (1 − f)²) from the middle.
    """
    middle = (low + high) // 2
    if typical is None:
        return middle
    usual = min(max(typical, Fraction(low)), Fraction(high))
    total, size = TOTAL_OF_MEAN**2, (1 - TOTAL_OF_MEAN) ** 2
    away = usual - middle
    farthest = high - middle if away < 0 else middle - low
    moved = (total * abs(away) - size * farthest) / (total + size)
    if moved <= 0:
        return middle
    centre = middle + round(moved if away > 0 else -moved)

    def error(index: int) -> Fraction:
        return Fraction(max(high - index, index - low)) ** 2 / total + (usual - index) ** 2 / size

    return centre if error(centre) < error(middle) else middle
