"""Exact weighted sums of reports by cell: whole numbers from start to end, so the order of the rows never shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.randomisers.randomiser import ReportTally
from discreet.errors import ParameterInvalid

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["LARGEST_SUM", "WeightedCells"]

LARGEST_SUM: Final = (1 << 62) - 1  # a sum of two such sums still is a 64-bit integer
_LARGEST_FLOAT: Final = 1 << 53  # up to here every whole number is a float


@dataclass(frozen=True, slots=True)
class WeightedCells:
    """The cell and the whole, public weight of each report; no sum over them can overflow."""

    cells: NDArray[int64]
    weights: NDArray[int64]
    number: int

    def __post_init__(self) -> None:
        for array in (self.cells, self.weights):
            if array.dtype.kind not in "iu" or array.ndim != 1:
                raise TypeError("cells and weights are one-dimensional arrays of integers")
        if self.cells.size != self.weights.size:
            raise ValueError("each report has one cell and one weight")
        if self.cells.size and (self.cells.min() < 0 or self.cells.max() >= self.number):
            raise ValueError("cells lie between 0 and their number less one")
        if self.weights.size and self.weights.min() < 0:
            raise ParameterInvalid(
                parameter="weights", rule=say("must not be negative"), given=say("a negative weight")
            )
        if not _squares_fit(self.weights):
            rule = say("must have squares that add up to less than 2^62; count them in coarser units")
            raise ParameterInvalid(parameter="weights", rule=rule, given=say("a larger sum"))

    def tally_named(self, reports: NDArray[Any], *, categories: int) -> ReportTally:
        """For reports (respondents × m) that name the m categories they support, each at most once."""
        self._expect(reports.shape[0])
        shape, start = (self.number, categories), self.cells.astype(np.int64, copy=False) * categories
        named, named_squares = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        weights, weight_squares = (_Amounts.of(values) for values in self._powers())
        for column in range(reports.shape[1]):
            index = start + reports[:, column]
            named += weights.sum_by(index, named.size).reshape(shape)
            named_squares += weight_squares.sum_by(index, named.size).reshape(shape)
        if reports.shape[1] != 1:
            return self.complete(named, named_squares)
        # Whoever names one category is counted once among all of them.
        people = np.bincount(self.cells, minlength=self.number)
        return ReportTally(named, named_squares, named.sum(axis=1), named_squares.sum(axis=1), people)

    def tally_masks(self, masks: Iterable[NDArray[bool_]], *, categories: int) -> ReportTally:
        """For one mask per category, in order: which reports support it."""
        support, squares = (np.zeros((self.number, categories), dtype=np.int64) for _ in range(2))
        weights, weight_squares = (_Amounts.of(values) for values in self._powers())
        for category, mask in enumerate(masks):
            self._expect(mask.size)
            support[:, category] = weights.where(mask).sum_by(self.cells, self.number)
            squares[:, category] = weight_squares.where(mask).sum_by(self.cells, self.number)
        return self.complete(support, squares)

    def add_signed(self, index: NDArray[int64], negative: NDArray[bool_], *, size: int) -> tuple[NDArray[int64], ...]:
        """Sums of ±w and ±w² by cell (rows) and index (columns)."""
        self._expect(index.size)
        sums = []
        for values in self._powers():
            total = np.zeros(self.number * size, dtype=np.int64)
            np.add.at(total, self.cells.astype(np.int64) * size + index, np.where(negative, -values, values))
            sums.append(total.reshape(self.number, size))
        return tuple(sums)

    def totals(self) -> tuple[NDArray[int64], NDArray[int64], NDArray[int64]]:
        """The sums of w, w² and 1 over all reports, cell by cell."""
        weights, squares = (_Amounts.of(values).sum_by(self.cells, self.number) for values in self._powers())
        return weights, squares, np.bincount(self.cells, minlength=self.number)

    def complete(self, support: NDArray[int64], squares: NDArray[int64]) -> ReportTally:
        """The tally with these supports."""
        weights, weight_squares, reports = self.totals()
        return ReportTally(support, squares, weights, weight_squares, reports)

    def _powers(self) -> tuple[NDArray[int64], NDArray[int64]]:
        weights = self.weights.astype(np.int64, copy=False)
        return weights, weights * weights

    def _expect(self, reports: int) -> None:
        if reports != self.cells.size:
            raise ValueError("each report has one cell and one weight")


@dataclass(frozen=True, slots=True)
class _Amounts:
    """Whole amounts, zero or more; as floats where all sums of them are whole in floats too, which are quicker."""

    values: NDArray[Any]

    @classmethod
    def of(cls, values: NDArray[int64]) -> _Amounts:
        exact = not values.size or values.size * int(values.max()) <= _LARGEST_FLOAT
        return cls(values.astype(np.float64) if exact else values)

    def where(self, mask: NDArray[bool_]) -> _Amounts:
        """The same with nothing outside of the mask."""
        return _Amounts(self.values * mask)

    def sum_by(self, indices: NDArray[Any], number: int) -> NDArray[int64]:
        """The sum at each place, from 0 to `number` - 1."""
        if self.values.dtype.kind == "f":
            return np.bincount(indices, weights=self.values, minlength=number).astype(np.int64)
        sums = np.zeros(number, dtype=np.int64)
        np.add.at(sums, indices, self.values)
        return sums


def _squares_fit(weights: NDArray[int64]) -> bool:
    if not weights.size or weights.size * int(weights.max()) ** 2 <= LARGEST_SUM:
        return True
    total: int = sum(weight * weight for weight in weights.tolist())
    return total <= LARGEST_SUM
