"""What the randomisers of numbers share: the limits of a grid, checks of answers, reports that are whole numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.randomisers.randomiser import NumberRandomiser
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, exact, shown, text

if TYPE_CHECKING:
    from numpy import bool_, float64, int64
    from numpy.typing import NDArray

__all__ = [
    "LARGEST_EPSILON",
    "LARGEST_GRID",
    "LARGEST_TABLE",
    "SMALLEST_EPSILON",
    "GridRandomiser",
    "check_positions",
    "grid_fault",
    "read_whole",
]

LARGEST_GRID: Final = 1 << 31
LARGEST_TABLE: Final = 1 << 20
# With both limits the scale grid/epsilon stays below 2**52, where noise fits 64 bits and values a float.
SMALLEST_EPSILON: Final = Decimal("0.000001")
LARGEST_EPSILON: Final = Decimal(50)


@dataclass(frozen=True, slots=True)
class GridRandomiser(NumberRandomiser):
    """A randomiser of positions whose reports are whole numbers from a known range."""

    epsilon: Decimal
    grid: int
    largest_grid: ClassVar[int] = LARGEST_GRID

    def __init__(self, *, epsilon: ExactLike, grid: int) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, parameter="epsilon"))
        object.__setattr__(self, "grid", grid)
        fault = self._fault(epsilon=self.epsilon, grid=grid)
        if fault:
            raise fault

    def parameters(self) -> dict[str, str]:
        """The exact parameters as text, for manifests and studies."""
        return {"epsilon": text(self.epsilon), "grid": str(self.grid)}

    @classmethod
    def objection(cls, *, epsilon: Decimal, grid: int) -> str | None:
        """Why this randomiser does not support such a question; None when it does."""
        fault = cls._fault(epsilon=epsilon, grid=grid)
        return fault.message if fault else None

    @classmethod
    def _fault(cls, *, epsilon: Decimal, grid: int) -> ParameterInvalid | None:
        return grid_fault(name=cls.name, epsilon=epsilon, grid=grid, largest=cls.largest_grid)

    @abstractmethod
    def report_range(self) -> tuple[int, int]:
        """The smallest and the largest report that is taken."""

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value of any report: how far one false report can pull a sum of values."""
        low, high = self.values(np.array(self.report_range(), dtype=np.int64))
        return float(low), float(high)

    def read_reports(self, values: Sequence[object]) -> tuple[NDArray[int64], NDArray[bool_]]:
        """The reports of those values and which values are reports at all; the others hold a place without meaning."""
        low, high = self.report_range()
        return read_whole(values, low=low, high=high)

    def _centred(self, positions: NDArray[Any]) -> NDArray[float64]:
        """Distances from the middle of the grid."""
        return np.asarray(positions, dtype=np.float64) - self.grid / 2


def grid_fault(*, name: str, epsilon: Decimal, grid: int, largest: int = LARGEST_GRID) -> ParameterInvalid | None:
    """The error for parameters that a randomiser of numbers cannot take; None when it can."""
    if isinstance(grid, bool) or not isinstance(grid, int) or not 1 <= grid <= largest:
        rule = say("of '{name}' must be a whole number of steps from 1 to {most}", name=name, most=largest)
        return ParameterInvalid(parameter="grid", rule=rule, given=shown(grid))
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        rule = say(
            "of '{name}' must lie between {low:f} and {high}", name=name, low=SMALLEST_EPSILON, high=LARGEST_EPSILON
        )
        return ParameterInvalid(parameter="epsilon", rule=rule, given=text(epsilon))
    return None


def check_positions(answers: NDArray[Any], *, grid: int, lowest: int = 0) -> NDArray[int64]:
    """The answers as 64-bit positions, or a fault that shows none of them."""
    if answers.dtype.kind not in "iu" or answers.ndim != 1:
        raise TypeError("answers are a one-dimensional array of integers")
    if answers.size and (answers.min() < lowest or answers.max() > grid):
        raise ValueError(f"answers lie between {lowest} and the grid's last position")
    return answers.astype(np.int64)


def read_whole(values: Sequence[object], *, low: int, high: int) -> tuple[NDArray[int64], NDArray[bool_]]:
    """Whole numbers within [low, high] and where they stand; `low` holds the places of all else."""
    kept = [type(value) is int and low <= value <= high for value in values]
    taken = [value if keep else low for value, keep in zip(values, kept, strict=True)]
    return np.array(taken, dtype=np.int64), np.array(kept, dtype=np.bool_)
