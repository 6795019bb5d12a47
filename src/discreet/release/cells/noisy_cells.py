"""The cells of an answer, read from the noise as drawn: what every output shows, and its intervals.

Whoever has noisy measures of a statement reads them here: an answer that leaves, and a study of one. Some cells are
worked out one by one, many as arrays; both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Final

from discreet.engines import Cell
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace
from discreet.release.cells.arrangement import arrange
from discreet.release.cells.evaluation import half_width, joint_level, measures_with_noise, reach
from discreet.release.cells.output_columns import NoiseReach, Number, show_intervals, show_values
from discreet.release.cells.presence import find_thin, presence_level, sizes_in
from discreet.release.measurement.noisy_measures import NoisyMeasure, slices_of
from discreet.release.measurement.pricing import candidates_of
from discreet.sql import KeyShown, Mean, Output, Statement, measures_used

if TYPE_CHECKING:
    from discreet.release.cells.many_cells import ManyCells

__all__ = ["MANY_CELLS", "NoisyCells", "Shown"]

Shown = int | float | str | None

MANY_CELLS: Final = 5_000


@dataclass(frozen=True)
class NoisyCells:
    """The noisy measures of a statement, in the order of its plan; `keys` are those shown where they are open."""

    statement: Statement
    measures: Sequence[NoisyMeasure]
    level: Decimal
    keys: Sequence[Cell] | None = None

    @cached_property
    def places(self) -> Sequence[int]:
        """Which cells are shown, in the order asked."""
        result = None if self._many is None else self._many.arrange()
        if result is not None:
            return result
        return arrange(self.statement.presentation, self._cells, self._columns, self._thin)

    @cached_property
    def floors(self) -> dict[int, NoiseReach]:
        """What the size of a group must exceed for a mean of it to be shown."""
        sizes = sizes_in(self.statement.presentation)
        level = presence_level(self._count * len(sizes))
        return {size: self._margin(size, partial(half_width, level=level)) for size in sizes}

    def column(self, shows: KeyShown | Output) -> Sequence[Shown]:
        """What is shown of the cells: keys as codes, None for the NULL key and where there is no figure."""
        result = None if self._many is None else self._many.column(shows, self.places)
        if result is not None:
            return result
        if isinstance(shows, KeyShown):
            face = self.statement.keys[shows.key]
            return [face.shown(self._cells[index][shows.key]) for index in self.places]
        return show_values(shows, self._columns, self.places, self._thin)

    def intervals(self, output: Output) -> Sequence[list[Number]]:
        """[low, high] of the cells, None where there is no bound."""
        if isinstance(output, Mean):
            return self._mean_intervals(output)
        margins = self._margins(sorted(measures_used(output)))
        if margins is None:
            return [[None, None] for _ in self.places]
        found = None if self._many is None else self._many.intervals(output, self.places, margins)
        return show_intervals(output, self._columns, self.places, margins, self._thin) if found is None else found

    @cached_property
    def _cells(self) -> Sequence[Cell]:
        if self.keys is not None:
            return self.keys
        return list(product(*(key.cells or () for key in self.statement.plan.keys)))

    @cached_property
    def _count(self) -> int:
        return self.statement.plan.cell_count if self.keys is None else len(self.keys)

    @cached_property
    def _columns(self) -> list[tuple[int, ...]]:
        """The noisy values of every measure, each by cell."""
        return [measure.values for measure in self.measures]

    @cached_property
    def _many(self) -> ManyCells | None:
        """The same as arrays, where there are so many cells that loading what they need takes less time."""
        if self._count <= MANY_CELLS or self.keys is not None:
            return None
        from discreet.release.cells.many_cells import ManyCells

        return ManyCells.of(self.statement, self._columns, self.floors)

    @cached_property
    def _thin(self) -> dict[int, list[bool]]:
        return find_thin(self.floors, self._columns)

    def _mean_intervals(self, mean: Mean) -> Sequence[list[Number]]:
        from discreet.release.cells.mean_intervals import mean_intervals

        total, size = (self.measures[index] for index in (mean.total, mean.size))
        slices = [self._slices(item) for item in (total, size)]
        thin = None if self._many is None else self._many.thin[mean.size]
        gone = self._thin[mean.size] if thin is None else thin
        return mean_intervals(mean, (total, size), slices, self.places, gone, self.level)

    def _margins(self, used: Sequence[int]) -> dict[int, NoiseReach] | None:
        """How far the measures of an output may be off, all at once; None when no interval is wide enough."""
        noisy = measures_with_noise(used, [measure.mechanisms for measure in self.measures])
        level = joint_level(self.level, len(noisy))
        return None if level is None else {index: self._margin(index, partial(reach, level=level)) for index in used}

    def _margin(self, index: int, half: Callable[[DiscreteLaplace | DiscreteGaussian], int]) -> NoiseReach:
        measure = self.measures[index]
        ends = candidates_of(self.statement.plan.measures[index])
        halves = tuple(
            half(item) if isinstance(item, DiscreteLaplace | DiscreteGaussian) else 0 for item in measure.mechanisms
        )
        return NoiseReach(halves, self._slices(measure), ends)

    def _slices(self, measure: NoisyMeasure) -> Sequence[int] | None:
        return None if measure.key is None else slices_of(self.statement.plan, measure.key, self.keys)
