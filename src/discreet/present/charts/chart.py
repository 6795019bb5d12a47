"""A chart is data: rows of panels with axes, marks and keys. One renderer makes it a drawing.

Type is large: a chart keeps its words at half the width of a page. Labels that would run into each other are left out,
names of lines are moved apart, and what is too long is broken or shortened. The same chart gives the same drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from discreet.catalogue import language, say
from discreet.present.charts.chart_axes import AxisKind, AxisScale, ChartAxis
from discreet.present.charts.chart_marks import (
    BandMark,
    BlockMarks,
    LineMark,
    Look,
    MatrixMark,
    PanelMark,
    PointMarks,
    SpanMarks,
    Spot,
    draw_shape,
)
from discreet.present.charts.drawing import GRID, INK, PAPER, SOFT, Canvas, contrast_ink, diverge
from discreet.present.charts.lettering import clean, isolate, shorten, tell_number, text_width, wrap
from discreet.present.pages.html_page import Drawn

__all__ = ["Chart", "ChartKey", "EndLabel", "KeySample", "PanelRow", "PlotPanel", "draw_chart"]

_WIDTH: Final = 640.0
_EDGE: Final = 16.0
_GAP: Final = 22.0
_TITLE: Final = 22.0
_HEAD: Final = 19.0
_TYPE: Final = 17.5  # 8 points where the chart is half a page of A4 wide
_SMALL: Final = 17.0
_ROOM: Final = _WIDTH - 2 * _EDGE
_LINE_ROOM: Final = 0.86 * _ROOM  # of lines of prose: DejaVu Sans, which some machines have alone, runs wider
_LEADING: Final = 1.22  # from one line of text to the next, in parts of its size
_NAMES: Final = 170.0
_NAMES_BESIDE: Final = 132.0  # names of lines, where several panels have some
_ENDS: Final = 216.0
_FAINT: Final = 0.1  # smaller negative values are as good as 0
_RULE: Final = "#9aa3ad"


class KeySample(StrEnum):
    """What the sample of a key shows."""

    POINT = "point"
    WHISKER = "whisker"
    LINE = "line"
    BLOCK = "block"
    HATCHED = "hatched"


_SAMPLES: Final = {
    KeySample.POINT: 12.0,
    KeySample.WHISKER: 30.0,
    KeySample.LINE: 34.0,
    KeySample.BLOCK: 24.0,
    KeySample.HATCHED: 24.0,
}


@dataclass(frozen=True, slots=True)
class ChartKey:
    """A sample of how something is drawn, and what it is."""

    text: str
    look: Look
    sample: KeySample = KeySample.POINT


@dataclass(frozen=True, slots=True)
class EndLabel:
    """The name of a line, to stand right of its last place."""

    at: Spot
    text: str
    look: Look


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """Marks over two axes. `bare` leaves out the labels of the upright axis, which the panel at its left has."""

    across: ChartAxis
    up: ChartAxis
    marks: tuple[PanelMark, ...]
    title: str = ""
    keys: tuple[ChartKey, ...] = ()
    ends: tuple[EndLabel, ...] = ()
    bare: bool = False


@dataclass(frozen=True, slots=True)
class PanelRow:
    """Panels side by side, whose plots are so high; with what they have in common above them."""

    panels: tuple[PlotPanel, ...]
    height: float
    title: str = ""
    legend: tuple[ChartKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure: its file's name, its title, what it shows in words for those who cannot see it, and its rows.

    What is `listed` stands below them, such as what numbers along an axis mean.
    """

    name: str
    title: str
    words: str
    rows: tuple[PanelRow, ...]
    subtitle: str = ""
    legend: tuple[ChartKey, ...] = ()
    listed: tuple[str, ...] = ()
    notes: str = ""
    small_print: str = ""

    def __post_init__(self) -> None:
        if not self.rows or not all(row.panels for row in self.rows):
            raise ValueError("a chart has rows of panels")


