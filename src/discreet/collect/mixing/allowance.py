"""How much local ε a batch of a given size may use: the accountant's answer, quick to ask many times.

Sizes are rounded down to a ladder of eight rungs per octave, for a smaller batch is always a valid account of a
larger one. Between a few searched rungs the allowance is guessed, and each guess is verified before it is used.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from decimal import Decimal
from functools import lru_cache
from typing import Final

from discreet.collect.mixing.amplification import LARGEST_ANONYMITY, raise_local_epsilon

__all__ = ["allow", "rung_below", "searched_sizes"]

_PER_OCTAVE: Final = 8
_TOP: Final = math.floor(math.log2(LARGEST_ANONYMITY) * _PER_OCTAVE)
_RUNGS: Final = sorted({math.floor(2 ** (step / _PER_OCTAVE)) for step in range(_TOP + 1)})
_APART: Final = 8  # rungs between two that are searched: about a factor of 2
_WITHIN: Final = 1e-3  # of a local ε: hardly a thousandth of a variance
_SPARE: Final = 3e-3
_SPARE_BETWEEN: Final = 0.01
_AIM: Final = 0.001  # below a guess, so that it is proven more often than not


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
    lower = max(0, rung) // _APART * _APART
    before = _searched(epsilon, delta, lower, categories)
    if rung <= lower or lower + _APART >= len(_RUNGS):
        return before
    after = _searched(epsilon, delta, lower + _APART, categories)
    if after == before:
        return before
    earlier = _searched(epsilon, delta, lower - _APART, categories)
    sizes = [math.log(_RUNGS[max(0, at)]) for at in (lower - _APART, lower, lower + _APART)]
    # A parabola in the logarithm of the size, through the searched rungs on either side and the one before.
    slope = float(after - before) / (sizes[2] - sizes[1])
    bend = (slope - float(before - earlier) / (sizes[1] - sizes[0])) / (sizes[2] - sizes[0]) if lower else 0.0
    here = math.log(_RUNGS[rung])
    guess = float(before) + (here - sizes[1]) * (slope + (here - sizes[2]) * bend)
    return _raise(before, guess - _AIM, epsilon, delta, rung, categories, spare=_SPARE_BETWEEN)


@lru_cache(maxsize=1 << 14)
def _searched(epsilon: Decimal, delta: Decimal, rung: int, categories: int | None) -> Decimal:
    """The search starts from what is proven for fewer people, and guesses that the gain goes on as it did."""
    if rung <= 0:
        return epsilon
    lower = (rung - 1) // _APART * _APART
    proven = _searched(epsilon, delta, lower, categories)
    before = _searched(epsilon, delta, lower - _APART, categories)
    guess = float(proven + (proven - before) * (rung - lower) / _APART)
    return _raise(proven, guess, epsilon, delta, rung, categories, spare=_SPARE)


def _raise(
    proven: Decimal, guess: float, epsilon: Decimal, delta: Decimal, rung: int, categories: int | None, *, spare: float
) -> Decimal:
    return raise_local_epsilon(
        proven=proven,
        guess=guess,
        epsilon=epsilon,
        delta=delta,
        anonymity=_RUNGS[rung],
        categories=categories,
        within=_WITHIN,
        spare=spare,
    )
