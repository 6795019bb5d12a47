"""Half-widths and thresholds reach their level and, where promised, not one step further than needed."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import pytest

from discreet.noise import quantile
from discreet.noise.quantile import gaussian_half_width, laplace_half_width, laplace_threshold, selection_half_width

pytestmark = pytest.mark.slow

LEVELS = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), 1 - Fraction(1, 10**9)]
SCALES = [Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(29)]


@cache
def weights_of(scale: Fraction, power: int) -> list[Decimal]:
    """exp(-z/scale) (power 1) or exp(-z**2/(2*scale**2)) (power 2) for z = 0, 1, ..., to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        s = Decimal(scale.numerator) / Decimal(scale.denominator)
        reach = range(math.ceil(scale * (160 if power == 1 else 20)) + 2)
        return [(-Decimal(z) / s if power == 1 else -Decimal(z * z) / (2 * s * s)).exp() for z in reach]


def coverage(scale: Fraction, t: int, *, power: int) -> Fraction:
    """P(|Z| <= t), all but exactly."""
    weights = [Fraction(weight) for weight in weights_of(scale, power)]
    return (2 * sum(weights[: t + 1], Fraction(-1, 2))) / (2 * sum(weights, Fraction(-1, 2)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", SCALES)
def test_laplace_is_the_smallest_that_covers(scale: Fraction, level: Fraction) -> None:
    t = laplace_half_width(scale=scale, level=level)
    assert coverage(scale, t, power=1) >= level
    assert t == 0 or coverage(scale, t - 1, power=1) < level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", SCALES)
def test_gaussian_is_the_smallest_that_covers(scale: Fraction, level: Fraction) -> None:
    t = gaussian_half_width(scale=scale, level=level)
    assert coverage(scale, t, power=2) >= level
    assert t == 0 or coverage(scale, t - 1, power=2) < level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [Fraction(32), Fraction(65, 2), Fraction(100)])
def test_gaussian_by_the_normal_law_covers_and_is_at_most_one_wider(scale: Fraction, level: Fraction) -> None:
    t = gaussian_half_width(scale=scale, level=level)
    assert coverage(scale, t, power=2) >= level
    assert t < 2 or coverage(scale, t - 2, power=2) < level


@pytest.mark.parametrize("level", LEVELS)
def test_both_ways_to_the_gaussian_agree_where_they_meet(level: Fraction) -> None:
    summed = quantile._summed_half_width(Fraction(33) ** 2, level)
    assert gaussian_half_width(scale=Fraction(33), level=level) - summed in (0, 1)


def test_counts_at_epsilon_three_step_from_905_to_995() -> None:
    """With scale 1/3 the exact value itself comes back with probability .905."""
    assert laplace_half_width(scale=Fraction(1, 3), level=Fraction(905, 1000)) == 0
    assert laplace_half_width(scale=Fraction(1, 3), level=Fraction(906, 1000)) == 1
    assert laplace_half_width(scale=Fraction(1, 3), level=Fraction(995, 1000)) == 1
    assert laplace_half_width(scale=Fraction(1, 3), level=Fraction(996, 1000)) == 2


def test_vast_scales_follow_the_continuous_laws() -> None:
    scale, level = Fraction(2**52), Fraction(95, 100)
    assert laplace_half_width(scale=scale, level=level) == pytest.approx(2**52 * math.log(20), rel=1e-12)
    normal = NormalDist().inv_cdf(0.975)
    assert gaussian_half_width(scale=scale, level=level) == pytest.approx(2**52 * normal, rel=1e-12)


def test_selection_bound_is_met_and_one_step_less_is_not() -> None:
    t = selection_half_width(rate=Fraction(1, 4), candidates=1000, level=Fraction(99, 100))
    assert 1000 * math.exp(-t / 4) <= 0.01 < 1000 * math.exp(-(t - 1) / 4)
    with pytest.raises(ValueError, match="candidate"):
        selection_half_width(rate=Fraction(1), candidates=0, level=Fraction(1, 2))


def chance_at_or_above(scale: Fraction, t: int) -> Fraction:
    """P(Z >= t), all but exactly."""
    with localcontext() as context:
        context.prec = 120
        rate = Decimal(scale.denominator) / Decimal(scale.numerator)
        a, tail = (-rate).exp(), (-rate * (t if t > 0 else 1 - t)).exp()
        upper = Fraction(tail / (1 + a))
    return upper if t > 0 else 1 - upper


@pytest.mark.parametrize(
    "probability",
    [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 20), Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**9)],
)
@pytest.mark.parametrize("scale", [*SCALES, Fraction(10**6), Fraction(10**9), Fraction(2**52), Fraction(2**90)])
def test_a_threshold_is_the_smallest_that_is_rare_enough(scale: Fraction, probability: Fraction) -> None:
    t = laplace_threshold(scale=scale, probability=probability)
    assert chance_at_or_above(scale, t) <= probability < chance_at_or_above(scale, t - 1)


def test_thresholds_by_hand() -> None:
    """P(Z >= 1) = 1/(1+e) = .2689 and P(Z >= 0) = .7311 at scale 1."""
    for text, t in [("0.7310", 1), ("0.7311", 0), ("0.2690", 1), ("0.2689", 2), ("0.9010", 0), ("0.9011", -1)]:
        assert laplace_threshold(scale=Fraction(1), probability=Fraction(text)) == t


def test_a_threshold_never_errs_below_next_to_a_step() -> None:
    """Within 1e-60 of the step the enclosures are refined until they decide."""
    step = chance_at_or_above(Fraction(5), 40)
    near = Fraction(1, 10**60)
    assert laplace_threshold(scale=Fraction(5), probability=step + near) == 40
    assert laplace_threshold(scale=Fraction(5), probability=step - near) == 41


@pytest.mark.parametrize(("scale", "probability"), [(0, Fraction(1, 2)), (1, 0), (1, 1), (1, 2), (-1, Fraction(1, 2))])
def test_a_threshold_needs_a_law_and_a_probability(scale: int, probability: Fraction) -> None:
    with pytest.raises(ValueError, match="a threshold needs"):
        laplace_threshold(scale=Fraction(scale), probability=Fraction(probability))
