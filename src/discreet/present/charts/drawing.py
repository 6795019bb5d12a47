"""A small kit for drawings: a canvas that writes SVG, scales, ticks, hatching, and colours all can tell apart.

Text stays text and is escaped, nothing runs and nothing is fetched, and the same calls give the same file. The colours
are those of Okabe and Ito; shades grow darker steadily, so that they keep their order in grey.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from html import escape
from typing import Final

from discreet.present.charts.lettering import clean, tell_compactly

__all__ = [
    "ALARM",
    "COLOURS",
    "GRID",
    "INK",
    "PAPER",
    "SOFT",
    "Canvas",
    "Scale",
    "Ticks",
    "contrast_ink",
    "diverge",
    "find_ticks",
    "shade",
]

INK: Final = "#1f2933"
SOFT: Final = "#5b6673"
GRID: Final = "#dfe3e8"
PAPER: Final = "#ffffff"
ALARM: Final = "#b00020"
COLOURS: Final = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2")
"""Okabe and Ito's colours, light ones first: they stand under dark lines and text."""

_FONT: Final = "Helvetica, Arial, 'Liberation Sans', sans-serif"
# From near white to a dark blue; lightness falls by about the same amount from each to the next.
_SHADES: Final = ((0xF2, 0xF7, 0xFB), (0xC6, 0xDF, 0xEF), (0x7F, 0xB8, 0xDC), (0x2F, 0x83, 0xBC), (0x08, 0x3D, 0x77))
# Violet to brown, told apart in every common form of colour blindness; as dark on either side of white.
_SIGNED: Final = (
    (0x2D, 0x00, 0x4B), (0x54, 0x27, 0x88), (0x80, 0x73, 0xAC), (0xB2, 0xAB, 0xD2), (0xD8, 0xDA, 0xEB),
    (0xF7, 0xF7, 0xF7),
    (0xFE, 0xE0, 0xB6), (0xFD, 0xB8, 0x63), (0xE0, 0x82, 0x14), (0xB3, 0x58, 0x06), (0x7F, 0x3B, 0x08),
)  # fmt: skip
_MOST_DECIMALS: Final = 12


# --- scales -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight line from values to places on the canvas; what lies outside is moved to the nearer end."""

    low: float
    high: float
    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError("a scale runs from a finite value to a larger one")

    def __call__(self, value: float) -> float:
        # The distance of two large numbers may itself be too large for a float, and half of a tiny one nothing.
        size = 0.5 if math.isinf(self.high - self.low) else 1.0
        part = (value * size - self.low * size) / (self.high * size - self.low * size)
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Ticks:
    """Round numbers along an axis, ascending, at least two, and the decimals they need."""

    values: tuple[float, ...]
    decimals: int

    @property
    def low(self) -> float:
        return self.values[0]

    @property
    def high(self) -> float:
        return self.values[-1]

    def labels(self, language: str) -> list[str]:
        return [tell_compactly(value, language, decimals=self.decimals) for value in self.values]

    def scale(self, start: float, end: float) -> Scale:
        """The scale whose ends are the first and the last tick."""
        return Scale(self.low, self.high, start, end)


def find_ticks(low: float, high: float, *, most: int = 6) -> Ticks:
    """At most so many round numbers that enclose the range, two at least; a range of one value is widened to 0."""
    if most < 3:
        raise ValueError("a range around 0 needs three ticks")
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError("ticks need a finite range")
    if low == high:
        low, high = (0.0, 1.0) if low == 0 else (min(low, 0), max(high, 0))
    with localcontext(prec=700):
        first, last = Decimal(low), Decimal(high)
        power = ((last - first) / most).adjusted()
        for candidate in range(power, power + 4):
            for digit in (1, 2, 5):
                step = Decimal(digit).scaleb(candidate)
                start = (first / step).to_integral_value(ROUND_FLOOR)
                end = (last / step).to_integral_value(ROUND_CEILING)
                if end - start < most:
                    values = [float((start + index) * step) for index in range(int(end - start) + 1)]
                    return _finish(values, candidate)
    raise AssertionError("four powers of ten always hold a step")


def _finish(values: Sequence[float], power: int) -> Ticks:
    # Near the largest float a round number may lie beyond it, and between two neighbours there is none.
    finite = sorted({value + 0.0 for value in values if math.isfinite(value)})
    if len(finite) < 2:
        finite = [finite[0], math.nextafter(finite[0], math.inf)]
    return Ticks(tuple(finite), min(max(-power, 0), _MOST_DECIMALS))


# --- colours ----------------------------------------------------------------------------------------------------------


def shade(part: float) -> str:
    """The colour of a part between 0 (light) and 1 (dark)."""
    return _mix(_SHADES, part)


def diverge(value: float) -> str:
    """The colour of a value between -1 (dark violet) and 1 (dark brown); white at 0."""
    return _mix(_SIGNED, (value + 1) / 2)


