"""Box plots in small multiples: how far replicates scatter around a value, one panel for each figure.

A box holds the middle half, its line is the median; whiskers reach the last replicate within one and a half times the
box's height, and what lies beyond is dotted, thinned where the dots would run together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import Phrase
from discreet.present.charts.drawing import COLOURS, GRID, INK, SOFT, Canvas, Scale, Ticks, find_ticks
from discreet.present.charts.lettering import clean, isolate, shorten, tell_number, text_width, wrap
from discreet.present.pages.html_page import Drawn

__all__ = ["BoxPanel", "draw_boxes"]

_WIDTH: Final = 960.0
_EDGE: Final = 16.0
_GAP: Final = 22.0
_PLOT_HEIGHT: Final = 190.0
_LEADING: Final = 16.0
_TYPE: Final = 13.0  # 8 points on a page of A4, whose width these take
_MOST_DOTS: Final = 40
_TICKS: Final = 8
# Not the colour of any box, and darker than the grid in grey.
_TRUTH: Final = "#d55e00"
_REFERENCE: Final = Phrase("value without noise")


@dataclass(frozen=True, slots=True)
class BoxPanel:
    """One panel: groups of replicates by label, and the value they scatter around, if it is known."""

    title: str
    groups: Sequence[tuple[str, Sequence[float]]]
    reference: float | None

    def __post_init__(self) -> None:
        numbers = [number for _, sample in self.groups for number in sample]
        if self.reference is not None:
            numbers.append(self.reference)
        if not all(map(math.isfinite, numbers)):
            raise ValueError("a box plot shows finite numbers")

    def reach(self) -> tuple[float, float]:
        """The least and the largest number shown; 0 twice where there is none."""
        numbers = [end for _, sample in self.groups if len(sample) for end in (min(sample), max(sample))]
        if self.reference is not None:
            numbers.append(self.reference)
        return (float(min(numbers)), float(max(numbers))) if numbers else (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Box:
    low: float
    first: float
    median: float
    third: float
    high: float
    beyond: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a panel's plot lies; its title stands above, its groups' labels below, its numbers to the left."""

    left: float
    top: float
    width: float


def draw_boxes(
    *,
    name: str,
    words: str,
    title: str,
    panels: Sequence[BoxPanel],
    across: int,
    unit: str,
    shared: bool = False,
    language: str = "en",
    reference_words: str = "",
) -> Drawn:
    """Panels side by side, `across` in a row, each with its own axis, or all with one when `shared`.

    `unit` names what the axis counts; `reference_words` what the dashed line is.
    """
    if across < 1 or not panels:
        raise ValueError("box plots have panels, and at least one in a row")
    axes = _find_axes(panels, shared=shared)
    margin = max(text_width(label, _TYPE) for axis in axes for label in axis.labels(language)) + 10
    width = (_WIDTH - 2 * _EDGE - (across - 1) * _GAP) / across - margin
    canvas = Canvas(_WIDTH, 0)
    top = _draw_heading(canvas, title, unit, panels, reference_words or _REFERENCE.text(language))
    colours = _choose_colours(panels)
    for first in range(0, len(panels), across):
        row = list(zip(panels[first : first + across], axes[first : first + across], strict=True))
        heads = [wrap(clean(panel.title), width, _TYPE, lines=2, bold=True) for panel, _ in row]
        top += _LEADING * max(map(len, heads))
        for index, (panel, axis) in enumerate(row):
            where = _Place(_EDGE + margin + index * (width + margin + _GAP), top, width)
            baseline = top - _LEADING * len(heads[index]) + 6
            canvas.paragraph(where.left, baseline, heads[index], leading=_LEADING, size=_TYPE, bold=True)
            _draw_panel(canvas, panel, axis, where, colours, language)
        top += _PLOT_HEIGHT + 2 * _LEADING + 30
    canvas.height = top - 12
    return Drawn(name, words, canvas.svg(title=title, words=words))


def _find_axes(panels: Sequence[BoxPanel], *, shared: bool) -> list[Ticks]:
    reaches = [panel.reach() for panel in panels]
    if shared:
        item = find_ticks(min(low for low, _ in reaches), max(high for _, high in reaches), most=_TICKS)
        return [item] * len(panels)
    return [find_ticks(*reach, most=_TICKS) for reach in reaches]


def _choose_colours(panels: Sequence[BoxPanel]) -> dict[str, str]:
    """One colour for a group's label in every panel."""
    labels = dict.fromkeys(label for panel in panels for label, _ in panel.groups)
    return {label: COLOURS[index % len(COLOURS)] for index, label in enumerate(labels)}


