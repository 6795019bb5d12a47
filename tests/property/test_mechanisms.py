"""Calibration never undercharges, and more distance never costs less."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantees.numbers import from_units
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.scale import round_root_up, round_up

parameters = st.integers(10**3, 10**15).map(from_units)
distances = st.integers(1, 10**6) | st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)
positive = st.fractions(min_value=Fraction(1, 10**30), max_value=2**52)


@given(positive)
def test_rounding_up_is_up_and_by_less_than_one_part_in_2_to_the_52(value: Fraction) -> None:
    assert value <= round_up(value) <= value * (1 + Fraction(1, 2**52))
    root = round_root_up(value)
    assert value <= root * root <= value * (1 + Fraction(1, 2**52)) ** 2


@given(distances, parameters)
def test_laplace_costs_exactly_the_epsilon_it_was_made_for(distance: int | Fraction, epsilon: Decimal) -> None:
    made = DiscreteLaplace.calibrate(sensitivity=distance, epsilon=epsilon)
    assert made.guarantee(sensitivity=distance).epsilon == epsilon
    assert Fraction(distance) / made.scale <= Fraction(epsilon)


@given(distances, parameters)
def test_gaussian_costs_exactly_the_rho_it_was_made_for(distance: int | Fraction, rho: Decimal) -> None:
    made = DiscreteGaussian.calibrate(squared_sensitivity=distance, rho=rho)
    assert made.guarantee(squared_sensitivity=distance).rho == rho
    assert Fraction(distance) / (2 * made.scale**2) <= Fraction(rho)


@given(distances, parameters, st.booleans())
def test_noisy_max_costs_exactly_the_epsilon_it_was_made_for(
    distance: int | Fraction, epsilon: Decimal, monotone: bool
) -> None:
    made = NoisyMax.calibrate(sensitivity=distance, epsilon=epsilon, monotone=monotone)
    assert made.guarantee(sensitivity=distance).epsilon == epsilon


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 100))
def test_a_longer_distance_never_costs_less(one: int, other: int, scale: int) -> None:
    near, far = sorted((one, other))
    laplace, gaussian = DiscreteLaplace(scale=Fraction(scale)), DiscreteGaussian(scale=Fraction(scale))
    assert laplace.guarantee(sensitivity=near).epsilon <= laplace.guarantee(sensitivity=far).epsilon
    cheap, dear = (gaussian.guarantee(squared_sensitivity=d * d).rho for d in (near, far))
    assert cheap <= dear
    both = laplace.guarantee(sensitivity=near).epsilon + laplace.guarantee(sensitivity=far).epsilon
    assert laplace.guarantee(sensitivity=near + far).epsilon <= both


@given(st.lists(st.integers(-(2**100), 2**100)), st.sampled_from([DiscreteLaplace, DiscreteGaussian]))
def test_a_release_is_the_values_and_noise_that_has_not_seen_them(
    values: list[int], family: type[DiscreteLaplace | DiscreteGaussian]
) -> None:
    noisy = family(scale=Fraction(1, 256)).release(values)  # noise of 0, but for a chance below 1e-110
    assert noisy == values
    assert len(family(scale=Fraction(2**40)).release(values)) == len(values)
