"""Noise scales: rounded up to what a 64-bit float holds, and from then on exact.

The next float above the wanted scale is used, kept as a fraction, and priced as it is, so the guarantee speaks of the
noise that was really drawn. A float has a short exact text for the ledger, and peers that take floats can be compared.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid

__all__ = ["LARGEST_SCALE", "check_scale", "check_sensitivity", "round_root_up", "round_up"]

LARGEST_SCALE: Final = 1 << 52


def check_scale(scale: Fraction) -> None:
    """Refuse a scale that is not positive, too large, or not exactly a float."""
    if not isinstance(scale, Fraction) or scale <= 0:
        raise ParameterInvalid(parameter="scale", rule=say("must be a positive fraction"), given=str(scale))
    if scale > LARGEST_SCALE:
        raise ParameterInvalid(
            parameter="scale",
            rule=say("must be at most 2**52 (ask for less precision per unit, or spend more)"),
            given=say("about 2**{bit_length}", bit_length=math.ceil(scale).bit_length()),
        )
    if Fraction(float(scale)) != scale:
        raise ParameterInvalid(parameter="scale", rule=say("must be exact in 64-bit floating point"), given=str(scale))


def check_sensitivity(sensitivity: int | Fraction, *, parameter: str = "sensitivity") -> Fraction:
    """The sensitivity as a positive fraction. Zero is refused: what nobody can move needs no noise."""
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int | Fraction) or sensitivity <= 0:
        raise ParameterInvalid(
            parameter=parameter, rule=say("must be a positive integer or fraction"), given=str(sensitivity)
        )
    return Fraction(sensitivity)


def round_up(value: Fraction) -> Fraction:
    """The smallest float at or above a positive value, as a fraction."""
    _refuse_overflow(value)
    nearest = float(value)
    return Fraction(nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf))


def round_root_up(square: Fraction) -> Fraction:
    """The smallest float whose square is at or above a positive value, as a fraction."""
    _refuse_overflow(Fraction(math.isqrt(math.ceil(square))))
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    root = float(Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator), 1 << shift))
    while Fraction(root) ** 2 >= square:
        root = math.nextafter(root, 0)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return Fraction(root)


def _refuse_overflow(value: Fraction) -> None:
    if value > LARGEST_SCALE:
        check_scale(value)
