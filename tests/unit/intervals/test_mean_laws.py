"""The law of total − d · size turned round: reaches that hold at every distance, hulls, bounds, exact sizes."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.intervals.half_widths import NoisePart, half_width
from discreet.intervals.mean_laws import mean_law
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.sql.outputs import Mean

LEVEL = Decimal("0.95")
Mechanism = DiscreteLaplace | DiscreteGaussian


def mean_of(low: int, high: int, centre: int, step: Fraction = Fraction(1)) -> Mean:
    return Mean(0, 1, step, Fraction(1), Fraction(centre), Fraction(1), Fraction(low), Fraction(high))


def law_of(mechanism: Mechanism) -> dict[int, float]:
    scale, reach = float(mechanism.scale), 80 + math.ceil(20 * mechanism.scale)
    power = 1 if isinstance(mechanism, DiscreteLaplace) else 2
    weights = {z: math.exp(-(abs(z) ** power) / (scale if power == 1 else 2 * scale**2)) for z in range(-reach, reach)}
    whole = sum(weights.values())
    return {z: weight / whole for z, weight in weights.items() if weight / whole > 1e-12}


def chance_within(total: Mechanism, size: Mechanism, distance: float, reach: float) -> float:
    """P(|X + d·Y| ≤ reach) by adding up."""
    first = law_of(total)
    places = np.array(sorted(first))
    sums = np.concatenate([[0.0], np.cumsum([first[place] for place in places.tolist()])])
    chance = 0.0
    for z, weight in law_of(size).items():
        first_place = np.searchsorted(places, -reach - distance * z - 1e-9)
        last_place = np.searchsorted(places, reach - distance * z + 1e-9, "right")
        chance += weight * float(sums[last_place] - sums[first_place])
    return chance


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([0.25, 0.5, 1.5, 4.0, 12.0]),
    st.sampled_from([0.25, 1.0, 3.0, 9.0]),
    st.sampled_from([1, 2, 7, 50]),
    st.booleans(),
    st.floats(0, 1),
)
def test_reaches_hold_at_every_distance(
    first: float, second: float, farthest: int, gaussian: bool, part: float
) -> None:
    kind = DiscreteGaussian if gaussian else DiscreteLaplace
    total, size = kind(scale=Fraction(first)), kind(scale=Fraction(second))
    law = mean_law(mean_of(-farthest, farthest, 0), [NoisePart(1.0, total, 1)], [NoisePart(1.0, size, 1)], LEVEL)
    distance = part * farthest
    reach = float(law.reaches[np.searchsorted(law.distances, distance)])
    assert chance_within(total, size, distance, reach) >= 0.95 - 1e-9
    assert law.distances[-1] == farthest
    assert np.all(np.diff(law.reaches) >= 0)


@pytest.mark.parametrize("distance", [0.0, 0.6, 2.0])
def test_on_a_fine_grid_reaches_are_hardly_wider_than_they_must_be(distance: float) -> None:
    """What is lost: half a step of the total on each side, the list of distances, a little smoothing."""
    total, size = DiscreteLaplace(scale=Fraction(60)), DiscreteLaplace(scale=Fraction(16))
    law = mean_law(mean_of(-2, 2, 0), [NoisePart(1.0, total, 1)], [NoisePart(1.0, size, 1)], LEVEL)
    reach = float(law.reaches[np.searchsorted(law.distances, distance)])
    assert 0.95 <= chance_within(total, size, distance, reach) < 0.96


def brute_force(mean: Mean, law: object, total: float, size: float) -> tuple[float, float]:
    """The hull of all means on a fine list that are not spoken against.

    Reaches grow in steps, so a sliver may be held just beyond a distance at which one grows: those are tried too.
    """
    distances, reaches = law.distances, law.reaches  # type: ignore[attr-defined]
    low, high = float(mean.low - mean.centre), float(mean.high - mean.centre)
    beyond = np.nextafter(distances, np.inf)
    away = np.concatenate([np.linspace(low, high, 20_001), beyond, -beyond])
    away = away[(away >= low) & (away <= high)]
    places = np.minimum(np.searchsorted(distances, np.abs(away)), len(distances) - 1)
    held = float(mean.centre) + away[np.abs(total - away * size) <= reaches[places]]
    return (float(held.min()), float(held.max())) if len(held) else (float(mean.low), float(mean.high))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(-4000, 4000), st.integers(-60, 200), st.integers(1, 99))
@example(1890, 112, 1)
def test_an_interval_is_the_hull_of_what_is_not_spoken_against(total: int, size: int, centre: int) -> None:
    mean = mean_of(0, 100, centre)
    noise = (
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(80)), 1)],
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(4)), 1)],
    )
    law = mean_law(mean, *noise, LEVEL)
    lows, highs = law.intervals(np.array([float(total)]), np.array([float(size)]))
    low, high = brute_force(mean, law, total, size)
    shown = min(max(centre + total / max(size, 1), 0), 100)
    assert lows[0] == pytest.approx(min(low, shown), abs=0.011)
    assert highs[0] == pytest.approx(max(high, shown), abs=0.011)
    assert 0 <= lows[0] < highs[0] <= 100


def test_where_no_mean_is_left_the_interval_is_the_bounds() -> None:
    """Far beyond every mean that the column allows, with hardly any noise."""
    noise = (
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(1, 2)), 1)],
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(1, 2)), 1)],
    )
    law = mean_law(mean_of(0, 10, 5), *noise, LEVEL)
    lows, highs = law.intervals(np.array([9_000.0]), np.array([100.0]))
    assert (lows[0], highs[0]) == (0.0, 10.0)


def test_a_size_without_noise_gives_the_half_width_of_the_total() -> None:
    total = DiscreteLaplace(scale=Fraction(30))
    law = mean_law(mean_of(0, 100, 50), [NoisePart(1.0, total, 1)], [], LEVEL)
    lows, highs = law.intervals(np.array([0.0]), np.array([10.0]))
    reach = total.half_width(LEVEL)
    assert (lows[0], highs[0]) == (50 - reach / 10, 50 + reach / 10)


def test_a_total_without_noise_leaves_that_of_the_size() -> None:
    size = DiscreteLaplace(scale=Fraction(4))
    law = mean_law(mean_of(0, 100, 50), [], [NoisePart(1.0, size, 1)], LEVEL)
    lows, highs = law.intervals(np.array([1000.0]), np.array([100.0]))
    reach = size.half_width(LEVEL)
    assert lows[0] == pytest.approx(50 + 1000 / (100 + reach), rel=0.01)
    assert highs[0] == pytest.approx(50 + 1000 / (100 - reach), rel=0.01)
    exact = mean_law(mean_of(0, 100, 50), [], [], LEVEL)
    assert [float(end[0]) for end in exact.intervals(np.array([1000.0]), np.array([100.0]))] == [60.0, 60.0]


def test_no_noisy_mean_is_told_to_be_exact() -> None:
    """Noise so small that nine in ten draws are none."""
    noise = (
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(1, 8)), 1)],
        [NoisePart(1.0, DiscreteLaplace(scale=Fraction(1, 8)), 1)],
    )
    assert half_width(noise[0], LEVEL) == 0
    lows, highs = mean_law(mean_of(0, 10, 5), *noise, LEVEL).intervals(np.array([7.0]), np.array([10.0]))
    assert lows[0] < 5.7 < highs[0]


def test_combined_noises_are_counted_with_their_coefficients() -> None:
    one = DiscreteLaplace(scale=Fraction(20))
    single = mean_law(mean_of(0, 100, 50), [NoisePart(1.0, one, 1)], [NoisePart(1.0, one, 1)], LEVEL)
    many = mean_law(mean_of(0, 100, 50), [NoisePart(0.5, one, 4)], [NoisePart(0.5, one, 4)], LEVEL)
    # the same variance, nearer to a normal law
    ratios = many.reaches / single.reaches
    assert np.all((ratios > 0.85) & (ratios < 1.02))
