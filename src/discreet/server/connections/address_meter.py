"""How many requests each network has made in this minute, as one process remembers it."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

from discreet.people import network_of

__all__ = ["AddressMeter"]

_SECONDS: Final = 60.0


class AddressMeter:
    """Lets `most` requests of one network through in a minute. Used in one thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun = time.monotonic()
        self._taken: Counter[str] = Counter()

    def take(self, address: str) -> bool:
        """Count one; False where its network has had as many as it may."""
        if (now := time.monotonic()) - self._begun >= _SECONDS:
            self._begun = now
            self._taken.clear()
        network = network_of(address)
        self._taken[network] += 1
        return self._taken[network] <= self._most
