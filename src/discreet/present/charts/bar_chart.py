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

from discreet.present.charts.chart_frame import EDGE, WIDTH, close_picture, draw_marks, fill_figure, open_picture
from discreet.present.charts.chart_panels import SUMMED, ChartPanel, PictureLimits, View, choose_view
from discreet.present.charts.drawing import COLOURS, GRID, INK, SOFT, Canvas, Scale, Ticks, find_ticks
from discreet.present.charts.lettering import clean, isolate, text_width, wrap
from discreet.present.pages.html_page import Drawn
from discreet.present.table_words import Writing, name_keys, tell_left_out, tell_owner
from discreet.results import Figure, Labels, Quality, Release

__all__ = ["draw_bars"]

LIMITS: Final = PictureLimits(keys=1, panels=24, lines=60, columns=1, figures=400)

_BETWEEN: Final = 28.0
_NAMES: Final = 11.0
_LINE: Final = 22.0
_FILL: Final = COLOURS[0]
_OUTLINE: Final = "#2a7fb8"
_OWN_AXES: Final = Labels("Each panel has its own axis.", "Chaque panneau a son propre axe.")
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
    """Sizes of one panel, the same for all: names to the left, the plot, figures to the right."""

    abreast: int
    width: float
    names: float
    figures: float
    titles: int

    @property
    def plot(self) -> float:
        return self.width - self.names - self.figures - 14


def draw_bars(release: Release, language: str) -> Drawn:
    """The cells of a table, or the largest margin that one picture holds; one panel for each code of the first keys."""
    view = choose_view(release, LIMITS, language)
    writing = Writing.of(release.statistic, language, compact=True)
    axes = _find_axes(view)
    canvas, y = open_picture(release, language)
    y = _draw_legend(canvas, y, view, axes, language)
    y = _draw_panels(canvas, y, view, axes, writing)
    close_picture(canvas, y, release, language)
    words = _tell(view, axes, language)
    return Drawn("bars", words, canvas.svg(title=release.title.text(language), words=words))


def _tell(view: View, axes: Sequence[_Axis], language: str) -> str:
    release = view.release
    keys = name_keys(release, view.kept, language)
    french = language == "fr"
    by = f" {'par' if french else 'by'} {keys}" if keys else ""
    said = [f"{clean(release.statistic.title.text(language))}{by}."]
    if any(map(_has_interval, view.shown())):
        owner = tell_owner(release, language)
        said.append(
            f"Barre : valeur publiée; trait : intervalle {owner} (bruit de confidentialité seul)."
            if french
            else f"Bars are published figures; lines are intervals of the {owner}s (privacy noise only)."
        )
    if len(set(axes)) > 1:
        said.append(_OWN_AXES.text(language))
    if any(axis.cuts(figure) for panel, axis in zip(view.panels, axes, strict=True) for figure in _bars(view, panel)):
        said.append(
            "Une flèche marque un intervalle qui dépasse l’axe."
            if french
            else "An arrow marks an interval that runs beyond the axis."
        )
    said.append(tell_left_out(view, language))
    return " ".join(said).strip()


# --- axes -------------------------------------------------------------------------------------------------------------


def _bars(view: View, panel: ChartPanel) -> list[Figure]:
    found = (view.find(panel, line, SUMMED) for line in view.lines)
    return [figure for figure in found if figure is not None]


def _find_axes(view: View) -> list[_Axis]:
    """One for each panel: the same for all, or its own where panels are of very different sizes."""
    own = [_find_axis(_bars(view, panel), most=7) for panel in view.panels]
    reaches = [axis.high - axis.low for axis in own]
    if _SKEWED * median(reaches) < max(reaches):
        return own
    item = _find_axis(list(view.shown()), most=10 if len(own) == 1 else 7)
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
    apart = len(set(axes)) > 1
    x = draw_marks(canvas, EDGE, y + 8, present, language)
    if apart:
        canvas.text(x, y + 8, _OWN_AXES.text(language), size=11.5)
    return y + 24 if present or apart else y


