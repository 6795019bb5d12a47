"""What a charge costs, what a cap allows, and whether the one fits into the other.

Guarantee: a holder whose charges were all admitted under a cap (epsilon, delta) has an (epsilon, delta)-DP
           transcript,
           also when questions and parameters are chosen after seeing earlier answers.
Requires:  every charge carries a guarantee that its mechanism meets; charges are admitted one at a time.
Proof:     docs/proofs/ledger-filter.md
Refs:      conversion [CKS20, Prop. 12]; filter [WRRW23, Thm. 1], [FZ21]; approximate zCDP [BS16, Sec. 8].

Pure functions on integers: sums are exact, costs round up, allowances round down. A pure budget (delta = 0)
adds up epsilon. An (epsilon, delta) budget admits while every charge states an epsilon and these add up to no
more than the budget's, or while the approximate zCDP filter holds; in both cases half of delta pays for the
deltas of the charges, and the other half for the conversion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.errors import QueryRefused
from discreet.guarantees.budget import Budget
from discreet.guarantees.conversions import largest_rho, smallest_epsilon
from discreet.guarantees.numbers import ceil_to_grid, from_units, text, to_units
from discreet.guarantees.types import ApproxDP, CentralGuarantee, PureDP

__all__ = [
    "RHO_GRID",
    "RHO_UNIT",
    "Balance",
    "Cap",
    "Totals",
    "admits",
    "balance",
    "caps",
    "cost_of",
    "require_priceable",
    "rho_cap",
    "weigh",
]

RHO_UNIT: Final = Fraction(1, 10**19)
RHO_GRID: Final = Fraction(1, 10**12)
_RHO_PER_GRID: Final = 10**10
_HALF_SQUARE: Final = 5


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over admitted charges, whole numbers: epsilon and delta in 1e-9, rho in 1e-19.

    `epsilon` adds up pure and approximate charges; it bounds the transcript only while every charge is `additive`.
    """

    charges: int = 0
    additive: bool = True
    epsilon: int = 0
    rho: int = 0
    delta: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            charges=self.charges + other.charges,
            additive=self.additive and other.additive,
            epsilon=self.epsilon + other.epsilon,
            rho=self.rho + other.rho,
            delta=self.delta + other.delta,
        )


@dataclass(frozen=True, slots=True)
class Cap:
    """The most one holder may spend, in units of 1e-9; `delta` is 0 for a pure cap."""

    epsilon: int
    delta: int

    @property
    def pure(self) -> bool:
        return self.delta == 0


@dataclass(frozen=True, slots=True)
class Balance:
    """What one holder may spend, has spent, and could still spend, as exact decimals.

    `epsilon_spent` is the sum for a pure cap, otherwise the smaller of the pure sum (while it bounds
    everything) and the converted rho, rounded up. `epsilon_remaining` is the largest single pure charge that
    would still be admitted, rounded down. The rho and delta figures are None for a pure cap.
    """

    charges: int
    epsilon_cap: Decimal
    delta_cap: Decimal
    epsilon_spent: Decimal
    epsilon_remaining: Decimal
    rho_cap: Decimal | None
    rho_spent: Decimal | None
    rho_remaining: Decimal | None
    delta_spent: Decimal | None
    delta_remaining: Decimal | None

    def to_dict(self) -> dict[str, str | int | None]:
        """Plain values with exact decimal text."""
        names = ("epsilon_cap", "delta_cap", "epsilon_spent", "epsilon_remaining")
        filtered = ("rho_cap", "rho_spent", "rho_remaining", "delta_spent", "delta_remaining")
        shown: dict[str, str | int | None] = {"charges": self.charges}
        for name in (*names, *filtered):
            value: Decimal | None = getattr(self, name)
            shown[name] = None if value is None else text(value)
        return shown

    def describe(self, *, cost: CentralGuarantee) -> str:
        """What remains, in the currency of `cost`."""
        if isinstance(cost, PureDP) or self.rho_remaining is None or self.delta_remaining is None:
            return f"epsilon {text(self.epsilon_remaining)}"
        if isinstance(cost, ApproxDP):
            return f"epsilon {text(self.epsilon_remaining)} and delta {text(self.delta_remaining)}"
        return f"rho {text(self.rho_remaining)} and delta {text(self.delta_remaining)}"


