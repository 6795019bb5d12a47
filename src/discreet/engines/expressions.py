"""Values, conditions and aggregates of a plan as SQL text.

Every number in the text is one of our own integers. Arithmetic runs in 64 bits whatever the stored width of a column:
the calculus has shown that nothing leaves them. Sums run wider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import say
from discreet.engines.dialects import Dialect
from discreet.errors import QueryRefused
from discreet.sql import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Field,
    Greatest,
    Identity,
    IsNull,
    Least,
    Not,
    Nothing,
    OneOf,
    Or,
    Plus,
    TextIn,
    Times,
    Value,
    Whole,
    Within,
)

__all__ = ["LONGEST_EXPRESSION", "ExpressionWriter"]

LONGEST_EXPRESSION: Final = 200_000

# No value lies beyond; a constant that does is moved here, so that every engine reads it as a 64-bit integer.
_BEYOND: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """Writes expressions over columns that `column` writes."""

    dialect: Dialect
    column: Callable[[Identity], str]

    def value(self, value: Value) -> str:
        """The value in whatever integer type it comes in."""
        match value:
            case Field(column):
                return self.column(column)
            case Whole(number):
                return f"CAST({number} AS BIGINT)"
            case Nothing():
                return "CAST(NULL AS BIGINT)"
            case Plus(terms):
                return f"({' + '.join(map(self._long, terms))})"
            case Times(left, right):
                return f"({self._long(left)} * {self._long(right)})"
            case Absolute(inner):
                return f"abs({self._long(inner)})"
            case Clamp(inner, low, high):
                # An empty interval moves everything to its upper end.
                return self.dialect.clamp(self._repeated(inner), _held(min(low, high)), _held(high))
            case Least(values):
                return self._choice("least", values)
            case Greatest(values):
                return self._choice("greatest", values)
            case Coalesce(values):
                return self._choice("coalesce", values)
            case Case(branches, otherwise):
                whens = [f"WHEN {self.condition(when)} THEN {self.value(then)}" for when, then in branches]
                return f"CASE {' '.join(whens)} ELSE {self.value(otherwise)} END"

    def _long(self, value: Value) -> str:
        """The value as a 64-bit integer: prepared columns may be stored in fewer bits."""
        text = self.value(value)
        is_long = isinstance(value, Whole | Nothing | Plus | Times | Absolute)
        return text if is_long else f"CAST({text} AS BIGINT)"

    def _choice(self, function: str, values: tuple[Value, ...]) -> str:
        texts = [self._long(value) for value in values]
        return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"

    def _repeated(self, value: Value) -> str:
        """A text that is about to be written three times; nesting would multiply it again and again."""
        text = self._long(value)
        if len(text) > LONGEST_EXPRESSION:
            raise QueryRefused(say("CLAMP is nested too deeply in this statement. Nest it less."))
        return text

    def condition(self, condition: Condition) -> str:
        match condition:
            case OneOf(value, numbers):
                return self._among(self.value(value), [str(item) for item in numbers if item == _held(item)])
            case TextIn(field, texts):
                return self._among(self.value(field), [self.dialect.text(item) for item in texts if _storable(item)])
            case Within(value, low, high):
                return _between(self.value(value), low, high)
            case IsNull(value):
                return f"({self.value(value)} IS NULL)"
            case Not(operand):
                return f"(NOT {self.condition(operand)})"
            case And(operands):
                return f"({' AND '.join(map(self.condition, operands)) or 'TRUE'})"
            case Or(operands):
                return f"({' OR '.join(map(self.condition, operands)) or 'FALSE'})"

    def _among(self, value: str, listed: list[str]) -> str:
        # Over an empty list: false for a value, unknown for NULL.
        return f"({value} IN ({', '.join(listed)}))" if listed else f"({value} IS NULL AND CAST(NULL AS BOOLEAN))"

    def total(self, value: Value) -> str:
        """The exact sum, 0 over no rows.

        Constants are taken out of it, Σ(a·x + b) = a·Σx + b·n, so that a centred sum reads the column no second time.
        """
        base, factor, shift = _affine(value)
        if base is None:
            return f"{shift} * {self.dialect.wide('count(*)')}" if shift else self.dialect.wide("0")
        text = self.value(base)
        total = f"coalesce({self.dialect.sum(text)}, 0)"
        scaled = total if factor == 1 else f"{factor} * {total}"
        return scaled if shift == 0 else f"{scaled} + {shift} * {self.dialect.wide(f'count({text})')}"

    def unit_total(self, value: Value) -> str:
        return f"CAST({self.dialect.sum(self.value(value))} AS BIGINT)"


def _affine(value: Value) -> tuple[Value | None, int, int]:
    """The value as factor · base + shift; base None for a constant that is there on every row."""
    match value:
        case Whole(number):
            return None, 0, number
        case Times(Whole(number), inner) | Times(inner, Whole(number)):
            base, factor, shift = _affine(inner)
            return base, number * factor, number * shift
        case Plus(terms):
            parts = [_affine(term) for term in terms]
            variable = [(base, factor) for base, factor, _ in parts if base is not None]
            shift = sum(part[2] for part in parts)
            if not variable:
                return None, 0, shift
            if len(variable) == 1:
                return *variable[0], shift
    return value, 1, 0


def _between(value: str, low: int | None, high: int | None) -> str:
    if low is None or high is None:
        assert low is not None or high is not None
        return f"({value} <= {_held(high)})" if high is not None else f"({value} >= {_held(low or 0)})"
    return f"({value} BETWEEN {_held(low)} AND {_held(high)})"


def _held(number: int) -> int:
    return max(-_BEYOND, min(number, _BEYOND))


def _storable(text: str) -> bool:
    """Whether a prepared column can hold the text at all; what it cannot hold equals nothing in it."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
