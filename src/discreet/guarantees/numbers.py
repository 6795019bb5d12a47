"""Exact privacy parameters: decimals on a grid of 1e-9, never floats.

A parameter may come as decimal text, an integer, a Decimal, a Fraction with a finite decimal form, or a
float, which is taken by its shortest decimal (0.1 means one tenth). Costs round up and allowances round down;
the functions say which in their names.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.catalogue import Numeral, say
from discreet.errors import ParameterInvalid, tell_point

__all__ = [
    "GRID",
    "LARGEST",
    "ExactLike",
    "ceil_to_grid",
    "exact",
    "floor_to_grid",
    "from_units",
    "shown",
    "text",
    "to_units",
]

ExactLike = str | int | float | Decimal | Fraction

GRID: Final = Fraction(1, 10**9)
LARGEST: Final = 10**6
_DECIMAL: Final = re.compile(r"(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


def exact(
    value: ExactLike,
    *,
    parameter: str,
    zero: bool = False,
    below: Fraction | int | None = None,
    largest: int = LARGEST,
) -> Decimal:
    """The parameter as an exact decimal on the grid, or ParameterInvalid.

    `zero` admits 0; `below` is an exclusive upper limit beside the inclusive `largest`.
    """
    if type(value) is str or (type(value) is Decimal and value.is_finite()):
        return _keep_exact(value, parameter, zero, below, largest)  # passed on and stored, and checked again
    return _make_exact(value, parameter, zero, below, largest)


def _make_exact(value: ExactLike, parameter: str, zero: bool, below: Fraction | int | None, largest: int) -> Decimal:
    number = _number(value, parameter)
    if number < 0 or (number == 0 and not zero):
        rule = say("must not be negative") if zero else say("must be positive")
        raise ParameterInvalid(parameter=parameter, rule=rule, given=shown(value))
    if below is not None and number >= below:
        raise ParameterInvalid(parameter=parameter, rule=say("must be below {below}", below=below), given=shown(value))
    if number > largest:
        raise ParameterInvalid(
            parameter=parameter, rule=say("must be at most {largest}", largest=largest), given=shown(value)
        )
    if number % GRID != 0:
        raise ParameterInvalid(parameter=parameter, rule=say("must be a multiple of 1e-9"), given=shown(value))
    return from_units(int(number / GRID))


_keep_exact: Final = lru_cache(maxsize=4096)(_make_exact)


def to_units(value: Decimal | Fraction) -> int:
    """An exact grid value as a whole number of 1e-9."""
    units = Fraction(value) / GRID
    if units.denominator != 1:
        raise ValueError("not on the grid of 1e-9")
    return units.numerator


def from_units(units: int) -> Decimal:
    """A whole number of 1e-9 as a decimal, in its shortest form without exponent."""
    sign, digits = ("-" if units < 0 else ""), f"{abs(units):010d}"
    whole, part = digits[:-9], digits[-9:].rstrip("0")
    return Decimal(f"{sign}{whole}.{part}" if part else f"{sign}{whole}")


def ceil_to_grid(value: Fraction) -> Decimal:
    """Round up: for costs."""
    return from_units(math.ceil(value / GRID))


def floor_to_grid(value: Fraction) -> Decimal:
    """Round down: for allowances."""
    return from_units(math.floor(value / GRID))


def text(value: Decimal) -> str:
    """A decimal as plain text, without exponent or trailing zeros."""
    plain = format(value, "f")
    return Numeral(plain.rstrip("0").rstrip(".") if "." in plain else plain)


def shown(value: object) -> str:
    """What a caller gave, fit for a message: one line, at most 40 characters, quick for huge numbers."""
    if isinstance(value, int | Fraction) and not -(10**40) < value < 10**40:
        return say("a huge number")
    if isinstance(value, Fraction) and value.denominator >= 10**40:
        return say("a fraction with a huge denominator")
    words = str(value)
    return repr(words) if len(words) <= 40 else repr(words[:40] + "…")


def _number(value: object, parameter: str) -> Fraction:
    if isinstance(value, bool):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a number"), given=say("a boolean"))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterInvalid(parameter=parameter, rule=say("must be finite"), given=repr(value))
        value = float.__repr__(value)  # a subclass, such as numpy's, may print more than the number
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ParameterInvalid(parameter=parameter, rule=say("must be finite"), given=str(value))
        value = str(value)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if not isinstance(value, str):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a decimal number"), given=type(value).__name__)
    negative, digits = value.startswith("-"), value.removeprefix("-")
    if not _DECIMAL.fullmatch(digits):
        point = tell_point(value)
        rule = (
            say("must be a plain finite decimal number: {point}", point=point)
            if point
            else say("must be a plain finite decimal number")
        )
        raise ParameterInvalid(parameter=parameter, rule=rule, given=shown(value))
    return -Fraction(digits) if negative else Fraction(digits)