def draw_chart(chart: Chart) -> Drawn:
    """The drawing of a chart."""
    canvas = Canvas(_WIDTH, 0)
    y = _write(canvas, _EDGE, 10.0, wrap(clean(chart.title), _LINE_ROOM, _TITLE, lines=3, bold=True), _TITLE, bold=True)
    if chart.subtitle:
        y = _write(canvas, _EDGE, y + 2, wrap(clean(chart.subtitle), _LINE_ROOM, _TYPE, lines=3), _TYPE, fill=SOFT)
    y = _draw_keys(canvas, chart.legend, _EDGE, y + 4, _ROOM)
    grid = _measure(chart.rows)
    for row in chart.rows:
        y = _draw_row(canvas, row, grid, y + 10)
    y = _draw_list(canvas, chart.listed, y + 6)
    if chart.notes:
        y = _write(canvas, _EDGE, y, wrap(clean(chart.notes), _LINE_ROOM, _SMALL, lines=6), _SMALL, fill=SOFT)
    if chart.small_print:
        y = _write(canvas, _WIDTH - _EDGE, y, [clean(chart.small_print)], _SMALL, fill=SOFT, anchor="end")
    canvas.height = y + 8
    return Drawn(chart.name, chart.words, canvas.svg(title=chart.title, words=chart.words))


def _write(canvas: Canvas, x: float, top: float, lines: Sequence[str], size: float, **style: str | bool) -> float:
    """Lines from a top on; returns where they end."""
    canvas.paragraph(x, top + 0.95 * size, lines, leading=_LEADING * size, size=size, **style)
    return top + _LEADING * size * len(lines)