def _draw_panels(canvas: Canvas, y: float, view: View, axes: Sequence[_Axis], writing: Writing) -> float:
    look = _find_look(view, writing)
    titled = 15.0 * look.titles + 4 if look.titles else 0.0
    height = titled + len(view.lines) * _LINE + 24
    for index, (panel, axis) in enumerate(zip(view.panels, axes, strict=True)):
        row, column = divmod(index, look.abreast)
        x, top = EDGE + column * (look.width + _BETWEEN), y + row * (height + 14)
        if look.titles:
            lines = wrap(clean(panel.title), look.width, 12.5, lines=look.titles, bold=True)
            canvas.paragraph(x, top + 12, lines, leading=15, size=12.5, bold=True)
        _draw_panel(canvas, x, top + titled, view, panel, look, axis, writing)
    rows = -(-len(view.panels) // look.abreast)
    return y + rows * (height + 14) + 4


def _find_look(view: View, writing: Writing) -> _Look:
    number = len(view.panels)
    abreast = 1 if number == 1 else 2 if number in (2, 4) else 3
    width = (WIDTH - 2 * EDGE - (abreast - 1) * _BETWEEN) / abreast
    names = max(text_width(clean(view.name_line(line, writing.language)), _NAMES) for line in view.lines) + 10
    figures = max((text_width(writing.marked(figure), 10.5) for figure in view.shown()), default=0.0)
    titles = max(
        (len(wrap(clean(panel.title), width, 12.5, lines=2, bold=True)) if panel.title else 0 for panel in view.panels),
        default=0,
    )
    return _Look(abreast, width, min(names, width * 0.38), min(figures, width * 0.3), titles)


def _draw_panel(
    canvas: Canvas, x: float, y: float, view: View, panel: ChartPanel, look: _Look, axis: _Axis, writing: Writing
) -> None:
    language = writing.language
    left = x + look.names
    scale = axis.scale(left, left + look.plot)
    bottom = y + len(view.lines) * _LINE
    _draw_axis(canvas, scale, axis.ticks, y, bottom, language)
    for index, line in enumerate(view.lines):
        middle = y + (index + 0.5) * _LINE
        name = clean(view.name_line(line, language))
        _draw_name(canvas, left - 6, middle, name, look.names - 8)
        figure = view.find(panel, line, SUMMED)
        if figure is None:
            continue
        interval = writing.interval(figure)
        said = ", ".join(isolate(clean(item)) for item in (panel.title, name) if item)
        with canvas.told(f"{said}: {writing.marked(figure)}" + (f" ({interval})" if interval else "")):
            _draw_bar(canvas, figure, scale, middle)
            canvas.text(x + look.width, middle + 4, writing.marked(figure), size=10.5, anchor="end", fill=SOFT)
    canvas.line(scale(0), y, scale(0), bottom, stroke=INK)


def _draw_name(canvas: Canvas, x: float, middle: float, name: str, width: float) -> None:
    """A name on one line, or on two smaller ones."""
    if text_width(name, _NAMES) <= width:
        canvas.text(x, middle + 4, name, size=_NAMES, anchor="end")
        return
    lines = wrap(name, width, 10, lines=2)
    canvas.paragraph(x, middle + (4 if len(lines) == 1 else -1.5), lines, leading=10.5, size=10, anchor="end")


def _draw_axis(canvas: Canvas, scale: Scale, ticks: Ticks, top: float, bottom: float, language: str) -> None:
    ends = -math.inf
    for value, label in zip(ticks.values, ticks.labels(language), strict=True):
        x, wide = scale(value), text_width(label, 10)
        canvas.line(x, top, x, bottom + 3, stroke=GRID)
        if x - wide / 2 > ends + 5:
            canvas.text(x, bottom + 15, label, size=10, anchor="middle", fill=SOFT)
            ends = x + wide / 2


def _draw_bar(canvas: Canvas, figure: Figure, scale: Scale, middle: float) -> None:
    if figure.value is None:
        canvas.text(scale(0) + 5, middle + 4, "–", size=11, fill=SOFT)
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
