"""Conversions give the published numbers, and refuse what does not follow."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees import ZCDP, ApproxDP, LocalDP, PureDP
from discreet.guarantees.conversions import _best_order, zcdp_to_approx, zcdp_within
from discreet.guarantees.implications import approx_to_zcdp, local_to_pure, pure_to_approx, pure_to_zcdp

GRID = Decimal("1e-9")


def delta_of(rho: float, epsilon: float) -> float:
    """The bound of [CKS20] read the other way round, by a plain fine grid over orders."""
    best = math.inf
    for step in range(-4000, 4001):
        excess = math.exp(step / 200)
        order = 1 + excess
        log_delta = excess * (order * rho - epsilon) - math.log(excess) - order * math.log1p(1 / excess)
        best = min(best, log_delta)
    return math.exp(best)


@pytest.mark.parametrize("rho", ["0.001", "0.05", "0.5", "1", "2.63", "40"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.01"])
def test_the_tight_conversion_agrees_with_its_inverse(rho: str, delta: str) -> None:
    epsilon = float(zcdp_to_approx(ZCDP(rho=rho), delta=delta).epsilon)
    assert delta_of(float(rho), epsilon) == pytest.approx(float(delta), rel=1e-3)


@pytest.mark.parametrize("rho", ["1e-9", "0.001", "0.5", "1", "1000"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.5", "0.999999999"])
def test_never_above_the_classic_bound(rho: str, delta: str) -> None:
    epsilon = zcdp_to_approx(ZCDP(rho=rho), delta=delta).epsilon
    classic = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    assert float(epsilon) <= classic * (1 + 1e-12) + 2e-9


def test_the_known_value_for_one_half() -> None:
    converted = zcdp_to_approx(ZCDP(rho="0.5"), delta="1e-6")
    classic = 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))
    assert converted == ApproxDP(epsilon="5.221534445", delta="1e-6")
    assert float(converted.epsilon) < classic - 0.5


def test_own_delta_is_taken_off_before_converting() -> None:
    approximate = zcdp_to_approx(ZCDP(rho=1, delta="5e-7"), delta="1e-6")
    assert approximate.delta == Decimal("0.000001")
    assert approximate.epsilon == zcdp_to_approx(ZCDP(rho=1), delta="5e-7").epsilon
    for too_small in ("5e-7", "1e-9"):
        with pytest.raises(ParameterInvalid, match="own delta"):
            zcdp_to_approx(ZCDP(rho=1, delta="5e-7"), delta=too_small)
    with pytest.raises(ParameterInvalid):
        zcdp_to_approx(ZCDP(rho=1), delta=0)


def test_the_largest_rho_is_the_largest() -> None:
    for epsilon, delta in (("3", "1e-6"), ("0.001", "1e-9"), ("20", "1e-3")):
        allowed = zcdp_within(epsilon=epsilon, delta=delta)
        assert zcdp_to_approx(allowed, delta=delta).epsilon <= Decimal(epsilon)
        more = ZCDP(rho=allowed.rho + GRID)
        assert zcdp_to_approx(more, delta=delta).epsilon > Decimal(epsilon)
    with pytest.raises(ParameterInvalid, match="room"):
        zcdp_within(epsilon="1e-9", delta="1e-9")


def test_pure_to_the_others() -> None:
    assert pure_to_zcdp(PureDP(epsilon=2)) == ZCDP(rho=2)
    assert pure_to_zcdp(PureDP(epsilon="1e-9")) == ZCDP(rho="1e-9")
    assert pure_to_zcdp(PureDP(epsilon="0.333333333")).rho == Decimal("0.055555556")
    assert pure_to_approx(PureDP(epsilon=2)) == ApproxDP(epsilon=2, delta=0)
    assert approx_to_zcdp(ApproxDP(epsilon=2, delta="1e-6")) == ZCDP(rho=2, delta="1e-6")
    assert local_to_pure(LocalDP(epsilon=2)) == PureDP(epsilon=2)
    with pytest.raises(ParameterInvalid, match="rho"):
        pure_to_zcdp(PureDP(epsilon=10**6))


def best_order(bound: Callable[[float, float], float], delta: Fraction) -> Fraction:
    """The same search with every step taken and nothing kept."""

    def value(logarithm: float) -> float:
        excess = math.exp(logarithm)
        added = (-math.log(float(delta)) - math.log1p(excess)) / excess - math.log1p(1 / excess)
        return bound(1 + excess, added)

    centre = min((-30 + 0.9375 * step for step in range(97)), key=value)
    low, high, golden = centre - 0.9375, centre + 0.9375, (math.sqrt(5) - 1) / 2
    for _ in range(96):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return 1 + Fraction(math.exp((low + high) / 2))


def test_the_order_is_the_one_that_every_step_of_the_search_leads_to() -> None:
    chance = random.Random(7)
    for _ in range(100):
        rho, epsilon = 10 ** chance.uniform(-12, 3), 10 ** chance.uniform(-6, 3)
        delta = Fraction(chance.randrange(1, 10 ** chance.randrange(1, 10)), 10**9)
        for bound in (
            lambda order, added, rho=rho: order * rho + added,
            lambda order, added, epsilon=epsilon: (added - epsilon) / order,
        ):
            assert _best_order(bound, delta) == best_order(bound, delta)