def _mix(colours: Sequence[tuple[int, int, int]], part: float) -> str:
    position = min(max(part, 0.0), 1.0) * (len(colours) - 1)
    below = min(int(position), len(colours) - 2)
    mixed = (
        round(one + (other - one) * (position - below))
        for one, other in zip(colours[below], colours[below + 1], strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def contrast_ink(background: str) -> str:
    """Ink or white, whichever stands out more on a colour (#rrggbb)."""
    light = _luminance(background)
    return INK if (light + 0.05) / (_luminance(INK) + 0.05) >= 1.05 / (light + 0.05) else PAPER


def _luminance(colour: str) -> float:
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (item / 12.92 if item <= 0.04045 else ((item + 0.055) / 1.055) ** 2.4 for item in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# --- the canvas -------------------------------------------------------------------------------------------------------


class Canvas:
    """A drawing as it grows. `height` may be set last, when it is known how far the drawing reached."""

    __slots__ = ("_parts", "height", "width")

    def __init__(self, width: float, height: float) -> None:
        if not (0 < width < math.inf and 0 <= height < math.inf):
            raise ValueError("a canvas has a finite size")
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def rectangle(
        self, x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "", thickness: float = 1
    ) -> None:
        line = _outline(stroke, thickness)
        self._parts.append(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(max(width, 0))}" '
            f'height="{_number(max(height, 0))}" fill="{fill}"{line}/>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, stroke: str = INK, thickness: float = 1, dashes: str = ""
    ) -> None:
        broken = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<line x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}" '
            f'stroke="{stroke}" stroke-width="{_number(thickness)}"{broken}/>'
        )

    def dots(
        self,
        points: Sequence[tuple[float, float]],
        *,
        radius: float,
        fill: str,
        stroke: str = "",
        thickness: float = 1,
    ) -> None:
        line = _outline(stroke, thickness)
        for x, y in points:
            self._parts.append(
                f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="{fill}"{line}/>'
            )

    def polygon(
        self, points: Sequence[tuple[float, float]], *, fill: str, stroke: str = "", thickness: float = 1
    ) -> None:
        written = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._parts.append(f'<polygon points="{written}" fill="{fill}"{_outline(stroke, thickness)}/>')

    def curve(
        self, points: Sequence[tuple[float, float]], *, stroke: str, thickness: float = 2, dashes: str = ""
    ) -> None:
        """A line through all points, without a fill."""
        broken = f' stroke-dasharray="{dashes}"' if dashes else ""
        written = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._parts.append(
            f'<polyline points="{written}" fill="none" stroke="{stroke}" stroke-width="{_number(thickness)}" '
            f'stroke-linejoin="round"{broken}/>'
        )

    def hatch(
        self, x: float, y: float, width: float, height: float, *, stroke: str, crossed: bool = False, gap: float = 6
    ) -> None:
        """Slanting lines within a rectangle; crossed by as many the other way."""
        steps = [gap * (index + 0.5) for index in range(int((width + height) / gap))]
        strokes = []
        for step in steps:
            # Where x + y = step enters and leaves the rectangle.
            left, right = max(0.0, step - height), min(step, width)
            strokes.append((x + left, y + step - left, x + right, y + step - right))
            if crossed:
                strokes.append((x + width - left, y + step - left, x + width - right, y + step - right))
        written = "".join(f"M{_number(a)} {_number(b)}L{_number(c)} {_number(d)}" for a, b, c, d in strokes)
        if written:
            self._parts.append(f'<path d="{written}" stroke="{stroke}" stroke-width="0.7" fill="none"/>')

    def text(
        self,
        x: float,
        y: float,
        content: str,
        *,
        size: float = 12,
        anchor: str = "start",
        fill: str = INK,
        bold: bool = False,
        turned: bool = False,
        halo: str = "",
    ) -> None:
        """One line, its baseline at y; turned, it runs upwards from there. A halo keeps it readable over hatching."""
        weight = ' font-weight="600"' if bold else ""
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        upwards = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if turned else ""
        around = f' stroke="{halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
        self._parts.append(
            f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" fill="{fill}"'
            f"{end}{weight}{upwards}{around}>{escape(clean(content), quote=False)}</text>"
        )

    def paragraph(
        self, x: float, y: float, lines: Sequence[str], *, leading: float, size: float, **style: str | bool
    ) -> float:
        """Lines below each other, the first baseline at y; returns where the next baseline would be."""
        for index, line in enumerate(lines):
            self.text(x, y + index * leading, line, size=size, **style)  # type: ignore[arg-type]
        return y + len(lines) * leading

    @contextmanager
    def told(self, words: str) -> Iterator[None]:
        """What is drawn within is one thing, told in full when it is pointed at."""
        self._parts.append(f"<g><title>{escape(clean(words), quote=False)}</title>")
        yield
        self._parts.append("</g>")

    def svg(self, *, title: str, words: str) -> str:
        """The drawing as an `svg` element, titled and described for those who cannot see it."""
        width, height = _number(self.width), _number(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" style="max-width:{width}px" font-family="{_FONT}">'
            f"<title>{escape(clean(title), quote=False)}</title><desc>{escape(clean(words), quote=False)}</desc>\n"
            + "\n".join(self._parts)
            + "\n</svg>"
        )


def _outline(stroke: str, thickness: float) -> str:
    return f' stroke="{stroke}" stroke-width="{_number(thickness)}"' if stroke else ""


def _number(value: float) -> str:
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written
