"""Discrete Laplace: calibrated upward, priced as rounded, released on integers of any size."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import PureDP
from discreet.mechanisms.discrete_laplace import DiscreteLaplace


@pytest.mark.parametrize("epsilon", ["1", "0.1", "3", "5.99", "0.000000001", "1000000", "0.333333333"])
@pytest.mark.parametrize("sensitivity", [1, 2, Fraction(9, 10), 4000])
def test_a_calibrated_mechanism_costs_what_was_asked(sensitivity: int | Fraction, epsilon: str) -> None:
    made = DiscreteLaplace.calibrate(sensitivity=sensitivity, epsilon=epsilon)
    assert made.scale >= sensitivity / Fraction(epsilon)
    assert made.guarantee(sensitivity=sensitivity) == PureDP(epsilon=epsilon)


def test_the_scale_is_the_next_float_and_the_price_follows_it() -> None:
    made = DiscreteLaplace.calibrate(sensitivity=1, epsilon="3")
    assert Fraction(float(made.scale)) == made.scale
    assert Fraction(math.nextafter(float(made.scale), 0)) < Fraction(1, 3) <= made.scale
    assert DiscreteLaplace(scale=Fraction(3)).guarantee(sensitivity=1).epsilon == Decimal("0.333333334")


def test_parameters_are_exact_text() -> None:
    made = DiscreteLaplace.calibrate(sensitivity=1, epsilon="0.3")
    assert made.parameters() == {"scale": "7505999378950827/2251799813685248"}
    assert Fraction(made.parameters()["scale"]) == made.scale


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(2**53), 1.0])
def test_a_scale_that_is_not_a_positive_float_of_modest_size_is_refused(scale: Fraction) -> None:
    with pytest.raises(ParameterInvalid, match="scale"):
        DiscreteLaplace(scale=scale)


@pytest.mark.parametrize("sensitivity", [0, -1, True, Fraction(0), 1.5])
def test_a_sensitivity_is_positive_and_exact(sensitivity: int) -> None:
    with pytest.raises(ParameterInvalid, match="sensitivity"):
        DiscreteLaplace.calibrate(sensitivity=sensitivity, epsilon=1)
    with pytest.raises(ParameterInvalid, match="sensitivity"):
        DiscreteLaplace(scale=Fraction(1)).guarantee(sensitivity=sensitivity)


def test_noise_too_wide_for_64_bits_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(ParameterInvalid, match=r"at most 2\*\*52"):
        DiscreteLaplace.calibrate(sensitivity=10**9, epsilon="0.000000001")


def test_intervals_hold_the_value_in_their_middle() -> None:
    made = DiscreteLaplace.calibrate(sensitivity=1, epsilon=1)
    assert made.interval(100, level="0.95") == (97, 103)
    assert made.half_width("0.95") == 3
    for level in ("0", "1", "1.5", "nan"):
        with pytest.raises(ParameterInvalid, match="level"):
            made.half_width(level)


def test_expected_absolute_error_sums_the_law() -> None:
    for scale in (Fraction(1, 4), Fraction(1), Fraction(10)):
        weights = [math.exp(-z / scale) for z in range(1000)]
        mean = 2 * sum(z * weight for z, weight in enumerate(weights)) / (2 * sum(weights) - 1)
        assert DiscreteLaplace(scale=scale).expected_absolute_error() == pytest.approx(mean, rel=1e-9)
    assert DiscreteLaplace(scale=Fraction(1, 2**20)).expected_absolute_error() == 0


def test_release_keeps_order_and_length() -> None:
    sharp = DiscreteLaplace.calibrate(sensitivity=1, epsilon=1000)  # noise is 0 but for a chance of 1e-434
    for count in (0, 1, 10, 4096, 65_537):
        assert sharp.release(range(count)) == list(range(count))


def test_no_two_cells_share_a_draw() -> None:
    drawn = DiscreteLaplace(scale=Fraction(2**50)).release([0] * 140_000)
    assert len(set(drawn)) > 139_900


@pytest.mark.parametrize("value", [0, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64 + 1, -(2**80), 10**40])
def test_values_of_any_size_are_released(value: int) -> None:
    sharp = DiscreteLaplace.calibrate(sensitivity=1, epsilon=1000)
    assert sharp.release([value, 3, -value]) == [value, 3, -value]
    wide = DiscreteLaplace(scale=Fraction(2**52))
    noise = [noisy - value for noisy in wide.release([value] * 50)]
    assert len(set(noise)) == 50
    assert max(map(abs, noise)) < 2**60


def test_whole_numbers_of_other_kinds_become_plain_integers() -> None:
    sharp = DiscreteLaplace.calibrate(sensitivity=1, epsilon=1000)
    released = sharp.release(np.array([2**62, -5]))  # type: ignore[arg-type]
    assert released == [2**62, -5]
    assert {type(value) for value in released} == {int}


def test_fractions_are_not_values() -> None:
    with pytest.raises(TypeError):
        DiscreteLaplace(scale=Fraction(1)).release([0.5])  # type: ignore[list-item]
