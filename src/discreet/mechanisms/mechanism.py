"""What every mechanism offers, and what those that add integer noise share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from operator import add, index
from typing import ClassVar

from discreet.guarantees import ExactLike, exact

__all__ = ["AdditiveMechanism", "Mechanism", "exact_level"]


class Mechanism(ABC):
    """A randomised algorithm with a proved guarantee and exact parameters."""

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for the ledger."""

    def load(self, count: int | None = None) -> None:
        """Import whatever so many draws need, or any number: before a charge, since nothing may fail after it."""
        return


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
    def _draw(self, count: int) -> list[int]:
        """This many independent draws of the noise, of any size, without a look at the values."""

    def interval(self, value: int, *, level: ExactLike) -> tuple[int, int]:
        """An interval around a noisy value that holds the exact one with at least this probability."""
        reach = self.half_width(level)
        return value - reach, value + reach

    def release(self, values: Sequence[int]) -> list[int]:
        """The values with noise, in their order. Each call is one more release and costs its guarantee.

        Values may be integers of any size: a limit on them would fail or not depending on the rows.
        """
        exact_values = list(map(index, values))
        return list(map(add, exact_values, self._draw(len(exact_values))))


def exact_level(level: ExactLike) -> Fraction:
    """A confidence level as an exact fraction strictly between 0 and 1."""
    return Fraction(exact(level, parameter="level", below=1))
