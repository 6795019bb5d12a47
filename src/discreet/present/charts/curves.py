"""Curves over one axis, in panels side by side: each differs in colour and in its dashes, so that neither alone tells.

Type is large: a drawing keeps its words at half the width of a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import localise
from discreet.present.charts.drawing import GRID, INK, SOFT, Canvas, Scale, find_ticks
from discreet.present.charts.lettering import clean, text_width, wrap
from discreet.present.pages.html_page import Drawn

__all__ = ["STYLES", "Curve", "CurvePanel", "MarkedPlace", "draw_curves"]

STYLES: Final = (("#0072b2", ""), ("#d55e00", "14 7"), ("#007a5e", "3 6"), (INK, "18 6 3 6"))
"""Colours that differ in lightness too, for print and for eyes that see few colours, each with dashes of its own."""

_WIDTH: Final = 720.0
_EDGE: Final = 18.0
_MARGIN: Final = 66.0
_PLOT: Final = 270.0
_GAP: Final = 30.0
_PROSE: Final = 0.88  # of the width: DejaVu Sans, which some machines have alone, runs wider
_TITLE: Final = 25.0
_TYPE: Final = 21.0
_SAMPLE: Final = 52.0
_POINTS: Final = 160
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Curve:
    """A function with its label, and where it has a corner, so that it is drawn sharp."""

    label: str
    value: Callable[[float], float]
    corners: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MarkedPlace:
    """A place on the axis with a line up through the curves and a word; `end` makes it a band from one to the other."""

    at: float
    label: str
    end: float | None = None


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """Curves over one stretch of the axis. With `decades` the other axis is logarithmic, so far down from its top."""

    title: str
    curves: tuple[Curve, ...]
    low: float
    high: float
    marks: tuple[MarkedPlace, ...] = ()
    decades: int = 0

    def __post_init__(self) -> None:
        if not self.curves or not self.low < self.high or len(self.curves) > len(STYLES):
            raise ValueError("a panel has one to four curves over a stretch that rises")

    def places(self, curve: Curve) -> list[float]:
        """Where a curve is looked at: evenly, and at its corners."""
        even = [self.low + (self.high - self.low) * index / _POINTS for index in range(_POINTS + 1)]
        return sorted({*even, *(item for item in curve.corners if self.low < item < self.high)})

    @property
    def top(self) -> float:
        return max(curve.value(index) for curve in self.curves for index in self.places(curve))


def draw_curves(
    *, name: str, title: str, words: str, across: str, up: str, panels: Sequence[CurvePanel], language: str = "en"
) -> Drawn:
    """The figure: one legend for all panels, whose curves have the same labels in the same order."""
    labels = [curve.label for curve in panels[0].curves]
    if any([curve.label for curve in panel.curves] != labels for panel in panels):
        raise ValueError("the panels of a figure share their curves")
    canvas = Canvas(_WIDTH, 0)
    head = wrap(clean(title), _PROSE * (_WIDTH - 2 * _EDGE), _TITLE, lines=3, bold=True)
    y = canvas.paragraph(_EDGE, 32, head, leading=30, size=_TITLE, bold=True)
    y = _draw_legend(canvas, labels, y + 6)
    titled = any(panel.title for panel in panels)
    top = y + (56 if titled else 22)
    wide = (_WIDTH - 2 * _EDGE - _GAP * (len(panels) - 1)) / len(panels)
    canvas.text(_EDGE + 4, top + _PLOT / 2, up, size=_TYPE, anchor="middle", fill=SOFT,
                turned=True)  # fmt: skip
    for index, panel in enumerate(panels):
        left = _EDGE + (wide + _GAP) * index + (_MARGIN if index == 0 or panel.decades else 34)
        right = _EDGE + (wide + _GAP) * index + wide
        _draw_panel(canvas, panel, left, right, top, language)
    canvas.text(_WIDTH / 2, top + _PLOT + 58, across, size=_TYPE, anchor="middle", fill=SOFT)
    canvas.height = top + _PLOT + 74
    return Drawn(name, words, canvas.svg(title=title, words=words))


def _draw_legend(canvas: Canvas, labels: Sequence[str], y: float) -> float:
    """A sample of each line with its label, in one row or in two of the same columns; one curve needs none."""
    if len(labels) == 1:
        return y - 14
    wide = max(_SAMPLE + 10 + text_width(label, _TYPE) + 24 for label in labels)
    fits = wide * len(labels) <= _WIDTH - 2 * _EDGE + 24
    across = len(labels) if fits else -(-len(labels) // 2)
    for index, (label, (colour, dashes)) in enumerate(zip(labels, STYLES, strict=False)):
        x, line = _EDGE + wide * (index % across), y + 30 * (index // across)
        canvas.line(x, line - 7, x + _SAMPLE, line - 7, stroke=colour, thickness=4, dashes=dashes)
        canvas.text(x + _SAMPLE + 10, line, label, size=_TYPE)
    return y + 30 * ((len(labels) - 1) // across)


def _draw_panel(canvas: Canvas, panel: CurvePanel, left: float, right: float, top: float, language: str) -> None:
    foot = top + _PLOT
    across = Scale(panel.low, panel.high, left, right)
    if panel.title:
        canvas.text((left + right) / 2, top - 12, panel.title, size=_TYPE, anchor="middle", bold=True)
    up = _draw_up_axis(canvas, panel, left, right, top, language)
    ticks = find_ticks(panel.low, panel.high, most=6)
    for value, label in zip(ticks.values, ticks.labels(language), strict=True):
        if panel.low <= value <= panel.high:
            canvas.line(across(value), foot, across(value), foot + 6, stroke=SOFT)
            canvas.text(across(value), foot + 28, label, size=_TYPE, anchor="middle", fill=SOFT)
    for mark in panel.marks:
        _draw_mark(canvas, mark, across, top, foot)
    for curve, (colour, dashes) in zip(panel.curves, STYLES, strict=False):
        points = [(across(index), up(curve.value(index))) for index in panel.places(curve)]
        canvas.curve(points, stroke=colour, thickness=4, dashes=dashes)
    canvas.line(left, foot, right, foot, stroke=INK, thickness=1.5)


def _draw_up_axis(
    canvas: Canvas, panel: CurvePanel, left: float, right: float, top: float, language: str
) -> Callable[[float], float]:
    """The grid; gives where a value lies."""
    foot = top + _PLOT
    if panel.decades:
        highest = math.ceil(math.log10(panel.top))
        scale = Scale(highest - panel.decades, highest, foot, top)
        for power in range(highest - panel.decades, highest + 1):
            canvas.line(left, scale(power), right, scale(power), stroke=GRID)
            text = localise(f"{10.0**power:g}", language) if power > -3 else f"10{str(power).translate(_SUPERSCRIPT)}"
            canvas.text(left - 8, scale(power) + 7, text, size=_TYPE - 1.5, anchor="end", fill=SOFT)
        return lambda value: scale(math.log10(value)) if value > 0 else foot
    ticks = find_ticks(0, panel.top, most=5)
    scale = ticks.scale(foot, top)
    for value, label in zip(ticks.values, ticks.labels(language), strict=True):
        canvas.line(left, scale(value), right, scale(value), stroke=GRID)
        canvas.text(left - 8, scale(value) + 7, label, size=_TYPE - 1.5, anchor="end", fill=SOFT)
    return scale


def _draw_mark(canvas: Canvas, mark: MarkedPlace, across: Scale, top: float, foot: float) -> None:
    x = across(mark.at)
    if mark.end is not None:
        canvas.rectangle(x, top, across(mark.end) - x, foot - top, fill="#e8edf2")
        canvas.text((x + across(mark.end)) / 2, foot - 12, mark.label, size=_TYPE - 1.5, anchor="middle", fill=INK,
                    halo="#e8edf2")  # fmt: skip
        return
    canvas.line(x, top, x, foot, stroke=INK, thickness=1.6, dashes="2 4")
    canvas.text(x + 7, top + 20, mark.label, size=_TYPE - 1.5, fill=INK, halo="#ffffff")
