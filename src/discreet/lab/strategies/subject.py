"""What strategies are compared on: one aggregate of one value over all rows of a relation, without groups.

A `Subject` follows from the statement and the cards alone. `HeldValues` is what the rows say about it, exactly:
confidential, seen by strategies that are calibrated to the data and by the custodian's comparisons, not by analysts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, cast

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import Guarantee, Neighbours
from discreet.sql import (
    Extreme,
    Mean,
    Noted,
    Plan,
    Plus,
    Quantile,
    Relation,
    Rows,
    Total,
    Trimmed,
    Value,
    Whole,
    ends_of,
    facts_of,
    span_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.cards import Card
    from discreet.engines import Engine, Histogram
    from discreet.sql import Statement

__all__ = ["AggregateKind", "HeldValues", "SensitivityStrategy", "StrategyAnswer", "Subject", "hold", "subject_of"]


class AggregateKind(StrEnum):
    """What is asked of the values."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    QUANTILE = "QUANTILE"
    MIN = "MIN"
    MAX = "MAX"
    TRIMMED = "TRIMMED_AVG"


@dataclass(frozen=True, slots=True)
class Subject:
    """One aggregate. Values are whole steps of size `step`; `value` is None where rows are counted.

    `rank` is that of a quantile, or the share of values that a trimmed mean leaves out at each end. `unit_rows` bounds
    the rows of a unit; `low` and `high` are what the card lets a value be (`bounded`), else the reach of its type.
    `column` is the card's column when the value is made of one alone.
    """

    aggregate: AggregateKind
    source: Relation
    value: Value | None
    step: Fraction
    unit_rows: int
    neighbours: Neighbours
    low: int
    high: int
    bounded: bool
    dataset: str
    column: str | None
    text: str
    rank: Fraction | None = None


