"""What a statement shows of its measures: post-processing, free of charge and exact.

An `Output` is an expression over noisy measures of one cell. It is worked out in exact fractions when an answer is
read, so one stored answer serves every name, order, interval level and HAVING. Intervals are boxes: every measure that
an output uses gets an interval, together they hold with the asked probability, and the output's interval contains
every value the expression takes inside the box. `reading` says which of a statement's aggregates an output shows: two
of them may look the same until their bounds are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from discreet.sql.algebra import walk

__all__ = [
    "All",
    "Any",
    "Arithmetic",
    "Comparison",
    "Constant",
    "KeyAmong",
    "KeyShown",
    "Magnitude",
    "Mean",
    "Negation",
    "Noted",
    "Order",
    "Output",
    "Pick",
    "Presentation",
    "Selection",
    "ShownColumn",
    "Spread",
    "fixed_value",
    "measures_used",
]


@dataclass(frozen=True, slots=True)
class Noted:
    """A measure as it is: noisy whole steps times `step`."""

    measure: int
    step: Fraction
    reading: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    value: Fraction


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left sign right. Division by a noisy 0 is NULL, and its interval is open on both sides."""

    sign: Literal["+", "-", "*", "/"]
    left: Output
    right: Output


@dataclass(frozen=True, slots=True)
class Magnitude:
    """ABS."""

    value: Output


@dataclass(frozen=True, slots=True)
class Pick:
    """LEAST or GREATEST."""

    least: bool
    values: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Mean:
    """AVG and WAVG: centre + total·total_step ÷ max(size·size_step, floor), clamped to [low, high].

    `total` is the measure of the centred sum; `size` counts what is averaged, or adds up its weights. `floor` is one
    row, or the smallest step of the weight.
    """

    total: int
    size: int
    total_step: Fraction
    size_step: Fraction
    centre: Fraction
    floor: Fraction
    low: Fraction
    high: Fraction
    reading: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """VAR and STDDEV (root) of a sample: (Σy² − (Σy)²/n) ÷ (n − 1) with y centred, at least 0 and at most `high`.

    `step` is that of y; `high` bounds the variance, (U−L)²/2.
    """

    total: int
    squares: int
    size: int
    step: Fraction
    high: Fraction
    root: bool
    reading: int = field(default=0, compare=False)


Output = Noted | Constant | Arithmetic | Magnitude | Pick | Mean | Spread


# --- HAVING, ORDER BY, LIMIT ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """left sign right over noisy outputs; unknown when a side is NULL."""

    sign: Literal["=", "<>", "<", "<=", ">", ">="]
    left: Output
    right: Output


@dataclass(frozen=True, slots=True)
class KeyAmong:
    """The key at this place is one of these cells."""

    key: int
    cells: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Selection


@dataclass(frozen=True, slots=True)
class All:
    operands: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Any:
    operands: tuple[Selection, ...]


Selection = Comparison | KeyAmong | Negation | All | Any


@dataclass(frozen=True, slots=True)
class KeyShown:
    """The key at this place, as it stands in the answer."""

    key: int


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """One column of the answer, by its name."""

    name: str
    shows: KeyShown | Output


@dataclass(frozen=True, slots=True)
class Order:
    by: KeyShown | Output
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Presentation:
    """The columns of an answer in the order asked, which cells are shown, and in which order."""

    columns: tuple[ShownColumn, ...]
    having: Selection | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0


def fixed_value(output: Output) -> Fraction | None:
    """What an output is whatever the measures are, where that follows from its constants; None elsewhere."""
    match output:
        case Constant(value):
            return value
        case Magnitude(value):
            inner = fixed_value(value)
            return None if inner is None else abs(inner)
        case Pick(least, values):
            parts = [part for part in map(fixed_value, values) if part is not None]
            return None if len(parts) < len(values) else (min if least else max)(parts)
        case Arithmetic(sign, left, right):
            return _fixed_arithmetic(sign, fixed_value(left), fixed_value(right))
    return None


def _fixed_arithmetic(sign: str, left: Fraction | None, right: Fraction | None) -> Fraction | None:
    if 0 in (left, right) and (sign == "*" or (sign == "/" and left == 0)):
        return Fraction(0)  # or NULL, but nothing else
    if left is None or right is None:
        return None
    if sign == "/":
        return left / right if right else None
    return {"+": left + right, "-": left - right, "*": left * right}[sign]


def measures_used(output: Output | KeyShown) -> frozenset[int]:
    """The places of the measures that an output reads."""
    return frozenset(_places(output))


def _places(output: Output | KeyShown) -> Iterator[int]:
    for node in walk(output):
        match node:
            case Noted(measure, _):
                yield measure
            case Mean(total, size):
                yield from (total, size)
            case Spread(total, squares, size):
                yield from (total, squares, size)
