"""The bar chart of a table: published figures as bars, the interval of the estimate behind each as an error bar.

One axis for all panels, so that bars can be compared across them, unless most would then be too short to see; the
picture says which. An interval that the axis cannot hold ends in an arrow; a figure without one has a bar alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from discreet.catalogue import Phrase
from discreet.present.charts.chart_frame import (
    EDGE,
    HALF,
    PAGE,
    TYPE,
    WHOLE,
    close_picture,
    draw_marks,
    fill_figure,
    open_picture,
)
from discreet.present.charts.chart_panels import SUMMED, ChartPanel, PictureLimits, View, choose_view
from discreet.present.charts.drawing import COLOURS, GRID, INK, SOFT, Canvas, Scale, Ticks, find_ticks
from discreet.present.charts.lettering import clean, text_width, wrap
from discreet.present.pages.html_page import Drawn
from discreet.present.table_words import MARKS, Owner, Writing, name_keys, tell_left_out, tell_place
from discreet.results import Figure, Quality, Release

__all__ = ["draw_bars"]

LIMITS: Final = PictureLimits(keys=1, panels=24, lines=50, columns=1, figures=200)

_BETWEEN: Final = 28.0
_LEADING: Final = 14.5
_TITLES: Final = 14.0
_LEAST: Final = 90.0  # width of a plot
_FILL: Final = COLOURS[0]
_OUTLINE: Final = "#2a7fb8"
_OWN_AXES: Final = Phrase("Each panel has its own axis.")
_CUT: Final = Phrase("An arrow marks an interval that runs beyond the axis.")
_LINES: Final = {
    Owner.FIGURE: Phrase("Bars are published figures; lines are intervals of the figures (privacy noise only)."),
    Owner.RAW: Phrase("Bars are published figures; lines are intervals of the raw estimates (privacy noise only)."),
    Owner.CALIBRATED: Phrase(
        "Bars are published figures; lines are intervals of the calibrated figures (privacy noise only)."
    ),
}
# How many times the typical panel's reach the largest may have before panels get axes of their own.
_SKEWED: Final = 4


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where an axis begins and ends, 0 within, and its ticks."""

    low: float
    high: float
    ticks: Ticks

    def scale(self, start: float, end: float) -> Scale:
        return Scale(self.low, self.high, start, end)

    def cuts(self, figure: Figure) -> bool:
        """Whether the figure's interval runs beyond the axis."""
        low, high = _ends(figure)
        return _has_interval(figure) and (low < self.low or high > self.high)


