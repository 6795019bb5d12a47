"""Between rho and (epsilon, delta), rounded against the optimist.

Guarantee: rho-zCDP with rho <= largest_rho(epsilon, delta) is (epsilon, delta)-DP; smallest_epsilon is its
           inverse.
Requires:  epsilon > 0, rho > 0, 0 < delta < 1.
Proof:     docs/proofs/ledger-filter.md
Refs:      [CKS20, Prop. 12].

For every alpha > 1, delta = exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1-1/alpha)^alpha holds. Any
alpha gives a valid bound, so floats only choose it; what is returned is evaluated in decimals with outward
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["RHO_GRID", "largest_rho", "smallest_epsilon"]

RHO_GRID: Final = Fraction(1, 10**12)
_DIGITS: Final = 60
# Decimal rounds every operation correctly. With 1e-13 <= alpha - 1 <= 1e27 the eight operations of the
# penalty, at 60 digits, err by less than 1e-40; the proof note has the sums.
_SLACK: Final = Fraction(1, 10**25)
_LOWEST, _HIGHEST, _STEPS = -30.0, 60.0, 360
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def largest_rho(*, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho on a grid of 1e-12 that is proven to convert to (epsilon, delta), or 0 when none is."""

    def allowed(log_order: float) -> float:
        order = 1 + math.exp(log_order)
        return (float(epsilon) - _float_penalty(log_order, float(delta))) / order

    excess = _decimal_excess(_maximise(allowed))
    rho = (epsilon - _penalty(excess, delta)) / (1 + Fraction(excess)) - _SLACK
    return max(Fraction(0), math.floor(rho / RHO_GRID) * RHO_GRID)


def smallest_epsilon(*, rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon for which rho-zCDP is proven to be (epsilon, delta)-DP.

    The least one up to the choice of alpha.
    """

    def gained(log_order: float) -> float:
        order = 1 + math.exp(log_order)
        return -(order * float(rho) + _float_penalty(log_order, float(delta)))

    excess = _decimal_excess(_maximise(gained))
    return max(Fraction(0), (1 + Fraction(excess)) * rho + _penalty(excess, delta) + _SLACK)


def _float_penalty(log_excess: float, delta: float) -> float:
    """(ln(1/delta) - ln(alpha-1) + alpha ln(1-1/alpha)) / (alpha-1), with alpha - 1 = exp(log_excess)."""
    excess = math.exp(log_excess)
    return (-math.log(delta) - log_excess + (1 + excess) * (log_excess - math.log1p(excess))) / excess


def _penalty(excess: Decimal, delta: Fraction) -> Fraction:
    """The same in decimals; the callers' slack covers its rounding."""
    context = Context(prec=_DIGITS)
    log_excess = context.ln(excess)
    order = context.add(Decimal(1), excess)
    log_delta = context.ln(
        Context(prec=_DIGITS, rounding=ROUND_FLOOR).divide(delta.numerator, delta.denominator)
    )
    last = context.multiply(order, context.subtract(log_excess, context.ln(order)))
    numerator = Fraction(last) - Fraction(log_delta) - Fraction(log_excess)
    return numerator / Fraction(excess)


def _decimal_excess(log_excess: float) -> Decimal:
    return Decimal(math.exp(log_excess))


def _maximise(value: Callable[[float], float]) -> float:
    """A grid, then golden section around its best point: speed only, the caller proves what it finds."""
    width = (_HIGHEST - _LOWEST) / _STEPS
    best = max((_LOWEST + width * step for step in range(_STEPS + 1)), key=value)
    low, high = best - width, best + width
    while high - low > 1e-9:
        third, two_thirds = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (third, high) if value(third) < value(two_thirds) else (low, two_thirds)
    return (low + high) / 2
