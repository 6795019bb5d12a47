"""A drawing as PNG, by resvg: on request, for programs that take no SVG. Needs the extra 'png' and a font."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, Refused
from discreet.present.charts.pictures import picture_file
from discreet.present.pages.html_page import Drawn

__all__ = ["draw_png", "require_png"]

# Widths of text are reckoned for the first of these; the others run wider.
_FACES: Final = ("Arial", "Helvetica", "Liberation Sans", "Arimo", "DejaVu Sans", "Noto Sans", "Open Sans", "Verdana")
_NONE: Final = "no such face"  # else what is not found is drawn in a serif face
_PROBE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">'
    '<text y="20" font-size="20" font-family="{face}">ε</text></svg>'
)
_ZOOM: Final = 2.0


def require_png() -> None:
    """Say what would stop a PNG, before anything long is run: ExtraMissing, or Refused where no font is found."""
    if find_spec("resvg_py") is None:
        raise ExtraMissing(needed_for=Phrase("A figure as PNG"), extra="png")
    _find_face()


def draw_png(drawn: Drawn) -> bytes:
    """The drawing on white, twice as many dots as it has units."""
    require_png()
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg_string=picture_file(drawn), sans_serif_family=_find_face(), zoom=_ZOOM)


@cache
def _find_face() -> str:
    """The first known face that is installed. Without one, words would be missing and nothing would say so."""
    from resvg_py import svg_to_bytes

    blank = svg_to_bytes(svg_string=_PROBE.format(face=_NONE), serif_family=_NONE)
    for face in _FACES:
        if svg_to_bytes(svg_string=_PROBE.format(face=face), serif_family=_NONE) != blank:
            return face
    raise Refused(
        say(
            "A figure as PNG needs a font, and none was found: its words would be missing. Install one, such "
            "as Liberation Sans or DejaVu Sans (looked for: {faces}), or take the SVG.",
            faces=", ".join(_FACES),
        )
    )
