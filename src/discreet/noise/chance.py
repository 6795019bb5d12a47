"""Columns of coins whose probability comes from exp(-x), by comparing uniform bytes with its digits.

A uniform real lies below p as soon as one of its digits does. Digits are bytes here: the first settles all but
one coin in 256, and only the coins that tie read another. p is irrational, so every tie ends and the digits are
never in doubt. How many bytes a coin reads depends on ties alone, not on which side it falls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from discreet.noise.enclosure import ceil_divide, enclose_exp_minus
from discreet.noise.entropy import Entropy

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

__all__ = ["Chance", "settle_word", "toss", "toss_array"]

_WORD: Final = 8
_TIE: Final = 2
# By the first digit of a chance: what every byte says of a coin.
_FACES: Final = tuple(b"\x01" * digit + bytes([_TIE]) + bytes(255 - digit) for digit in range(256))


@dataclass(frozen=True, slots=True)
class Chance:
    """The probability times*e / (whole + plus*e), where e = exp(-exponent)."""

    exponent: Fraction
    times: int = 1
    plus: int = 1
    whole: int = 1
    _digits: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shaped = self.whole >= 1 and self.plus >= 0 and 1 <= self.times <= self.whole + self.plus
        if self.exponent <= 0 or not shaped:
            raise ValueError("a chance needs exponent > 0, whole >= 1, plus >= 0 and 1 <= times <= whole + plus")

    def digit(self, index: int) -> int:
        """The byte at a place of the binary expansion, counted from 0 after the point."""
        digit = self._digits.get(index)
        if digit is None:
            digit = self.leading(index // _WORD + 1) >> 8 * (_WORD - 1 - index % _WORD) & 255
            self._digits[index] = digit
        return digit

    def leading(self, words: int) -> int:
        """The first digits as an integer, floor(p * 2**(64*words))."""
        return _enclose(self, words)


@lru_cache(maxsize=4096)
def _enclose(chance: Chance, words: int) -> int:
    """The leading digits, from enclosures that are refined until both ends agree."""
    bits, guard = 8 * _WORD * words, 32
    while True:
        precision = bits + guard
        low, high = enclose_exp_minus(chance.exponent, bits=precision)
        whole = chance.whole << precision
        below = (chance.times * low << precision) // (whole + chance.plus * low) >> guard
        above = ceil_divide(chance.times * high << precision, whole + chance.plus * high) >> guard
        above = min(above, (1 << bits) - 1)  # p < 1, however small the exponent is
        if below == above:
            return below
        guard *= 2


def toss(entropy: Entropy, chance: Chance, *, count: int) -> bytearray:
    """`count` independent coins, each a byte: 1 with exactly this chance, else 0."""
    coins = bytearray(entropy.read(count).translate(_FACES[chance.digit(0)]))
    tied, index = _find_ties(coins), 0
    while tied:
        index += 1
        digit = chance.digit(index)
        drawn = entropy.read(len(tied))
        for position, byte in zip(tied, drawn, strict=True):
            coins[position] = _TIE if byte == digit else byte < digit
        tied = [position for position in tied if coins[position] == _TIE]
    return coins


def toss_array(entropy: Entropy, chance: Chance, *, count: int) -> NDArray[bool_]:
    """The same as an array of truth values."""
    import numpy as np

    return np.frombuffer(toss(entropy, chance, count=count), dtype=np.bool_)


def settle_word(entropy: Entropy, chance: Chance, word: int) -> bool:
    """Whether a coin holds whose uniform real begins with these 64 bits; words are read while it ties."""
    words = 1
    while (leading := chance.leading(words)) == word:
        word = word << 8 * _WORD | int.from_bytes(entropy.read(_WORD), "big")
        words += 1
    return word < leading


def _find_ties(coins: bytearray) -> list[int]:
    tied = []
    position = coins.find(_TIE)
    while position >= 0:
        tied.append(position)
        position = coins.find(_TIE, position + 1)
    return tied
