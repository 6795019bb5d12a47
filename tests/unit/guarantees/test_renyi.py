"""Losses at Rényi orders: never below what randomised response loses, and conversions that never tighten."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantees.conversions import largest_rho
from discreet.guarantees.renyi import ORDERS, allowed_loss, pure_loss

epsilons = st.fractions(min_value=Fraction(1, 10**9), max_value=79)


@given(epsilons, st.sampled_from(ORDERS))
def test_a_loss_is_that_of_randomised_response(epsilon: Fraction, order: int) -> None:
    """Against floats, where both logarithms are exact enough to tell a fault."""
    odds = math.exp(-float(epsilon))
    told = float(epsilon) + (math.log1p(odds ** (2 * order - 1)) - math.log1p(odds)) / (order - 1)
    assert float(pure_loss(epsilon=epsilon, order=order)) == pytest.approx(told, rel=1e-9, abs=1e-15)


@given(epsilons, st.sampled_from(ORDERS))
def test_a_loss_is_at_most_epsilon_and_at_most_that_of_its_zcdp(epsilon: Fraction, order: int) -> None:
    loss = pure_loss(epsilon=epsilon, order=order)
    assert 0 < loss <= epsilon
    assert loss <= order * epsilon**2 / 2 * (1 + Fraction(1, 10**12))


@given(epsilons, st.sampled_from(ORDERS[1:]))
def test_losses_grow_with_epsilon_and_with_the_order(epsilon: Fraction, order: int) -> None:
    loss = pure_loss(epsilon=epsilon, order=order)
    assert pure_loss(epsilon=epsilon * Fraction(11, 10), order=order) > loss
    assert pure_loss(epsilon=epsilon, order=order // 2) <= loss


@pytest.mark.parametrize("epsilon", [Fraction(81), Fraction(10**6)])
def test_enormous_losses_are_epsilon(epsilon: Fraction) -> None:
    assert all(pure_loss(epsilon=epsilon, order=order) == epsilon for order in ORDERS)


@given(
    st.fractions(min_value=Fraction(1, 10), max_value=20),
    st.integers(5, 9).map(lambda digits: Fraction(1, 10**digits)),
    st.sampled_from(ORDERS),
)
def test_no_order_allows_more_rho_than_the_best_one(epsilon: Fraction, delta: Fraction, order: int) -> None:
    allowed = allowed_loss(epsilon=epsilon, delta=delta, order=order)
    assert allowed / order <= largest_rho(epsilon=epsilon, delta=delta) + Fraction(1, 10**9)
    conversion = (order - 1) * float(allowed - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)
    assert conversion <= math.log(float(delta)) + 1e-9
    assert conversion >= math.log(float(delta)) - 1e-6
