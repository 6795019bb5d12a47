"""The heat map of a table: shades that keep their order in grey, margins apart and unshaded, quality hatched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from discreet.catalogue import say, speaking
from discreet.present.charts.chart_frame import (
    EDGE,
    HALF,
    LOST,
    PAGE,
    TYPE,
    WHOLE,
    close_picture,
    draw_marks,
    fill_figure,
    open_picture,
)
from discreet.present.charts.chart_panels import SUMMED, ChartPanel, PictureLimits, View, choose_view
from discreet.present.charts.drawing import GRID, INK, PAPER, SOFT, Canvas, Ticks, contrast_ink, find_ticks, shade
from discreet.present.charts.lettering import clean, shorten, text_width, wrap
from discreet.present.crosstab import Stand
from discreet.present.pages.html_page import Drawn
from discreet.present.table_words import MARKS, Writing, name_keys, tell_left_out, tell_place
from discreet.results import ALL, Figure, Quality, Release

__all__ = ["draw_heat_map"]

LIMITS: Final = PictureLimits(keys=2, panels=24, lines=60, columns=40, figures=1600)

_APART: Final = 6.0
_BETWEEN: Final = 26.0
_LEADING: Final = 14.5
_TITLES: Final = 14.0
_UPRIGHT: Final = 46.0
_BAR: Final = 220.0
# A few large figures would leave all others equally pale; a root spreads the small ones.
_SKEWED: Final = 6
# Negative figures so small beside the largest are as pale as 0.
_FAINT: Final = 0.02


@dataclass(frozen=True, slots=True)
class _Shading:
    """From values to shades, along ticks; by square root where most figures are small beside the largest."""

    ticks: Ticks
    rooted: bool

    @classmethod
    def of(cls, values: Sequence[float]) -> _Shading:
        low, high = (min(0.0, *values), max(0.0, *values)) if values else (0.0, 0.0)
        # A little noise below 0 would cost a whole tick, and all contrast with it.
        low = 0.0 if -low < _FAINT * high else low
        if values and min(values) > 0 and (max(values) - min(values)) < min(values):
            low = min(values)
        rooted = low >= 0 and high > 0 and _SKEWED * median(values) < high
        return cls(find_ticks(low, high, most=6), rooted)

    def part(self, value: float) -> float:
        part = self.ticks.scale(0, 1)(value)
        return math.sqrt(part) if self.rooted else part


@dataclass(frozen=True, slots=True)
class _Look:
    """Sizes of one panel, the same for all: names to the left and above, cells, the margin's column and row."""

    page: float
    abreast: int
    names: float
    heads: float
    turned: bool
    cell: float
    line: float
    last_column: float
    last_line: float
    printed: bool
    whole: bool

    def width(self, columns: int) -> float:
        return self.names + columns * self.cell + (_APART + self.last_column if self.last_column else 0)

    def height(self, lines: int) -> float:
        return self.heads + lines * self.line + (_APART + self.last_line if self.last_line else 0)


def draw_heat_map(release: Release, language: str) -> Drawn:
    """The cells of a table, or the largest margin that one picture holds."""
    view = choose_view(release, LIMITS, language)
    writing = Writing.of(release.statistic, language, compact=True)
    shading = _Shading.of([float(figure.value) for figure in view.shown() if figure.value is not None])
    look = _find_look(view, writing)
    canvas, y = open_picture(release, language, look.page)
    y = _draw_legend(canvas, y + 6, view, shading, language)
    y = _draw_panels(canvas, y, view, look, shading, writing)
    close_picture(canvas, y, release, language)
    words = _tell(view, language)
    return Drawn("heat-map", words, canvas.svg(title=release.title.text(language), words=words))


