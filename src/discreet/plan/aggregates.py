"""SELECT, HAVING and ORDER BY over aggregates: what must be measured, and what is shown of it.

Each aggregate becomes one or more measures; the same measure is taken once, however often the statement asks for it.
Means are taken around the middle of the column's bounds, or nearer to what the card calls typical, so that their noise
does not grow with the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal, cast

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.plan.algebra import (
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
from discreet.plan.calculus import SEARCHED, WIDEST, Facts, Span, move_bounds, span_of
from discreet.plan.centres import choose_centre
from discreet.plan.outputs import (
    Arithmetic,
    Constant,
    Magnitude,
    Mean,
    Noted,
    Output,
    Pick,
    Spread,
    fixed_value,
    measures_used,
)
from discreet.plan.parsing import literal, only, refuse
from discreet.plan.scopes import Scope, call_name
from discreet.plan.sensitivity import TRIMMED_ONLY
from discreet.plan.statement import MeasureFace, WrittenAggregate
from discreet.plan.tables import is_aggregate
from discreet.plan.typed import Sort, Typed, require_number

__all__ = ["Aggregates", "default_name", "takes_variance"]

_SIGNS: Final[Mapping[type[exp.Expression], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_SPREADS: Final = {"VARIANCE": False, "VAR": False, "STDDEV": True, "STDDEVSAMP": True}
_MEANS: Final = ("AVG", "WAVG")
_OF_NUMBERS: Final = frozenset({*_SPREADS, *_MEANS, "SUM", "MIN", "MAX", "MEDIAN", "QUANTILE", "TRIMMED_AVG"})
_NAMES: Final = {"VARIANCE": "var", "STDDEVSAMP": "stddev"}

_LARGEST_STEP: Final = 10**60

Sign = Literal["+", "-", "*", "/"]


def default_name(node: exp.Expression, place: int) -> str:
    """The name of an output without alias: count, sum_height, avg_height, …; column_2 for arithmetic."""
    if not is_aggregate(node):
        return f"column_{place}"
    name = _NAMES.get(call_name(node), call_name(node).lower())
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) and node.expressions else node.this
    if isinstance(inner, exp.Distinct):
        return f"{name}_units"
    return f"{name}_{str(inner.this.this).lower()}" if isinstance(inner, exp.Column) else name


def takes_variance(node: exp.Expression) -> bool:
    """Whether a variance or a standard deviation is anywhere in a statement."""
    return any(
        isinstance(part, exp.Expression) and is_aggregate(part) and call_name(part) in _SPREADS for part in node.walk()
    )


class Aggregates:
    """Reads outputs over one relation and gathers the measures they need."""

    def __init__(
        self,
        scope: Scope,
        facts: Facts,
        private: frozenset[Identity] = frozenset(),
        found: Mapping[Identity, tuple[int, int]] | None = None,
        admit: frozenset[str] = frozenset(),
        typical: Mapping[Identity, Fraction] | None = None,
    ) -> None:
        self._scope = scope
        self._facts = facts
        self._private = private
        self._found = found or {}
        self._admit = admit
        self._typical = typical or {}
        self._used: dict[Identity, Fraction] = {}
        self._readings: dict[WrittenAggregate, None] = {}
        self._measures: dict[Measure, MeasureFace] = {}

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(self._measures)

    @property
    def faces(self) -> tuple[MeasureFace, ...]:
        return tuple(self._measures.values())

    @property
    def searched(self) -> tuple[Identity, ...]:
        """The columns with private bounds that stand in an aggregate and still have to be searched for."""
        return tuple(column for column in self._used if column not in self._found)

    @property
    def private_columns(self) -> tuple[tuple[Identity, Fraction], ...]:
        """The columns with private bounds that stand in an aggregate, each with its step."""
        return tuple(self._used.items())

    @property
    def readings(self) -> tuple[WrittenAggregate, ...]:
        """What each aggregate of a value was read as."""
        return tuple(self._readings)

    def note(self, measure: Measure, text: str, step: Fraction = Fraction(1)) -> int:
        """The place of a measure, taken up when it is new. Counting what is always there counts the rows."""
        if isinstance(measure, Rows) and measure.value is not None and not span_of(measure.value, self._facts).nullable:
            measure, text = Rows(None), "COUNT(*)"
        if max(step.numerator, step.denominator) > _LARGEST_STEP:
            raise QueryRefused("the constants of an expression make numbers that are too large or too small to show.")
        self._measures.setdefault(measure, MeasureFace(text, step))
        return list(self._measures).index(measure)

    # --- outputs ----------------------------------------------------------------------------------------------------

    def output(self, node: exp.Expression) -> Output:
        """An aggregate, a constant, or arithmetic on them."""
        given = literal(node)
        if given is not None:
            if given.quoted or given.number is None:
                raise QueryRefused("an output is an aggregate, a key, or arithmetic on aggregates; a text came.")
            return Constant(given.number)
        if is_aggregate(node):
            return self._aggregate(node)
        match node:
            case exp.Paren():
                only(node, "this")
                return self.output(node.this)
            case exp.Neg():
                return Arithmetic("-", Constant(Fraction(0)), self.output(node.this))
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                only(node, "this", "expression", "typed", "safe")
                sign = cast(Sign, _SIGNS[type(node)])
                left, right = self.output(node.this), self.output(node.expression)
                if sign == "/" and fixed_value(right) == 0:
                    raise QueryRefused("the statement divides by 0.")
                return Arithmetic(sign, left, right)
            case exp.Abs():
                only(node, "this")
                return Magnitude(self.output(node.this))
            case exp.Least() | exp.Greatest():
                only(node, "this", "expressions", "ignore_nulls")
                parts = tuple(self.output(part) for part in (node.this, *node.expressions))
                return Pick(isinstance(node, exp.Least), parts)
            case exp.Column():
                name = self._scope.column(node).text
                raise QueryRefused(f"'{name}' is selected but not in GROUP BY; single rows are never shown.")
        raise refuse(node, "an output")

    def _aggregate(self, node: exp.Expression) -> Output:
        name, text = call_name(node), node.sql()
        if isinstance(node, exp.Count):
            return self.count(self._count(node), text)
        if name not in _OF_NUMBERS:
            raise refuse(node, "an output")
        share = self._share(node)
        return self.take(name, self._argument(node), text, share)

    def _share(self, node: exp.Expression) -> Fraction | None:
        """The rank of a quantile, or what a trimmed mean leaves out at each end."""
        name = call_name(node)
        if name == "QUANTILE":
            given, most, example = literal(node.args["quantile"]), Fraction(1), "QUANTILE(age, 0.9)"
        elif name == "TRIMMED_AVG":
            if "smooth" not in self._admit:
                raise QueryRefused(TRIMMED_ONLY, part="TRIMMED_AVG")
            given = literal(node.expressions[1]) if len(node.expressions) == 2 else None
            most, example = Fraction(1, 2), "TRIMMED_AVG(age, 0.1)"
        else:
            return None
        share = given.number if given is not None and not given.quoted else None
        if share is None or not 0 < share < most:
            raise QueryRefused(f"{name} takes a share between 0 and {float(most):g}, as in {example}.")
        return share

    def _argument(self, node: exp.Expression) -> Typed:
        """The number that an aggregate takes."""
        name = call_name(node)
        if isinstance(node, exp.Anonymous):
            if len(node.expressions) != 1 + (name == "TRIMMED_AVG"):
                raise QueryRefused(f"{name} takes one expression.")
            inner = node.expressions[0]
        else:
            only(node, "this", "quantile")
            inner = node.this
        if isinstance(inner, exp.Distinct):
            raise QueryRefused(
                "DISTINCT is answered for the unit alone, as COUNT(DISTINCT person_id).", part="DISTINCT"
            )
        if any(is_aggregate(part) for part in inner.walk()):
            raise QueryRefused("an aggregate cannot stand inside another.")
        return self._scope.value(inner)

    # --- measures ---------------------------------------------------------------------------------------------------

    def count(self, counted: Measure, text: str) -> Noted:
        """A count of rows or units."""
        return Noted(self.note(counted, text), Fraction(1))

    def take(self, name: str, value: Typed, text: str, share: Fraction | None = None) -> Output:
        """The aggregate of that name of a number; `share` is the rank of a quantile, the cut of a trimmed mean."""
        written = require_number(value, name)
        if written.sort is Sort.NOTHING:
            raise QueryRefused(f"{name}(NULL) is always NULL.")
        output = self._take(name, replace(written, value=substitute(written.value, self._clamped)), text, share)
        parts = tuple(self.measures[place] for place in sorted(measures_used(output)))
        self._readings[WrittenAggregate(name, written.value, parts)] = None
        return output

    def _take(self, name: str, typed: Typed, text: str, share: Fraction | None) -> Output:
        if name in _SPREADS:
            return self._spread(typed, text, root=_SPREADS[name])
        if name in _MEANS:
            return self._average(typed) if name == "AVG" else self._weighted_average(typed)
        return Noted(self.note(self._single(name, typed, share), text, typed.step), typed.step)

    def _single(self, name: str, typed: Typed, share: Fraction | None) -> Measure:
        """What is one measure by itself."""
        if name == "SUM":
            return Total(typed.value)
        low, high, _ = self._bounds(typed)
        if name in {"MIN", "MAX"}:
            return Extreme(typed.value, name == "MAX", (low, high))
        if name == "TRIMMED_AVG":
            assert share is not None, "a trimmed mean says what it leaves out"
            return Trimmed(typed.value, share)
        return Quantile(typed.value, Fraction(1, 2) if share is None else share, (low, high))

    def _clamped(self, field: Field) -> Value:
        """A column as it is summed or ranked: where its bounds are private, moved into those of the search."""
        if field.column not in self._private:
            return field
        columns = (typed for table in self._scope.tables for typed in table.columns.values())
        self._used.setdefault(field.column, next(typed.step for typed in columns if typed.value == field))
        bounds = self._found.get(field.column, (-SEARCHED, SEARCHED))
        return Clamp(field, *move_bounds(bounds, span_of(field, self._facts)))

    def _middle_words(self, typed: Typed, middle: int) -> str:
        if self._awaits_bounds(typed):
            return "the middle of its bounds"
        return _plain(middle * typed.step)

    def _awaits_bounds(self, typed: Typed) -> bool:
        return not set(self.searched).isdisjoint(fields_in(typed.value))

    def _require_middles(self, typed: Typed, ends: tuple[int, int], made: Callable[[Value], Value]) -> None:
        """What is summed about a middle stays within 64 bits wherever bounds yet to be found will put that middle."""
        if self._awaits_bounds(typed):
            for end in ends:
                span_of(made(_centred(typed.value, end)), self._facts)

    def _count(self, node: exp.Expression) -> Measure:
        only(node, "this", "big_int")
        inner = node.this
        if isinstance(inner, exp.Star):
            return Rows(None)
        if isinstance(inner, exp.Distinct):
            only(inner, "expressions")
            if len(inner.expressions) == 1 and self._scope.value(inner.expressions[0]).sort is Sort.UNIT:
                return Rows(None) if self._facts.rows == 1 else Units()
            raise QueryRefused(
                "COUNT(DISTINCT …) is answered for the unit alone: how many values a column takes is decided by rare "
                "rows. GROUP BY the column instead.",
                part="DISTINCT",
            )
        return Rows(self._scope.counted(inner))

    # --- means, spreads ---------------------------------------------------------------------------------------------

    def _average(self, typed: Typed) -> Output:
        low, high, middle = self._centred_bounds(typed)
        self._require_middles(typed, (low, high), lambda centred: centred)
        words = f"SUM({typed.text} − {self._middle_words(typed, middle)})"
        total = self.note(Total(_centred(typed.value, middle)), words, typed.step)
        size = self.note(Rows(typed.value), f"COUNT({typed.text})")
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

    def _weighted_average(self, typed: Typed) -> Output:
        weight = self._weight()
        low, high, middle = self._centred_bounds(typed)
        self._require_middles(typed, (low, high), lambda centred: Times(weight.value, centred))
        centred = Times(weight.value, _centred(typed.value, middle))
        present = Case(((Not(IsNull(typed.value)), weight.value),), Nothing())
        words = f"{weight.text} × ({typed.text} − {self._middle_words(typed, middle)})"
        return Mean(
            total=self.note(Total(centred), f"SUM({words})", weight.step * typed.step),
            size=self.note(Total(present), f"SUM({weight.text}) where {typed.text} is there", weight.step),
            total_step=weight.step * typed.step,
            size_step=weight.step,
            centre=middle * typed.step,
            floor=weight.step,
            low=low * typed.step,
            high=high * typed.step,
        )

    def _weight(self) -> Typed:
        weights = {weight.value: weight for table in self._scope.tables for weight in table.weights}
        if len(weights) != 1:
            found = "no table here has a weight in its card" if not weights else "several tables here have a weight"
            raise QueryRefused(f"WAVG needs the survey weight, and {found}. Write SUM(w * x) / SUM(w) instead.")
        return next(iter(weights.values()))

    def _spread(self, typed: Typed, text: str, *, root: bool) -> Output:
        low, high, middle = self._bounds(typed)
        if self._awaits_bounds(typed) and (high - low) ** 2 > WIDEST:
            raise QueryRefused(
                f"{text} squares its values, and the bounds of {typed.text} are private: squares of all that a search "
                "may find could leave 64-bit integers. Write CLAMP(column, low, high) inside.",
                part="bounds",
            )
        self._require_middles(typed, (low, high), lambda centred: Times(centred, centred))
        centred = _centred(typed.value, middle)
        shown = f"{typed.text} − {self._middle_words(typed, middle)}"
        return Spread(
            total=self.note(Total(centred), f"SUM({shown})", typed.step),
            squares=self.note(Total(Times(centred, centred)), f"SUM(({shown})²)", typed.step**2),
            size=self.note(Rows(typed.value), f"COUNT({typed.text})"),
            step=typed.step,
            high=((high - low) * typed.step) ** 2 / 2,
            root=root,
        )

    def _centred_bounds(self, typed: Typed) -> tuple[int, int, int]:
        """Lowest and highest whole value, and the centre of a mean: by what is typical of a column as it stands."""
        low, high, _ = self._bounds(typed)
        usual = self._typical.get(typed.value.column) if isinstance(typed.value, Field) else None
        return low, high, choose_centre(low, high, usual)

    def _bounds(self, typed: Typed) -> tuple[int, int, int]:
        """Lowest and highest whole value, and the middle."""
        span: Span = span_of(typed.value, self._facts)
        if not span.bounded or span.low is None or span.high is None:
            raise QueryRefused(
                f"{typed.text} needs bounds for this. Add `bounds: [low, high]` to the column in the card, or write "
                "CLAMP(column, low, high) in the statement.",
                part="bounds",
            )
        return span.low, span.high, (span.low + span.high) // 2


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
