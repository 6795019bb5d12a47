"""A drawing for programs that take no SVG, on request: PNG by resvg, PDF by svg2pdf. Each needs an extra and a font."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, Refused
from discreet.present.charts.pictures import picture_file
from discreet.present.pages.html_page import Drawn

__all__ = ["draw_pdf", "draw_png", "require_pdf", "require_png"]

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
    _png_face()


def require_pdf() -> None:
    """The same of a PDF."""
    if find_spec("svg2pdf_py") is None:
        raise ExtraMissing(needed_for=Phrase("A figure as PDF"), extra="pdf")
    _pdf_face()


def draw_png(drawn: Drawn) -> bytes:
    """The drawing on white, twice as many dots as it has units."""
    require_png()
    from resvg_py import svg_to_bytes

    return svg_to_bytes(svg_string=picture_file(drawn), sans_serif_family=_png_face(), zoom=_ZOOM)


def draw_pdf(drawn: Drawn) -> bytes:
    """The drawing as lines and letters that can be searched, not as dots."""
    require_pdf()
    return _write_pdf(picture_file(drawn).replace("sans-serif", f"'{_pdf_face()}', sans-serif"))


@cache
def _png_face() -> str:
    from resvg_py import svg_to_bytes

    return _find_face(lambda svg: svg_to_bytes(svg_string=svg, serif_family=_NONE))


@cache
def _pdf_face() -> str:
    return _find_face(_write_pdf)


def _write_pdf(svg: str) -> bytes:
    from svg2pdf_py import FontDatabase, svg_to_pdf

    fonts = FontDatabase()
    fonts.load_system_fonts()
    written: bytes = svg_to_pdf(svg, fonts)
    return written


def _find_face(draw: Callable[[str], bytes]) -> str:
    """The first known face that is installed. Without one, words would be missing and nothing would say so."""
    blank = draw(_PROBE.format(face=_NONE).replace("ε", ""))
    for face in _FACES:
        if len(draw(_PROBE.format(face=face))) > len(blank):
            return face
    raise Refused(
        say(
            "A figure needs a font, and none was found: its words would be missing. Install one, such as Liberation "
            "Sans or DejaVu Sans (looked for: {faces}), or take the SVG.",
            faces=", ".join(_FACES),
        )
    )
