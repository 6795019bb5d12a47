"""What every picture of a table carries: title, a red line where nothing is proved, marks explained, small print.

A picture is half a page of A4 wide, or a whole one where a table needs it; type has 8 points on either.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from discreet.present.charts.drawing import ALARM, INK, PAPER, SOFT, Canvas
from discreet.present.charts.lettering import clean, text_width, wrap
from discreet.present.note_list import warn_reader
from discreet.present.table_words import MARKS, MEANINGS, small_print
from discreet.results import Quality, Release

__all__ = [
    "EDGE",
    "HALF",
    "LOST",
    "PAGE",
    "TYPE",
    "WHOLE",
    "close_picture",
    "draw_marks",
    "fill_figure",
    "open_picture",
]

HALF: Final = 480.0
WHOLE: Final = 960.0
PAGE: Final = 1300.0  # how high a picture of half the width may be
PROSE: Final = 0.88  # of the width: DejaVu Sans, which some machines have alone, runs wider
TYPE: Final = 13.0  # 8 points where `HALF` is half a page wide
EDGE: Final = 16.0
LOST: Final = "#e5e7eb"
_SWATCH: Final = 18.0


def open_picture(release: Release, language: str, width: float) -> tuple[Canvas, float]:
    """A canvas with its title and, where it is due, the red line; and how far down they reach."""
    canvas = Canvas(width, 0)
    title = wrap(clean(release.title.text(language)), PROSE * (width - 2 * EDGE), 17, lines=4, bold=True)
    y = canvas.paragraph(EDGE, 28, title, leading=21, size=17, bold=True)
    if (warning := warn_reader(release, language)) is not None:
        y = _draw_alarm(canvas, y, warning)
    return canvas, y


def _draw_alarm(canvas: Canvas, y: float, warning: str) -> float:
    room = canvas.width - 2 * EDGE
    lines = wrap(_bind(clean(warning)), PROSE * (room - 20), TYPE, lines=8, bold=True)
    height = 17 * len(lines) + 11
    canvas.rectangle(EDGE, y - 5, room, height, fill="#fdecee", stroke=ALARM)
    canvas.paragraph(EDGE + 10, y + 12, lines, leading=17, size=TYPE, fill=ALARM, bold=True)
    return y + height + 10


def close_picture(canvas: Canvas, y: float, release: Release, language: str) -> None:
    """The small print below everything, and the height that is now known."""
    lines = wrap(_bind(small_print(release, language)), PROSE * (canvas.width - 2 * EDGE), TYPE, lines=12)
    canvas.height = canvas.paragraph(EDGE, y + 10, lines, leading=17, size=TYPE, fill=SOFT) + 2


def _bind(text: str) -> str:
    """Lines are not broken within an equation."""
    return text.replace(" = ", "\u00a0=\u00a0")


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
    """A swatch and words for every mark that occurs, in as many lines as they need; returns the last one's height."""
    start = x
    for quality, mark in MARKS.items():
        if quality not in present:
            continue
        words = f"{mark}\u00a0\u00a0{MEANINGS[quality].text(language)}"
        wide = _SWATCH + 6 + text_width(words, TYPE)
        if x > start and x + wide > canvas.width - EDGE:
            x, y = start, y + 20
        fill_figure(canvas, x, y - 12, _SWATCH, 15, fill=PAPER, quality=quality, stroke="#9aa3ad")
        canvas.text(x + _SWATCH + 6, y, words, size=TYPE, fill=INK)
        x += wide + 20
    return y
