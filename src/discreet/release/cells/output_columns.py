"""Columns of an answer, all cells at once: what `evaluation` says of one cell, written for some thousand.

Single measures and averages, which nearly every statement shows, are worked out in whole numbers, without a fraction
for each cell; everything else goes cell by cell. Both give the same numbers, bit for bit. Beyond some thousand cells
`columnarrays` does the same. Intervals of averages by themselves come from `meanintervals`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from discreet.release.cells.evaluation import enclose, evaluate, is_whole, round_out, shown, shown_interval
from discreet.sql import Mean, Noted, Output, measures_used

__all__ = ["Average", "NoiseReach", "Number", "show_intervals", "show_values"]

Number = int | float | None
Measures = Sequence[Sequence[int]]
"""The noisy values of every measure, each by cell."""


@dataclass(frozen=True, slots=True)
class NoiseReach:
    """How far to each side of a noisy value the exact one may be, by slice; for what was chosen, between which ends."""

    halves: tuple[int, ...]
    slices: Sequence[int] | None = None
    ends: tuple[int, int] | None = None

    def at(self, index: int) -> int:
        """How far it may be in one cell."""
        return self.halves[0 if self.slices is None else self.slices[index]]

    def around(self, values: Sequence[int], indices: Sequence[int]) -> list[tuple[int, int]]:
        """The interval of the measure in every cell asked for."""
        if self.ends is not None:
            return [self.ends] * len(indices)
        if self.slices is None:
            half = self.halves[0]
            return [(values[index] - half, values[index] + half) for index in indices]
        halves = [self.halves[number] for number in self.slices]
        return [(values[index] - halves[index], values[index] + halves[index]) for index in indices]


def show_values(
    output: Output, measures: Measures, indices: Sequence[int], thin: Mapping[int, Sequence[bool]] | None = None
) -> list[Number]:
    """The output in the cells asked for; none where it is over a size that is too small, as `thin` says of sizes."""
    small = thin or {}
    match output:
        case Noted(measure, step):
            values, over, under = measures[measure], step.numerator, step.denominator
            if under == 1:
                return [values[index] * over for index in indices]
            return [values[index] * over / under for index in indices]
        case Mean(total, size):
            totals, sizes, average = measures[total], measures[size], Average.of(output)
            gone = small.get(size)
            ratios = [
                None if gone is not None and gone[index] else average.at(totals[index], sizes[index])
                for index in indices
            ]
            return [None if ratio is None else ratio[0] / ratio[1] for ratio in ratios]
    whole = is_whole(output)
    return [
        shown(evaluate(output, [values[index] for values in measures], _thin_at(small, index)), whole=whole)
        for index in indices
    ]


def _gone(output: Output, measures: Measures, indices: Sequence[int], thin: Mapping[int, Sequence[bool]]) -> set[int]:
    """Which of these cells have no value because a size is too small."""
    sizes = {size: flags for size, flags in thin.items() if size in measures_used(output)}
    return {
        number
        for number, index in enumerate(indices)
        if (small := _thin_at(sizes, index)) and evaluate(output, [values[index] for values in measures], small) is None
    }


def _thin_at(thin: Mapping[int, Sequence[bool]], index: int) -> set[int]:
    return {size for size, flags in thin.items() if flags[index]}


def show_intervals(
    output: Output,
    measures: Measures,
    indices: Sequence[int],
    margins: Mapping[int, NoiseReach],
    thin: Mapping[int, Sequence[bool]] | None = None,
) -> list[list[Number]]:
    """The interval of the output in the cells asked for; `margins` are those of the measures it uses.

    None of a mean or variance whose size is too small, nor of what is made of it.
    """
    if thin and (gone := _gone(output, measures, indices, thin)):
        there = [index for number, index in enumerate(indices) if number not in gone]
        found = iter(show_intervals(output, measures, there, margins))
        return [[None, None] if number in gone else next(found) for number in range(len(indices))]
    boxes = {number: margin.around(measures[number], indices) for number, margin in margins.items()}
    match output:
        case Noted(measure, step):
            over, under = step.numerator, step.denominator
            if under == 1:
                return [[low * over, high * over] for low, high in boxes[measure]]
            return [
                [round_out(low * over, under, up=False), round_out(high * over, under, up=True)]
                for low, high in boxes[measure]
            ]
    whole = is_whole(output)
    return [
        shown_interval(enclose(output, dict(zip(boxes, box, strict=True))), whole=whole)
        for box in (zip(*boxes.values(), strict=True) if boxes else [()] * len(indices))
    ]


@dataclass(frozen=True, slots=True)
class Average:
    """A `Mean` over common denominators: one of sizes and floor, and `unit` of everything else."""

    unit: int
    total: int
    centre: int
    low: int
    high: int
    size: int
    floor: int

    @classmethod
    def of(cls, mean: Mean) -> Average:
        parts = (mean.total_step, mean.centre, mean.low, mean.high)
        unit = lcm(*(part.denominator for part in parts))
        shared = lcm(mean.size_step.denominator, mean.floor.denominator)
        total, centre, low, high = (int(part * unit) for part in parts)
        return cls(unit, total * shared, centre, low, high, int(mean.size_step * shared), int(mean.floor * shared))

    def at(self, total: int, size: int) -> tuple[int, int]:
        """The mean as a ratio."""
        weight = max(size * self.size, self.floor)
        over = self.centre * weight + total * self.total
        return min(max(over, self.low * weight), self.high * weight), self.unit * weight
