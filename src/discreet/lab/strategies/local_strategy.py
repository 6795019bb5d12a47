"""Local sensitivity: noise for how far one row moves the answer on these very rows.

Guarantee: none (Unproven). The scale of the noise is a fact about single rows, and repeated answers show it.
Requires:  nothing of the rows; answers leave only where the card says `allow: [generated]`.
Proof:     none
Refs:      [NRS07] Section 1: why noise must not be scaled to the local sensitivity.

Neighbours are what these rows can become at distance 1 with values that were observed: a row comes or goes
(add-remove), or one takes another's value (replace-one; rows may come and go too where a filter or missing values let
them). What the rows do not hold is not looked at, so the figure is smaller than the card's bounds would give. A unit
with several rows is counted as so many rows at their most.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Self

from discreet.catalogue import Phrase
from discreet.guarantees import ExactLike, Neighbours, Unproven, exact
from discreet.lab.strategies.scaled_laplace import add_laplace, answer_of
from discreet.lab.strategies.subject import AggregateKind, HeldValues, StrategyAnswer, Subject
from discreet.sql import Scan

__all__ = ["Local", "local_sensitivity"]

REASON: Final = Phrase(
    "noise was scaled to the local sensitivity, which is itself a fact about single rows"
).en  # as the ledger keeps it


@dataclass(frozen=True, slots=True)
class Local:
    """Laplace noise of scale local sensitivity / epsilon."""

    answer: Fraction
    sensitivity: Fraction
    epsilon: Decimal

    @classmethod
    def calibrate(cls, subject: Subject, held: HeldValues, *, epsilon: ExactLike) -> Self:
        """Ready to draw; where no neighbour moves the answer, for a move by the smallest step."""
        found = local_sensitivity(subject, held)
        least = Fraction(1) if subject.aggregate is AggregateKind.COUNT else subject.step
        return cls(answer_of(subject, held), found or least, exact(epsilon, parameter="epsilon"))

    @property
    def name(self) -> str:
        return "local"

    @property
    def guarantee(self) -> Unproven:
        return Unproven(REASON)

    def draw(self) -> StrategyAnswer:
        noisy = add_laplace(self.answer, sensitivity=self.sensitivity, epsilon=self.epsilon)
        return StrategyAnswer(noisy, float(self.sensitivity))


def local_sensitivity(subject: Subject, held: HeldValues) -> Fraction:
    """The most that the answer moves between these rows and their neighbours, in the query's own units.

    Every aggregate here rises or falls with each value, so the neighbours that move it most are made with the least and
    the greatest value. A count is taken to move by the rows of a unit, whatever the rows are.
    """
    if subject.aggregate is AggregateKind.COUNT:
        return Fraction(subject.unit_rows)
    here = held.result(subject)
    moves = [
        abs(there - (here or 0))
        for neighbour in _neighbours(subject, held)
        if (there := neighbour.result(subject)) is not None
    ]
    return subject.unit_rows * max(moves, default=Fraction(0))


def _neighbours(subject: Subject, held: HeldValues) -> Iterator[HeldValues]:
    if not held.present:
        return
    ends = (held.least, held.greatest)
    comes_and_goes = held.present < held.rows or not isinstance(subject.source, Scan)
    if subject.neighbours is Neighbours.ADD_REMOVE or comes_and_goes:
        for value in ends:
            yield _moved(held, {value: -1})
            yield _moved(held, {value: +1})
    if subject.neighbours is Neighbours.REPLACE_ONE and held.least != held.greatest:
        for gone, come in (ends, ends[::-1]):
            yield _moved(held, {gone: -1, come: +1})


def _moved(held: HeldValues, changes: dict[int, int]) -> HeldValues:
    """The rows with a few values more or less."""
    counts = ((value, count + changes.get(value, 0)) for value, count in held.histogram)
    return HeldValues(tuple(pair for pair in counts if pair[1]), held.rows + sum(changes.values()))
