"""Rigorous enclosures of real numbers by integers.

A real x is enclosed at `bits` bits by a pair (low, high) with low <= x * 2**bits <= high. Every step rounds
outward, so the pair is a proof and the working precision decides only how tight it is.
Integers alone are used, so that a twin in any language with big integers can repeat each step.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

__all__ = ["ceil_divide", "enclose_exp_minus", "lower_erf_of_root"]

# pi to 60 decimals, rounded up; published in every table of constants and checked in the tests.
_PI_ABOVE: Final = Fraction(3141592653589793238462643383279502884197169399375105820974945, 10**60)


def ceil_divide(numerator: int, denominator: int) -> int:
    """The quotient rounded up, for a positive denominator."""
    return -(-numerator // denominator)


def enclose_exp_minus(x: Fraction, *, bits: int) -> tuple[int, int]:
    """Enclose exp(-x) for x >= 0; the pair is at most two apart."""
    if x < 0:
        raise ValueError("exp(-x) is enclosed for x >= 0 only")
    if x >= bits:
        return 0, 1  # exp(-x) < 2**-x
    if x == 0:
        return 1 << bits, 1 << bits
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 8)
    precision = bits + halvings + 16
    low, high = _alternating_exponential(x / (1 << halvings), precision)
    for _ in range(halvings):
        low, high = (low * low) >> precision, -((-high * high) >> precision)
    excess = precision - bits
    return low >> excess, min(-(-high >> excess), 1 << bits)


def _alternating_exponential(y: Fraction, precision: int) -> tuple[int, int]:
    """Enclose exp(-y) for 0 < y < 1/2 by its series, whose terms alternate and shrink."""
    y_low = (y.numerator << precision) // y.denominator
    y_high = ceil_divide(y.numerator << precision, y.denominator)
    term_low = term_high = low = high = 1 << precision
    k = 0
    while term_high > 1:
        k += 1
        term_low = ((term_low * y_low) >> precision) // k
        term_high = ceil_divide(-((-term_high * y_high) >> precision), k)
        low, high = (low - term_high, high - term_low) if k % 2 else (low + term_low, high + term_high)
    # What is left is smaller than the last term, which is at most one unit.
    return max(low - 1, 0), high + 1


def lower_erf_of_root(z: Fraction, *, bits: int) -> int:
    """A lower bound, in units of 2**-bits, of erf(sqrt(z)) for z >= 0.

    Uses erf(sqrt(z)) = 2 * sqrt(z/pi) * exp(-z) * sum over n of (2z)**n / (1*3*...*(2n+1)), whose terms are
    all positive: cutting the sum and rounding each term down can only lower it.
    """
    if z >= bits:
        raise ValueError("the bound is meant for z below the number of bits")
    precision = bits + 2 * math.ceil(z) + 32
    twice = (2 * z.numerator << precision) // z.denominator
    term = total = 1 << precision
    n = 0
    while term:
        n += 1
        term = ((term * twice) >> precision) // (2 * n + 1)
        total += term
    decay, _ = enclose_exp_minus(z, bits=precision)
    ratio = 4 * z / _PI_ABOVE
    root = math.isqrt((ratio.numerator << (2 * precision)) // ratio.denominator)
    return (root * decay * total) >> (3 * precision - bits)
