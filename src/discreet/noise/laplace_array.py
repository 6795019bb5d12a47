"""Geometric and discrete Laplace integers as numpy columns, for respondents by the hundred thousand.

The law, the bytes and the order in which they are read are those of `discrete_laplace_many`; only the putting together
differs. Scales end at 2**52, so that every draw short of a chance of 2**-900 fits 64 bits, and that one is refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.noise.bits import BATCH, Digits, expand
from discreet.noise.chance import Chance, toss_array
from discreet.noise.entropy import Entropy

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_SCALE", "discrete_laplace_array", "geometric_array"]

LARGEST_SCALE: Final = 1 << 52


def geometric_array(entropy: Entropy, *, scale: Fraction, count: int) -> NDArray[int64]:
    """`count` independent X >= 0 with P(X = x) proportional to exp(-x/scale)."""
    digits = _expand(scale)
    batches = [_magnitudes(entropy, digits, count=size) for size in _batch_sizes(count)]
    return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)


def discrete_laplace_array(entropy: Entropy, *, scale: Fraction, count: int) -> NDArray[int64]:
    """`count` independent Z with P(Z = z) proportional to exp(-|z|/scale)."""
    digits = _expand(scale)
    batches = [_signed(entropy, digits, count=size) for size in _batch_sizes(count)]
    return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)


def _expand(scale: Fraction) -> Digits:
    if not 0 < scale <= LARGEST_SCALE:
        raise ValueError("scale must be positive and at most 2**52")
    return expand(scale)


def _batch_sizes(count: int) -> list[int]:
    return [min(BATCH, count - start) for start in range(0, count, BATCH)]


def _signed(entropy: Entropy, digits: Digits, *, count: int) -> NDArray[int64]:
    negative = np.frombuffer(entropy.read(count), dtype=np.uint8) & 1
    nonzero = _column(entropy, digits.nonzero, count=count)
    magnitudes = _magnitudes(entropy, digits, count=count)
    magnitudes += 1
    magnitudes *= nonzero
    return np.where(negative, -magnitudes, magnitudes)


def _magnitudes(entropy: Entropy, digits: Digits, *, count: int) -> NDArray[int64]:
    drawn = np.zeros(count, dtype=np.int64)
    for index, chance in enumerate(digits.places):
        drawn += _column(entropy, chance, count=count) << index
    going = np.arange(count)
    times = np.zeros(count, dtype=np.int64)
    while going.size:
        going = going[_column(entropy, digits.beyond, count=going.size) == 1]
        times[going] += 1
    if times.any() and int(times.max()).bit_length() + len(digits.places) > 62:
        raise OverflowError(say("a draw of the noise does not fit 64 bits"))
    return drawn + (times << len(digits.places))


def _column(entropy: Entropy, chance: Chance, *, count: int) -> NDArray[int64]:
    return toss_array(entropy, chance, count=count).astype(np.int64)
