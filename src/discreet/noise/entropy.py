"""The one door to randomness.

Every sampler of this room takes an `Entropy` and reads whole bytes from it, in the order docs/noise.md
states. What is released draws from `SystemEntropy`; `ByteTape` replays stated bytes for test vectors. The
seeded twin lives with the studies, the only place where a draw may be repeated.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

from discreet.catalogue import say

__all__ = ["ByteTape", "Entropy", "SystemEntropy", "TapeExhausted"]


class TapeExhausted(EOFError):
    """A sampler asked for more bytes than the tape holds."""


class Entropy(ABC):
    """A stream of independent, uniform bytes."""

    __slots__ = ()

    @abstractmethod
    def read(self, n: int) -> bytes:
        """Exactly the next `n` bytes."""


class SystemEntropy(Entropy):
    """The operating system's generator.

    Nothing is buffered: a buffer copied by fork would hand the same bytes to two processes, and the noise of
    one release would then cancel that of another.
    """

    __slots__ = ()

    def read(self, n: int) -> bytes:
        return os.urandom(n)


class ByteTape(Entropy):
    """Stated bytes, read once from left to right; `used` counts what has been read."""

    __slots__ = ("_data", "used")

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self.used = 0

    def read(self, n: int) -> bytes:
        end = self.used + n
        if end > len(self._data):
            raise TapeExhausted(
                say("the tape holds {count} bytes; byte {end} was asked for", count=len(self._data), end=end)
            )
        piece = self._data[self.used : end]
        self.used = end
        return piece