def _draw_heading(canvas: Canvas, title: str, unit: str, panels: Sequence[BoxPanel], reference: str) -> float:
    """Title, unit and what the dashed line is; returns where the panels may begin."""
    lines = wrap(clean(title), _WIDTH - 2 * _EDGE, 16, lines=2, bold=True)
    y = canvas.paragraph(_EDGE, 26, lines, leading=20, size=16, bold=True)
    x = _EDGE
    if unit:
        shown = shorten(clean(unit), _WIDTH / 2, _TYPE)
        canvas.text(x, y, shown, size=_TYPE, fill=SOFT)
        x += text_width(shown, _TYPE) + 28
    if any(panel.reference is not None for panel in panels):
        canvas.line(x, y - 4, x + 30, y - 4, stroke=_TRUTH, thickness=1.6, dashes="5 3")
        canvas.text(x + 36, y, shorten(reference, _WIDTH - x - 36 - _EDGE, _TYPE), size=_TYPE, fill=SOFT)
    return y + 22


def _draw_panel(
    canvas: Canvas, panel: BoxPanel, axis: Ticks, where: _Place, colours: dict[str, str], language: str
) -> None:
    top = where.top
    scale = axis.scale(top + _PLOT_HEIGHT, top + 4)
    right = where.left + where.width
    for value, label in zip(axis.values, axis.labels(language), strict=True):
        canvas.line(where.left, scale(value), right, scale(value), stroke=GRID)
        canvas.text(where.left - 6, scale(value) + 4.5, label, size=_TYPE, anchor="end", fill=SOFT)
    band = where.width / max(len(panel.groups), 1)
    for index, (label, sample) in enumerate(panel.groups):
        middle = where.left + band * (index + 0.5)
        lines = wrap(clean(label), band - 4, _TYPE, lines=2)
        canvas.paragraph(middle, top + _PLOT_HEIGHT + 18, lines, leading=15, size=_TYPE, anchor="middle")
        if not len(sample):
            canvas.text(middle, top + _PLOT_HEIGHT / 2, "–", anchor="middle", fill=SOFT)
            continue
        box = _summarise(sample)
        with canvas.told(_tell(label, box, axis.decimals, language)):
            _draw_box(canvas, box, scale, middle, min(band * 0.5, 56.0), colours[label])
    if panel.reference is not None:
        y = scale(panel.reference)
        canvas.line(where.left, y, right, y, stroke=_TRUTH, thickness=1.6, dashes="5 3")


def _draw_box(canvas: Canvas, box: _Box, scale: Scale, middle: float, width: float, colour: str) -> None:
    left, right = middle - width / 2, middle + width / 2
    canvas.line(middle, scale(box.low), middle, scale(box.first))
    canvas.line(middle, scale(box.third), middle, scale(box.high))
    for end in (box.low, box.high):
        canvas.line(middle - width / 4, scale(end), middle + width / 4, scale(end))
    top, bottom = scale(box.third), scale(box.first)
    canvas.rectangle(left, top, width, bottom - top, fill=colour, stroke=INK)
    canvas.line(left, scale(box.median), right, scale(box.median), thickness=2.2)
    canvas.dots([(middle, scale(value)) for value in _thin(box.beyond)], radius=1.5, fill=SOFT)


def _tell(label: str, box: _Box, decimals: int, language: str) -> str:
    """The box in words; its numbers with one digit more than the axis has."""
    first, median, third = (
        tell_number(value, language, decimals=decimals + 1) for value in (box.first, box.median, box.third)
    )
    return Phrase(
        "{label}: median {median}, middle half {first} – {third}",
        label=isolate(label),
        median=median,
        first=first,
        third=third,
    ).text(language)


# --- summaries --------------------------------------------------------------------------------------------------------


def _summarise(sample: Sequence[float]) -> _Box:
    ordered = sorted(map(float, sample))
    first, median, third = (_quantile(ordered, part) for part in (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    within = [value for value in ordered if first - reach <= value <= third + reach]
    beyond = tuple(value for value in ordered if not first - reach <= value <= third + reach)
    # Of two far-apart values none need lie within reach of the box's edge; then the whisker has no length.
    low, high = min(within[0], first), max(within[-1], third)
    return _Box(low, first, median, third, high, beyond)


def _quantile(ordered: Sequence[float], part: float) -> float:
    """Between the two nearest ranks, in proportion."""
    index = part * (len(ordered) - 1)
    below = int(index)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (index - below)


def _thin(beyond: Sequence[float]) -> list[float]:
    """At most so many dots: evenly by rank, the outermost on either side always among them."""
    if len(beyond) <= _MOST_DOTS:
        return list(beyond)
    last = len(beyond) - 1
    return [beyond[round(index * last / (_MOST_DOTS - 1))] for index in range(_MOST_DOTS)]
