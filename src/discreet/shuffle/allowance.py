"""How much local ε a batch of a given size may use: the accountant's answer, quick to ask many times.

Sizes are rounded down to a ladder of eight rungs per octave, for a smaller batch is always a valid account of a
larger one. Between a few searched rungs the allowance is guessed, and each guess is verified before it is used.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.guarantees.numbers import floor_to_grid
from discreet.shuffle.amplification import largest_local_epsilon, suffices

__all__ = ["allow", "rung_below", "searched_sizes"]

_PER_OCTAVE: Final = 8
_RUNGS: Final = sorted({math.floor(2 ** (step / _PER_OCTAVE)) for step in range(27 * _PER_OCTAVE)})
_APART: Final = 8  # rungs between two that are searched: about a factor of 2
_WITHIN: Final = 1e-3  # of a local ε: hardly a thousandth of a variance
_BACKOFF: Final = (0.0, 0.005, 0.02, 0.06)


def rung_below(people: int) -> int:
    """The largest size on the ladder that is not above this one."""
    return _RUNGS[max(0, bisect_right(_RUNGS, people) - 1)]


def searched_sizes(people: int) -> list[int]:
    """The sizes on the ladder, up to the first that is not below this one, whose allowances are quickest to know."""
    sizes = _RUNGS[::_APART]
    return sizes[: bisect_left(sizes, people) + 1]


def allow(*, epsilon: Decimal, delta: Decimal, people: int, categories: int | None = None) -> Decimal:
    """An ε0, at least ε, for which a shuffled batch of this many reports is proven (ε, δ)-DP."""
    return _allow(epsilon, delta, bisect_right(_RUNGS, people) - 1, categories)


@lru_cache(maxsize=1 << 16)
def _allow(epsilon: Decimal, delta: Decimal, rung: int, categories: int | None) -> Decimal:
    if rung <= 0:
        return epsilon
    lower = rung // _APART * _APART
    before = _searched(epsilon, delta, lower, categories)
    if rung == lower or lower + _APART >= len(_RUNGS):
        return before
    after = _searched(epsilon, delta, lower + _APART, categories)
    if after == epsilon:
        return epsilon
    way = math.log(_RUNGS[rung] / _RUNGS[lower]) / math.log(_RUNGS[lower + _APART] / _RUNGS[lower])
    guess = float(before) + way * float(after - before)
    for off in _BACKOFF:
        tried = floor_to_grid(Fraction(guess - off))
        if tried <= before:
            return before
        if suffices(local_epsilon=tried, epsilon=epsilon, delta=delta, anonymity=_RUNGS[rung], categories=categories):
            return tried
    return max(before, _searched(epsilon, delta, rung, categories))


@lru_cache(maxsize=1 << 14)
def _searched(epsilon: Decimal, delta: Decimal, rung: int, categories: int | None) -> Decimal:
    return largest_local_epsilon(
        epsilon=epsilon, delta=delta, anonymity=_RUNGS[rung], categories=categories, within=_WITHIN
    )
