"""The coin, the spread and the margin of the thesis' listing, with fresh entropy.

False-positive budget: 1e-6 for each test. By Hoeffding's and Massart's bounds n draws keep a share, or a distribution
function, within t of the truth but with chance 2·exp(-2nt²); with n = 2·ln(2/alpha)/gap² and t = gap/2 a fault at
distance gap is rejected as surely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.lab.strategies.generated_strategy import ListingRun, estimate

pytestmark = pytest.mark.statistical

ALPHA: Final = 1e-6
GAP: Final = 0.1
DRAWS: Final = math.ceil(2 * math.log(2 / ALPHA) / GAP**2)
REAL, GENERATED = 76.0, 10.0


def draw() -> list[ListingRun]:
    rng = np.random.default_rng()
    return [estimate(REAL, GENERATED, rng) for _ in range(DRAWS)]


def near_share(share: float, expected: float) -> bool:
    return abs(share - expected) <= GAP / 2


def near_law(values: Sequence[float], law: Callable[[np.ndarray], np.ndarray]) -> bool:
    ordered = np.sort(np.asarray(values))
    reached = law(ordered)
    steps = np.arange(len(ordered) + 1) / len(ordered)
    return bool(max(np.max(steps[1:] - reached), np.max(reached - steps[:-1])) <= GAP / 2)


def normal(loc: float, scale: float = 1) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: ndtr((values - loc) / scale)


def uniform(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.clip((values - low) / (high - low), 0, 1)


def test_three_answers_in_four_use_the_real_sensitivity() -> None:
    drawn = draw()
    share = sum(one.coin for one in drawn) / DRAWS
    assert near_share(share, 0.75)
    assert not near_share(share, 0.75 - GAP)
    for one in drawn:
        assert one.used == (REAL if one.coin else one.estimated) + one.margin


def test_the_estimate_lies_three_differences_above_with_normal_spread() -> None:
    estimates = [(one.estimated - GENERATED) / one.difference for one in draw()]
    assert near_law(estimates, normal(3))
    assert not near_law(estimates, normal(3.3))
    assert not near_law(estimates, normal(3, scale=1.6))


def test_the_margin_is_uniform_between_its_ends() -> None:
    margins = [one.margin / GENERATED for one in draw()]
    assert near_law(margins, uniform(0.015, 0.06))
    assert not near_law(margins, uniform(0.015, 0.6))
    assert not near_law(margins, uniform(0.0195, 0.06))