def weigh(guarantee: CentralGuarantee) -> Totals:
    """One charge in every currency.

    An epsilon-DP charge is epsilon²/2-zCDP, an (epsilon, delta) one approximately so.
    """
    if isinstance(guarantee, PureDP):
        units = to_units(guarantee.epsilon)
        return _pure(units)
    delta = to_units(guarantee.delta)
    if isinstance(guarantee, ApproxDP):
        return replace(_pure(to_units(guarantee.epsilon)), delta=delta)
    return Totals(charges=1, additive=False, rho=to_units(guarantee.rho) * _RHO_PER_GRID, delta=delta)


def caps(budget: Budget) -> tuple[Cap, Cap]:
    """The population's cap and each analyst's."""
    return (
        Cap(epsilon=to_units(budget.epsilon), delta=to_units(budget.delta)),
        Cap(epsilon=to_units(budget.per_analyst), delta=to_units(budget.per_analyst_delta)),
    )


def admits(cap: Cap, totals: Totals) -> bool:
    """Whether `totals` may stand under `cap`.

    Monotone: what holds for the totals holds for every part of them.
    """
    if 2 * totals.delta > cap.delta:
        return False
    if totals.additive and totals.epsilon <= cap.epsilon:
        return True
    return not cap.pure and totals.rho <= rho_cap(cap)


def require_priceable(cap: Cap, guarantee: CentralGuarantee, *, population: str) -> None:
    """Refuse a charge that no amount of remaining budget could pay for."""
    if cap.pure and not isinstance(guarantee, PureDP):
        raise QueryRefused(
            f"'{population}' has a pure budget and takes pure charges only; this one is {guarantee}. "
            "Ask with a pure mechanism, or give the budget a delta (a custodian's change).",
            population=population,
        )


def cost_of(guarantee: CentralGuarantee) -> str:
    """A charge in its own currency, exact."""
    if isinstance(guarantee, PureDP):
        return f"epsilon {text(guarantee.epsilon)}"
    if isinstance(guarantee, ApproxDP):
        return f"epsilon {text(guarantee.epsilon)} with delta {text(guarantee.delta)}"
    delta = f" with delta {text(guarantee.delta)}" if guarantee.delta else ""
    return f"rho {text(guarantee.rho)}{delta}"


def balance(cap: Cap, totals: Totals) -> Balance:
    """The exact figures behind `admits`."""
    shown = Balance(
        charges=totals.charges,
        epsilon_cap=from_units(cap.epsilon),
        delta_cap=from_units(cap.delta),
        epsilon_spent=_epsilon_spent(cap, totals),
        epsilon_remaining=from_units(_largest_pure(cap, totals)),
        rho_cap=None,
        rho_spent=None,
        rho_remaining=None,
        delta_spent=None,
        delta_remaining=None,
    )
    if cap.pure:
        return shown
    limit = rho_cap(cap)
    return replace(
        shown,
        rho_cap=_rho_decimal(limit),
        rho_spent=_rho_decimal(totals.rho),
        rho_remaining=_rho_decimal(max(0, limit - totals.rho)),
        delta_spent=from_units(totals.delta),
        delta_remaining=from_units(max(0, cap.delta // 2 - totals.delta)),
    )


@lru_cache(maxsize=256)
def rho_cap(cap: Cap) -> int:
    """The zCDP that converts to the cap with half of its delta, in units of 1e-19, rounded down to 1e-12."""
    found = largest_rho(epsilon=Fraction(cap.epsilon, 10**9), delta=Fraction(cap.delta, 2 * 10**9))
    return math.floor(found / RHO_GRID) * int(RHO_GRID / RHO_UNIT)


def _epsilon_spent(cap: Cap, totals: Totals) -> Decimal:
    if cap.pure or totals.charges == 0:
        return from_units(totals.epsilon)
    converted = _converted(totals.rho, cap.delta)
    return min(converted, from_units(totals.epsilon)) if totals.additive else converted


@lru_cache(maxsize=4096)
def _converted(rho: int, delta: int) -> Decimal:
    return ceil_to_grid(smallest_epsilon(rho=rho * RHO_UNIT, delta=Fraction(delta, 2 * 10**9)))


def _largest_pure(cap: Cap, totals: Totals) -> int:
    """Bisection on `admits` itself, so that what is shown cannot differ from what is done."""
    filtered = 0 if cap.pure else math.isqrt(rho_cap(cap) // _HALF_SQUARE)
    return _largest(lambda units: admits(cap, totals + _pure(units)), upper=max(cap.epsilon, filtered) + 1)


def _pure(units: int) -> Totals:
    return Totals(charges=1, epsilon=units, rho=_HALF_SQUARE * units**2)


def _largest(holds: Callable[[int], bool], *, upper: int) -> int:
    low, high = 0, upper
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _rho_decimal(units: int) -> Decimal:
    return Decimal(f"{units}E-19")
