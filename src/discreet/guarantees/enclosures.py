"""Bounds on exp, ln and square roots of exact fractions, each surely on its side.

`decimal` rounds exp, ln and sqrt correctly to the context's precision, so the neighbouring decimals enclose
the true value; what goes in is rounded outward first. Callers say which side they need, and get a fraction.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["DIGITS", "exp_down", "exp_up", "ln_down", "ln_up", "sqrt_up"]

DIGITS: Final = 60
_FARTHEST: Final = 1000


def exp_down(value: Fraction, *, digits: int = DIGITS) -> Fraction:
    """A lower bound of e^value; 0 below −1000, where e^value is smaller than 1e-434."""
    if value < -_FARTHEST:
        return Fraction(0)
    down = _context(ROUND_FLOOR, digits)
    return Fraction(down.next_minus(down.exp(_round(_near(value), down))))


def exp_up(value: Fraction, *, digits: int = DIGITS) -> Fraction:
    """An upper bound of e^value; for values below −1000 that of −1000."""
    up = _context(ROUND_CEILING, digits)
    return Fraction(up.next_plus(up.exp(_round(_near(max(value, Fraction(-_FARTHEST))), up))))


def ln_down(value: Fraction, *, digits: int = DIGITS) -> Fraction:
    """A lower bound of ln(value), value > 0."""
    down = _context(ROUND_FLOOR, digits)
    return Fraction(down.next_minus(down.ln(_round(value, down))))


def ln_up(value: Fraction, *, digits: int = DIGITS) -> Fraction:
    """An upper bound of ln(value), value > 0."""
    up = _context(ROUND_CEILING, digits)
    return Fraction(up.next_plus(up.ln(_round(value, up))))


def sqrt_up(value: Fraction, *, digits: int = DIGITS) -> Fraction:
    """An upper bound of the square root of value ≥ 0."""
    up = _context(ROUND_CEILING, digits)
    return Fraction(up.next_plus(up.sqrt(_round(value, up))))


def _near(value: Fraction) -> Fraction:
    # e^1000 has 435 digits; beyond that a caller has a better way to say "enormous".
    if value > _FARTHEST:
        raise ValueError("exponents above 1000 are not enclosed")
    return value


def _context(rounding: str, digits: int) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _round(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
