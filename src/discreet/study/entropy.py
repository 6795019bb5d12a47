"""Randomness that can be repeated, for studies only.

A released figure whose noise can be repeated is not protected at all: two answers drawn from one seed can be
subtracted. This class therefore lives in a room that no releasing room may import.
"""

from __future__ import annotations

import hashlib

from discreet.noise.entropy import Entropy

__all__ = ["SeededEntropy"]

_BLOCK = 1 << 14
_DOMAIN = b"discreet study entropy 1"


class SeededEntropy(Entropy):
    """The same bytes for the same seed, on every machine, however the reads are cut.

    Block i of 16,384 bytes is SHAKE-128 of the domain text, the seed's length and bytes, and i.
    """

    __slots__ = ("_block", "_left", "_prefix")

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError("a seed is a whole number, zero or more")
        written = str(seed).encode()
        self._prefix = _DOMAIN + len(written).to_bytes(4, "big") + written
        self._block = 0
        self._left = b""

    def read(self, n: int) -> bytes:
        pieces, have = [self._left], len(self._left)
        while have < n:
            piece = hashlib.shake_128(self._prefix + self._block.to_bytes(8, "big")).digest(_BLOCK)
            self._block += 1
            pieces.append(piece)
            have += _BLOCK
        joined = b"".join(pieces) if len(pieces) > 1 else self._left
        self._left = joined[n:]
        return joined[:n]
