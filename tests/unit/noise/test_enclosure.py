"""Enclosures hold the real number and stay tight."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discreet.noise import enclosure
from discreet.noise.enclosure import enclose_exp_minus, lower_erf_of_root


def exp_minus(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 200
        return Fraction((-Decimal(x.numerator) / Decimal(x.denominator)).exp())


@pytest.mark.parametrize("bits", [16, 64, 192, 500])
@pytest.mark.parametrize(
    "x", [Fraction(1, 2**70), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40), Fraction(155, 10)]
)
def test_exp_is_enclosed(x: Fraction, bits: int) -> None:
    low, high = enclose_exp_minus(x, bits=bits)
    slack = Fraction(1, 10**150)
    assert Fraction(low, 1 << bits) <= exp_minus(x) + slack
    assert Fraction(high, 1 << bits) >= exp_minus(x) - slack
    assert high - low <= 2


def test_the_ends_of_the_line() -> None:
    assert enclose_exp_minus(Fraction(0), bits=10) == (1024, 1024)
    assert enclose_exp_minus(Fraction(10**9), bits=10) == (0, 1)
    with pytest.raises(ValueError, match="x >= 0"):
        enclose_exp_minus(Fraction(-1), bits=10)


@pytest.mark.parametrize("z", [Fraction(1, 10**6), Fraction(1, 2), Fraction(2), Fraction(10), Fraction(25)])
def test_erf_is_bounded_from_below_and_closely(z: Fraction) -> None:
    bound = lower_erf_of_root(z, bits=160)
    finer = lower_erf_of_root(z, bits=320)
    assert Fraction(bound, 1 << 160) <= Fraction(finer + 1, 1 << 320)
    assert Fraction(finer, 1 << 320) - Fraction(bound, 1 << 160) < Fraction(1, 1 << 150)
    assert float(Fraction(bound, 1 << 160)) == pytest.approx(math.erf(math.sqrt(z)), rel=1e-14)


def test_pi_is_rounded_up_at_its_last_digit() -> None:
    """Machin's formula, in fractions, encloses pi tightly enough to judge all sixty digits."""

    def arctan_of_inverse(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(60)), Fraction(0))

    machin = 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)
    assert machin < enclosure._PI_ABOVE < machin + Fraction(1, 10**60)
