"""Half-widths of combined noise against exact convolutions, known quantiles, and the extremes of their inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import ParameterInvalid
from discreet.intervals.half_widths import NoisePart, half_width, mean_size
from discreet.intervals.noise_laws import TailBound, chance_of_noise, log_characteristic, variance
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace

pytestmark = pytest.mark.slow

LEVELS = [Decimal(text) for text in ("0.5", "0.9", "0.95", "0.99", "0.9999", "0.999999")]
USUAL = Decimal("0.95")
FAR = 4000

Mechanism = DiscreteLaplace | DiscreteGaussian


def laplace(scale: float) -> DiscreteLaplace:
    return DiscreteLaplace(scale=Fraction(scale))


def gaussian(scale: float) -> DiscreteGaussian:
    return DiscreteGaussian(scale=Fraction(scale))


def law(mechanism: Mechanism, stretch: int = 1) -> NDArray[np.float64]:
    """The law of `stretch` times one draw on -FAR..FAR."""
    places = np.arange(-FAR, FAR + 1)
    draws = places / stretch / float(mechanism.scale)
    weights = np.exp(-np.abs(draws) if isinstance(mechanism, DiscreteLaplace) else -(draws**2) / 2)
    weights[places % stretch != 0] = 0
    return np.asarray(weights / weights.sum())


def covered(parts: list[tuple[int, Mechanism, int]]) -> NDArray[np.float64]:
    """P(|Σ stretch · draws| ≤ t) for t = 0, 1, 2, ..., by convolution."""
    whole = np.zeros(2 * FAR + 1)
    whole[FAR] = 1
    for stretch, mechanism, count in parts:
        one = law(mechanism, stretch)
        for _ in range(count):
            length = 1 << 15
            product = np.fft.irfft(np.fft.rfft(whole, length) * np.fft.rfft(one, length), length)
            whole = product[FAR : 3 * FAR + 1]
    return np.concatenate([whole[FAR : FAR + 1], whole[FAR] + 2 * np.cumsum(whole[FAR + 1 :])])


# --- against exact laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("mechanism", [laplace(0.2), laplace(1), laplace(7.5), gaussian(0.3), gaussian(1), gaussian(9)])
@pytest.mark.parametrize("count", [2, 5, 17])
def test_a_plain_sum_has_the_smallest_half_width(mechanism: Mechanism, count: int, level: Decimal) -> None:
    chances = covered([(1, mechanism, count)])
    smallest = int(np.argmax(chances >= float(level)))
    assert half_width([NoisePart(1.0, mechanism, count)], level) == smallest


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize(
    "parts",
    [
        [(1, laplace(3), 1), (2, laplace(3), 1)],
        [(4, laplace(1.5), 3), (7, gaussian(2), 2), (1, laplace(6), 9)],
        [(20, laplace(6), 1), (1, laplace(2), 8)],
        [(9, gaussian(0.6), 4), (4, gaussian(3), 5)],
        [(25, laplace(0.15), 6), (10, laplace(0.3), 8)],
        [(25, gaussian(0.3), 6), (10, laplace(0.3), 8)],
    ],
)
def test_mixed_coefficients_cover_the_level_and_hardly_more(
    parts: list[tuple[int, Mechanism, int]], level: Decimal
) -> None:
    chances = covered(parts)
    smallest = int(np.argmax(chances >= float(level)))
    reach = half_width([NoisePart(float(stretch), mechanism, count) for stretch, mechanism, count in parts], level)
    enough = int(np.argmax(chances >= float(level) + (1 - float(level)) * 0.005))
    assert smallest <= reach <= enough * 1.012 + 0.01


def test_a_fine_grid_is_covered_to_the_level() -> None:
    parts: list[tuple[int, Mechanism, int]] = [(5, laplace(9), 4), (3, laplace(21), 2), (2, gaussian(40), 3)]
    reach = half_width([NoisePart(float(stretch), mechanism, count) for stretch, mechanism, count in parts], USUAL)
    assert 0.95 <= covered(parts)[math.floor(reach)] <= 0.955


@pytest.mark.parametrize("mechanism", [laplace(0.4), laplace(30), gaussian(0.7), gaussian(30)])
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_one_draw_has_its_mechanisms_half_width(mechanism: Mechanism, level: Decimal) -> None:
    assert half_width([NoisePart(-0.5, mechanism, 1)], level) == 0.5 * mechanism.half_width(level)


# --- against known quantiles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("parts", [[(1.0, laplace(20), 1_000_000)], [(0.3, gaussian(50), 3), (1.0, gaussian(1e6), 2)]])
def test_many_draws_are_as_wide_as_a_normal_law(parts: list[tuple[float, Mechanism, int]], level: Decimal) -> None:
    total = math.fsum(count * coefficient**2 * variance(mechanism) for coefficient, mechanism, count in parts)
    normal = NormalDist(sigma=math.sqrt(total)).inv_cdf((1 + float(level)) / 2)
    reach = half_width([NoisePart(*part) for part in parts], level)
    assert normal * 0.9999 < reach < normal * 1.012


def test_one_dominating_part_keeps_its_own_quantile() -> None:
    reach = half_width([NoisePart(1.0, laplace(1e6), 1), NoisePart(1e-4, laplace(1e6), 5000)], USUAL)
    quantile = 1e6 * math.log(20)
    assert quantile < reach < quantile * 1.01


@pytest.mark.parametrize("scale", [1e-3, 0.02, 0.5, 3.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("make", [laplace, gaussian])
def test_every_scale_is_served(make: Callable[[float], Mechanism], scale: float) -> None:
    parts = [NoisePart(1.0, make(scale), 3), NoisePart(0.37, make(scale), 2)]
    total = math.fsum(part.count * part.coefficient**2 * variance(part.mechanism) for part in parts)
    reach = half_width(parts, Decimal("0.999999"))
    # Chebyshev's bound is crude, but it knows no scale.
    assert 0 <= reach <= 1000 * math.sqrt(total)
    if scale >= 3:
        assert 4 * math.sqrt(total) < reach < 12 * math.sqrt(total)


# --- laws of the answer ---------------------------------------------------------------------------------------------

SAMPLES = [
    [NoisePart(1.0, laplace(8), 3), NoisePart(0.21, laplace(5), 12)],
    [NoisePart(1.0, laplace(0.4), 3), NoisePart(0.21, gaussian(0.5), 12)],
    [NoisePart(1.0, gaussian(300), 1), NoisePart(0.5, laplace(200), 1)],
    [NoisePart(2.0, laplace(4), 6)],
]


@pytest.mark.parametrize("parts", SAMPLES)
def test_a_higher_level_is_never_narrower(parts: list[NoisePart]) -> None:
    reaches = [half_width(parts, level) for level in LEVELS]
    assert all(low <= high for low, high in pairwise(reaches))


@pytest.mark.parametrize("factor", [-1.0, 0.125, 3.7e-9, 5.1e11])
@pytest.mark.parametrize("parts", SAMPLES)
def test_the_answer_follows_the_coefficients(parts: list[NoisePart], factor: float) -> None:
    scaled = [NoisePart(factor * part.coefficient, part.mechanism, part.count) for part in parts]
    assert half_width(scaled, USUAL) == pytest.approx(abs(factor) * half_width(parts, USUAL), rel=1e-6)


def test_order_signs_and_splitting_do_not_matter() -> None:
    whole = half_width([NoisePart(1.0, laplace(8), 5), NoisePart(0.3, laplace(8), 4)], USUAL)
    split = [
        NoisePart(0.3, laplace(8), 3),
        NoisePart(-1.0, laplace(8), 2),
        NoisePart(-0.3, laplace(8), 1),
        NoisePart(1.0, laplace(8), 3),
    ]
    assert half_width(split, USUAL) == whole


def test_what_rounding_leaves_of_a_coefficient_is_nothing() -> None:
    clean = half_width([NoisePart(1.0, laplace(3), 4)], USUAL)
    rounded = [NoisePart(1.0, laplace(3), 2), NoisePart(1 - 1e-15, laplace(3), 2), NoisePart(1e-16, laplace(3), 1000)]
    assert half_width(rounded, USUAL) == clean == int(clean)


def test_nothing_is_as_wide_as_nothing() -> None:
    assert half_width([], USUAL) == 0
    assert half_width([NoisePart(0.0, laplace(3), 7)], USUAL) == 0
    assert half_width([NoisePart(0.0, laplace(3), 7), NoisePart(1.0, laplace(3), 1)], USUAL) == laplace(3).half_width(
        USUAL
    )
    assert half_width([NoisePart(1.0, laplace(1e-3), 1_000_000), NoisePart(0.3, gaussian(1e-3), 9)], USUAL) == 0


@pytest.mark.parametrize("level", ["0.01", "0.05", "0.3"])
def test_low_levels_are_covered_too(level: str) -> None:
    parts: list[tuple[int, Mechanism, int]] = [(3, gaussian(30), 1), (2, laplace(30), 1)]
    reach = half_width(
        [NoisePart(float(stretch), mechanism, count) for stretch, mechanism, count in parts], Decimal(level)
    )
    assert float(level) <= covered(parts)[math.floor(reach)] <= float(level) + 0.02


@pytest.mark.parametrize("level", ["0", "1", "1.5", "-0.1"])
def test_a_level_lies_between_0_and_1(level: str) -> None:
    with pytest.raises(ParameterInvalid):
        half_width([], Decimal(level))


@pytest.mark.parametrize(("coefficient", "count"), [(math.inf, 1), (math.nan, 1), (1.0, 0), (1.0, -2)])
def test_a_part_is_finite_and_not_empty(coefficient: float, count: int) -> None:
    with pytest.raises(ValueError, match=r"a coefficient is finite|at least one draw"):
        NoisePart(coefficient, laplace(1), count)


# --- the laws behind it ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism", [laplace(0.2), laplace(2), laplace(40), gaussian(0.25), gaussian(0.99), gaussian(1), gaussian(40)]
)
def test_laws_as_numbers_are_those_of_the_sums(mechanism: Mechanism) -> None:
    places = np.arange(-FAR, FAR + 1)
    chances = law(mechanism)
    angles = np.array([0.0, 1e-4, 0.03, 0.4, 1.0, 3.0, math.pi, 5.0, 100.0])
    exact = np.cos(np.outer(angles, places)) @ chances
    assert np.exp(log_characteristic(mechanism, angles)) == pytest.approx(exact, rel=1e-10, abs=1e-13)
    assert variance(mechanism) == pytest.approx(float(chances @ places.astype(float) ** 2), rel=1e-10)
    assert chance_of_noise([NoisePart(1.0, mechanism, 1)]) == pytest.approx(1 - chances[FAR], rel=1e-8)


@pytest.mark.parametrize(
    "parts",
    [
        [(1, laplace(5), 1)],
        [(1, laplace(5), 40)],
        [(3, gaussian(0.3), 30), (2, gaussian(4), 2)],
        [(1, laplace(0.1), 9)],
    ],
)
def test_tails_are_bounded(parts: list[tuple[int, Mechanism, int]]) -> None:
    bound = TailBound(
        [NoisePart(float(stretch), mechanism, count) for stretch, mechanism, count in parts], smallest=1e-9
    )
    chances = covered(parts)
    for tail in (0.3, 1e-2, 1e-5, 1e-9):
        reach = bound.reach(tail)
        assert 1 - chances[max(math.ceil(reach) - 1, 0)] <= tail * (1 + 1e-6)
        if tail < 1e-4 and reach > 12:
            assert 1 - chances[math.floor(reach * 0.6)] > tail


@pytest.mark.parametrize(
    "parts",
    [
        [(1, laplace(30), 1), (2, laplace(12), 1)],
        [(1, gaussian(25), 1), (1, laplace(25), 2)],
        [(3, laplace(5), 2), (1, gaussian(40), 1)],
    ],
)
def test_the_mean_size_is_that_of_the_convolution(parts: list[tuple[int, Mechanism, int]]) -> None:
    combined = np.ones(1)
    for stretch, mechanism, count in parts:
        for _ in range(count):
            combined = np.convolve(combined, law(mechanism, stretch))
    places = np.abs(np.arange(combined.size) - combined.size // 2)
    exact = float(places @ combined / combined.sum())
    assert mean_size([NoisePart(float(c), m, n) for c, m, n in parts]) == pytest.approx(exact, rel=2e-3)


def test_the_mean_size_of_one_draw_is_the_mechanisms_own() -> None:
    assert mean_size([NoisePart(-2.0, laplace(0.5), 1)]) == pytest.approx(2 * laplace(0.5).expected_absolute_error())
    assert mean_size([]) == 0
    twice = mean_size([NoisePart(1.0, gaussian(50), 2)])
    assert twice == pytest.approx(50 * math.sqrt(4 / math.pi), rel=1e-6)
