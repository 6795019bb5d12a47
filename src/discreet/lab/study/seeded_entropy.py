"""Randomness that can be repeated, for studies only.

A released figure whose noise can be repeated is not protected at all: two answers drawn from one seed can be
subtracted. This class therefore lives in a room that no releasing room may import.
"""

from __future__ import annotations

import hashlib

from discreet.noise import Entropy

__all__ = ["SeededEntropy"]

_BLOCK = 1 << 14
_DOMAIN = b"discreet study entropy 1"


class SeededEntropy(Entropy):
    """The same bytes for the same seed, on every machine, however the reads are cut.

    Block i of 16,384 bytes is SHAKE-128 of the domain text, the seed's length and bytes, and i.
    """

    __slots__ = ("_at", "_block", "_held", "_prefix")

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError("a seed is a whole number, zero or more")
        written = str(seed).encode()
        self._prefix = _DOMAIN + len(written).to_bytes(4, "big") + written
        self._block = 0
        self._held = b""
        self._at = 0

    def read(self, n: int) -> bytes:
        end = self._at + n
        if end > len(self._held):
            pieces = [self._held[self._at :]]
            for _ in range(-(-(end - len(self._held)) // _BLOCK)):
                pieces.append(hashlib.shake_128(self._prefix + self._block.to_bytes(8, "big")).digest(_BLOCK))
                self._block += 1
            self._held, self._at, end = b"".join(pieces), 0, n
        start, self._at = self._at, end
        return self._held[start:end]
