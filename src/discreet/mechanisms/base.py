"""What every mechanism offers, and what those that add integer noise share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final

from discreet.guarantees.numbers import ExactLike, exact

__all__ = ["LARGEST_VALUE", "AdditiveMechanism", "Mechanism", "exact_level"]

# A plan shows, from the card alone, that its aggregates stay within this bound; noise of the largest scale
# then leaves 64 bits with a probability below exp(-1000).
LARGEST_VALUE: Final = 1 << 62


class Mechanism(ABC):
    """A randomised algorithm with a proved guarantee and exact parameters."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""


class AdditiveMechanism(Mechanism):
    """Adds independent, symmetric integer noise to each value."""

    __slots__ = ()

    @abstractmethod
    def half_width(self, level: ExactLike) -> int:
        """A t with P(|noise| <= t) >= level, never below the level."""

    @abstractmethod
    def expected_absolute_error(self) -> float:
        """The mean of |noise|, for display."""

    @abstractmethod
    def _add_noise(self, values: list[int]) -> list[int]: ...

    def interval(self, value: int, *, level: ExactLike) -> tuple[int, int]:
        """An interval around a noisy value that holds the exact one with at least this probability."""
        reach = self.half_width(level)
        return value - reach, value + reach

    def release(self, values: Sequence[int]) -> list[int]:
        """The values with noise, in their order. Each call is one more release and costs its guarantee."""
        return self._add_noise(_checked(values))


def exact_level(level: ExactLike) -> Fraction:
    """A confidence level as an exact fraction strictly between 0 and 1."""
    return Fraction(exact(level, parameter="level", below=1))


def _checked(values: Sequence[int]) -> list[int]:
    """The values as 64-bit integers. The message names the bound only: it must not show an aggregate."""
    try:
        wide = array("q", values)
    except OverflowError:
        wide = array("q", [LARGEST_VALUE + 1])
    if wide and (max(wide) > LARGEST_VALUE or min(wide) < -LARGEST_VALUE):
        raise OverflowError("aggregates must lie within ±2**62; the plan has to show so from the card") from None
    return wide.tolist()
