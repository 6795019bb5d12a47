"""Pictures of a published table, and a picture as a file of its own.

Every picture names the guarantee, epsilon and what intervals cover; a release that is not differentially private says
so in red on the picture itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discreet.errors import ParameterInvalid
from discreet.files import check_path, replace_file
from discreet.pages.page import Drawn
from discreet.tables.barchart import draw_bars
from discreet.tables.heatmap import draw_heat_map

__all__ = ["check_picture", "draw_bars", "draw_heat_map", "picture_file", "write_picture"]

_HEADER: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_BACKGROUND: Final = '<rect width="100%" height="100%" fill="#ffffff"/>'


def check_picture(path: Path) -> None:
    """Say what would stop a picture from being written here, before anything is charged."""
    if path.suffix.lower() != ".svg":
        raise ParameterInvalid(parameter="the name of a picture", rule="must end in .svg", came=f"'{path.name}'")
    check_path(path)


def picture_file(drawn: Drawn) -> str:
    """The text of a stand-alone SVG file: the drawing on white, a picture to those who hear it read."""
    svg = drawn.svg.replace("<svg ", '<svg role="img" ', 1)
    # The title must come first in the drawing to be its title; the paper goes right behind the words.
    head, mark, body = svg.partition("</desc>")
    if not mark:
        head, mark, body = svg.partition(">")
    return f"{_HEADER}{head}{mark}\n{_BACKGROUND}{body}\n"


def write_picture(drawn: Drawn, path: Path) -> None:
    """Write the file whole, or leave what was there."""
    replace_file(path, picture_file(drawn))
