"""What a charge costs, what a cap allows, and whether the one fits into the other.

Guarantee: a holder whose charges were all admitted under a cap (epsilon, delta) has an (epsilon, delta)-DP
           transcript,
           also when questions and parameters are chosen after seeing earlier answers.
Requires:  every charge carries a guarantee that its mechanism meets; charges are admitted one at a time.
Proof:     docs/proofs/ledger-filter.md
Refs:      conversion [CKS20, Prop. 12]; filter [WRRW23, Thm. 1], [FZ21]; approximate zCDP [BS16, Sec. 8].

Pure functions on integers: sums are exact or of costs rounded up, allowances round down. A pure budget (delta = 0)
adds up epsilon. An (epsilon, delta) budget admits while every charge states an epsilon and these add up to no more than
the budget's, or while the approximate zCDP filter holds, or a Rényi filter at one of three orders. Half of delta pays
for the deltas of the charges; the other half is shared among the filters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused
from discreet.guarantees import (
    ORDERS,
    ApproxDP,
    Balance,
    Budget,
    CentralGuarantee,
    PureDP,
    allowed_loss,
    ceil_to_grid,
    from_units,
    largest_rho,
    pure_loss,
    smallest_epsilon,
    text,
    to_units,
)

__all__ = [
    "RHO_GRID",
    "RHO_UNIT",
    "Balance",
    "Cap",
    "ChargeTotals",
    "admits",
    "balance",
    "caps",
    "cost_of",
    "how_many",
    "loss_limits",
    "promise_of",
    "require_priceable",
    "rho_cap",
    "use_up",
    "weigh",
]

RHO_UNIT: Final = Fraction(1, 10**19)
RHO_GRID: Final = Fraction(1, 10**12)
_RHO_PER_GRID: Final = 10**10
_HALF_SQUARE: Final = 5
_PLANNED: Final = ("1", "0.5", "0.1", "0.01")
_LOSS_UNIT: Final = Fraction(1, 10**12)
_LOSS_PER_GRID: Final = 1000
_NEAR: Final = 1e-10  # below the grid of 1e-9

# How the half of delta that pays for conversions is shared: the zCDP filter, and the three orders of a cap.
_RHO_SHARE: Final = Fraction(3, 4)
_LOSS_SHARES: Final = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 16))


@dataclass(frozen=True, slots=True)
class ChargeTotals:
    """Sums over admitted charges, whole numbers: epsilon and delta in 1e-9, rho in 1e-19, Rényi losses in 1e-12.

    `epsilon` adds up pure and approximate charges; it bounds the transcript only while every charge is `additive`.
    `losses` has one sum for each of ORDERS, or None where a charge was made before they were recorded: such a holder
    stays under the earlier rule, whose zCDP filter has all of its half of delta.
    """

    charges: int = 0
    additive: bool = True
    epsilon: int = 0
    rho: int = 0
    delta: int = 0
    losses: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.losses is None and not (self.charges or self.epsilon or self.rho or self.delta):
            object.__setattr__(self, "losses", (0,) * len(ORDERS))

    def __add__(self, other: ChargeTotals) -> ChargeTotals:
        known = self.losses is not None and other.losses is not None
        return ChargeTotals(
            charges=self.charges + other.charges,
            additive=self.additive and other.additive,
            epsilon=self.epsilon + other.epsilon,
            rho=self.rho + other.rho,
            delta=self.delta + other.delta,
            losses=tuple(map(sum, zip(self.losses or (), other.losses or (), strict=True))) if known else None,
        )

    def times(self, count: int) -> ChargeTotals:
        """The sum of so many."""
        return ChargeTotals(
            charges=count * self.charges,
            additive=self.additive,
            epsilon=count * self.epsilon,
            rho=count * self.rho,
            delta=count * self.delta,
            losses=None if self.losses is None else tuple(count * loss for loss in self.losses),
        )


@dataclass(frozen=True, slots=True)
class Cap:
    """The most one holder may spend, in units of 1e-9; `delta` is 0 for a pure cap."""

    epsilon: int
    delta: int

    @property
    def pure(self) -> bool:
        return self.delta == 0


@lru_cache(maxsize=4096)
def weigh(guarantee: CentralGuarantee) -> ChargeTotals:
    """One charge in every currency.

    An epsilon-DP charge is epsilon²/2-zCDP and loses at every order what randomised response loses; an (epsilon,
    delta) one does so but for delta. A zCDP charge loses order · rho.
    """
    if isinstance(guarantee, PureDP):
        return _weigh_pure(to_units(guarantee.epsilon))
    delta = to_units(guarantee.delta)
    if isinstance(guarantee, ApproxDP):
        return replace(_weigh_pure(to_units(guarantee.epsilon)), delta=delta)
    rho = to_units(guarantee.rho)
    losses = tuple(order * rho * _LOSS_PER_GRID for order in ORDERS)
    return ChargeTotals(charges=1, additive=False, rho=rho * _RHO_PER_GRID, delta=delta, losses=losses)


def _weigh_pure(units: int) -> ChargeTotals:
    losses = tuple(_loss(units, order) for order in ORDERS)
    return ChargeTotals(charges=1, epsilon=units, rho=_HALF_SQUARE * units**2, losses=losses)


def _loss(units: int, order: int) -> int:
    return math.ceil(pure_loss(epsilon=Fraction(units, 10**9), order=order) / _LOSS_UNIT)


@lru_cache(maxsize=256)
def caps(budget: Budget) -> tuple[Cap, Cap]:
    """The population's cap and each analyst's."""
    return (
        Cap(epsilon=to_units(budget.epsilon), delta=to_units(budget.delta)),
        Cap(epsilon=to_units(budget.per_analyst), delta=to_units(budget.per_analyst_delta)),
    )


def admits(cap: Cap, totals: ChargeTotals) -> bool:
    """Whether `totals` may stand under `cap`.

    Monotone: what holds for the totals holds for every part of them.
    """
    if not _deltas_fit(cap, totals):
        return False
    if totals.additive and totals.epsilon <= cap.epsilon:
        return True
    if cap.pure:
        return False
    earlier = totals.losses is None
    return totals.rho <= rho_cap(cap, earlier=earlier) or any(room >= 0 for _, room in _rooms(cap, totals))


def use_up(cap: Cap, totals: ChargeTotals) -> ChargeTotals:
    """Nothing is left under `cap`: all that it allowed counts as one charge, which is what it is known to be at most.

    Where the totals are above the cap, because it was lowered, the charge comes on top of them.
    """
    epsilon, delta = from_units(cap.epsilon), from_units(cap.delta)
    whole = weigh(PureDP(epsilon=epsilon) if cap.pure else ApproxDP(epsilon=epsilon, delta=delta))
    if not admits(cap, totals):
        return totals + whole
    return replace(whole, charges=totals.charges + 1, losses=None if totals.losses is None else whole.losses)


def _deltas_fit(cap: Cap, totals: ChargeTotals) -> bool:
    """Half of delta is for the charges; the other half pays for conversions."""
    return 2 * totals.delta <= cap.delta


def require_priceable(cap: Cap, guarantee: CentralGuarantee, *, population: str) -> None:
    """Refuse a charge that no amount of remaining budget could pay for."""
    if cap.pure and not isinstance(guarantee, PureDP):
        raise QueryRefused(
            say(
                "'{population}' has a pure budget and takes pure charges only; this one is {guarantee}. Ask with "
                "a pure mechanism, or give the budget a delta (a custodian's change).",
                population=population,
                guarantee=promise_of(guarantee),
            ),
            population=population,
        )


def promise_of(guarantee: CentralGuarantee) -> str:
    """What a charge promises, for people; its own text is what is written down."""
    if isinstance(guarantee, PureDP):
        return say("pure DP, epsilon = {epsilon}", epsilon=text(guarantee.epsilon))
    delta = text(guarantee.delta)
    if isinstance(guarantee, ApproxDP):
        return say("approximate DP, epsilon = {epsilon}, delta = {delta}", epsilon=text(guarantee.epsilon), delta=delta)
    if not guarantee.delta:
        return say("zCDP, rho = {rho}", rho=text(guarantee.rho))
    return say("zCDP, rho = {rho}, delta = {delta}", rho=text(guarantee.rho), delta=delta)


def cost_of(guarantee: CentralGuarantee) -> Phrase:
    """A charge in its own currency, exact."""
    if isinstance(guarantee, PureDP):
        return Phrase("epsilon {epsilon}", epsilon=text(guarantee.epsilon))
    if isinstance(guarantee, ApproxDP):
        epsilon, delta = text(guarantee.epsilon), text(guarantee.delta)
        return Phrase("epsilon {epsilon} with delta {delta}", epsilon=epsilon, delta=delta)
    if not guarantee.delta:
        return Phrase("rho {rho}", rho=text(guarantee.rho))
    return Phrase("rho {rho} with delta {delta}", rho=text(guarantee.rho), delta=text(guarantee.delta))


@lru_cache(maxsize=1024)
def balance(cap: Cap, totals: ChargeTotals) -> Balance:
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
        questions_left=tuple((size, how_many(cap, totals, weigh(PureDP(epsilon=size)))) for size in _PLANNED),
    )
    if cap.pure:
        return shown
    return replace(
        shown,
        rho_cap=_rho_decimal(rho_cap(cap, earlier=totals.losses is None)),
        rho_spent=_rho_decimal(totals.rho),
        rho_remaining=_rho_decimal(_largest_rho(cap, totals)),
        delta_spent=from_units(totals.delta),
        delta_remaining=from_units(max(0, cap.delta // 2 - totals.delta)),
    )


def how_many(cap: Cap, totals: ChargeTotals, cost: ChargeTotals) -> int:
    """How many more charges of this weight would be admitted, one after the other."""
    if not admits(cap, totals):
        return 0
    both = totals + cost
    ways = [(cap.epsilon - totals.epsilon, cost.epsilon)] if both.additive else []
    if not cap.pure:
        ways.append((rho_cap(cap, earlier=both.losses is None) - totals.rho, cost.rho))
        if totals.losses is not None and cost.losses is not None:
            ways += [(limit - totals.losses[index], cost.losses[index]) for index, limit in loss_limits(cap)]
    most = max((room // each for room, each in ways if room >= 0), default=0)
    return min(most, (cap.delta - 2 * totals.delta) // (2 * cost.delta)) if cost.delta else most


@lru_cache(maxsize=256)
def rho_cap(cap: Cap, *, earlier: bool = False) -> int:
    """The zCDP that converts to the cap with its share of delta, in units of 1e-19, rounded down to 1e-12.

    `earlier` is the share of holders that were charged before losses were recorded: the whole half.
    """
    share = 1 if earlier else _RHO_SHARE
    found = largest_rho(epsilon=Fraction(cap.epsilon, 10**9), delta=share * Fraction(cap.delta, 2 * 10**9))
    return math.floor(found / RHO_GRID) * int(RHO_GRID / RHO_UNIT)


@lru_cache(maxsize=256)
def loss_limits(cap: Cap) -> tuple[tuple[int, int], ...]:
    """The Rényi filters of an (epsilon, delta) cap: places in ORDERS and the losses allowed there, in 1e-12.

    The first order is the one at which the cap allows most rho; higher ones suit a little rho beside pure charges.
    Which they are follows from the cap alone.
    """
    epsilon, half = Fraction(cap.epsilon, 10**9), Fraction(cap.delta, 2 * 10**9)

    def allowed(index: int, share: Fraction) -> Fraction:
        return allowed_loss(epsilon=epsilon, delta=share * half, order=ORDERS[index])

    indices = range(len(ORDERS) - len(_LOSS_SHARES) + 1)
    first = max(indices, key=lambda index: allowed(index, Fraction(1)) / ORDERS[index])
    return tuple(
        (index, math.floor(allowed(index, share) / _LOSS_UNIT)) for index, share in enumerate(_LOSS_SHARES, start=first)
    )


def _rooms(cap: Cap, totals: ChargeTotals) -> list[tuple[int, int]]:
    """What is left at each order of an (epsilon, delta) cap; below 0 where the filter does not hold."""
    if totals.losses is None:
        return []
    return [(ORDERS[index], limit - totals.losses[index]) for index, limit in loss_limits(cap)]


def _epsilon_spent(cap: Cap, totals: ChargeTotals) -> Decimal:
    if cap.pure or totals.charges == 0:
        return from_units(totals.epsilon)
    earlier = totals.losses is None
    ways = [_converted(totals.rho, cap.delta, earlier)]
    if totals.additive:
        ways.append(from_units(totals.epsilon))
    # What is left at an order is left of epsilon: the conversion adds the same to every loss.
    ways += [ceil_to_grid(Fraction(cap.epsilon, 10**9) - room * _LOSS_UNIT) for _, room in _rooms(cap, totals)]
    return max(from_units(0), min(ways))


@lru_cache(maxsize=4096)
def _converted(rho: int, delta: int, earlier: bool) -> Decimal:
    share = 1 if earlier else _RHO_SHARE
    return ceil_to_grid(smallest_epsilon(rho=rho * RHO_UNIT, delta=share * Fraction(delta, 2 * 10**9)))


def _largest_pure(cap: Cap, totals: ChargeTotals) -> int:
    """The most that one of the ways to admit leaves."""
    if not _deltas_fit(cap, totals):
        return 0
    ways = [cap.epsilon - totals.epsilon] if totals.additive else []
    if not cap.pure:
        left = rho_cap(cap, earlier=totals.losses is None) - totals.rho
        ways.append(math.isqrt(max(0, left) // _HALF_SQUARE))
        ways += [_largest_loss(order, room) for order, room in _rooms(cap, totals)]
    return max([0, *ways])


def _largest_rho(cap: Cap, totals: ChargeTotals) -> int:
    if not _deltas_fit(cap, totals):
        return 0
    ways = [rho_cap(cap, earlier=totals.losses is None) - totals.rho]
    ways += [room * int(_LOSS_UNIT / RHO_UNIT) // order for order, room in _rooms(cap, totals)]
    return max([0, *ways])


def _largest_loss(order: int, room: int) -> int:
    """The largest pure charge, in 1e-9, whose loss at an order fits into what is left there, in 1e-12."""
    if room < 0:
        return 0
    left = float(room * _LOSS_UNIT)
    low, high = 0.0, left + math.log(2) / (order - 1)
    for _ in range(64):  # floats only say where to look
        middle = (low + high) / 2
        loss = middle + (math.log1p(math.exp(-(2 * order - 1) * middle)) - math.log1p(math.exp(-middle))) / (order - 1)
        low, high = (middle, high) if loss <= left else (low, middle)
        if high - low < _NEAR:
            break
    return _largest(lambda units: _loss(units, order) <= room, near=int(low * 10**9))


def _largest(holds: Callable[[int], bool], *, near: int) -> int:
    """The largest whole number that holds, given that 0 does and that what is below one that holds does too."""
    step = 1
    if holds(near):
        low, high = near, near + 1
        while holds(high):
            low, high, step = high, high + 2 * step, 2 * step
    else:
        low, high = max(0, near - 1), near
        while low and not holds(low):
            low, high, step = max(0, low - 2 * step), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _rho_decimal(units: int) -> Decimal:
    return Decimal(f"{units}E-19")
