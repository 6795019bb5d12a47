"""Rényi losses at whole orders: what an answer weighs there, and how much of it an (ε, δ) allows.

Guarantee: `pure_loss` is at least the Rényi divergence of that order between any two laws that ε-DP permits;
           a transcript whose losses add up to at most `allowed_loss` is (ε, δ)-DP.
Proof:     docs/proofs/ledger-filter.md
Refs:      randomised response is the worst case [KOV17]; conversion [CKS20, Proposition 12].
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.guarantees.conversions import penalty
from discreet.guarantees.enclosures import exp_down, exp_up, ln_down, ln_up

__all__ = ["ORDERS", "allowed_loss", "pure_loss"]

ORDERS: Final = (3, 6, 12, 24, 48, 96, 192, 384, 768)
"""Orders at which losses are added up, wide enough apart for budgets from 0.1 to 20 and deltas from 1e-9 to 1e-5."""

_DIGITS: Final = 40  # losses are summed in 1e-12
_PLAIN: Final = 80  # beyond, e^−ε is lost in so many digits, and the loss is epsilon
_RARE: Final = Fraction(1, 10**20)


def pure_loss(*, epsilon: Fraction, order: int) -> Fraction:
    """The loss of ε-randomised response, ε + (ln(1 + e^−(2α−1)ε) − ln(1 + e^−ε))/(α − 1), from above; at most ε."""
    if epsilon > _PLAIN:
        return epsilon
    rare = exp_up(-(2 * order - 1) * epsilon, digits=_DIGITS)
    if rare > _RARE:
        rare = ln_up(1 + rare, digits=_DIGITS)  # at most what it was, which is near enough when small
    return min(epsilon, epsilon + (rare - _usual(epsilon)) / (order - 1))


@lru_cache(maxsize=4096)
def _usual(epsilon: Fraction) -> Fraction:
    """ln(1 + e^−ε) from below, the same at every order."""
    return ln_down(1 + exp_down(-epsilon, digits=_DIGITS), digits=_DIGITS)


def allowed_loss(*, epsilon: Fraction, delta: Fraction, order: int) -> Fraction:
    """A loss of this order that is proven to convert to (ε, δ)-DP, from below; negative when none is."""
    return epsilon - penalty(Fraction(order), delta)
