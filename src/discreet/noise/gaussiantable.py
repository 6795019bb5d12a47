"""Discrete Gaussian integers by the hundred thousand, found in a table of cumulated chances.

The leading bits of a uniform real are compared with rigorous integer bounds of P(|Z| <= k). A draw whose bits fall
between the two bounds of some k is undecided: it reads further bits against tighter bounds until it is settled. What
lies beyond the table, a chance below 2**-64, is drawn by `gaussian_tail`. So the law is exact, whatever the precision
of the table (docs/proofs/discrete-gaussian.md), and all but one draw in 2**40 or so read a single word.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.noise.enclosure import ceil_divide, enclose_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.gaussian import gaussian_tail

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_VARIANCE", "Table", "discrete_gaussian_array", "draw_from", "make_table"]

# A table of 2**16 standard deviations takes a second or two to make and 10 megabytes to keep.
LARGEST_VARIANCE: Final = 1 << 32
_BATCH: Final = 1 << 18
_WORD: Final = 64
_FIRST: Final = 63  # the last bit of the first word is the sign
_GUARD: Final = 96
_REACH: Final = 90  # k**2 >= 90 * variance: exp(-45) < 2**-64


@dataclass(frozen=True, slots=True)
class Table:
    """For k = 0, 1, ...: low[k] <= P(|Z| <= k) * 2**63 < high[k] + 1."""

    variance: Fraction
    low: NDArray[int64]
    high: NDArray[int64]


def discrete_gaussian_array(entropy: Entropy, *, variance: Fraction, count: int) -> NDArray[int64]:
    """`count` independent Z with P(Z = z) proportional to exp(-z**2 / (2*variance))."""
    return draw_from(make_table(variance), entropy, count=count)


@lru_cache(maxsize=8)
def make_table(variance: Fraction) -> Table:
    """The table of a variance, kept for the next call."""
    if not 0 < variance <= LARGEST_VARIANCE:
        raise ValueError("variance must be positive and at most 2**32")
    low, high = _bound_chances(variance, bits=_FIRST)
    return Table(variance, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64))


def draw_from(table: Table, entropy: Entropy, *, count: int) -> NDArray[int64]:
    """`count` independent draws: a word each, and more only for those that the words leave undecided."""
    batches = [_draw_batch(table, entropy, min(_BATCH, count - start)) for start in range(0, count, _BATCH)]
    return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)


def _draw_batch(table: Table, entropy: Entropy, count: int) -> NDArray[int64]:
    words = np.frombuffer(entropy.read(count * _WORD // 8), dtype=">u8").astype(np.uint64)
    bits = (words >> np.uint64(1)).astype(np.int64)
    magnitudes = np.searchsorted(table.high, bits).astype(np.int64)
    beyond = magnitudes == table.high.size
    settled = bits < table.low[np.where(beyond, 0, magnitudes)]
    for place in np.flatnonzero(beyond | ~settled):
        magnitudes[place] = _settle(table.variance, entropy, int(bits[place]))
    return np.where(words & np.uint64(1), -magnitudes, magnitudes)


def _settle(variance: Fraction, entropy: Entropy, drawn: int) -> int:
    """The magnitude of a uniform real that begins with the 63 bits `drawn`."""
    bits = _FIRST
    while True:
        low, high = _bound_chances(variance, bits=bits)
        found = bisect_left(high, drawn)
        if found == len(high):
            return gaussian_tail(entropy, variance=variance, start=found)
        if drawn < low[found]:
            return found
        drawn = drawn << _WORD | int.from_bytes(entropy.read(_WORD // 8), "big")
        bits += _WORD


def _bound_chances(variance: Fraction, *, bits: int) -> tuple[list[int], list[int]]:
    """Whole numbers low[k] <= P(|Z| <= k) * 2**bits < high[k] + 1, for every k of the table."""
    weights_low, weights_high = _bound_weights(variance, precision=bits + _GUARD)
    last = math.isqrt(math.ceil(_REACH * variance)) + 1
    sums_low, sums_high = list(accumulate(weights_low)), list(accumulate(weights_high))
    # The weights beyond the last one, k: 2 * sum over j > k of exp(-j**2/2v) <= (v/k) * 2 * exp(-k**2/2v).
    step = len(weights_high) - 1
    rest = ceil_divide(weights_high[-1] * variance.numerator, variance.denominator * step)
    total_low, total_high, most = sums_low[-1], sums_high[-1] + rest, (1 << bits) - 1
    low = [(weight << bits) // total_high for weight in sums_low[: last + 1]]
    high = [min((weight << bits) // total_low, most) for weight in sums_high[: last + 1]]
    return low, high


def _bound_weights(variance: Fraction, *, precision: int) -> tuple[list[int], list[int]]:
    """Bounds of 1, 2*exp(-1/2v), 2*exp(-4/2v), ... in units of 2**-precision, until nothing is sure to be left.

    Each weight is the one before times exp(-(2k+1)/2v), and each such factor the one before times exp(-2/2v).
    """
    factor_low, factor_high = enclose_exp_minus(1 / (2 * variance), bits=precision)
    shrink_low, shrink_high = enclose_exp_minus(1 / variance, bits=precision)
    weight_low = weight_high = 2 << precision
    low, high = [1 << precision], [1 << precision]
    last = math.isqrt(math.ceil(_REACH * variance)) + 1
    while weight_low or len(low) <= last:
        weight_low, weight_high = weight_low * factor_low >> precision, -(-weight_high * factor_high >> precision)
        factor_low, factor_high = factor_low * shrink_low >> precision, -(-factor_high * shrink_high >> precision)
        low.append(weight_low)
        high.append(weight_high)
    return low, high
