"""Discrete Laplace integers for many cells at once, one binary digit of all cells after the other.

The binary digits of a geometric variable are independent coins, digit i of chance 1/(1 + exp(2**i/scale)), and
what lies above m digits is 2**m times another geometric variable (docs/proofs/discrete-laplace.md). A cell is 0 or
a sign times one more than a geometric variable. Nothing is rejected, and the digits reach so far that the rest is
nonzero with a chance below 2**-64: the work does not tell what was drawn.

Columns of coins are put together as long integers, one byte per cell, so the loop over cells runs inside Python's
own arithmetic and no package needs importing.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.noise.chance import Chance, toss
from discreet.noise.entropy import Entropy

__all__ = ["BATCH", "Digits", "discrete_laplace_many", "draw_batch", "expand"]

BATCH: Final = 1 << 16
_REACH: Final = 45  # exp(-45) < 2**-64
_WORD: Final = 64
_ODD: Final = b"\x00\x01" * 128


@dataclass(frozen=True, slots=True)
class Digits:
    """The chances that make up one draw: not 0, each binary digit from the lowest, and once more beyond them."""

    nonzero: Chance
    places: tuple[Chance, ...]
    beyond: Chance


def discrete_laplace_many(entropy: Entropy, *, scale: Fraction, count: int) -> list[int]:
    """`count` independent Z with P(Z = z) proportional to exp(-|z|/scale)."""
    digits = expand(scale)
    drawn: list[int] = []
    for start in range(0, count, BATCH):
        drawn += draw_batch(entropy, digits, count=min(BATCH, count - start))
    return drawn


@lru_cache(maxsize=256)
def expand(scale: Fraction, *, reach: int = _REACH) -> Digits:
    """The chances for a scale, with the fewest digits m such that 2**m >= reach*scale; any m gives the same law."""
    if scale <= 0:
        raise ValueError("scale must be positive")
    m = 0
    while 1 << m < reach * scale:
        m += 1
    return Digits(
        nonzero=Chance(1 / scale, times=2),
        places=tuple(Chance((1 << i) / scale) for i in range(m)),
        beyond=Chance((1 << m) / scale, plus=0),
    )


def draw_batch(entropy: Entropy, digits: Digits, *, count: int) -> list[int]:
    """One batch: a column of signs, one of cells that are not 0, one for each digit, and what lies beyond."""
    signs = entropy.read(count).translate(_ODD)
    nonzero = toss(entropy, digits.nonzero, count=count)
    magnitudes = _assemble([toss(entropy, chance, count=count) for chance in digits.places], count)
    for position, times in _count_beyond(entropy, digits.beyond, count).items():
        magnitudes[position] += times << len(digits.places)
    return [
        (-1 - magnitude if negative else 1 + magnitude) if present else 0
        for negative, present, magnitude in zip(signs, nonzero, magnitudes, strict=True)
    ]


def _count_beyond(entropy: Entropy, chance: Chance, count: int) -> dict[int, int]:
    """For the cells whose coin held: how many times it held before it failed."""
    times: dict[int, int] = {}
    going: Sequence[int] = range(count)
    while going:
        coins = toss(entropy, chance, count=len(going))
        going = [position for position, coin in zip(going, coins, strict=True) if coin] if any(coins) else []
        for position in going:
            times[position] = times.get(position, 0) + 1
    return times


def _assemble(columns: Sequence[bytearray], count: int) -> list[int]:
    """The integer of each cell, from columns of its binary digits, the lowest first."""
    values = _words(columns[:_WORD], count)
    for start in range(_WORD, len(columns), _WORD):
        higher = _words(columns[start : start + _WORD], count)
        values = [value | word << start for value, word in zip(values, higher, strict=True)]
    return values


def _words(columns: Sequence[bytearray], count: int) -> list[int]:
    """The same for at most 64 digits. Eight columns fill one byte of each cell's word."""
    words = bytearray(8 * count)
    for start in range(0, len(columns), 8):
        plane = 0
        for shift, column in enumerate(columns[start : start + 8]):
            plane |= int.from_bytes(column, "little") << shift
        words[start // 8 :: 8] = plane.to_bytes(count, "little")
    return list(struct.unpack(f"<{count}Q", words))