def _draw_list(canvas: Canvas, listed: Sequence[str], y: float) -> float:
    """In as many columns as fit; returns where they end."""
    if not listed:
        return y
    for across in range(min(4, len(listed)), 0, -1):
        rows = -(-len(listed) // across)
        columns = [[clean(text) for text in listed[at : at + rows]] for at in range(0, len(listed), rows)]
        widths = [max(text_width(text, _SMALL) for text in column) + 24 for column in columns]
        if sum(widths) - 24 <= _LINE_ROOM:
            break
    x = _EDGE
    for column, wide in zip(columns, widths, strict=True):
        _write(canvas, x, y, [shorten(text, _LINE_ROOM, _SMALL) for text in column], _SMALL)
        x += wide
    return y + rows * _LEADING * _SMALL + 8


# --- the grid ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """Columns of panels: what stands left and right of their plots, and how wide all plots are."""

    lefts: tuple[float, ...]
    rights: tuple[float, ...]
    width: float
    titles_over_plots: bool

    def start(self, column: int) -> float:
        """Where a column begins, its labels included."""
        return _EDGE + sum(self.lefts[:column]) + sum(self.rights[:column]) + column * (self.width + _GAP)

    def span(self, column: int) -> float:
        return self.lefts[column] + self.width + self.rights[column]


def _measure(rows: Sequence[PanelRow]) -> _Grid:
    columns = max(len(row.panels) for row in rows)
    panels = [[row.panels[column] for row in rows if column < len(row.panels)] for column in range(columns)]
    named = sum(any(not item.bare for item in column) for column in panels)
    widest = _NAMES if named == 1 else _NAMES_BESIDE
    lefts = tuple(max(_left_of(panel, widest) for panel in column) for column in panels)
    rights = tuple(max(_right_of(panel) for panel in column) for column in panels)
    width = (_ROOM - sum(lefts) - sum(rights) - _GAP * (columns - 1)) / columns
    titles = [(panel.title, width + rights[index]) for index, column in enumerate(panels) for panel in column]
    fit = all(text_width(clean(title), _HEAD, bold=True) <= room for title, room in titles)
    return _Grid(lefts, rights, width, fit and not any(panel.keys for column in panels for panel in column))


def _left_of(panel: PlotPanel, widest: float) -> float:
    if panel.bare:
        return 0.0
    labels = [text_width(clean(label), _TYPE) for _, label in panel.up.ticks]
    return min(max(labels, default=0.0), widest) + 10.0


def _right_of(panel: PlotPanel) -> float:
    return max((min(text_width(clean(end.text), _TYPE), _ENDS - 34) + 34 for end in panel.ends), default=0.0)


# --- rows and panels --------------------------------------------------------------------------------------------------


def _draw_row(canvas: Canvas, row: PanelRow, grid: _Grid, y: float) -> float:
    if row.title:
        y = _write(canvas, _EDGE, y, wrap(clean(row.title), _LINE_ROOM, _HEAD, lines=2, bold=True), _HEAD, bold=True)
    if row.legend:
        y = _draw_keys(canvas, row.legend, _EDGE, y + 2, _ROOM) + 6
    # The plots of a row begin at the same height: below the longest of their titles and keys.
    top = max(_draw_head(canvas, panel, grid, index, y) for index, panel in enumerate(row.panels)) + 6
    feet = []
    for index, panel in enumerate(row.panels):
        left = grid.start(index) + grid.lefts[index]
        plot = _Plot.of(panel, left, left + grid.width, top, top + row.height)
        feet.append(_draw_panel(canvas, plot, grid.lefts[index] - 10))
    return max(feet)


def _draw_head(canvas: Canvas, panel: PlotPanel, grid: _Grid, column: int, y: float) -> float:
    inset = grid.lefts[column] if grid.titles_over_plots else 0.0
    x, room = grid.start(column) + inset, grid.span(column) - inset
    if panel.title:
        y = _write(canvas, x, y, wrap(clean(panel.title), room, _HEAD, lines=2, bold=True), _HEAD, bold=True)
    return _draw_keys(canvas, panel.keys, x, y, room, between=6)


@dataclass(frozen=True, slots=True)
class _Plot:
    """A panel at its place on the canvas, with its scales."""

    panel: PlotPanel
    left: float
    right: float
    top: float
    foot: float
    across: AxisScale
    up: AxisScale

    @classmethod
    def of(cls, panel: PlotPanel, left: float, right: float, top: float, foot: float) -> _Plot:
        ends = (top, foot) if panel.up.kind is AxisKind.NAMES else (foot, top)
        return cls(panel, left, right, top, foot, panel.across.scale(left, right), panel.up.scale(*ends))


def _draw_panel(canvas: Canvas, plot: _Plot, room: float) -> float:
    """The panel; returns where its labels end below."""
    named = plot.panel.up.kind is AxisKind.NAMES
    if not any(isinstance(mark, MatrixMark) for mark in plot.panel.marks):
        _draw_grid(canvas, plot, named=named)
    for mark in plot.panel.marks:
        _draw_mark(canvas, plot, mark)
    if not plot.panel.bare:
        _draw_names(canvas, plot, room) if named else _draw_numbers(canvas, plot)
    _draw_ends(canvas, plot)
    return _draw_foot(canvas, plot)


def _draw_grid(canvas: Canvas, plot: _Plot, *, named: bool) -> None:
    for value, _ in plot.panel.across.ticks:
        x = plot.across(value)
        canvas.line(x, plot.top, x, plot.foot + 5, stroke=GRID)
    for value, _ in () if named else plot.panel.up.ticks:
        y = plot.up(value)
        canvas.line(plot.left, y, plot.right, y, stroke=GRID)
    canvas.line(plot.left, plot.foot, plot.right, plot.foot, stroke=_RULE)
    canvas.line(plot.left, plot.top, plot.left, plot.foot, stroke=_RULE)


def _draw_names(canvas: Canvas, plot: _Plot, room: float) -> None:
    """Names beside their lines, on two lines of type where they are long and there is room."""
    ticks = plot.panel.up.ticks
    high = (plot.foot - plot.top) / max(len(ticks), 1)
    most = max(1, min(2, int(high / (_TYPE * 1.05))))
    for value, label in ticks:
        lines = wrap(clean(label), room, _TYPE, lines=most)
        first = plot.up(value) + 0.34 * _TYPE - (len(lines) - 1) * _TYPE * 0.52
        canvas.paragraph(plot.left - 8, first, lines, leading=_TYPE * 1.04, size=_TYPE, anchor="end")


def _draw_numbers(canvas: Canvas, plot: _Plot) -> None:
    before = math.inf
    for value, label in sorted(plot.panel.up.ticks):
        y = plot.up(value)
        if before - y >= _TYPE:
            canvas.text(plot.left - 8, y + 0.34 * _TYPE, label, size=_TYPE, anchor="end", fill=SOFT)
            before = y


def _draw_foot(canvas: Canvas, plot: _Plot) -> float:
    """Labels below the plot, as many as stand apart; each is kept within reach of its own panel."""
    ends, foot = -math.inf, plot.foot + 6
    low, high = plot.left - _GAP / 2 + 2, plot.right + _GAP / 2 - 2
    for value, label in plot.panel.across.ticks:
        wide = text_width(label, _TYPE)
        middle = min(max(plot.across(value), low + wide / 2), max(high - wide / 2, low + wide / 2))
        if middle - wide / 2 > ends + 5:
            canvas.text(middle, foot + 0.95 * _TYPE, label, size=_TYPE, anchor="middle", fill=SOFT)
            ends = middle + wide / 2
    foot += _LEADING * _TYPE
    if not plot.panel.across.label:
        return foot
    middle = (plot.left + plot.right) / 2
    lines = wrap(clean(plot.panel.across.label), plot.right - plot.left + _GAP, _TYPE, lines=2)
    return _write(canvas, middle, foot, lines, _TYPE, anchor="middle", fill=SOFT)


# --- marks ------------------------------------------------------------------------------------------------------------


def _draw_mark(canvas: Canvas, plot: _Plot, mark: PanelMark) -> None:
    match mark:
        case PointMarks():
            _draw_points(canvas, plot, mark)
        case SpanMarks():
            for ends in mark.ends:
                _draw_span(canvas, plot, ends, mark)
        case LineMark():
            points = [_place(plot, spot) for spot in mark.places]
            canvas.curve(points, stroke=mark.colour, thickness=mark.thickness, dashes=mark.dashes)
        case BandMark():
            canvas.polygon([_place(plot, spot) for spot in mark.outline], fill=mark.fill)
        case BlockMarks():
            for corners in mark.corners:
                (x, y), (far, low) = (_place(plot, spot) for spot in corners)
                canvas.rectangle(min(x, far), min(y, low), abs(far - x), abs(low - y), fill=mark.fill)
        case MatrixMark():
            _draw_matrix(canvas, plot, mark)


def _place(plot: _Plot, spot: Spot) -> Spot:
    return plot.across(spot[0]), plot.up(spot[1])


def _draw_points(canvas: Canvas, plot: _Plot, mark: PointMarks) -> None:
    look = mark.look
    for number, spot in enumerate(mark.places):
        x, y = _place(plot, spot)
        with canvas.told(mark.told[number]) if mark.told else nullcontext():
            draw_shape(canvas, look.shape, x, y, colour=look.colour, size=mark.size, filled=look.filled)


def _draw_span(canvas: Canvas, plot: _Plot, ends: tuple[Spot, Spot], mark: SpanMarks) -> None:
    (x1, y1), (x2, y2) = (_place(plot, spot) for spot in ends)
    canvas.line(x1, y1, x2, y2, stroke=mark.colour, thickness=mark.thickness)
    across, up = plot.panel.across, plot.panel.up
    for value, height in ends:
        x, y = _place(plot, (value, height))
        way = (value > across.high) - (value < across.low)
        rise = (height > up.high) - (height < up.low)
        if way:
            canvas.polygon([(x + 3 * way, y), (x - 4 * way, y - 4), (x - 4 * way, y + 4)], fill=mark.colour)
        elif rise:
            canvas.polygon([(x, y - 3 * rise), (x - 4, y + 4 * rise), (x + 4, y + 4 * rise)], fill=mark.colour)


def _draw_matrix(canvas: Canvas, plot: _Plot, mark: MatrixMark) -> None:
    wide, high = plot.right - plot.left, plot.foot - plot.top
    number = max(len(mark.names), 1)
    if any(value is None for line in mark.lines for value in line):
        canvas.hatch(plot.left, plot.top, wide, high, stroke=_RULE, gap=12)
    for row, line in enumerate(mark.lines):
        for column, value in enumerate(line):
            if value is None:
                continue
            x, y = plot.left + wide * column / number, plot.top + high * row / number
            first, second = (isolate(clean(mark.names[index])) for index in (row, column))
            written = tell_number(value, language(), decimals=2)
            text = say("{first}, {second}: {number}", first=first, second=second, number=written)
            _draw_cell(canvas, value, (x, y, wide / number, high / number), text)


def _draw_cell(canvas: Canvas, value: float, where: tuple[float, float, float, float], text: str) -> None:
    """Coloured; a stroke marks what is negative, which print in grey would not tell."""
    x, y, wide, high = where
    fill = diverge(value)
    with canvas.told(text):
        canvas.rectangle(x, y, wide, high, fill=fill, stroke=fill, thickness=0.4)  # no hairs of white between cells
        if value < -_FAINT:
            middle, reach = y + high / 2, min(5.0, wide / 4)
            start, end = x + wide / 2 - reach, x + wide / 2 + reach
            canvas.line(start, middle, end, middle, stroke=contrast_ink(fill), thickness=1.6)


# --- keys and names of lines ------------------------------------------------------------------------------------------


def _draw_keys(
    canvas: Canvas, keys: Sequence[ChartKey], x: float, y: float, room: float, *, between: float = 18
) -> float:
    """Keys in as many lines as they need; returns where they end."""
    if not keys:
        return y
    start, line, deepest = x, _LEADING * _TYPE + 2, 1
    for key in keys:
        sample = _SAMPLES[key.sample]
        lines = wrap(clean(key.text), room - sample - 4, _TYPE, lines=2)
        wide = sample + 4 + max(text_width(text, _TYPE) for text in lines)
        if x > start and x + wide > start + room:
            x, y, deepest = start, y + deepest * line, 1
        _draw_sample(canvas, key, x, y + line / 2)
        canvas.paragraph(x + sample + 4, y + line / 2 + 0.34 * _TYPE, lines, leading=line, size=_TYPE)
        x, deepest = x + wide + between, max(deepest, len(lines))
    return y + deepest * line


def _draw_sample(canvas: Canvas, key: ChartKey, x: float, middle: float) -> None:
    look, wide = key.look, _SAMPLES[key.sample]
    if key.sample in (KeySample.BLOCK, KeySample.HATCHED):
        hatched = key.sample is KeySample.HATCHED
        fill = PAPER if hatched else look.colour
        canvas.rectangle(x, middle - 7, wide, 14, fill=fill, stroke=_RULE, thickness=0.6)
        if hatched:
            canvas.hatch(x, middle - 7, wide, 14, stroke=_RULE)
        return
    if key.sample is not KeySample.POINT:
        thickness = 2.0 if key.sample is KeySample.WHISKER else 2.5
        canvas.line(x, middle, x + wide, middle, stroke=look.colour, thickness=thickness, dashes=look.dashes)
    if key.sample is not KeySample.LINE:
        draw_shape(canvas, look.shape, x + wide / 2, middle, colour=look.colour, size=5, filled=look.filled)


def _draw_ends(canvas: Canvas, plot: _Plot) -> None:
    """Each line's name at its right end with its point; a thin line leads there where names had to be moved apart."""
    ends = sorted(plot.panel.ends, key=lambda end: (-plot.up(end.at[1]), end.text))
    names = [wrap(clean(end.text), _ENDS - 34, _TYPE, lines=2) for end in ends]
    wanted = [plot.up(end.at[1]) for end in ends]
    for end, name, y in zip(ends, names, _spread(wanted, [*map(len, names)], plot.top, plot.foot), strict=True):
        x = plot.right + 16
        start, height = _place(plot, end.at)
        canvas.line(min(start + 7, plot.right), height, x - 6, y, stroke=end.look.colour, thickness=0.8)
        draw_shape(canvas, end.look.shape, x, y, colour=end.look.colour, size=5, filled=end.look.filled)
        first = y + 0.34 * _TYPE - (len(name) - 1) * _TYPE * 0.52
        canvas.paragraph(x + 12, first, name, leading=_TYPE * 1.04, size=_TYPE, fill=INK)


def _spread(wanted: Sequence[float], lines: Sequence[int], top: float, foot: float) -> list[float]:
    """Middles of names from below upwards, their lines of type apart, as near to those wanted as the plot allows."""
    steps = [_TYPE * (1.15 + 0.52 * (lower + upper - 2)) for lower, upper in pairwise(lines)]
    placed: list[float] = []
    for index, y in enumerate(wanted):
        placed.append(min(y, placed[-1] - steps[index - 1] if placed else foot))
    if placed and placed[-1] < top:
        placed[-1] = top
        for index in range(len(placed) - 2, -1, -1):
            placed[index] = max(placed[index], placed[index + 1] + steps[index])
    return placed
