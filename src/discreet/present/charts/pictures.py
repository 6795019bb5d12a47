"""Pictures of a published table, and a picture as a file of its own.

Every picture names the guarantee, epsilon and what intervals cover; a release that is not differentially private says
so in red on the picture itself.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.files import check_path, replace_file
from discreet.paths import AnyPath, as_path
from discreet.present.charts.bar_chart import draw_bars
from discreet.present.charts.heat_map import draw_heat_map
from discreet.present.pages.html_page import Drawn
from discreet.results import Figures, Heading, KeyFace, Release, ReleaseKind, Statistic

__all__ = ["check_picture", "draw_all", "draw_bars", "draw_heat_map", "picture_file", "plot", "write_picture"]

_MOST_STATISTICS: Final = 5
_HEADER: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
_BACKGROUND: Final = '<rect width="100%" height="100%" fill="#ffffff"/>'


def check_picture(path: AnyPath) -> None:
    """Say what would stop a picture from being written here, before anything is charged."""
    path = as_path(path)
    if path.suffix.lower() != ".svg":
        raise ParameterInvalid(
            parameter=Phrase("the name of a picture"), rule=say("must end in .svg"), given=f"'{path.name}'"
        )
    check_path(path)


def draw_all(release: Release, language: str) -> list[Drawn]:
    """The pictures of a page: of a table a heat map and bars, of an answer bars for each statistic."""
    if release.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP):
        return [draw_heat_map(release, language), draw_bars(release, language)]
    # A single figure is read faster than drawn.
    return [draw_bars(item, language) for item in _views(release)] if len(release) > 1 else []


def plot(release: Release, language: str = "en") -> Drawn:
    """Bars with their intervals: of the statistic, or of the first of several; of parts, of the first of them."""
    if release.parts:
        return plot(next(iter(release.parts.values())), language)
    views = _views(release)
    if not views:
        raise ParameterInvalid(
            parameter=Phrase("a picture"), rule=say("shows at least one statistic"), given=say("keys alone")
        )
    return draw_bars(views[0], language)


def _views(release: Release) -> list[Release]:
    """A release for each statistic that has figures; rows that their keys do not tell apart are numbered."""
    shown = release
    codes = [figure.codes for figure in release.statistic.figures] if release.statistics else []
    if release.kind not in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP) and len(set(codes)) < len(codes):
        shown = _number_rows(release)
    return [_alone(shown, item) for item in shown.statistics[:_MOST_STATISTICS]]


def _alone(release: Release, statistic: Statistic) -> Release:
    """The release of one statistic, with a title that says so."""
    if len(release.statistics) == 1:
        return release
    keys = [heading.title for heading in release.headings]
    if not keys:
        return replace(release, statistics=(statistic,), title=statistic.title)
    by = reduce(lambda before, after: Phrase("{before}, {after}", before=before, after=after), keys)
    title = Phrase("{statistic} by {keys}", statistic=statistic.title, keys=by)
    return replace(release, statistics=(statistic,), title=title)


def _number_rows(release: Release) -> Release:
    row = Heading("row", Phrase("Row"), KeyFace("row", step=Fraction(1)))
    numbers = range(1, len(release) + 1)

    def numbered(item: Statistic) -> Statistic:
        margins = [replace(margin, codes=(numbers,)) for margin in item.figures.margins]
        return replace(item, figures=Figures(len(item.figures), lambda: margins))

    return replace(release, headings=(row,), statistics=tuple(map(numbered, release.statistics)))


def picture_file(drawn: Drawn) -> str:
    """The text of a stand-alone SVG file: the drawing on white, a picture to those who hear it read."""
    svg = drawn.svg.replace("<svg ", '<svg role="img" ', 1)
    # The title must come first in the drawing to be its title; the paper goes right behind the words.
    head, mark, body = svg.partition("</desc>")
    if not mark:
        head, mark, body = svg.partition(">")
    return f"{_HEADER}{head}{mark}\n{_BACKGROUND}{body}\n"


def write_picture(drawn: Drawn, path: AnyPath) -> None:
    """Write the file whole, or leave what was there."""
    replace_file(as_path(path), picture_file(drawn))