@dataclass(frozen=True, slots=True)
class _Look:
    """Sizes of one panel, the same for all: names to the left, the plot, figures to the right; a line for each bar."""

    page: float
    abreast: int
    width: float
    names: float
    figures: float
    titles: int
    line: float

    @property
    def plot(self) -> float:
        return self.width - self.names - self.figures - 14

    @property
    def titled(self) -> float:
        """The room of a panel's title."""
        return 17.0 * self.titles + 4 if self.titles else 0.0

    def height(self, lines: int) -> float:
        return self.titled + lines * self.line + 26

    def reach(self, panels: int, lines: int) -> float:
        """How far down all panels run."""
        return -(-panels // self.abreast) * (self.height(lines) + 14)


def draw_bars(release: Release, language: str) -> Drawn:
    """The cells of a table, or the largest margin that one picture holds; one panel for each code of the first keys."""
    view = choose_view(release, LIMITS, language)
    writing = Writing.of(release.statistic, language, compact=True)
    axes = _find_axes(view)
    look = _find_look(view, writing)
    canvas, y = open_picture(release, language, look.page)
    y = _draw_legend(canvas, y, view, axes, language)
    y = _draw_panels(canvas, y, view, axes, look, writing)
    close_picture(canvas, y, release, language)
    words = _tell(view, axes, language)
    return Drawn("bars", words, canvas.svg(title=release.title.text(language), words=words))


def _tell(view: View, axes: Sequence[_Axis], language: str) -> str:
    release = view.release
    statistic, keys = clean(release.statistic.title.text(language)), name_keys(release, view.kept, language)
    whole = Phrase("{statistic} by {keys}.", statistic=statistic, keys=keys).text(language)
    said = [whole if keys else f"{statistic}."]
    if any(map(_has_interval, view.shown())):
        said.append(_LINES[Owner.of(release)].text(language))
    if len(set(axes)) > 1:
        said.append(_OWN_AXES.text(language))
    if any(axis.cuts(figure) for panel, axis in zip(view.panels, axes, strict=True) for figure in _bars(view, panel)):
        said.append(_CUT.text(language))
    said.append(tell_left_out(view, language))
    return " ".join(said).strip()


# --- axes -------------------------------------------------------------------------------------------------------------


def _bars(view: View, panel: ChartPanel) -> list[Figure]:
    found = (view.find(panel, line, SUMMED) for line in view.lines)
    return [figure for figure in found if figure is not None]


def _find_axes(view: View) -> list[_Axis]:
    """One for each panel: the same for all, or its own where panels are of very different sizes."""
    own = [_find_axis(_bars(view, panel), most=5) for panel in view.panels]
    reaches = [axis.high - axis.low for axis in own] or [0.0]
    if _SKEWED * median(reaches) < max(reaches):
        return own
    item = _find_axis(list(view.shown()), most=7 if len(own) == 1 else 5)
    return [item] * len(own)


def _find_axis(entries: Sequence[Figure], *, most: int) -> _Axis:
    """From 0 over all figures, and over their intervals unless these are far wider than most."""
    values = [0.0, *(float(figure.value) for figure in entries if figure.value is not None)]
    low, high = min(values), max(values)
    intervals = [_ends(figure) for figure in entries if _has_interval(figure)]
    finite = [end for ends in intervals for end in ends if math.isfinite(end)]
    halves = [half for start, end in intervals if math.isfinite(half := (end - start) / 2)]
    reach = max(high - low, 3 * median(halves)) if halves else high - low
    bottom, top = max(min([low, *finite]), low - reach), min(max([high, *finite]), high + reach)
    if bottom == top:
        return _Axis(0.0, 1.0, Ticks((0.0, 1.0), 0))
    space = (top - bottom) * 0.02
    bottom, top = bottom - (space if bottom < 0 else 0), top + (space if top > 0 else 0)
    ticks = find_ticks(bottom, top, most=most)
    return _Axis(bottom, top, Ticks(tuple(item for item in ticks.values if bottom <= item <= top), ticks.decimals))


def _has_interval(figure: Figure) -> bool:
    return figure.low is not None or figure.high is not None


def _ends(figure: Figure) -> tuple[float, float]:
    """The ends of an interval; one that is missing has no bound."""
    low = -math.inf if figure.low is None else float(figure.low)
    return low, math.inf if figure.high is None else float(figure.high)


# --- drawing ----------------------------------------------------------------------------------------------------------


def _draw_legend(canvas: Canvas, y: float, view: View, axes: Sequence[_Axis], language: str) -> float:
    """The marks that occur, and that panels have axes of their own where they do."""
    present = {figure.quality for figure in view.shown()} - {Quality.GOOD, Quality.NOT_RATED}
    if any(quality in MARKS for quality in present):
        y = draw_marks(canvas, EDGE, y + 10, present, language) + 14
    if len(set(axes)) > 1:
        canvas.text(EDGE, y + 10, _OWN_AXES.text(language), size=TYPE)
        y += 24
    return y


def _draw_panels(canvas: Canvas, y: float, view: View, axes: Sequence[_Axis], look: _Look, writing: Writing) -> float:
    height = look.height(len(view.lines))
    for index, (panel, axis) in enumerate(zip(view.panels, axes, strict=True)):
        row, column = divmod(index, look.abreast)
        x, top = EDGE + column * (look.width + _BETWEEN), y + row * (height + 14)
        if look.titles:
            lines = wrap(clean(panel.title), look.width, _TITLES, lines=look.titles, bold=True)
            canvas.paragraph(x, top + 12, lines, leading=17, size=_TITLES, bold=True)
        _draw_panel(canvas, x, top + look.titled, view, panel, look, axis, writing)
    return y + look.reach(len(view.panels), len(view.lines)) + 4


def _find_look(view: View, writing: Writing) -> _Look:
    """Half a page wide, unless the picture would then run over the page or leave its bars no room."""
    panels, lines = len(view.panels), len(view.lines)
    for page, abreast in ((HALF, 2), (HALF, 1), (WHOLE, 3), (WHOLE, 2), (WHOLE, 1)):
        look = _measure(view, writing, page, min(abreast, max(1, panels)))
        if look.plot >= _LEAST and look.reach(panels, lines) <= PAGE * page / HALF:
            return look
    return look


def _measure(view: View, writing: Writing, page: float, abreast: int) -> _Look:
    width = (page - 2 * EDGE - (abreast - 1) * _BETWEEN) / abreast
    named = [clean(view.name_line(line, writing.language)) for line in view.lines]
    names = min(max((text_width(name, TYPE) for name in named), default=0.0) + 10, width * 0.42)
    figures = max((text_width(writing.marked(figure), TYPE) for figure in view.shown()), default=0.0)
    titles = max(
        (
            len(wrap(clean(panel.title), width, _TITLES, lines=2, bold=True)) if panel.title else 0
            for panel in view.panels
        ),
        default=0,
    )
    broken = any(text_width(name, TYPE) > names - 8 for name in named)
    line = 2 * _LEADING + 5 if broken else 24.0
    return _Look(page, abreast, width, names, min(figures, width * 0.3), titles, line)


def _draw_panel(
    canvas: Canvas, x: float, y: float, view: View, panel: ChartPanel, look: _Look, axis: _Axis, writing: Writing
) -> None:
    language = writing.language
    left = x + look.names
    scale = axis.scale(left, left + look.plot)
    bottom = y + len(view.lines) * look.line
    _draw_axis(canvas, scale, axis.ticks, y, bottom, language)
    for index, line in enumerate(view.lines):
        middle = y + (index + 0.5) * look.line
        name = clean(view.name_line(line, language))
        _draw_name(canvas, left - 6, middle, name, look.names - 8)
        figure = view.find(panel, line, SUMMED)
        if figure is None:
            continue
        with canvas.told(tell_place((panel.title, name), figure, writing)):
            _draw_bar(canvas, figure, scale, middle)
            canvas.text(x + look.width, middle + 4.5, writing.marked(figure), size=TYPE, anchor="end", fill=SOFT)
    canvas.line(scale(0), y, scale(0), bottom, stroke=INK)


def _draw_name(canvas: Canvas, x: float, middle: float, name: str, width: float) -> None:
    """A name on one line, or on two."""
    lines = wrap(name, width, TYPE, lines=2)
    first = middle + 4.5 - (len(lines) - 1) * _LEADING / 2
    canvas.paragraph(x, first, lines, leading=_LEADING, size=TYPE, anchor="end")


def _draw_axis(canvas: Canvas, scale: Scale, ticks: Ticks, top: float, bottom: float, language: str) -> None:
    ends = -math.inf
    for value, label in zip(ticks.values, ticks.labels(language), strict=True):
        x, wide = scale(value), text_width(label, TYPE)
        canvas.line(x, top, x, bottom + 3, stroke=GRID)
        if x - wide / 2 > ends + 5:
            canvas.text(x, bottom + 17, label, size=TYPE, anchor="middle", fill=SOFT)
            ends = x + wide / 2


def _draw_bar(canvas: Canvas, figure: Figure, scale: Scale, middle: float) -> None:
    if figure.value is None:
        canvas.text(scale(0) + 5, middle + 4, "–", size=TYPE, fill=SOFT)
        return
    near, far = sorted((scale(0), scale(float(figure.value))))
    fill_figure(canvas, near, middle - 7, far - near, 14, fill=_FILL, quality=figure.quality, stroke=_OUTLINE)
    if _has_interval(figure):
        _draw_interval(canvas, figure, scale, middle)


def _draw_interval(canvas: Canvas, figure: Figure, scale: Scale, middle: float) -> None:
    """A line from low to high with a stroke at each end, or an arrow where the axis ends first."""
    low, high = _ends(figure)
    start, end = scale(max(low, scale.low)), scale(min(high, scale.high))
    canvas.line(start, middle, end, middle, thickness=1.3)
    for x, beyond, way in ((start, low < scale.low, -1), (end, high > scale.high, 1)):
        if beyond:
            canvas.polygon([(x + 4 * way, middle), (x - 4 * way, middle - 4.5), (x - 4 * way, middle + 4.5)], fill=INK)
        else:
            canvas.line(x, middle - 4, x, middle + 4, thickness=1.3)
