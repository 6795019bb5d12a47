"""Axes as data: where they run from and to, how they stretch, and their numbers as people write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from discreet.catalogue import language, localise
from discreet.present.charts.drawing import Scale, find_ticks
from discreet.present.charts.lettering import tell_compactly

__all__ = ["AxisKind", "ChartAxis", "log_axis", "name_axis", "number_axis", "percent_axis", "root_axis"]

_MOST_POWERS: Final = 6


class AxisKind(StrEnum):
    """How values become places; NAMES counts downwards from 0, a line each."""

    PLAIN = "plain"
    ROOT = "root"
    LOG = "log"
    NAMES = "names"


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """An axis with its ticks and their labels; `label` says what it counts."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    kind: AxisKind = AxisKind.PLAIN
    label: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError("an axis runs from a finite value to a larger one")
        if self.kind is AxisKind.LOG and self.low <= 0:
            raise ValueError("a logarithmic axis begins above 0")

    def scale(self, start: float, end: float) -> AxisScale:
        return AxisScale(self.kind, Scale(_bend(self.kind, self.low), _bend(self.kind, self.high), start, end))


@dataclass(frozen=True, slots=True)
class AxisScale:
    """From values to places on the canvas; what lies beyond the axis stands at its nearer end."""

    kind: AxisKind
    straight: Scale

    def __call__(self, value: float) -> float:
        return self.straight(_bend(self.kind, value))


def _bend(kind: AxisKind, value: float) -> float:
    match kind:
        case AxisKind.ROOT:
            return math.copysign(math.sqrt(abs(value)), value)
        case AxisKind.LOG:
            return math.log10(value) if value > 0 else -math.inf
        case _:
            return value


def number_axis(low: float, high: float, *, most: int = 5, label: str = "") -> ChartAxis:
    """From one value to the other, with round numbers between; wider where fewer than two lie there."""
    ticks = find_ticks(low, high, most=most)
    text = tuple(zip(ticks.values, ticks.labels(language()), strict=True))
    inside = tuple(item for item in text if low <= item[0] <= high)
    if len(inside) >= 2:
        return ChartAxis(low, high, inside, label=label)
    return ChartAxis(ticks.low, ticks.high, text, label=label)


def percent_axis(high: float) -> ChartAxis:
    """Shares from 0 on, in per cent."""
    ticks = find_ticks(0.0, max(100 * high, 1e-9), most=6)
    percent = localise("%", language())
    text = tuple(
        (value / 100, f"{name}{percent}") for value, name in zip(ticks.values, ticks.labels(language()), strict=True)
    )
    inside = tuple(item for item in text if item[0] <= high)
    return ChartAxis(0.0, high, inside) if len(inside) >= 2 else ChartAxis(0.0, text[-1][0], text)


def root_axis(low: float, high: float) -> ChartAxis:
    """Square roots, for values of very different size: 0 and two round values that lie evenly under a root."""
    power = 10.0 ** math.floor(math.log10(high))
    top = max((step * power for step in (0.64, 1.6, 4.0, 6.4) if step * power <= high), default=high)
    ticks = tuple((value, _tell(value)) for value in (0.0, top / 4, top))
    return ChartAxis(low, high, ticks, AxisKind.ROOT)


def log_axis(values: Iterable[float], *, at: Sequence[tuple[float, str]] = (), label: str = "") -> ChartAxis:
    """Around the values above 0; ticks `at` these, or at round numbers, never at a single one."""
    known = [value for value in values if 0 < value < math.inf]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    room = max(0.05 * math.log10(high / low), 0.02)
    low, high = low / 10**room, high * 10**room
    ticks = tuple(at) or _round_between(low, high)
    return ChartAxis(min(low, ticks[0][0]), max(high, ticks[-1][0]), ticks, AxisKind.LOG, label)


def _round_between(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Powers of ten; with 2 and 5 times as much where they are few, and plain round numbers where those are too."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    whole = [10.0**power for power in powers if low <= 10.0**power <= high]
    some = [step * 10.0**power for power in powers for step in (1, 2, 5) if low <= step * 10.0**power <= high]
    if len(whole) > 2:
        chosen = whole[:: -(-len(whole) // _MOST_POWERS)]
    elif len(some) > 1:
        chosen = some
    else:
        chosen = [value for value, _ in number_axis(low, high, most=4).ticks if value > 0]
    return tuple((value, _tell(value)) for value in chosen)


def name_axis(names: Sequence[str]) -> ChartAxis:
    """A line for each name, the first at the top, each as wide as 1."""
    return ChartAxis(-0.5, max(len(names), 1) - 0.5, tuple(enumerate(names)), AxisKind.NAMES)


def _tell(value: float) -> str:
    """With as many decimals as its digits need."""
    decimals = len(f"{value:.10f}".rstrip("0").partition(".")[2]) if abs(value) < 1e6 else 0
    return tell_compactly(value, language(), decimals=decimals)
