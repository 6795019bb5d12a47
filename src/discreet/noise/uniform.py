"""Uniform integers, by rejection on whole bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from discreet.noise.entropy import Entropy

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["uniform_array_below", "uniform_below"]

_FEW: Final = 24


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
    if n == 1:
        return np.zeros(count, dtype=np.int64)
    bits = (n - 1).bit_length()
    drawn = _draw_words(entropy, bits, count=count)
    if n == 1 << bits:
        return drawn
    pending: NDArray[Any] = (drawn >= n).nonzero()[0]
    while pending.size > _FEW:
        again = _draw_words(entropy, bits, count=pending.size)
        drawn[pending] = again
        pending = pending[again >= n]
    _draw_again(entropy, n, drawn, pending.tolist())
    return drawn


def _draw_again(entropy: Entropy, n: int, drawn: NDArray[int64], pending: list[int]) -> None:
    """The same rounds for the few places that are left, one by one: there an array costs more than it saves."""
    bits = (n - 1).bit_length()
    size, mask = (bits + 7) // 8, (1 << bits) - 1
    while pending:
        read = entropy.read(size * len(pending))
        words = [int.from_bytes(read[at : at + size], "big") & mask for at in range(0, len(read), size)]
        for place, word in zip(pending, words, strict=True):
            drawn[place] = word
        pending = [place for place, word in zip(pending, words, strict=True) if word >= n]


def _draw_words(entropy: Entropy, bits: int, *, count: int) -> NDArray[int64]:
    """Uniform integers of so many bits, each from whole bytes, the highest first."""
    import numpy as np

    size = (bits + 7) // 8
    raw = np.frombuffer(entropy.read(size * count), dtype=np.uint8)
    words = (raw[::size] & (1 << bits - 8 * (size - 1)) - 1).astype(np.int64)
    for column in range(1, size):
        words <<= 8
        words |= raw[column::size]
    return words
