"""The default: how far a unit can move the measures behind an answer, by the card's bounds alone.

Guarantee: pure DP, epsilon, per protected unit, when a release draws noise for these figures.
Requires:  bounds in the card, which ingest enforces by clamping; rows per unit bounded.
Proof:     docs/proofs/calculus.md; docs/proofs/mean.md for what is divided
Refs:      [DMNS06]

Nothing is derived here: `plan.sensitivity` says how far each measure moves, and this module says what that means for
the answer. Drawing belongs to the room of releases, which hands `Public` its way of drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.catalogue import numeral, say
from discreet.guarantees import PureDP
from discreet.lab.strategies.subject import AggregateKind, StrategyAnswer, subject_of
from discreet.sql import Mean, Noted, sensitivities

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.sql import Statement

__all__ = ["MeasureBound", "Public", "PublicBound", "public_bound"]

_RANKED = {AggregateKind.QUANTILE, AggregateKind.MIN, AggregateKind.MAX}


@dataclass(frozen=True, slots=True)
class MeasureBound:
    """The most that one unit moves a measure, in its own units (ranks, for what is chosen by rank), and why."""

    text: str
    sensitivity: Fraction
    derivation: str


@dataclass(frozen=True, slots=True)
class PublicBound:
    """What the card says of an answer. `total` moves by `sensitivity`; a mean divides it by `size`.

    `size` is None where nothing is divided; where it moves by 0, the number of values is public.
    """

    aggregate: AggregateKind
    total: MeasureBound
    size: MeasureBound | None = None

    @property
    def measures(self) -> tuple[MeasureBound, ...]:
        return (self.total,) if self.size is None else (self.total, self.size)

    def of_answer(self, values: int | None = None) -> Fraction | None:
        """How far the answer itself moves, in the query's own units; None where no one number tells.

        A mean moves as its sum does over how many `values` there are; where that number is noisy, a little further.
        """
        if self.aggregate in _RANKED:
            return None
        if self.size is None:
            return self.total.sensitivity
        if not values:
            return None
        return self.total.sensitivity / values

    @property
    def words(self) -> str:
        """What is noised, for a table of strategies."""
        if self.aggregate in _RANKED:
            return say("a choice by rank; scores move by {reach}", reach=self.total.sensitivity)
        if self.size is None:
            return say("moves by at most {reach}", reach=_plain(self.total.sensitivity))
        if self.size.sensitivity:
            return say("a noisy sum over a noisy count")
        return say(
            "a noisy sum, which moves by at most {reach}, over a public count", reach=_plain(self.total.sensitivity)
        )


def public_bound(statement: Statement, cards: Mapping[str, Card]) -> PublicBound:
    """The bound of a statement with one aggregate, or QueryRefused where strategies are not compared."""
    aggregate = subject_of(statement, cards).aggregate
    [column] = statement.presentation.columns
    output = column.shows
    if isinstance(output, Mean):
        total, size = (_measure(statement, cards, index) for index in (output.total, output.size))
        return PublicBound(aggregate, total, size)
    assert isinstance(output, Noted)
    return PublicBound(aggregate, _measure(statement, cards, output.measure))


def _measure(statement: Statement, cards: Mapping[str, Card], index: int) -> MeasureBound:
    moved = sensitivities(statement.plan, statement.plan.measures[index], cards).largest
    face = statement.measures[index]
    return MeasureBound(face.text, moved.l1 * face.step, moved.derivation)


def _plain(number: Fraction) -> str:
    return numeral(number.numerator) if number.denominator == 1 else numeral(float(number), ",.6g")


@dataclass(frozen=True, slots=True)
class Public:
    """The default as a strategy: `answers` draws one release after another; `values` as in `PublicBound.of_answer`."""

    bound: PublicBound
    epsilon: Decimal
    answers: Callable[[], float]
    values: int | None = None

    @property
    def name(self) -> str:
        return "public"

    @property
    def guarantee(self) -> PureDP:
        return PureDP(epsilon=self.epsilon)

    def draw(self) -> StrategyAnswer:
        moved = self.bound.of_answer(self.values)
        return StrategyAnswer(self.answers(), float("nan") if moved is None else float(moved))
