"""Values with their grid: what an expression of a statement is before it becomes whole numbers.

A number is a whole value times a step; arithmetic keeps both exact, so that engines only ever see integers. Multiplying
by a constant and dividing by one change the step alone; a sum brings both sides to a common step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.cards import canonical_code
from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.results import Labels
from discreet.sql.algebra import Nothing, OneOf, Plus, Times, Value, Whole, Within

__all__ = [
    "Domain",
    "Typed",
    "ValueSort",
    "add",
    "common",
    "compare_numbers",
    "constant",
    "multiply",
    "negate",
    "require_number",
    "scale",
]


class ValueSort(StrEnum):
    NUMBER = "number"
    CATEGORY = "category"
    TEXT = "text"
    UNIT = "unit"
    ID = "id"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Domain:
    """What a key made of this value can be: whole numbers low to high, then NULL where it can be."""

    low: int
    high: int
    nullable: bool


@dataclass(frozen=True, slots=True)
class Typed:
    """A value, its sort, its step (numbers) or its codes (categories), and the words it came from.

    `domain` is known for columns and lists; `fine` marks a column of measured numbers, too fine to group by.
    """

    value: Value
    sort: ValueSort
    text: str
    step: Fraction = Fraction(1)
    codes: tuple[str, ...] = ()
    labels: tuple[Labels, ...] = ()
    domain: Domain | None = None
    fine: bool = False

    @property
    def identifies(self) -> bool:
        """Whether it holds ids, of the protected units or others."""
        return self.sort in {ValueSort.UNIT, ValueSort.ID}

    @property
    def fixed(self) -> Fraction | None:
        """The number, when it is a constant."""
        return self.value.value * self.step if isinstance(self.value, Whole) and self.sort is ValueSort.NUMBER else None

    def position(self, code: str) -> int | None:
        """Where a code stands in a category's list."""
        wanted = canonical_code(code)
        return next((index for index, known in enumerate(self.codes) if canonical_code(known) == wanted), None)


def constant(number: Fraction, text: str) -> Typed:
    return Typed(Whole(number.numerator), ValueSort.NUMBER, text, step=Fraction(1, number.denominator))


def scale(typed: Typed, factor: Fraction, text: str) -> Typed:
    """The value times a constant."""
    if typed.fixed is not None:
        return constant(typed.fixed * factor, text)
    if factor == 0:  # 0 where the value is there, NULL where it is not
        return Typed(_times(Whole(0), typed.value), ValueSort.NUMBER, text)
    if factor > 0:
        return Typed(typed.value, ValueSort.NUMBER, text, typed.step * factor, domain=typed.domain, fine=typed.fine)
    return Typed(_times(Whole(-1), typed.value), ValueSort.NUMBER, text, typed.step * -factor)


def negate(typed: Typed, text: str) -> Typed:
    return scale(typed, Fraction(-1), text)


def multiply(left: Typed, right: Typed, text: str) -> Typed:
    if left.fixed is not None:
        return scale(right, left.fixed, text)
    if right.fixed is not None:
        return scale(left, right.fixed, text)
    return Typed(_times(left.value, right.value), ValueSort.NUMBER, text, step=left.step * right.step)


def add(parts: Sequence[Typed], text: str) -> Typed:
    values, step = common(parts)
    fixed = sum(value.value for value in values if isinstance(value, Whole))
    moving: list[Value] = []
    for value in values:
        if isinstance(value, Plus):
            fixed += sum(term.value for term in value.terms if isinstance(term, Whole))
            moving += [term for term in value.terms if not isinstance(term, Whole)]
        elif not isinstance(value, Whole):
            moving.append(value)
    if not moving:
        return constant(fixed * step, text)
    terms = (*moving, Whole(fixed)) if fixed else tuple(moving)
    return Typed(terms[0] if len(terms) == 1 else Plus(terms), ValueSort.NUMBER, text, step=step)


def common(parts: Sequence[Typed]) -> tuple[list[Value], Fraction]:
    """The values in whole multiples of the coarsest step that suits them all."""
    steps = [part.step for part in parts if part.fixed != 0 and part.sort is not ValueSort.NOTHING]
    step = _largest_common(steps) if steps else Fraction(1)
    return [_in_steps(part, step) for part in parts], step


def _in_steps(part: Typed, step: Fraction) -> Value:
    if part.sort is ValueSort.NOTHING:
        return Nothing()
    if part.fixed is not None:
        return Whole(int(part.fixed / step))
    return _times(Whole(int(part.step / step)), part.value)


def _largest_common(steps: Sequence[Fraction]) -> Fraction:
    denominator = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.gcd(*(int(step * denominator) for step in steps)), denominator)


def _times(left: Value, right: Value) -> Value:
    """A product with constants gathered in front."""
    match left, right:
        case Whole(one), Whole(two):
            return Whole(one * two)
        case Whole(1), _:
            return right
        case Whole(one), Times(Whole(two), rest):
            return _times(Whole(one * two), rest)
        case Whole(_), Plus(terms):
            return Plus(tuple(_times(left, term) for term in terms))
    return Times(left, right)


def compare_numbers(left: Typed, sign: str, right: Typed) -> Within | OneOf:
    """left <sign> right for =, <, <=, >, >=, exactly, in whole steps."""
    if right.fixed is None:
        difference = add([left, negate(right, "")], "")
        return compare_numbers(difference, sign, constant(Fraction(0), "0"))
    bound = right.fixed / left.step
    match sign:
        case "=":
            return OneOf(left.value, (bound.numerator,) if bound.denominator == 1 else ())
        case "<":
            return Within(left.value, None, math.ceil(bound) - 1)
        case "<=":
            return Within(left.value, None, math.floor(bound))
        case ">":
            return Within(left.value, math.floor(bound) + 1, None)
    return Within(left.value, math.ceil(bound), None)


def require_number(typed: Typed, where: str) -> Typed:
    """Numbers and NULL pass; a category, a text or the unit is told what it is good for."""
    if typed.sort in {ValueSort.NUMBER, ValueSort.NOTHING}:
        return typed
    raise QueryRefused(_tell_sort(typed, where))


def _tell_sort(typed: Typed, where: str) -> str:
    value = typed.text
    if typed.sort is ValueSort.CATEGORY:
        return say(
            "{where} needs a number; {value} is a category: count it, compare its codes, or map them with CASE WHEN … "
            "THEN ….",
            where=where,
            value=value,
        )
    if typed.sort is ValueSort.TEXT:
        return say(
            "{where} needs a number; {value} is open text: it can be counted, or compared with = and <>.",
            where=where,
            value=value,
        )
    if typed.sort is ValueSort.UNIT:
        return say(
            "{where} needs a number; {value} identifies the protected unit: it can be counted with COUNT(DISTINCT …), "
            "or joined on.",
            where=where,
            value=value,
        )
    return say("{where} needs a number; {value} identifies people: it cannot be asked about.", where=where, value=value)
