"""Columns of an answer, all cells at once: what `evaluation` says of one cell, written for some thousand.

Single measures and averages, which nearly every statement shows, are worked out in whole numbers, without a fraction
for each cell; everything else goes cell by cell. Both give the same numbers, bit for bit. Beyond some thousand cells
`columnarrays` does the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from discreet.plan.outputs import Mean, Noted, Output
from discreet.release.evaluation import enclose, evaluate, is_whole, round_out, shown, shown_interval

__all__ = ["Average", "Margin", "Number", "show_intervals", "show_values"]

Number = int | float | None
Measures = Sequence[Sequence[int]]
"""The noisy values of every measure, each by cell."""


@dataclass(frozen=True, slots=True)
class Margin:
    """How far to each side of a noisy value the exact one may be, by slice; for what was chosen, between which ends."""

    halves: tuple[int, ...]
    slices: Sequence[int] | None = None
    ends: tuple[int, int] | None = None

    def around(self, values: Sequence[int], places: Sequence[int]) -> list[tuple[int, int]]:
        """The interval of the measure in every cell asked for."""
        if self.ends is not None:
            return [self.ends] * len(places)
        if self.slices is None:
            half = self.halves[0]
            return [(values[place] - half, values[place] + half) for place in places]
        halves = [self.halves[number] for number in self.slices]
        return [(values[place] - halves[place], values[place] + halves[place]) for place in places]


def show_values(output: Output, measures: Measures, places: Sequence[int]) -> list[Number]:
    """The output in the cells asked for."""
    match output:
        case Noted(measure, step):
            values, over, under = measures[measure], step.numerator, step.denominator
            if under == 1:
                return [values[place] * over for place in places]
            return [values[place] * over / under for place in places]
        case Mean(total, size):
            totals, sizes, average = measures[total], measures[size], Average.of(output)
            ratios = [average.at(totals[place], sizes[place]) for place in places]
            return [over / under for over, under in ratios]
    whole = is_whole(output)
    return [shown(evaluate(output, [values[place] for values in measures]), whole=whole) for place in places]


def show_intervals(
    output: Output, measures: Measures, places: Sequence[int], margins: Mapping[int, Margin]
) -> list[list[Number]]:
    """The interval of the output in the cells asked for; `margins` are those of the measures it uses."""
    boxes = {number: margin.around(measures[number], places) for number, margin in margins.items()}
    match output:
        case Noted(measure, step):
            over, under = step.numerator, step.denominator
            if under == 1:
                return [[low * over, high * over] for low, high in boxes[measure]]
            return [
                [round_out(low * over, under, up=False), round_out(high * over, under, up=True)]
                for low, high in boxes[measure]
            ]
        case Mean(total, size):
            average = Average.of(output)
            pairs = zip(boxes[total], boxes[size], strict=True)
            return [average.interval(totals, sizes) for totals, sizes in pairs]
    whole = is_whole(output)
    return [
        shown_interval(enclose(output, dict(zip(boxes, box, strict=True))), whole=whole)
        for box in (zip(*boxes.values(), strict=True) if boxes else [()] * len(places))
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

    def interval(self, totals: tuple[int, int], sizes: tuple[int, int]) -> list[Number]:
        """Each end of the total over the size that takes it farthest."""
        low = self.at(totals[0], sizes[totals[0] >= 0])
        high = self.at(totals[1], sizes[totals[1] < 0])
        return [round_out(*low, up=False), round_out(*high, up=True)]
