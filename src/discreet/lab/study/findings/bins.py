"""The bins in which a column's shape is shown: one for each category, about thirty for a number, and two ends.

Bin -1 holds what lies below the grid, the bin after the last what lies above it (or outside a category list).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from discreet.lab.study.frame import AnswerColumn

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Bins", "number_bins"]

_MOST: Final = 30


def number_bins(answers: AnswerColumn) -> int:
    """How many bins a number's shape has: one for each position where those are few, else about thirty."""
    positions = answers.size + 1
    width = -(-positions // _MOST)
    return -(-positions // width)


@dataclass(frozen=True, slots=True)
class Bins:
    """`number` bins over positions 0 to `positions` - 1; position x lies in bin ⌊x · number / positions⌋."""

    number: int
    positions: int

    first: ClassVar[int] = -1

    def __post_init__(self) -> None:
        if self.number < 1 or self.positions < self.number:
            raise ValueError("bins hold at least one position each")

    @classmethod
    def of_column(cls, answers: AnswerColumn) -> Bins:
        if answers.categorical:
            return cls(answers.size, answers.size)
        return cls(number_bins(answers), answers.size + 1)

    @classmethod
    def of_shares(cls, answers: AnswerColumn, number: int) -> Bins:
        """The bins of a list of `number` shares."""
        positions = answers.size if answers.categorical else answers.size + 1
        if answers.categorical and number != positions:
            raise ValueError(f"'{answers.name}' has {positions} categories; received {number} shares")
        return cls(number, positions)

    def places(self, values: NDArray[Any]) -> NDArray[Any]:
        """The bin of each value, the end below counted as 0."""
        whole = values if values.dtype.kind in "iu" else np.rint(np.clip(values, -1, self.positions)).astype(np.int64)
        inside = np.clip(whole, -1, self.positions).astype(np.int64)
        result: NDArray[Any] = np.where(inside < 0, 0, 1 + inside * self.number // self.positions)
        return result

    def shares(self, values: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[float64]:
        """The share of each bin, both ends included; nan when there are no values. Weights are whole."""
        whole = values if values.dtype.kind in "iu" else np.rint(np.clip(values, -1, self.positions)).astype(np.int64)
        each = np.bincount(np.clip(whole, -1, self.positions) + 1, weights=weights, minlength=self.positions + 2)
        # bins of few positions instead of many values: whole numbers, so the sums are the same
        counts = np.bincount(self.places(np.arange(-1, self.positions + 1)), weights=each, minlength=self.number + 2)
        total = counts.sum()
        shares: NDArray[float64] = counts / total if total > 0 else np.full(counts.size, np.nan)
        return shares

    def with_ends(self, shares: NDArray[float64]) -> NDArray[float64]:
        """Shares of the bins alone, with two empty ends."""
        return np.concatenate([[0.0], shares, [0.0]])

    def labels(self, answers: AnswerColumn) -> list[str]:
        """What each bin is called, both ends included; a bin of a number by the value at which it starts."""
        if answers.categorical:
            return ["below", *(category.label.en for category in answers.column.categories), "not in the list"]
        starts = [-(-index * self.positions // self.number) for index in range(self.number + 1)]
        values = [answers.low + start * answers.step for start in starts]
        digits = max(0, -int(np.floor(np.log10(max(values[1] - values[0], 1e-9)))))
        return ["below", *(f"{value:,.{digits}f}" for value in values[:-1]), "above"]
