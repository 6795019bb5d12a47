"""Laplace noise under a smooth bound: what epsilon and delta buy, exactly, and what they do not."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import ApproxDP
from discreet.lab.strategies.smooth_noise import SLACK, SmoothNoise

BUDGETS = [
    ("0.01", "1e-6"),
    ("0.1", "1e-6"),
    ("1", "1e-9"),
    ("1", "0.4"),
    ("30", "1e-6"),
    ("1e-9", "1e-9"),
    ("1e6", "0.5"),
]


def exact_delta(epsilon: float, ours: float, theirs: float, move: int) -> float:
    """The sum over all outputs of max(0, p - e^epsilon q), to rounding; the far tails count in full."""
    reach = int(50 * max(ours, theirs)) + move
    outputs = np.arange(-reach, reach + 1)
    p = np.tanh(0.5 / ours) * np.exp(-np.abs(outputs) / ours)
    q = np.tanh(0.5 / theirs) * np.exp(-np.abs(outputs + move) / theirs)
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) + 2 * float(np.exp(-reach / ours))


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_largest_growth_that_is_paid_for(epsilon: str, delta: str) -> None:
    noise = SmoothNoise.calibrate(epsilon=epsilon, delta=delta)
    rest = Fraction(epsilon) - noise.share
    assert noise.share == Fraction(epsilon) / 2
    assert noise.guarantee == ApproxDP(epsilon=epsilon, delta=delta)
    assert SLACK < noise.growth <= rest
    growth = float(noise.growth)  # what the proof's claim asks of it
    assert 2 * growth / (1 + growth) * math.exp(-float(rest) / growth) <= float(delta) * (1 + 1e-9)
    if noise.growth < rest:
        with pytest.raises(ValueError, match="not paid for"):
            SmoothNoise(noise.epsilon, noise.delta, noise.share, noise.growth + rest / (1 << 20))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "1e-3"), ("1", "1e-6"), ("4", "1e-4"), ("20", "1e-3")])
@pytest.mark.parametrize("bound", [1, 7, 60])
def test_delta_where_scales_differ_as_far_as_they_may(epsilon: str, delta: str, bound: int) -> None:
    noise = SmoothNoise.calibrate(epsilon=epsilon, delta=delta)

    def worst(growth: float) -> float:
        small = float(bound / noise.share)
        large = small * (1 + growth)
        return max(
            exact_delta(float(epsilon), ours, theirs, move)
            for ours, theirs in ((small, large), (large, small))
            for move in range(0, bound + 1, max(1, bound // 4))
        )

    assert worst(float(noise.growth)) <= float(delta)
    assert worst(4 * float(noise.growth)) > float(delta), "scales that differ too much are caught"


def test_noise_half_as_wide_is_caught() -> None:
    noise = SmoothNoise.calibrate(epsilon=1, delta="1e-6")
    scale = float(noise.mechanism(Fraction(60)).scale)
    assert exact_delta(1, scale * (1 + float(noise.growth)), scale, 60) <= 1e-6
    assert exact_delta(1, scale / 2 * (1 + float(noise.growth)), scale / 2, 60) > 1e-6


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_rounding_stays_within_the_slack(epsilon: str, delta: str) -> None:
    noise = SmoothNoise.calibrate(epsilon=epsilon, delta=delta)
    assert noise.base * (1 + noise.growth) == 1 + SLACK
    assert noise.decay(0) == 1
    for distance in (1, 2, 50):
        power = noise.base**distance
        assert power <= noise.decay(distance) <= power * (1 + SLACK / 4)


def test_the_scale_is_the_bound_over_the_share_rounded_up() -> None:
    noise = SmoothNoise.calibrate(epsilon="0.3", delta="1e-6")
    wanted = Fraction(7) / noise.share
    assert wanted <= noise.mechanism(Fraction(7)).scale <= wanted * (1 + SLACK / 4)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, "1e-6"), (-1, "1e-6"), (1, 0), (1, 1), ("nan", "1e-6"), (1, "1e-10")]
)
def test_parameters(epsilon: str | int, delta: str | int) -> None:
    with pytest.raises(ParameterInvalid):
        SmoothNoise.calibrate(epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(2)])
def test_the_share_leaves_something(share: Fraction) -> None:
    with pytest.raises(ValueError, match="share"):
        SmoothNoise(Decimal(1), Decimal("0.01"), share, Fraction(1, 100))
