"""k-ary randomised response: the true category with probability p = e^ε/(e^ε+k-1), else one of the others.

p is irrational, so a uniform real is compared with it digit by digit: one 64-bit word settles all but a share
2**-64 of draws, and on a tie both sides give their next 64 bits. The comparison is exact and runs on arrays.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.noise.enclosure import ceil_divide, enclose_exp_minus
from discreet.noise.entropy import Entropy
from discreet.noise.uniform import uniform_array_below, uniform_below

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_CATEGORIES", "keep_digits", "respond", "respond_array"]

LARGEST_CATEGORIES = 1 << 32
_WORD = 64


@lru_cache(maxsize=256)
def keep_digits(*, epsilon: Fraction, categories: int, bits: int) -> int:
    """The first `bits` binary digits of p, as the integer floor(p * 2**bits)."""
    if epsilon <= 0 or not 2 <= categories <= LARGEST_CATEGORIES:
        raise ValueError("randomised response needs epsilon > 0 and between 2 and 2**32 categories")
    guard = 32
    while True:
        precision = bits + guard
        low, high = enclose_exp_minus(epsilon, bits=precision)
        one, others = 1 << precision, categories - 1
        below = (one << precision) // (one + others * high) >> guard
        above = ceil_divide(one << precision, one + others * low) >> guard
        above = min(above, (1 << bits) - 1)  # p < 1, however large epsilon is
        if below == above:
            return below
        guard *= 2


def respond(entropy: Entropy, answer: int, *, epsilon: Fraction, categories: int) -> int:
    """The report for one answer in {0, ..., categories-1}."""
    if not 0 <= answer < categories:
        raise ValueError("an answer lies between 0 and the number of categories less one")
    if _keeps(entropy, _read_word(entropy), epsilon=epsilon, categories=categories):
        return answer
    other = uniform_below(entropy, categories - 1)
    return other + (other >= answer)


def respond_array(entropy: Entropy, answers: NDArray[Any], *, epsilon: Fraction, categories: int) -> NDArray[int64]:
    """Independent reports for an array of answers; the bytes are read in another order than by `respond`."""
    import numpy as np

    if answers.dtype.kind not in "iu":
        raise TypeError("answers are integers")
    true = answers.astype(np.int64)
    if true.size and (true.min() < 0 or true.max() >= categories):
        raise ValueError("answers lie between 0 and the number of categories less one")
    digits = keep_digits(epsilon=epsilon, categories=categories, bits=_WORD)
    words = np.frombuffer(entropy.read(8 * true.size), dtype=">u8").astype(np.uint64)
    kept = words < np.uint64(digits)
    for index in np.flatnonzero(words == np.uint64(digits)):
        kept[index] = _keeps(entropy, digits, epsilon=epsilon, categories=categories)
    changed = np.flatnonzero(~kept)
    others = uniform_array_below(entropy, categories - 1, count=changed.size)
    reports = true.copy()
    reports[changed] = others + (others >= true[changed])
    return reports


def _keeps(entropy: Entropy, drawn: int, *, epsilon: Fraction, categories: int) -> bool:
    """Whether a uniform real whose first 64 bits are `drawn` lies below p; reads on while they agree."""
    bits = _WORD
    while True:
        digits = keep_digits(epsilon=epsilon, categories=categories, bits=bits)
        if drawn != digits:
            return drawn < digits
        drawn = drawn << _WORD | _read_word(entropy)
        bits += _WORD


def _read_word(entropy: Entropy) -> int:
    return int.from_bytes(entropy.read(_WORD // 8), "big")
