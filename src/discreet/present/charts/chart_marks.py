"""Marks of a panel as data, in the units of its axes; the looks that tell series apart, and the shapes of points.

Series differ in colour and in shape or filling, so that colour alone never tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from discreet.present.charts.drawing import PAPER, Canvas

__all__ = [
    "SHAPES",
    "BandMark",
    "BlockMarks",
    "LineMark",
    "Look",
    "MatrixMark",
    "PanelMark",
    "PointMarks",
    "SpanMarks",
    "draw_shape",
]

SHAPES: Final = ("circle", "down", "square", "up", "diamond", "plus")
_ARM: Final = 0.4  # half of how wide an arm of a plus is, as a part of its size

Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Look:
    """How one series is drawn: its colour (#rrggbb), the shape of its points, whether they are filled, its dashes."""

    colour: str
    shape: str = SHAPES[0]
    filled: bool = True
    dashes: str = ""


@dataclass(frozen=True, slots=True)
class PointMarks:
    """Points of one look; `told`, if given, says of each what it is when it is pointed at."""

    places: tuple[Spot, ...]
    look: Look
    size: float = 5.0
    told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_finite(self.places)
        if self.told and len(self.told) != len(self.places):
            raise ValueError("of all points or of none it is told what they are")


@dataclass(frozen=True, slots=True)
class SpanMarks:
    """Straight lines, each from one place to another; where an axis ends first, an arrow says that it goes on."""

    ends: tuple[tuple[Spot, Spot], ...]
    colour: str
    thickness: float = 2.0

    def __post_init__(self) -> None:
        _require_finite(spot for ends in self.ends for spot in ends)


@dataclass(frozen=True, slots=True)
class LineMark:
    """A line through all places."""

    places: tuple[Spot, ...]
    colour: str
    thickness: float = 2.5
    dashes: str = ""

    def __post_init__(self) -> None:
        _require_finite(self.places)


@dataclass(frozen=True, slots=True)
class BandMark:
    """What lies between the outline's places, filled."""

    outline: tuple[Spot, ...]
    fill: str

    def __post_init__(self) -> None:
        _require_finite(self.outline)


@dataclass(frozen=True, slots=True)
class BlockMarks:
    """Bars and bins: rectangles by two opposite corners."""

    corners: tuple[tuple[Spot, Spot], ...]
    fill: str

    def __post_init__(self) -> None:
        _require_finite(spot for corners in self.corners for spot in corners)


@dataclass(frozen=True, slots=True)
class MatrixMark:
    """Values in lines and columns: coloured by sign and size from -1 to 1, hatched where there is none."""

    lines: tuple[tuple[float | None, ...], ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        values = [value for line in self.lines for value in line if value is not None]
        if not all(map(math.isfinite, values)):
            raise ValueError("a matrix holds finite values")
        if {len(self.lines), *map(len, self.lines)} != {len(self.names)}:
            raise ValueError("a matrix has as many names as lines and columns")


PanelMark = PointMarks | SpanMarks | LineMark | BandMark | BlockMarks | MatrixMark


def _require_finite(spots: Iterable[Spot]) -> None:
    if not all(math.isfinite(value) for spot in spots for value in spot):
        raise ValueError("a mark has a finite place")


def draw_shape(
    canvas: Canvas, shape: str, x: float, y: float, *, colour: str, size: float, filled: bool = True
) -> None:
    """One point. What is not filled is white inside, so that it can be seen over lines; strokes have no inside."""
    fill, stroke, thickness = (colour, "", 0.0) if filled else (PAPER, colour, 0.36 * size)
    match shape:
        case "circle":
            canvas.dots([(x, y)], radius=size, fill=fill, stroke=stroke, thickness=thickness)
        case "square":
            side = 1.8 * size
            canvas.rectangle(x - side / 2, y - side / 2, side, side, fill=fill, stroke=stroke, thickness=thickness)
        case "cross":
            canvas.line(x - size, y - size, x + size, y + size, stroke=colour, thickness=1.6)
            canvas.line(x - size, y + size, x + size, y - size, stroke=colour, thickness=1.6)
        case "bar":
            canvas.line(x - 1.4 * size, y, x + 1.4 * size, y, stroke=colour, thickness=2)
        case _:
            corners = [(x + dx * size, y + dy * size) for dx, dy in _CORNERS[shape]]
            canvas.polygon(corners, fill=fill, stroke=stroke, thickness=thickness)


_CORNERS: Final[dict[str, tuple[Spot, ...]]] = {
    "up": ((-1, 1), (1, 1), (0, -1.2)),
    "down": ((-1, -1), (1, -1), (0, 1.2)),
    "diamond": ((-1.3, 0), (0, -1.3), (1.3, 0), (0, 1.3)),
    "plus": (
        (-_ARM, -1.2), (_ARM, -1.2), (_ARM, -_ARM), (1.2, -_ARM), (1.2, _ARM), (_ARM, _ARM), (_ARM, 1.2), (-_ARM, 1.2),
        (-_ARM, _ARM), (-1.2, _ARM), (-1.2, -_ARM), (-_ARM, -_ARM),
    ),
}  # fmt: skip
