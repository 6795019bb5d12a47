"""Aggregates as they were written, to measures: what is taken of every row, under the facts of one relation.

Each aggregate becomes one or more measures; the same measure is taken once, however often the statement asks for it.
Means are taken around the middle of the column's bounds, or nearer to what the card calls typical, so that their noise
does not grow with the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Case,
    Clamp,
    Extreme,
    Field,
    Identity,
    IsNull,
    Measure,
    Not,
    Nothing,
    Plus,
    Quantile,
    Rows,
    Times,
    Total,
    Trimmed,
    Units,
    Value,
    Whole,
    fields_in,
    substitute,
)
from discreet.sql.calculus import SEARCHED, WIDEST, Facts, Span, move_bounds, span_of
from discreet.sql.outputs import Mean, Noted, Spread, measures_used
from discreet.sql.reader.centres import choose_centre
from discreet.sql.reader.typed_values import Typed
from discreet.sql.statement import MeasureFace, Written, WrittenAggregate, WrittenCount

__all__ = ["SPREADS", "Found", "Measures"]

SPREADS: Final = {"VARIANCE": False, "VAR": False, "STDDEV": True, "STDDEVSAMP": True}
"""Variances, and their roots."""

Found = Mapping[Identity, tuple[int, int]]
"""The bounds found for each column, in whole steps."""

_LARGEST_STEP: Final = 10**60
_MIDDLE: Final = Phrase("the middle of its bounds")
_UNITS_OF_KEYS: Final = Phrase("units of each key (to choose the keys)")


class Measures:
    """The measures of aggregates over one relation, in the order in which these are taken.

    `private` are the columns whose bounds a search finds, each with its step. They are clamped to those that were
    `found` for them; before the search, to all it looks at.
    """

    def __init__(self, facts: Facts, private: Mapping[Identity, Fraction], found: Found | None = None) -> None:
        self._facts = facts
        self._private = private
        self._found = found or {}
        self._used: dict[Identity, Fraction] = {}
        self._readings: dict[Written, tuple[Measure, ...]] = {}
        self._measures: dict[Measure, MeasureFace] = {}

    @property
    def readings(self) -> Mapping[Written, tuple[Measure, ...]]:
        """The aggregates, each with the measures it is made of."""
        return dict(self._readings)

    @property
    def searched(self) -> tuple[Identity, ...]:
        """The columns with private bounds that stand in an aggregate and still have to be searched for."""
        return tuple(column for column in self._used if column not in self._found)

    @property
    def private_columns(self) -> tuple[tuple[Identity, Fraction], ...]:
        """The columns with private bounds that stand in an aggregate, each with its step."""
        return tuple(self._used.items())

    def listed(self, *, open_keys: bool) -> tuple[tuple[Measure, ...], tuple[MeasureFace, ...]]:
        """All measures, and how each is shown.

        Open keys are chosen by a noisy count of units: one that is asked for anyway, or one more, which comes last.
        """
        listed = self._measures
        if open_keys:
            rows = self._facts.rows
            listed = {Units() if _stands_for_units(item, rows) else item: face for item, face in listed.items()}
            listed.setdefault(Units(), MeasureFace.of(_UNITS_OF_KEYS, Fraction(1)))
        return tuple(listed), tuple(listed.values())

    def take(self, written: Written) -> Noted | Mean | Spread:
        """What an aggregate shows; its measures are taken up where they are new."""
        if isinstance(written, WrittenCount):
            return self._count(written)
        typed = replace(written.value, value=substitute(written.value.value, self._clamped))
        output = self._take(written, typed)
        taken = tuple(self._measures)
        parts = tuple(taken[index] for index in sorted(measures_used(output)))
        return replace(output, reading=self._read(written, parts))

    def _read(self, written: Written, parts: tuple[Measure, ...]) -> int:
        self._readings.setdefault(written, parts)
        return list(self._readings).index(written)

    def _note(self, measure: Measure, text: str | Phrase, step: Fraction = Fraction(1)) -> int:
        """The place of a measure, taken up when it is new. Counting what is always there counts the rows."""
        if isinstance(measure, Rows) and measure.value is not None and not span_of(measure.value, self._facts).nullable:
            measure, text = Rows(None), "COUNT(*)"
        if isinstance(measure, Units) and self._facts.rows == 1:
            measure = Rows(None)
        if max(step.numerator, step.denominator) > _LARGEST_STEP:
            raise QueryRefused(
                say("the constants of an expression make numbers that are too large or too small to show.")
            )
        self._measures.setdefault(measure, MeasureFace.of(text, step))
        return list(self._measures).index(measure)

    # --- single measures --------------------------------------------------------------------------------------------

    def _count(self, written: WrittenCount) -> Noted:
        """It is kept as it was noted: the plan need not hold the columns of what is always there."""
        index = self._note(written.counted, written.text)
        counted, face = list(self._measures.items())[index]
        return Noted(index, Fraction(1), self._read(WrittenCount(counted, face.text), (counted,)))

    def _take(self, written: WrittenAggregate, typed: Typed) -> Noted | Mean | Spread:
        name = written.aggregate
        if name in SPREADS:
            return self._spread(typed, written.text, root=SPREADS[name])
        if written.weight is not None:
            return self._weighted_average(typed, written.weight, written.usual)
        if name == "AVG":
            return self._average(typed, written.usual)
        return Noted(self._note(self._single(name, typed, written.share), written.text, typed.step), typed.step)

    def _single(self, name: str, typed: Typed, share: Fraction | None) -> Measure:
        """What is one measure by itself."""
        if name == "SUM":
            return Total(typed.value)
        low, high = self._bounds(typed)
        if name in {"MIN", "MAX"}:
            return Extreme(typed.value, name == "MAX", (low, high))
        if name == "TRIMMED_AVG":
            assert share is not None, "a trimmed mean says what it leaves out"
            return Trimmed(typed.value, share)
        return Quantile(typed.value, Fraction(1, 2) if share is None else share, (low, high))

    # --- bounds -----------------------------------------------------------------------------------------------------

    def _clamped(self, field: Field) -> Value:
        """A column as it is summed or ranked: where its bounds are private, moved into those of the search."""
        if field.column not in self._private:
            return field
        self._used.setdefault(field.column, self._private[field.column])
        bounds = self._found.get(field.column, (-SEARCHED, SEARCHED))
        return Clamp(field, *move_bounds(bounds, span_of(field, self._facts)))

    def _bounds(self, typed: Typed) -> tuple[int, int]:
        """The lowest and the highest whole value."""
        span: Span = span_of(typed.value, self._facts)
        if not span.bounded or span.low is None or span.high is None:
            raise QueryRefused(
                say(
                    "{value} needs bounds for this. Add `bounds: [low, high]` to the column in the card, or write "
                    "CLAMP(column, low, high) in the statement.",
                    value=typed.text,
                ),
                part="bounds",
            )
        return span.low, span.high

    def _awaits_bounds(self, typed: Typed) -> bool:
        return not set(self.searched).isdisjoint(fields_in(typed.value))

    def _middle_words(self, typed: Typed, middle: int) -> str | Phrase:
        return _MIDDLE if self._awaits_bounds(typed) else _plain(middle * typed.step)

    def _require_middles(self, typed: Typed, ends: tuple[int, int], made: Callable[[Value], Value]) -> None:
        """What is summed about a middle stays within 64 bits wherever bounds yet to be found will put that middle."""
        if self._awaits_bounds(typed):
            for end in ends:
                span_of(made(_centred(typed.value, end)), self._facts)

    # --- means, spreads ---------------------------------------------------------------------------------------------

    def _average(self, typed: Typed, usual: Fraction | None) -> Mean:
        low, high = self._bounds(typed)
        middle = choose_centre(low, high, usual)
        self._require_middles(typed, (low, high), lambda centred: centred)
        words = Phrase("SUM({value} − {middle})", value=typed.text, middle=self._middle_words(typed, middle))
        total = self._note(Total(_centred(typed.value, middle)), words, typed.step)
        size = self._note(Rows(typed.value), f"COUNT({typed.text})")
        return Mean(
            total=total,
            size=size,
            total_step=typed.step,
            size_step=Fraction(1),
            centre=middle * typed.step,
            floor=Fraction(1),
            low=low * typed.step,
            high=high * typed.step,
        )

    def _weighted_average(self, typed: Typed, weight: Typed, usual: Fraction | None) -> Mean:
        low, high = self._bounds(typed)
        middle = choose_centre(low, high, usual)
        self._require_middles(typed, (low, high), lambda centred: Times(weight.value, centred))
        centred = Times(weight.value, _centred(typed.value, middle))
        present = Case(((Not(IsNull(typed.value)), weight.value),), Nothing())
        total = Phrase(
            "SUM({weight} × ({value} − {middle}))",
            weight=weight.text,
            value=typed.text,
            middle=self._middle_words(typed, middle),
        )
        size = Phrase("SUM({weight}) where {value} is there", weight=weight.text, value=typed.text)
        return Mean(
            total=self._note(Total(centred), total, weight.step * typed.step),
            size=self._note(Total(present), size, weight.step),
            total_step=weight.step * typed.step,
            size_step=weight.step,
            centre=middle * typed.step,
            floor=weight.step,
            low=low * typed.step,
            high=high * typed.step,
        )

    def _spread(self, typed: Typed, text: str, *, root: bool) -> Spread:
        low, high = self._bounds(typed)
        middle = choose_centre(low, high, None)
        if self._awaits_bounds(typed) and (high - low) ** 2 > WIDEST:
            raise QueryRefused(
                say(
                    "{aggregate} squares its values, and the bounds of {value} are private: squares of all that a "
                    "search may find could leave 64-bit integers. Write CLAMP(column, low, high) inside.",
                    aggregate=text,
                    value=typed.text,
                ),
                part="bounds",
            )
        self._require_middles(typed, (low, high), lambda centred: Times(centred, centred))
        centred = _centred(typed.value, middle)
        about = self._middle_words(typed, middle)
        total = Phrase("SUM({value} − {middle})", value=typed.text, middle=about)
        squares = Phrase("SUM(({value} − {middle})²)", value=typed.text, middle=about)
        return Spread(
            total=self._note(Total(centred), total, typed.step),
            squares=self._note(Total(Times(centred, centred)), squares, typed.step**2),
            size=self._note(Rows(typed.value), f"COUNT({typed.text})"),
            step=typed.step,
            high=((high - low) * typed.step) ** 2 / 2,
            root=root,
        )


def _stands_for_units(measure: Measure, rows: int) -> bool:
    return rows == 1 and measure == Rows(None)


def _centred(value: Value, middle: int) -> Value:
    if middle == 0:
        return value
    terms = value.terms if isinstance(value, Plus) else (value,)
    fixed = sum(term.value for term in terms if isinstance(term, Whole)) - middle
    moving = tuple(term for term in terms if not isinstance(term, Whole))
    if isinstance(value, Whole):
        return Whole(value.value - middle)
    return Plus((*moving, Whole(fixed))) if fixed else (Plus(moving) if len(moving) > 1 else moving[0])


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"