@dataclass(frozen=True)
class HeldValues:
    """The values as they are: (value, how many rows have it) ascending, and how many rows there are in all."""

    histogram: tuple[tuple[int, int], ...] = field(repr=False)
    rows: int = field(repr=False)

    @cached_property
    def present(self) -> int:
        """How many rows have the value."""
        return sum(count for _, count in self.histogram)

    @cached_property
    def total(self) -> int:
        return sum(value * count for value, count in self.histogram)

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return tuple(accumulate(count for _, count in self.histogram))

    @property
    def least(self) -> int:
        return self.histogram[0][0]

    @property
    def greatest(self) -> int:
        return self.histogram[-1][0]

    def at(self, index: int) -> int:
        """The value at a place of the sorted values, counted from 1."""
        from bisect import bisect_left

        return self.histogram[bisect_left(self._ends, index)][0]

    def result(self, subject: Subject) -> Fraction | None:
        """The exact answer in the query's own units; None where there is nothing to speak of."""
        if subject.aggregate is AggregateKind.COUNT:
            return Fraction(self.rows if subject.value is None else self.present)
        if subject.aggregate is AggregateKind.SUM:
            return self.total * subject.step
        if not self.present:
            return None
        if subject.aggregate is AggregateKind.AVG:
            return Fraction(self.total, self.present) * subject.step
        if subject.aggregate is AggregateKind.TRIMMED:
            return self._trimmed_mean(subject)
        if subject.aggregate is AggregateKind.QUANTILE:
            assert subject.rank is not None
            return self.at(max(1, -int(-subject.rank * self.present // 1))) * subject.step
        return (self.least if subject.aggregate is AggregateKind.MIN else self.greatest) * subject.step

    def _trimmed_mean(self, subject: Subject) -> Fraction:
        """The mean without the ⌊share · n⌋ least and as many greatest values."""
        assert subject.rank is not None
        cut = int(subject.rank * self.present)
        first, last = cut + 1, self.present - cut
        kept, before = 0, 0
        for value, count in self.histogram:
            kept += value * max(0, min(before + count, last) - max(before + 1, first) + 1)
            before += count
        return Fraction(kept, last - first + 1) * subject.step


@dataclass(frozen=True, slots=True)
class StrategyAnswer:
    """One answer of a strategy and the sensitivity it used, both in the query's own units.

    Not `found`: private bounds were looked for and none stood out.
    """

    result: float
    sensitivity: float
    found: bool = True


class SensitivityStrategy(Protocol):
    """A strategy made ready for one subject. `guarantee` is what its answers carry."""

    @property
    def name(self) -> str: ...

    @property
    def guarantee(self) -> Guarantee: ...

    def draw(self) -> StrategyAnswer: ...


def subject_of(statement: Statement, cards: Mapping[str, Card]) -> Subject:
    """The one aggregate that a statement asks for, or QueryRefused: groups and several outputs are not compared."""
    plan, shown = statement.plan, statement.presentation.columns
    if plan.keys or len(shown) != 1 or statement.presentation.having is not None:
        raise QueryRefused(
            say(
                "strategies are compared on one aggregate without groups, as in SELECT AVG(height) FROM survey "
                "WHERE age >= 18. Leave out GROUP BY and HAVING, and ask for one output."
            )
        )
    output = shown[0].shows
    if isinstance(output, Noted):
        measure, step = plan.measures[output.measure], output.step
        match measure:
            case Rows(value):
                return _subject(statement, cards, AggregateKind.COUNT, value, Fraction(1))
            case Total(value):
                return _subject(statement, cards, AggregateKind.SUM, value, step)
            case Quantile(value, rank):
                return _subject(statement, cards, AggregateKind.QUANTILE, value, step, rank)
            case Trimmed(value, share):
                return _subject(statement, cards, AggregateKind.TRIMMED, value, step, share)
            case Extreme(value, largest):
                return _subject(statement, cards, AggregateKind.MAX if largest else AggregateKind.MIN, value, step)
    if isinstance(output, Mean) and isinstance(plan.measures[output.size], Rows):
        counted, total = plan.measures[output.size], plan.measures[output.total]
        assert isinstance(counted, Rows)
        assert isinstance(total, Total)
        value = counted.value or _uncentred(total.value, int(output.centre / output.total_step))
        return _subject(statement, cards, AggregateKind.AVG, value, output.total_step)
    raise QueryRefused(
        say("strategies are compared on COUNT, SUM, AVG, MEDIAN, QUANTILE, MIN, MAX or TRIMMED_AVG of one value.")
    )


def _uncentred(value: Value, middle: int) -> Value:
    """What was averaged, from what is summed about a middle."""
    terms = value.terms if isinstance(value, Plus) else (value,)
    fixed = sum(term.value for term in terms if isinstance(term, Whole)) + middle
    moving = tuple(term for term in terms if not isinstance(term, Whole))
    if not fixed and len(moving) == 1:
        return moving[0]
    return Plus((*moving, Whole(fixed))) if moving else Whole(fixed)


def _subject(
    statement: Statement,
    cards: Mapping[str, Card],
    aggregate: AggregateKind,
    value: Value | None,
    step: Fraction,
    rank: Fraction | None = None,
) -> Subject:
    plan = statement.plan
    facts = facts_of(plan.source, cards)
    low, high, bounded, column = 1, 1, True, None
    if value is not None:
        span = span_of(value, facts)
        low, high = ends_of(span)
        bounded = span.bounded
        if len(span.lineage) == 1:
            [(_, column)] = span.lineage
    return Subject(
        aggregate=aggregate,
        source=plan.source,
        value=value,
        step=step,
        unit_rows=facts.rows,
        neighbours=cards[plan.dataset].neighbours,
        low=low,
        high=high,
        bounded=bounded,
        dataset=plan.dataset,
        column=column,
        text=statement.measures[0].text if aggregate is not AggregateKind.AVG else f"AVG({column or 'value'})",
        rank=rank,
    )


def hold(subject: Subject, engine: Engine) -> HeldValues:
    """What the rows say about a subject, exactly. For the custodian. What is only counted is held as so many ones."""
    if subject.value is None:
        [[rows]] = engine.measure(Plan(subject.source, (), (Rows(None),))).columns
        return HeldValues((), int(cast(int, rows)))
    if subject.aggregate is AggregateKind.COUNT:  # of text, too, which has no histogram
        [[rows], [count]] = engine.measure(Plan(subject.source, (), (Rows(None), Rows(subject.value)))).columns
        present = int(cast(int, count))
        return HeldValues(((1, present),) if present else (), int(cast(int, rows)))
    plan = Plan(subject.source, (), (Rows(None), Quantile(subject.value, Fraction(1, 2))))
    [rows], [histogram] = engine.measure(plan).columns
    return HeldValues(tuple((int(v), int(n)) for v, n in cast("Histogram", histogram)), int(cast(int, rows)))
