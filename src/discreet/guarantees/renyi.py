"""Rényi losses at whole orders: what an answer weighs there, and how much of it an (ε, δ) allows.

Guarantee: `pure_loss` is at least the Rényi divergence of that order between any two laws that ε-DP permits;
           a transcript whose losses add up to at most `allowed_loss` is (ε, δ)-DP.
Proof:     docs/proofs/ledger-filter.md
Refs:      randomised response is the worst case [KOV17]; conversion [CKS20, Proposition 12].
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from discreet.guarantees.conversions import penalty
from discreet.guarantees.enclosures import exp_down, exp_up, ln_down, ln_up

__all__ = ["ORDERS", "allowed_loss", "pure_loss"]

ORDERS: Final = (3, 6, 12, 24, 48, 96, 192, 384, 768)
"""Orders at which losses are added up, wide enough apart for budgets from 0.1 to 20 and deltas from 1e-9 to 1e-5."""

_PLAIN: Final = 100  # beyond, the loss is epsilon to forty digits


def pure_loss(*, epsilon: Fraction, order: int) -> Fraction:
    """The loss of ε-randomised response, ε + (ln(1 + e^−(2α−1)ε) − ln(1 + e^−ε))/(α − 1), from above; at most ε."""
    if epsilon > _PLAIN:
        return epsilon
    likely, unlikely = ln_down(1 + exp_down(-epsilon)), ln_up(1 + exp_up(-(2 * order - 1) * epsilon))
    return min(epsilon, epsilon + (unlikely - likely) / (order - 1))


def allowed_loss(*, epsilon: Fraction, delta: Fraction, order: int) -> Fraction:
    """A loss of this order that is proven to convert to (ε, δ)-DP, from below; negative when none is."""
    return epsilon - penalty(Fraction(order), delta)
