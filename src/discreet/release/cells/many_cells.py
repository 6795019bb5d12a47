"""The cells of an answer as arrays: keys by arithmetic on their places, outputs by `columnarrays`.

What is not worked out in arrays gives None, and whoever asked goes cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.release.cells.output_arrays import (
    CellByCell,
    Thin,
    Whole,
    arrange_many,
    interval_columns,
    to_array,
    value_column,
)
from discreet.release.cells.output_columns import NoiseReach, Number
from discreet.results import Chosen, PairedColumns
from discreet.sql import KeyShown, Output, Statement

__all__ = ["ManyCells"]

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class ManyCells:
    """Every cell of closed keys, the last key varying fastest; `measures` hold the noisy values of each."""

    statement: Statement
    measures: Sequence[Whole]
    count: int
    thin: Thin

    @classmethod
    def of(
        cls, statement: Statement, measures: Sequence[Sequence[int]], floors: Mapping[int, NoiseReach]
    ) -> ManyCells | None:
        """The cells, or None where a value does not fit 64 bits; `floors` are what sizes must exceed."""
        try:
            arrays = [to_array(values) for values in measures]
        except CellByCell:
            return None
        thin = {size: arrays[size] <= _bounds(floor) for size, floor in floors.items()}
        return cls(statement, arrays, statement.plan.cell_count, thin)

    def arrange(self) -> Sequence[int] | None:
        """The places of the cells to show, in the order asked."""
        try:
            return arrange_many(self.statement.presentation, self._key, self.measures, self.count, self.thin)
        except CellByCell:
            return None

    def column(self, shows: KeyShown | Output, indices: Sequence[int]) -> Sequence[Any] | None:
        """What is shown of the cells at these places."""
        if isinstance(shows, KeyShown):
            cells, where = self._key(shows.key)
            face = self.statement.keys[shows.key]
            return Chosen([face.shown(cell) for cell in cells], self._at(where, indices))
        try:
            return cast("Sequence[Any]", value_column(shows, self._shown(indices), len(indices), self._gone(indices)))
        except CellByCell:
            return None

    def intervals(
        self, output: Output, indices: Sequence[int], margins: Mapping[int, NoiseReach]
    ) -> Sequence[list[Number]] | None:
        try:
            low, high = interval_columns(output, self._shown(indices), margins, indices)
        except CellByCell:
            return None
        return PairedColumns(cast("Sequence[Number]", low), cast("Sequence[Number]", high))

    def _key(self, index: int) -> tuple[Sequence[int | str | None], Whole]:
        cells = self.statement.plan.keys[index].cells or ()
        inner = prod(len(later.cells or ()) for later in self.statement.plan.keys[index + 1 :])
        return cells, np.arange(self.count) // inner % len(cells)

    def _gone(self, indices: Sequence[int]) -> Thin:
        return {size: self._at(flags, indices) for size, flags in self.thin.items()}

    def _shown(self, indices: Sequence[int]) -> list[Whole]:
        return [self._at(values, indices) for values in self.measures]

    def _at(self, values: NDArray[T], indices: Sequence[int]) -> NDArray[T]:
        if isinstance(indices, range):
            return values[indices.start : indices.stop]
        return values[np.asarray(indices, dtype=np.int64)]


def _bounds(floor: NoiseReach) -> Whole:
    halves = to_array(floor.halves)
    return halves[0:1] if floor.slices is None else halves[np.asarray(floor.slices)]
