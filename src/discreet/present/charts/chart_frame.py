"""What every picture of a table carries: title, a red line where nothing is proved, marks explained, small print."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from discreet.present.charts.drawing import ALARM, INK, PAPER, SOFT, Canvas
from discreet.present.charts.lettering import clean, text_width, wrap
from discreet.present.note_list import warn_reader
from discreet.present.table_words import MARKS, MEANINGS, small_print
from discreet.results import Quality, Release

__all__ = ["EDGE", "LOST", "WIDTH", "close_picture", "draw_marks", "fill_figure", "open_picture"]

WIDTH: Final = 960.0
EDGE: Final = 16.0
LOST: Final = "#e5e7eb"
_SWATCH: Final = 18.0


def open_picture(release: Release, language: str) -> tuple[Canvas, float]:
    """A canvas with its title and, where it is due, the red line; and how far down they reach."""
    canvas = Canvas(WIDTH, 0)
    room = WIDTH - 2 * EDGE
    title = wrap(clean(release.title.text(language)), room, 17, lines=4, bold=True)
    y = canvas.paragraph(EDGE, 28, title, leading=21, size=17, bold=True)
    if (warning := warn_reader(release, language)) is not None:
        y = _draw_alarm(canvas, y, warning)
    return canvas, y


def _draw_alarm(canvas: Canvas, y: float, warning: str) -> float:
    lines = wrap(clean(warning), WIDTH - 2 * EDGE - 20, 13, lines=4, bold=True)
    height = 17 * len(lines) + 11
    canvas.rectangle(EDGE, y - 5, WIDTH - 2 * EDGE, height, fill="#fdecee", stroke=ALARM)
    canvas.paragraph(EDGE + 10, y + 12, lines, leading=17, size=13, fill=ALARM, bold=True)
    return y + height + 10


def close_picture(canvas: Canvas, y: float, release: Release, language: str) -> None:
    """The small print below everything, and the height that is now known."""
    lines = wrap(small_print(release, language), WIDTH - 2 * EDGE, 11, lines=4)
    canvas.height = canvas.paragraph(EDGE, y + 8, lines, leading=15, size=11, fill=SOFT) + 2


def fill_figure(
    canvas: Canvas, x: float, y: float, width: float, height: float, *, fill: str, quality: Quality, stroke: str = ""
) -> None:
    """A rectangle with its quality: slanting lines for caution, crossed ones for unreliable, grey for no figure."""
    lost = quality in (Quality.SUPPRESSED, Quality.TOO_SMALL)
    canvas.rectangle(x, y, width, height, fill=LOST if lost else fill, stroke=stroke)
    if quality in (Quality.CAUTION, Quality.UNRELIABLE):
        dark = fill != PAPER and int(fill[1:3], 16) < 0x60
        line = "#b9cfe2" if dark else "#8a97a6"
        canvas.hatch(x, y, width, height, stroke=line, crossed=quality is Quality.UNRELIABLE)


def draw_marks(canvas: Canvas, x: float, y: float, present: Collection[Quality], language: str) -> float:
    """A swatch and words for every mark that occurs, from x on; returns where the last one ends."""
    for quality, mark in MARKS.items():
        if quality not in present:
            continue
        words = f"{mark}\u00a0\u00a0{MEANINGS[quality].text(language)}"
        fill_figure(canvas, x, y - 12, _SWATCH, 15, fill=PAPER, quality=quality, stroke="#9aa3ad")
        canvas.text(x + _SWATCH + 6, y, words, size=11.5, fill=INK)
        x += _SWATCH + 6 + text_width(words, 11.5) + 22
    return x