def _tell(view: View, language: str) -> str:
    release = view.release
    keys = name_keys(release, view.kept, language)
    statistic = clean(release.statistic.title.text(language))
    apart = view.has_margin(lines=True) or view.has_margin(lines=False)
    with speaking(language):
        said = [
            say("{statistic} by {keys}: the darker the cell, the larger the figure.", statistic=statistic, keys=keys)
            if keys
            else say("{statistic}: the darker the cell, the larger the figure.", statistic=statistic),
            say("Margins stand apart, without colour.") if apart else "",
            tell_left_out(view, language),
        ]
    return " ".join(filter(None, said))


# --- sizes ------------------------------------------------------------------------------------------------------------


def _find_look(view: View, writing: Writing) -> _Look:
    """Half a page wide where all figures can be printed on it; else a whole one."""
    half = _measure(view, writing, HALF)
    panels = len(view.panels) + len(_sum_panel(view, writing.language))
    high = -(-panels // half.abreast) * (half.height(len(view.lines)) + _BETWEEN + 20)
    fits = half.printed and not half.turned and half.whole
    if fits and half.width(len(view.columns)) <= HALF - EDGE and high <= PAGE:
        return half
    return _measure(view, writing, WHOLE)


def _measure(view: View, writing: Writing, page: float) -> _Look:
    language = writing.language
    panels = [*view.panels, *_sum_panel(view, language)]
    names = _names_width(view, language, most=0.27 * page if len(panels) == 1 else 130.0)
    margin = _widest(view, writing, panels, [*view.lines, SUMMED], [SUMMED]) if view.has_margin(lines=False) else 0.0
    last_column = max(margin + 12, 40.0) if margin else 0.0
    beside = names + (last_column + _APART if last_column else 0)
    wanted = _widest(view, writing, panels, view.lines, view.columns)
    abreast, free = _find_room(page, len(panels), beside, max(wanted + 12, 34.0), len(view.columns))
    heads = [clean(view.name_column(column, language)) for column in view.columns]
    longest = max((text_width(head, TYPE) for head in heads), default=0)
    # Wide enough for the longest word, so that names break between words and are not turned for want of a little.
    word = max((text_width(word, TYPE) for head in heads for word in head.split()), default=0)
    named = max(longest / 2 + 14, word + 4, min(longest + 4, _UPRIGHT))
    cell = min(free, max(wanted + 12, 34.0, min(named, 110.0)))
    printed = wanted + 6 <= cell
    named_lines = [clean(view.name_line(line, language)) for line in view.lines]
    two = any(text_width(name, TYPE) > names - 8 for name in named_lines) and len(view.lines) <= 30
    line = 18.0 if len(view.lines) > 30 else 34.0 if two else 28.0 if printed else 20.0
    whole = word <= cell and all(not item.endswith("…") for name in named_lines for item in _break(name, names))
    # Names are turned where a column holds hardly a word.
    turned = cell < _UPRIGHT and longest + 4 > cell
    broken = max(len(wrap(head, cell - 2, TYPE, lines=4)) for head in heads)
    above = (min(longest, 140.0) if turned else _LEADING * broken) + 8 if any(heads) else 0.0
    below = _widest(view, writing, panels, [SUMMED], view.columns) if view.has_margin(lines=True) else 0.0
    last_line = 0.0 if not below else line if below + 6 <= cell else below + 12
    return _Look(page, abreast, names, above, turned, cell, line, last_column, last_line, printed, whole)


def _names_width(view: View, language: str, *, most: float) -> float:
    if view.axes.down is None:
        return 0.0
    names = (clean(view.name_line(line, language)) for line in view.lines)
    widest = min(max((text_width(name, TYPE) for name in names), default=0.0) + 10, most)
    return max(widest, text_width(ALL.text(language), TYPE, bold=True) + 10)


def _find_room(page: float, panels: int, beside: float, wanted: float, columns: int) -> tuple[int, float]:
    """How many panels stand abreast with cells as wide as wanted, and how wide cells may then be."""
    for abreast in range(min(panels, 6), 0, -1):
        room = (page - 2 * EDGE - (abreast - 1) * _BETWEEN) / abreast
        free = (room - beside) / columns
        if free >= wanted:
            return abreast, free
    return 1, max((page - 2 * EDGE - beside) / columns, 10.0)


def _widest(
    view: View, writing: Writing, panels: Sequence[ChartPanel], lines: Sequence[Stand], columns: Sequence[Stand]
) -> float:
    """How wide the figures at these places run, with the letters of their quality."""
    cells = ((panel, line, column) for panel in panels for line in lines for column in columns)
    return max((text_width(writing.marked(view.find(*cell)), TYPE) for cell in cells), default=0.0)


# --- drawing ----------------------------------------------------------------------------------------------------------


def _draw_legend(canvas: Canvas, y: float, view: View, shading: _Shading, language: str) -> float:
    """The shades with their numbers, unless there are none, then the marks that occur."""
    present = {figure.quality for figure in view.entries.values()}
    if any(figure.value is not None for figure in view.shown()):
        _draw_shades(canvas, y, shading, language)
        y += 42
    if any(quality in MARKS for quality in present):
        y = draw_marks(canvas, EDGE, y + 11, present, language) + 20
    return y


def _draw_shades(canvas: Canvas, y: float, shading: _Shading, language: str) -> None:
    pieces = 44
    for piece in range(pieces):
        x = EDGE + _BAR * piece / pieces
        # Each a little wider than its share: no hairs of white between them.
        canvas.rectangle(x, y, _BAR / pieces + (0.6 if piece < pieces - 1 else 0), 11, fill=shade(piece / (pieces - 1)))
    canvas.rectangle(EDGE, y, _BAR, 11, fill="none", stroke="#9aa3ad", thickness=0.6)
    ends = -math.inf
    for value, label in zip(shading.ticks.values, shading.ticks.labels(language), strict=True):
        x = EDGE + _BAR * shading.part(value)
        wide = text_width(label, TYPE)
        first = value == shading.ticks.low
        left = x if first else x - wide / 2
        if left > ends + 6:
            canvas.line(x, y + 11, x, y + 14, stroke=SOFT, thickness=0.8)
            canvas.text(x, y + 27, label, size=TYPE, fill=SOFT, anchor="start" if first else "middle")
            ends = left + wide


def _draw_panels(canvas: Canvas, y: float, view: View, look: _Look, shading: _Shading, writing: Writing) -> float:
    width, height = look.width(len(view.columns)), look.height(len(view.lines))
    panels = [*view.panels, *_sum_panel(view, writing.language)]
    titled = any(panel.title for panel in panels)
    for index, panel in enumerate(panels):
        line, column = divmod(index, look.abreast)
        x = EDGE + column * (width + _BETWEEN)
        top = y + line * (height + _BETWEEN + (18 if titled else 0))
        if titled:
            canvas.text(x, top + 10, shorten(clean(panel.title), width, _TITLES, bold=True), size=_TITLES, bold=True)
            top += 18
        _draw_panel(canvas, x, top, view, panel, look, shading, writing)
    rows = -(-len(panels) // look.abreast)
    return y + rows * (height + (18 if titled else 0)) + (rows - 1) * _BETWEEN + 16


def _sum_panel(view: View, language: str) -> list[ChartPanel]:
    """A last panel for the margin over the keys that tell panels apart, if it is published."""
    if not view.axes.outer:
        return []
    panel = ChartPanel(dict.fromkeys(view.axes.outer, SUMMED), ALL.text(language))
    published = any(view.find(panel, line, column) for line in view.lines for column in view.columns)
    return [panel] if published else []


def _draw_panel(
    canvas: Canvas, x: float, y: float, view: View, panel: ChartPanel, look: _Look, shading: _Shading, writing: Writing
) -> None:
    language = writing.language
    _draw_heads(canvas, x, y, view, look, language)
    left, top = x + look.names, y + look.heads
    lines = [*view.lines, *([SUMMED] if look.last_line else [])]
    columns = [*view.columns, *([SUMMED] if look.last_column else [])]
    for row, line in enumerate(lines):
        last = row == len(view.lines)
        line_y = top + row * look.line + (_APART if last else 0)
        line_height = look.last_line if last else look.line
        _draw_name(canvas, x, line_y + line_height / 2 + 4.5, view.name_line(line, language), look, last=last)
        for index, column in enumerate(columns):
            aside = index == len(view.columns)
            column_x = left + index * look.cell + (_APART if aside else 0)
            figure = view.find(panel, line, column)
            if figure is None:
                continue
            summed = last or aside or any(stand == SUMMED for stand in panel.stands.values())
            part = None if summed or figure.value is None else shading.part(float(figure.value))
            with canvas.told(_tell_figure(view, panel, line, column, figure, writing)):
                width = look.last_column if aside else look.cell
                _draw_figure(canvas, (column_x, line_y, width, line_height), figure, part, look, writing)


def _draw_heads(canvas: Canvas, x: float, y: float, view: View, look: _Look, language: str) -> None:
    left, bottom = x + look.names, y + look.heads - 6
    for index, column in enumerate(view.columns):
        name = clean(view.name_column(column, language))
        middle = left + (index + 0.5) * look.cell
        if look.turned:
            canvas.text(middle + 4, bottom, shorten(name, look.heads - 6, TYPE), size=TYPE, turned=True)
            continue
        lines = wrap(name, look.cell - 2, TYPE, lines=4)
        first = bottom - _LEADING * (len(lines) - 1)
        canvas.paragraph(middle, first, lines, leading=_LEADING, size=TYPE, anchor="middle")
    if look.last_column:
        middle = left + len(view.columns) * look.cell + _APART + look.last_column / 2
        canvas.text(middle, bottom, ALL.text(language), size=TYPE, anchor="middle", bold=True)


def _draw_name(canvas: Canvas, x: float, y: float, name: str, look: _Look, *, last: bool) -> None:
    """A name on one line, or on two where lines are high enough."""
    if not look.names:
        return
    if last or look.line < 2 * _LEADING:
        canvas.text(x, y, shorten(clean(name), look.names - 8, TYPE, bold=last), size=TYPE, bold=last)
        return
    lines = _break(clean(name), look.names)
    canvas.paragraph(x, y - (len(lines) - 1) * _LEADING / 2, lines, leading=_LEADING, size=TYPE)


def _break(name: str, width: float) -> list[str]:
    return wrap(name, width - 8, TYPE, lines=2)


def _draw_figure(
    canvas: Canvas,
    where: tuple[float, float, float, float],
    figure: Figure,
    part: float | None,
    look: _Look,
    writing: Writing,
) -> None:
    """One figure; a margin, whose part is None, stays white."""
    x, y, width, height = where
    fill = PAPER if part is None else shade(part)
    fill_figure(canvas, x, y, width, height, fill=fill, quality=figure.quality, stroke=GRID)
    written = writing.marked(figure)
    ink, halo = (INK, fill) if part is None else (contrast_ink(fill), fill)
    if figure.value is None:
        ink, halo = SOFT, LOST
    if figure.value is None or figure.quality in (Quality.GOOD, Quality.NOT_RATED):
        halo = ""
    wide = text_width(written, TYPE)
    # Some cells with figures and some without would look like a pattern of its own.
    if part is not None and not look.printed:
        return
    # The figures of a margin below are all turned, or none.
    turned = width == look.cell and height > look.line
    if wide + 6 <= width and not turned:
        canvas.text(x + width / 2, y + height / 2 + 4.5, written, size=TYPE, anchor="middle", fill=ink, halo=halo)
    elif wide + 6 <= height:
        bottom = y + height / 2 + wide / 2
        canvas.text(x + width / 2 + 4, bottom, written, size=TYPE, fill=ink, halo=halo, turned=True)


def _tell_figure(view: View, panel: ChartPanel, line: Stand, column: Stand, figure: Figure, writing: Writing) -> str:
    language = writing.language
    names = [panel.title, view.name_line(line, language), view.name_column(column, language)]
    return tell_place(names, figure, writing)
