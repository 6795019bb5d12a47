"""Implications between kinds that need no further parameter; composition and conversion both stand on them.

Proof: docs/proofs/conversions.md
Refs:  [BS16] Proposition 1.4; [KOV17] the dominating pair of (ε, δ)-DP.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.guarantees.numbers import ceil_to_grid
from discreet.guarantees.types import ZCDP, ApproxDP, LocalDP, PureDP

__all__ = ["approx_to_zcdp", "local_to_pure", "pure_to_approx", "pure_to_zcdp"]


def pure_to_zcdp(guarantee: PureDP) -> ZCDP:
    """ε-DP is ρ-zCDP with ρ = ε²/2."""
    return ZCDP(rho=ceil_to_grid(Fraction(guarantee.epsilon) ** 2 / 2))


def pure_to_approx(guarantee: PureDP) -> ApproxDP:
    """ε-DP is (ε, 0)-DP."""
    return ApproxDP(epsilon=guarantee.epsilon, delta=0)


def approx_to_zcdp(guarantee: ApproxDP) -> ZCDP:
    """(ε, δ)-DP is δ-approximate ρ-zCDP with ρ = ε²/2."""
    return ZCDP(rho=ceil_to_grid(Fraction(guarantee.epsilon) ** 2 / 2), delta=guarantee.delta)


def local_to_pure(guarantee: LocalDP) -> PureDP:
    """ε-locally private reports make any analysis of them ε-DP for replace-one neighbours."""
    return PureDP(epsilon=guarantee.epsilon)
