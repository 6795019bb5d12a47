"""Dot plots on a logarithmic axis: columns side by side, in each a mark for every series with its least and most.

Panels stand above each other and share the columns; each has its own axis. What is not above 0 has no place on such an
axis and is drawn at its foot. Series differ in colour and in shape, so that neither alone must tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import numeral, say
from discreet.present.charts.chart_marks import draw_shape
from discreet.present.charts.drawing import COLOURS, GRID, INK, SOFT, Canvas, Scale
from discreet.present.charts.lettering import clean, shorten, text_width, wrap
from discreet.present.pages.html_page import Drawn

__all__ = ["DotMark", "DotPanel", "DotSeries", "draw_dots"]

_WIDTH: Final = 960.0
_EDGE: Final = 16.0
_MARGIN: Final = 64.0
_PLOT_HEIGHT: Final = 250.0
_RADIUS: Final = 2.6
_LABELS: Final = 9
_TYPE: Final = 13.0  # 8 points on a page of A4, whose width these take
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SHAPES: Final = ("circle", "square", "up", "diamond", "down", "cross", "bar")


@dataclass(frozen=True, slots=True)
class DotMark:
    """One series in one column: its middle, and how far it reaches."""

    middle: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.middle, self.low, self.high))) or self.low > self.high:
            raise ValueError("a mark has finite ends that rise")


@dataclass(frozen=True, slots=True)
class DotSeries:
    """A label, its colour (#rrggbb, or one of the usual ones when empty), and a mark or None for each column."""

    label: str
    marks: tuple[DotMark | None, ...]
    colour: str = ""


@dataclass(frozen=True, slots=True)
class DotPanel:
    """One panel: its series, and a value in each column to compare with, where there is one."""

    title: str
    series: tuple[DotSeries, ...]
    references: tuple[float | None, ...] = ()

    def values(self) -> list[float]:
        """All that is above 0 and so has a place."""
        marks = [mark for item in self.series for mark in item.marks if mark is not None]
        found = [end for mark in marks for end in (mark.middle, mark.low, mark.high)]
        return [value for value in (*found, *(item for item in self.references if item is not None)) if value > 0]


def draw_dots(
    *,
    name: str,
    words: str,
    title: str,
    unit: str,
    columns: Sequence[tuple[str, str]],
    groups: Sequence[tuple[str, int]],
    panels: Sequence[DotPanel],
    reference_words: str = "",
) -> Drawn:
    """The figure. A column has a short mark, told below with its name; `groups` names runs of so many columns.

    `reference_words` says what the lines to compare with are.
    """
    if not panels or not columns or sum(count for _, count in groups) != len(columns):
        raise ValueError("a dot plot has panels and columns, each column in a group")
    canvas = Canvas(_WIDTH, 0)
    looks = _choose_looks(panels)
    top = _draw_heading(canvas, title, unit, looks, reference_words)
    for panel in panels:
        canvas.text(_EDGE, top + 4, panel.title, size=_TYPE, bold=True)
        _draw_panel(canvas, panel, top + 28, [short for short, _ in columns], groups, looks)
        top += 28 + _PLOT_HEIGHT + 26
    canvas.height = _draw_names(canvas, columns, top - 10) + 8
    return Drawn(name, words, canvas.svg(title=title, words=words))


def _choose_looks(panels: Sequence[DotPanel]) -> dict[str, tuple[str, str]]:
    """Colour and shape of each label, the same in every panel."""
    labels: dict[str, str] = {}
    for panel in panels:
        for item in panel.series:
            labels.setdefault(item.label, item.colour or COLOURS[len(labels) % len(COLOURS)])
    return {label: (colour, _SHAPES[index % len(_SHAPES)]) for index, (label, colour) in enumerate(labels.items())}


def _draw_heading(
    canvas: Canvas, title: str, unit: str, looks: dict[str, tuple[str, str]], reference_words: str
) -> float:
    y = canvas.paragraph(_EDGE, 24, wrap(clean(title), _WIDTH - 2 * _EDGE, 16, lines=2, bold=True), leading=20, size=16,
                         bold=True)  # fmt: skip
    canvas.text(_EDGE, y, shorten(clean(unit), _WIDTH - 2 * _EDGE, _TYPE), size=_TYPE, fill=SOFT)
    x, y = _EDGE, y + 20
    entries: list[tuple[str, tuple[str, str] | None]] = list(looks.items())
    if reference_words:
        entries.append((reference_words, None))
    for label, look in entries:
        wide = text_width(label, _TYPE) + 34
        if x + wide > _WIDTH - _EDGE and x > _EDGE:
            x, y = _EDGE, y + 18
        if look is None:
            canvas.line(x, y - 4, x + 12, y - 4, stroke=INK, thickness=1.4)
        else:
            draw_shape(canvas, look[1], x + 6, y - 4, colour=look[0], size=_RADIUS + 1)
        canvas.text(x + 17, y, label, size=_TYPE)
        x += wide
    return y + 26


def _draw_panel(
    canvas: Canvas,
    panel: DotPanel,
    top: float,
    columns: Sequence[str],
    groups: Sequence[tuple[str, int]],
    looks: dict[str, tuple[str, str]],
) -> None:
    left, right = _EDGE + _MARGIN, _WIDTH - _EDGE
    low, high = _decades(panel.values())
    scale = Scale(low, high, top + _PLOT_HEIGHT, top)
    _draw_axis(canvas, low, high, scale, left, right)
    band = (right - left) / len(columns)
    _draw_groups(canvas, groups, left, band, top)

    def place(value: float) -> float:
        return scale(math.log10(value)) if value > 0 else top + _PLOT_HEIGHT

    step = min(band * 0.84 / max(len(looks), 1), 7.0)
    for column, short in enumerate(columns):
        middle = left + band * (column + 0.5)
        canvas.text(middle, top + _PLOT_HEIGHT + 15, short, size=_TYPE, anchor="middle", fill=SOFT)
        reference = panel.references[column] if panel.references else None
        if reference is not None:
            y = place(reference)
            canvas.line(middle - band * 0.46, y, middle + band * 0.46, y, thickness=1.4)
        for item in panel.series:
            mark = item.marks[column]
            if mark is None:
                continue
            colour, shape = looks[item.label]
            x = middle + (list(looks).index(item.label) - (len(looks) - 1) / 2) * step
            with canvas.told(
                say(
                    "{label}: {middle:.4g} ({low:.4g} to {high:.4g})",
                    label=item.label,
                    middle=mark.middle,
                    low=mark.low,
                    high=mark.high,
                )
            ):
                if mark.low < mark.high:
                    canvas.line(x, place(mark.low), x, place(mark.high), stroke=colour, thickness=1.1)
                draw_shape(canvas, shape, x, place(mark.middle), colour=colour, size=_RADIUS)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Whole powers of ten that enclose the values, at least one apart."""
    if not values:
        return 0, 1
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _draw_axis(canvas: Canvas, low: int, high: int, scale: Scale, left: float, right: float) -> None:
    every = -(-(high - low + 1) // _LABELS)
    for power in range(low, high + 1):
        y = scale(power)
        labelled = (power - low) % every == 0
        canvas.line(left, y, right, y, stroke=GRID, thickness=1 if labelled else 0.5)
        if labelled:
            text = numeral(10.0**power, "g") if -3 <= power <= 3 else f"10{str(power).translate(_SUPERSCRIPT)}"
            canvas.text(left - 6, y + 3.5, text, size=_TYPE, anchor="end", fill=SOFT)


def _draw_groups(canvas: Canvas, groups: Sequence[tuple[str, int]], left: float, band: float, top: float) -> None:
    before = 0
    for name, count in groups:
        x = left + band * before
        if before:
            canvas.line(x, top - 12, x, top + _PLOT_HEIGHT, stroke=SOFT, thickness=0.8, dashes="3 3")
        canvas.text(x + 4, top - 4, shorten(name, band * count - 8, _TYPE), size=_TYPE, fill=SOFT)
        before += count


def _draw_names(canvas: Canvas, columns: Sequence[tuple[str, str]], top: float) -> float:
    """Which column is which, in a few columns of text; returns where it ends."""
    labels = [f"{short} {clean(name)}" for short, name in columns]
    wide = max(text_width(label, _TYPE) for label in labels) + 18
    across = max(1, int((_WIDTH - 2 * _EDGE) // wide))
    rows = -(-len(labels) // across)
    for index, label in enumerate(labels):
        canvas.text(_EDGE + wide * (index // rows), top + 16 * (index % rows) + 14, label, size=_TYPE, fill=SOFT)
    return top + 16 * rows + 8
