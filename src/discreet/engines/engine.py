"""What every engine gives: exact integers for every cell of a plan, in one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from discreet.sql import Plan

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["Cell", "Engine", "Histogram", "HistogramArrays", "Holding", "Measured", "Prepared", "Tabulating"]

Cell = tuple[int | str | None, ...]

Histogram = Sequence[tuple[int, int]]
"""(value, how many rows have it), values ascending; what quantiles and extremes are chosen from."""


@dataclass(frozen=True, slots=True, eq=False)
class HistogramArrays(Sequence[tuple[int, int]]):
    """A long histogram, as two arrays."""

    values: NDArray[int64]
    counts: NDArray[int64]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.values.tolist(), self.counts.tolist(), strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> HistogramArrays: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | HistogramArrays:
        if isinstance(index, slice):
            return HistogramArrays(self.values[index], self.counts[index])
        return int(self.values[index]), int(self.counts[index])


@dataclass(frozen=True, slots=True)
class Measured:
    """The exact aggregates: confidential until a mechanism has run.

    `columns` holds one sequence per measure of the plan, each with one entry per cell: a whole number for counts and
    sums, a histogram for quantiles and extremes. Cells stand in the order of the product of the keys' cells, the last
    key varying fastest; with open keys, in the order of `keys` (ascending by code point, NULL last).
    """

    columns: tuple[Sequence[int] | Sequence[Histogram], ...]
    keys: tuple[Cell, ...] | None = None


@runtime_checkable
class Prepared(Protocol):
    """An engine that can open, or connect, and refuse what cannot be run: all that is known before a charge."""

    def prepare(self, plan: Plan) -> None: ...


@runtime_checkable
class Holding(Protocol):
    """An engine that holds something for whoever has prepared it, such as a connection."""

    def let_go(self) -> None:
        """Of what this thread has prepared and not used."""


@runtime_checkable
class Tabulating(Protocol):
    """An engine that can give what it counts and sums as a table, for an office that looks at rows of its own."""

    def tabulate(self, plan: Plan) -> Any:
        """The keys that the rows have and the counts and sums of each, in Arrow's columns and in no order."""


class Engine(Protocol):
    """Runs plans over the datasets it was opened for. Whatever it raises is never shown to an analyst."""

    def measure(self, plan: Plan) -> Measured: ...

    def close(self) -> None: ...
