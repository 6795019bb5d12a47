"""From one guarantee to another that it implies; never to a stronger one.

Guarantee: every result holds for each mechanism that has the given guarantee, for the same unit and the
           same neighbours. Results are rounded up to the grid of 1e-9.
Proof:     docs/proofs/conversions.md
Refs:      [BS16] Propositions 1.3 and 1.4, Section 8; [CKS20] Proposition 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees.enclosures import ln_down, ln_up, sqrt_up
from discreet.guarantees.numbers import ExactLike, ceil_to_grid, exact, floor_to_grid, from_units, text
from discreet.guarantees.types import ZCDP, ApproxDP

__all__ = [
    "largest_rho",
    "penalty",
    "smallest_epsilon",
    "zcdp_to_approx",
    "zcdp_within",
]

_GRID_POINTS: Final = 96
_LOWEST: Final = -30.0
_GRID_WIDTH: Final = (60.0 - _LOWEST) / _GRID_POINTS
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def zcdp_to_approx(guarantee: ZCDP, *, delta: ExactLike) -> ApproxDP:
    """δ'-approximate ρ-zCDP as (ε, delta)-DP, with the smallest ε that [CKS20] gives for delta − δ'.

    Never above the classic ρ + 2√(ρ·ln(1/(delta − δ'))) of [BS16].
    """
    total = exact(delta, parameter="delta", below=1)
    conversion = Fraction(total) - Fraction(guarantee.delta)
    if conversion <= 0:
        raise ParameterInvalid(
            parameter="delta",
            rule=say("must be above the guarantee's own delta of {delta}", delta=text(guarantee.delta)),
            given=text(total),
        )
    bound = smallest_epsilon(rho=Fraction(guarantee.rho), delta=conversion)
    epsilon = max(ceil_to_grid(bound), from_units(1))
    return ApproxDP(epsilon=epsilon, delta=total)


def zcdp_within(*, epsilon: ExactLike, delta: ExactLike) -> ZCDP:
    """The largest ρ on the grid for which ρ-zCDP is proven (epsilon, delta)-DP: an allowance, so rounded down."""
    allowed = exact(epsilon, parameter="epsilon")
    share = Fraction(exact(delta, parameter="delta", below=1))
    rho = floor_to_grid(largest_rho(epsilon=Fraction(allowed), delta=share))
    if not rho:
        raise ParameterInvalid(
            parameter="epsilon", rule=say("must leave room for a rho of 1e-9 at this delta"), given=text(allowed)
        )
    return ZCDP(rho=rho)


def smallest_epsilon(*, rho: Fraction, delta: Fraction) -> Fraction:
    """An ε for which ρ-zCDP is proven to be (ε, δ)-DP: the least, up to the choice of the order."""
    # Every order gives a valid bound, so the order may come from floats; the bound itself is enclosed.
    rate = float(rho)
    order = _best_order(lambda order, added: order * rate + added, delta)
    return min(order * rho + penalty(order, delta), _classic(rho, delta))


def largest_rho(*, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A ρ that is proven to convert to (ε, δ)-DP: the largest, up to the choice of the order; 0 when none is."""
    allowed = float(epsilon)
    order = _best_order(lambda order, added: (added - allowed) / order, delta)
    return max(Fraction(0), (epsilon - penalty(order, delta)) / order)


def penalty(order: Fraction, delta: Fraction) -> Fraction:
    """What an order α adds to αρ, enclosed from above: (ln 1/δ − ln α)/(α − 1) + ln(1 − 1/α)."""
    return (_ln_inverse(delta) - ln_down(order)) / (order - 1) + ln_up(1 - 1 / order)


def _classic(rho: Fraction, delta: Fraction) -> Fraction:
    return rho + 2 * sqrt_up(rho * _ln_inverse(delta))


@lru_cache(maxsize=256)
def _ln_inverse(delta: Fraction) -> Fraction:
    """ln 1/δ from above: a budget has a few deltas, and every charge converts with them."""
    return ln_up(1 / delta)


def _best_order(bound: Callable[[float, float], float], delta: Fraction) -> Fraction:
    """The order that makes a bound about smallest: a coarse grid on ln(α − 1), then golden section."""
    log_inverse_delta = -math.log(float(delta))
    centre = min(_coarse_orders(log_inverse_delta), key=lambda item: bound(item[1], item[2]))[0]
    low, high = centre - _GRID_WIDTH, centre + _GRID_WIDTH
    for _ in range(_GRID_POINTS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        smaller = bound(*_order_at(left, log_inverse_delta)) <= bound(*_order_at(right, log_inverse_delta))
        narrowed = (low, right) if smaller else (left, high)
        if narrowed == (low, high):  # as near as floats come: every further step would stay here
            break
        low, high = narrowed
    return 1 + Fraction(math.exp((low + high) / 2))


@lru_cache(maxsize=256)
def _coarse_orders(log_inverse_delta: float) -> tuple[tuple[float, float, float], ...]:
    """The grid on ln(α − 1), each with α and what it adds."""
    grid = (_LOWEST + _GRID_WIDTH * step for step in range(_GRID_POINTS + 1))
    return tuple((logarithm, *_order_at(logarithm, log_inverse_delta)) for logarithm in grid)


def _order_at(logarithm: float, log_inverse_delta: float) -> tuple[float, float]:
    """α, and about what it adds to αρ."""
    excess = math.exp(logarithm)
    return 1 + excess, (log_inverse_delta - math.log1p(excess)) / excess - math.log1p(1 / excess)
