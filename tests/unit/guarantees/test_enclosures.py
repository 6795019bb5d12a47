"""Bounds lie on their own side of the truth, and close to it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.guarantees.enclosures import exp_down, exp_up, ln_down, ln_up, sqrt_up

# The first fifty decimals of e and ln 2, as published in any table.
E = Fraction("2.71828182845904523536028747135266249775724709369995")
LN2 = Fraction("0.69314718055994530941723212145817656807550013436025")
CLOSE = Fraction(1, 10**45)


def test_known_constants_are_enclosed() -> None:
    assert exp_down(Fraction(1)) < E + CLOSE
    assert exp_up(Fraction(1)) > E
    assert exp_up(Fraction(1)) - exp_down(Fraction(1)) < CLOSE
    assert ln_down(Fraction(2)) < LN2 + CLOSE
    assert ln_up(Fraction(2)) > LN2
    assert ln_up(Fraction(2)) - ln_down(Fraction(2)) < CLOSE
    assert sqrt_up(Fraction(2)) ** 2 > 2


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-7, 3), Fraction(600), Fraction(1, 10**9)])
def test_exp_of_a_fraction_that_no_decimal_holds(value: Fraction) -> None:
    low, high = exp_down(value), exp_up(value)
    assert low < high
    assert high / low - 1 < CLOSE
    assert math.isclose(float(low), math.exp(value), rel_tol=1e-12)
    assert exp_down(-value) * low < 1 < exp_up(-value) * high


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(10**9 + 1, 10**9), Fraction(10**30, 7)])
def test_ln_of_a_fraction_that_no_decimal_holds(value: Fraction) -> None:
    low, high = ln_down(value), ln_up(value)
    assert low < high
    assert high - low < CLOSE
    assert low + ln_down(1 / value) < 0 < high + ln_up(1 / value)


@pytest.mark.parametrize("value", [2, 3, 5, 6, 7, Fraction(1, 3), Fraction(10**30, 7)])
def test_roots_that_no_decimal_holds(value: int | Fraction) -> None:
    root = sqrt_up(Fraction(value))
    assert root**2 > value
    assert root**2 / value - 1 < CLOSE


def test_far_exponents_are_cheap_or_refused() -> None:
    assert exp_down(Fraction(-(10**30))) == 0
    assert 0 < exp_up(Fraction(-(10**30))) < Fraction(1, 10**400)
    with pytest.raises(ValueError, match="1000"):
        exp_up(Fraction(1001))
    with pytest.raises(ValueError, match="1000"):
        exp_down(Fraction(1001))


def test_more_digits_come_closer() -> None:
    def width(digits: int) -> Fraction:
        return ln_up(Fraction(3), digits=digits) - ln_down(Fraction(3), digits=digits)

    assert width(120) < width(60) / 10**50
