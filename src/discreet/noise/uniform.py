"""Uniform integers, by rejection on whole bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.noise.entropy import Entropy

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["uniform_array_below", "uniform_below"]


def uniform_below(entropy: Entropy, n: int) -> int:
    """A uniform integer in {0, ..., n-1}. Reads nothing when n is 1."""
    if n == 1:
        return 0
    if n < 1:
        raise ValueError("uniform_below needs n >= 1")
    bits = (n - 1).bit_length()
    size, mask = (bits + 7) // 8, (1 << bits) - 1
    while True:
        drawn = int.from_bytes(entropy.read(size), "big") & mask
        if drawn < n:
            return drawn


def uniform_array_below(entropy: Entropy, n: int, *, count: int) -> NDArray[int64]:
    """`count` independent uniform integers in {0, ..., n-1}, n at most 2**32, in rounds of rejection."""
    import numpy as np

    if not 1 <= n <= 1 << 32:
        raise ValueError("uniform_array_below needs 1 <= n <= 2**32")
    drawn = np.zeros(count, dtype=np.int64)
    if n == 1:
        return drawn
    bits = (n - 1).bit_length()
    size, mask = (bits + 7) // 8, (1 << bits) - 1
    pending: NDArray[Any] = np.arange(count)
    while pending.size:
        raw = np.frombuffer(entropy.read(size * pending.size), dtype=np.uint8).reshape(-1, size)
        words = np.zeros(pending.size, dtype=np.int64)
        for column in range(size):
            words = (words << 8) | raw[:, column]
        words &= mask
        accepted = words < n
        drawn[pending[accepted]] = words[accepted]
        pending = pending[~accepted]
    return drawn
