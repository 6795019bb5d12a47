"""Cumulated chances of a Gaussian law on 0, 1, 2, ..., enclosed by integers, and the numbers found in them.

The leading bits of a uniform real are compared with rigorous integer bounds of P(K <= k). A real whose bits fall
between the two bounds of some k is undecided: it reads further bits against tighter bounds until it is settled. What
lies beyond the table, a chance below 2**-64, is drawn by `gaussian_tail`. So the law is exact, whatever the precision
of the table (docs/proofs/discrete-gaussian.md), and all but one number in 2**50 or so read a single word.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.noise.enclosure import enclose_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.gaussian import gaussian_tail

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_TABLE", "ChanceTable", "make_table"]

# The variance of a table of 1,216 entries, made in a millisecond or two.
LARGEST_TABLE: Final = 1 << 14
_FIRST: Final = 63
_WORD: Final = 64
_GUARD: Final = 48
_REACH: Final = 90  # k**2 >= 90 * variance: exp(-45) < 2**-64


@dataclass(frozen=True, slots=True)
class ChanceTable:
    """For k = 0, 1, ...: low[k] <= P(K <= k) * 2**63 < high[k] + 1.

    P(K = k) is proportional to exp(-k**2 / (2*variance)), and `fold` times that for k >= 1: 2 where k stands for both k
    and -k.
    """

    variance: Fraction
    fold: int
    low: NDArray[int64]
    high: NDArray[int64]

    def find(self, entropy: Entropy, bits: NDArray[int64]) -> NDArray[int64]:
        """The K of each uniform real that begins with these 63 bits; further words are read for the undecided."""
        result = np.searchsorted(self.high, bits)
        undecided = bits >= self.low.take(result, mode="clip")
        undecided |= result == self.high.size
        for index in undecided.nonzero()[0]:
            result[index] = self._settle(entropy, int(bits[index]))
        return result

    def _settle(self, entropy: Entropy, drawn: int) -> int:
        """The K of a uniform real that begins with the 63 bits `drawn`."""
        bits = _FIRST
        while True:
            low, high = _bound_chances(self.variance, self.fold, bits=bits)
            result = bisect_left(high, drawn)
            if result == len(high):
                return gaussian_tail(entropy, variance=self.variance, start=result)
            if drawn < low[result]:
                return result
            drawn = drawn << _WORD | int.from_bytes(entropy.read(_WORD // 8), "big")
            bits += _WORD


@lru_cache(maxsize=256)
def make_table(variance: Fraction, *, fold: int) -> ChanceTable:
    """The table of a variance, kept for the next call."""
    if not 0 < variance <= LARGEST_TABLE:
        raise ValueError("the variance of a table must be positive and at most 2**14")
    low, high = _bound_chances(variance, fold, bits=_FIRST)
    return ChanceTable(variance, fold, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))


def _bound_chances(variance: Fraction, fold: int, *, bits: int) -> tuple[list[int], list[int]]:
    """Whole numbers low[k] <= P(K <= k) * 2**bits < high[k] + 1, for every k of the table."""
    precision, last = bits + _GUARD, math.isqrt(math.ceil(_REACH * variance)) + 1
    weights = _sum_weights(variance, fold, precision=precision, last=last)
    lost = 8 * len(weights) ** 3  # no sum is too small by more, nor all of them together with what lies beyond
    share_low = (1 << 2 * precision) // (weights[-1] + lost)
    share_high = (1 << 2 * precision) // weights[-1] + 1
    excess, most = 2 * precision - bits, (1 << bits) - 1
    low = [weight * share_low >> excess for weight in weights[: last + 1]]
    high = [min((weight + lost) * share_high >> excess, most) for weight in weights[: last + 1]]
    return low, high


def _sum_weights(variance: Fraction, fold: int, *, precision: int, last: int) -> list[int]:
    """Sums of 1, fold*exp(-1/2v), fold*exp(-4/2v), ... in units of 2**-precision, rounded down, until nothing is left.

    Each weight is the one before times exp(-(2k+1)/2v), and each such factor the one before times exp(-2/2v).
    """
    factor, _ = enclose_exp_minus(1 / (2 * variance), bits=precision)
    shrink = factor * factor >> precision
    weight, total = fold << precision, 1 << precision
    sums = [total]
    while weight or len(sums) <= last:
        weight = weight * factor >> precision
        factor = factor * shrink >> precision
        total += weight
        sums.append(total)
    return sums
