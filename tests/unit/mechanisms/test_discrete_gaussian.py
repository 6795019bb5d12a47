"""Discrete Gaussian: calibrated upward from a squared sensitivity, priced as rounded."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import ZCDP
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian


@pytest.mark.parametrize("rho", ["1", "0.5", "0.1", "0.000000001", "1000000", "0.333333333"])
@pytest.mark.parametrize("squared", [1, 2, Fraction(81, 100), 4000**2])
def test_a_calibrated_mechanism_costs_what_was_asked(squared: int | Fraction, rho: str) -> None:
    made = DiscreteGaussian.calibrate(squared_sensitivity=squared, rho=rho)
    assert made.scale**2 >= squared / (2 * Fraction(rho))
    assert made.guarantee(squared_sensitivity=squared) == ZCDP(rho=rho)


def test_the_scale_is_the_smallest_float_that_is_large_enough() -> None:
    made = DiscreteGaussian.calibrate(squared_sensitivity=2, rho="0.3")
    below = Fraction(math.nextafter(float(made.scale), 0))
    assert below**2 < Fraction(2) / Fraction("0.6") <= made.scale**2
    assert DiscreteGaussian.calibrate(squared_sensitivity=1, rho="0.5").scale == 1


def test_parameters_are_exact_text() -> None:
    made = DiscreteGaussian.calibrate(squared_sensitivity=1, rho="0.3")
    assert Fraction(made.parameters()["scale"]) == made.scale


def test_noise_too_wide_for_64_bits_is_refused() -> None:
    with pytest.raises(ParameterInvalid, match=r"at most 2\*\*52"):
        DiscreteGaussian.calibrate(squared_sensitivity=10**40, rho="0.000000001")


@pytest.mark.parametrize("squared", [0, -2, False, Fraction(-1, 2)])
def test_a_sensitivity_is_positive(squared: int) -> None:
    with pytest.raises(ParameterInvalid, match="squared sensitivity"):
        DiscreteGaussian.calibrate(squared_sensitivity=squared, rho=1)


def test_intervals_hold_the_value_in_their_middle() -> None:
    made = DiscreteGaussian(scale=Fraction(10))
    assert made.interval(-5, level="0.95") == (-25, 15)


def test_expected_absolute_error_sums_the_law() -> None:
    for scale in (Fraction(1, 4), Fraction(1), Fraction(10), Fraction(64), Fraction(65)):
        weights = [math.exp(-z * z / (2 * float(scale) ** 2)) for z in range(1500)]
        mean = 2 * sum(z * weight for z, weight in enumerate(weights)) / (2 * sum(weights) - 1)
        assert DiscreteGaussian(scale=scale).expected_absolute_error() == pytest.approx(mean, rel=1e-4)
    assert DiscreteGaussian(scale=Fraction(1, 2**20)).expected_absolute_error() == 0


def test_release_keeps_order_and_length() -> None:
    sharp = DiscreteGaussian(scale=Fraction(1, 64))
    for count in (0, 1, 5000):
        assert sharp.release(range(count)) == list(range(count))


@pytest.mark.parametrize("value", [2**62 + 1, 2**63, -(2**63) - 1, -(2**80), 10**40])
def test_values_of_any_size_are_released(value: int) -> None:
    sharp = DiscreteGaussian(scale=Fraction(1, 64))
    assert sharp.release([value, 3, -value]) == [value, 3, -value]
    noise = [noisy - value for noisy in DiscreteGaussian(scale=Fraction(2**52)).release([value] * 50)]
    assert len(set(noise)) == 50
    assert max(map(abs, noise)) < 2**60


@pytest.mark.parametrize("count", [1, 300, 20_000])
def test_no_two_cells_share_a_draw(count: int) -> None:
    """At a scale of 2**50 two of 20,000 draws are equal with a chance below 1e-7."""
    noise = DiscreteGaussian(scale=Fraction(2**50)).release([0] * count)
    assert all(type(z) is int for z in noise)
    assert len(set(noise)) == count


@pytest.mark.parametrize("scale", [Fraction(1, 2**300), Fraction(1, 9), Fraction(16), Fraction(2**52)])
def test_every_scale_that_is_admitted_can_be_drawn(scale: Fraction) -> None:
    for count in (1, 20_000):
        drawn = DiscreteGaussian(scale=Fraction(float(scale))).release([0] * count)
        assert max(map(abs, drawn)) < 12 * (1 + scale)
