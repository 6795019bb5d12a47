"""Discrete Gaussian integers of any scale, as many as are wanted at once, without floating point.

The integers are cut into blocks of 2**shift, so wide that a standard deviation spans 8 to 16 of them. A table finds the
block of a draw, a word its offset in the block, uniformly, and a coin makes up for the slope within the block: it keeps
nine draws in ten, and the others are drawn anew. Below a scale of 16, and below 128 in long vectors, a block is a
single integer, and there is no coin. Each coin is first compared with integer bounds of its chance, all draws together;
the few that fall between the bounds are settled exactly, with the same bits (docs/proofs/discrete-gaussian.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import say
from discreet.noise.chance import Chance, settle_word
from discreet.noise.entropy import Entropy
from discreet.noise.gaussian_table import ChanceTable, make_table

if TYPE_CHECKING:
    from numpy import bool_, int64, uint64
    from numpy.typing import NDArray

__all__ = ["LARGEST_VARIANCE", "bound_loss", "discrete_gaussian_array", "draw_from", "find_shift"]

LARGEST_VARIANCE: Final = 1 << 104
# A table of every integer is made for less than the coins take from so many draws on, times the scale.
_LONG: Final = 128
_LARGEST_WHOLE: Final = 128
_BATCH: Final = 1 << 18
_WORD: Final = 64
_FINE: Final = 24  # leading bits of an offset that the bounds look at
_COIN: Final = 31  # leading bits of a coin that the bounds look at
_ONE: Final = 1 << _COIN


def discrete_gaussian_array(entropy: Entropy, *, variance: Fraction, count: int) -> NDArray[int64]:
    """`count` independent Z with P(Z = z) proportional to exp(-z**2 / (2*variance)).

    The variance is at most 2**104. All but a chance of exp(-2**17) of the law then fits 64 bits; the rest is refused.
    """
    if not 0 < variance <= LARGEST_VARIANCE:
        raise ValueError("variance must be positive and at most 2**104")
    shift = find_shift(variance, count=count)
    table = make_table(variance / (1 << 2 * shift), fold=1 if shift else 2)
    return draw_from(table, entropy, shift=shift, count=count)


def find_shift(variance: Fraction, *, count: int) -> int:
    """0 where a table of every integer is quicker, else so much that a standard deviation spans 8 to 16 blocks."""
    scale = math.isqrt(variance.numerator // variance.denominator)
    if scale < _LARGEST_WHOLE and count >= _LONG * scale:
        return 0
    return max(0, scale.bit_length() - 4)


def draw_from(table: ChanceTable, entropy: Entropy, *, shift: int, count: int) -> NDArray[int64]:
    """`count` independent draws, from a table of the blocks of 2**shift integers."""
    draw = _draw_blocks if shift else _draw_integers
    batches = [draw(table, entropy, shift, min(_BATCH, count - start)) for start in range(0, count, _BATCH)]
    return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)


def _draw_integers(table: ChanceTable, entropy: Entropy, _: int, count: int) -> NDArray[int64]:
    negative, magnitudes = _find_blocks(table, entropy, count)
    return np.where(negative, -magnitudes, magnitudes)


def _draw_blocks(table: ChanceTable, entropy: Entropy, shift: int, count: int) -> NDArray[int64]:
    drawn = np.zeros(count, dtype=np.int64)
    pending = np.arange(count)
    while pending.size:
        negative, blocks = _find_blocks(table, entropy, pending.size)
        offsets = (_read_words(entropy, pending.size) >> np.uint64(_WORD - shift)).astype(np.int64)
        kept = _toss_coins(table, entropy, shift, blocks, offsets)
        if int(blocks.max()) >> 62 - shift:
            raise OverflowError(say("a draw of the noise does not fit 64 bits"))
        magnitudes = (blocks << shift) + offsets
        kept &= (magnitudes > 0) | ~negative  # zero has one sign, or it would come twice as often
        drawn[pending] = np.where(negative, -magnitudes, magnitudes)
        pending = pending[~kept]
    return drawn


def _find_blocks(table: ChanceTable, entropy: Entropy, count: int) -> tuple[NDArray[bool_], NDArray[int64]]:
    """For each of `count` words its last bit, the sign, and the block where the bits above it fall."""
    words = _read_words(entropy, count)
    return (words & np.uint64(1)).astype(np.bool_), table.find(entropy, (words >> np.uint64(1)).astype(np.int64))


def _toss_coins(
    table: ChanceTable, entropy: Entropy, shift: int, blocks: NDArray[int64], offsets: NDArray[int64]
) -> NDArray[bool_]:
    """Whether each draw is kept: with chance exp(-gamma), where gamma is as `bound_loss` says."""
    words = _read_words(entropy, blocks.size)
    left = _ONE - (words >> np.uint64(_WORD - _COIN)).astype(np.int64)
    low, high = bound_loss(table.variance, blocks, offsets, shift=shift)
    kept = left > high
    undecided = (left > low) & ~kept
    undecided |= blocks >= table.high.size  # further out than the bounds reach
    for index in undecided.nonzero()[0]:
        offset = int(offsets[index])
        excess = Fraction(offset * ((int(blocks[index]) << shift + 1) + offset), 1 << 2 * shift)
        kept[index] = not offset or settle_word(
            entropy, Chance(excess / (2 * table.variance), plus=0), int(words[index])
        )
    return kept


def bound_loss(
    variance: Fraction, blocks: NDArray[int64], offsets: NDArray[int64], *, shift: int
) -> tuple[NDArray[int64], NDArray[int64]]:
    """Integers low <= (1 - exp(-gamma)) * 2**31 <= high, where gamma = x*(2*block + x) / (2*variance).

    x is the offset over 2**shift. The variance is that of the blocks and at least 64; the blocks lie below 2**8.
    Every step rounds outward: x to 24 bits, gamma to 31. Then 1 - exp(-gamma) lies between gamma - gamma**2/2 and
    gamma - gamma**2/2 + gamma**3/6.
    """
    rate = _ONE * variance.denominator // (2 * variance.numerator)
    if shift > _FINE:
        near = offsets >> shift - _FINE
        far = near + 1
    else:
        near = far = offsets << _FINE - shift
    doubled = blocks << _FINE + 1
    low = (near * (doubled + near) >> _FINE) * rate >> _FINE
    high = (((far * (doubled + far) >> _FINE) + 1) * (rate + 1) >> _FINE) + 1
    within = high <= _ONE
    low, high = np.minimum(low, _ONE), np.minimum(high, _ONE)
    square = high * high >> _COIN
    cubic = (square + 1) * high // (6 << _COIN) + 1
    return low - (low * low >> _COIN + 1) - 1, np.where(within, high - (square >> 1) + cubic, _ONE)


def _read_words(entropy: Entropy, count: int) -> NDArray[uint64]:
    return np.frombuffer(entropy.read(count * _WORD // 8), dtype=">u8").astype(np.uint64)
