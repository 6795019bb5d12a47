"""Private bounds: where the values of a column lie, found by a noisy histogram over bins that double.

Guarantee: pure DP, epsilon of the search, per protected unit; with what remains, the epsilon that was asked.
Requires:  `moved` is derived for the search's own plan (plan.sensitivity); the answer clamps to the bounds as found.
Proof:     docs/proofs/private-bounds.md
Refs:      [WZLDG20] for a noisy histogram over doubling bins; [AKMV19] for the trade between clipping and noise.

The rule has no knobs, and docs/private-bounds.md says what it was chosen against. Half of epsilon searches. A count is
believed when noise alone would reach it with a chance of at most 1/20, divided by 2 for every doubling away from 0
until a first bin is found, and from then on by 8 for every bin left empty between: a bound that is too wide by mistake
costs as much again with every doubling, so such mistakes must become rarer faster than they become dearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import from_units, text, to_units
from discreet.mechanisms import DiscreteLaplace
from discreet.noise import laplace_threshold
from discreet.sql import (
    SEARCHED,
    Case,
    Derive,
    Field,
    Filter,
    IsNull,
    Key,
    Not,
    Plan,
    Relation,
    Rows,
    Sensitivities,
    Value,
    Whole,
    Within,
    next_identity,
)

__all__ = [
    "CHANCE",
    "REACH",
    "SEARCH_SHARE",
    "FoundBounds",
    "bin_value",
    "calibrate_search",
    "choose_bounds",
    "edges",
    "find_bounds",
    "rows_needed",
    "search_plan",
    "split",
]

REACH: Final = SEARCHED
"""How far from 0, in whole steps, bounds are looked for; what lies beyond counts in the outermost bin."""

_DOUBLINGS: Final = REACH.bit_length() - 1

SEARCH_SHARE: Final = Fraction(1, 2)
"""The part of epsilon that finds the bounds."""

CHANCE: Final = Fraction(1, 20)
"""With what probability noise alone may pass for a bin, where this would cost least."""

_DOUBLING: Final = 2
_EMPTY_BIN: Final = 8
_INSIDE: Final = 2  # what bins no further from 0 than the bounds found pay at most: eighty of them, 1/64 each

# Bins are numbered from -40 to 40: 0 is the value 0, and bin b > 0 holds 2^(b-1) to 2^b - 1, mirrored below 0.
_BINS: Final = range(-_DOUBLINGS, _DOUBLINGS + 1)


@dataclass(frozen=True, slots=True)
class FoundBounds:
    """Bounds in whole steps. Not `found`: no bin stood out, and the bounds are those of any data, 0 and 1."""

    low: int
    high: int
    found: bool

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError("the lower bound must lie below the upper one")


# --- what is paid ---------------------------------------------------------------------------------------------------


def split(epsilon: Decimal) -> tuple[Decimal, Decimal]:
    """What the search may spend, rounded down, and what remains for the answer; together exactly epsilon."""
    units = to_units(epsilon)
    search = int(units * SEARCH_SHARE)
    if search < 1:
        raise ParameterInvalid(
            parameter="epsilon",
            rule=say("must be at least 2e-9 where bounds are private, because half of it finds them"),
            given=text(epsilon),
        )
    return from_units(search), from_units(units - search)


def calibrate_search(moved: Sensitivities, *, epsilon: Decimal) -> DiscreteLaplace:
    """The noise of the histogram, for what one unit moves of it with all its rows."""
    return DiscreteLaplace.calibrate(sensitivity=moved.largest.l1, epsilon=epsilon)


def rows_needed(mechanism: DiscreteLaplace) -> tuple[int, int]:
    """How many rows a first bin must show to be believed: one nearest to 0, and one as far from it as any."""
    return _threshold(mechanism.scale, 1), _threshold(mechanism.scale, _DOUBLING**_DOUBLINGS)


# --- what is counted ------------------------------------------------------------------------------------------------


def edges() -> tuple[int, ...]:
    """The least value of every bin, ascending."""
    return tuple(map(_least, _BINS))


def search_plan(source: Relation, value: Value) -> Plan:
    """How many rows of a relation have the value in each bin; rows without it are in none."""
    there = next_identity(source)
    valued = Filter(Derive(source, ((there, value),)), Not(IsNull(Field(there))))
    numbered = next_identity(valued)
    binned = Derive(valued, ((numbered, bin_value(Field(there))),))
    return Plan(binned, (Key(Field(numbered), tuple(_BINS)),), (Rows(None),))


def bin_value(value: Value) -> Value:
    """The number of the bin in which a value lies that is there, by halving: seven comparisons for each row."""
    return _halved(value, _BINS[0], _BINS[-1])


def _halved(value: Value, first: int, last: int) -> Value:
    if first == last:
        return Whole(first)
    middle = (first + last) // 2
    below = Within(value, None, _greatest(middle))
    return Case(((below, _halved(value, first, middle)),), _halved(value, middle + 1, last))


def _least(number: int) -> int:
    return -_greatest(-number)


def _greatest(number: int) -> int:
    return (1 << number) - 1 if number >= 0 else -(1 << (-number - 1))


# --- what is found --------------------------------------------------------------------------------------------------


def find_bounds(counts: Sequence[int], *, mechanism: DiscreteLaplace, widest: int = REACH) -> FoundBounds:
    """Bounds from the exact counts of `search_plan`, none further from 0 than `widest`.

    Each call draws anew and costs what the mechanism costs.
    """
    return choose_bounds(mechanism.release(counts), scale=mechanism.scale, widest=widest)


def choose_bounds(noisy: Sequence[int], *, scale: Fraction, widest: int = REACH) -> FoundBounds:
    """Bounds from counts with noise of this scale: the ends of the bins believed, seen from the surest of them."""
    least = _threshold(scale, 1)  # no bin is believed for less, and few bins are to be looked at further
    counts = {number: count for number, count in zip(_BINS, noisy, strict=True) if count >= least}
    margins = {number: count - _threshold(scale, _DOUBLING ** abs(number)) for number, count in counts.items()}
    start = max(margins, key=margins.__getitem__, default=0)
    if margins.get(start, -1) < 0:
        return FoundBounds(0, 1, found=False)
    first = last = start
    while joining := [
        number
        for number, count in counts.items()
        if not first <= number <= last and count >= _threshold(scale, _EMPTY_BIN ** _price(number, first, last))
    ]:
        first, last = min(first, *joining), max(last, *joining)
    low, high = (max(-widest, min(end, widest)) for end in (_least(first), _greatest(last)))
    if low == high:  # bounds that reach to 0 need no more noise for a sum than the value alone
        low, high = (min(low, 0), max(high, 0)) if low else (0, 1)
    return FoundBounds(low, high, found=True)


def _price(number: int, first: int, last: int) -> int:
    """How many empty bins a bin pays for: those between, but not for being on the other side of 0 alone."""
    between = first - number - 1 if number < first else number - last - 1
    doublings = max(0, abs(number) - max(abs(first), abs(last)))
    return min(between, _INSIDE + doublings)


@lru_cache(maxsize=1024)
def _threshold(scale: Fraction, rarer: int) -> int:
    """The least count that noise alone reaches with a chance of at most CHANCE / rarer."""
    return laplace_threshold(scale=scale, probability=CHANCE / rarer)
