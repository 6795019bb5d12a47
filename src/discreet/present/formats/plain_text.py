"""A release as plain text in a fixed pitch: numbers to the right with the marks of their quality, notes below.

A linked count has many statistics: one row stands upright, several have a table for figures that belong together.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from discreet.catalogue import Phrase
from discreet.present.charts.lettering import clean, screen_width
from discreet.present.crosstab import arrange, name_stand
from discreet.present.note_list import list_details, list_notes, warn_reader
from discreet.present.table_words import MARKS, Writing, tell_marks
from discreet.present.words import tell_level
from discreet.results import Figure, Release, ReleaseKind

__all__ = ["to_plain"]

_TOGETHER: Final = ("count size share", "distribution", "rate", "scaled linked")
"""The first words of the statistics of a linked count that stand in one table."""

_FIGURE: Final = Phrase("Figure")
_FULL_LINE: Final = 100
_UNMARKED: Final = "  "  # as wide as a mark


def to_plain(release: Release, language: str) -> str:
    """The figures as people lay them out; of a release with parts, one after the other."""
    if release.parts:
        return "\n".join(to_plain(part, language) for part in release.parts.values())
    warning, marks = warn_reader(release, language), tell_marks(release, language)
    told = [*list_notes(release, language), *list_details(release, language, hashes=False)]
    notes = [
        line
        for heading, sentence in told
        for line in _fold(
            Phrase("{heading}: {sentence}", heading=clean(heading), sentence=clean(sentence)).text(language)
        )
    ]
    lines = [
        *([*_fold(clean(warning)), ""] if warning else []),
        *_fold(clean(release.title.text(language))),
        "",
        *(line for table in _tables(release, language) for line in (*table, "")),
        *([marks, ""] if marks else []),
        *notes,
        "",
    ]
    return "\n".join(lines)


def _fold(sentence: str) -> list[str]:
    """Lines that a page of a fixed pitch holds; the ones after the first stand a little in."""
    return textwrap.wrap(sentence, _FULL_LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _tables(release: Release, language: str) -> Iterator[list[str]]:
    if release.kind is not ReleaseKind.LINKED:
        yield _render_grid(release, language)
    elif len(release) == 1:
        yield _render_upright(release, language)
    else:
        for words in _TOGETHER:
            chosen = [item for item in release.statistics if item.name.partition("_")[0] in words.split()]
            if chosen:
                yield _render_grid(replace(release, statistics=tuple(chosen)), language)


def _render_upright(release: Release, language: str) -> list[str]:
    rows = [["", _FIGURE.text(language), _name_interval(release, language)]]
    for item in release.statistics:
        writing, [figure] = Writing.of(item, language), item.figures
        rows.append([item.title.text(language), writing.value(figure), writing.interval(figure) or "–"])
    return _align(rows, left=1)


def _name_interval(release: Release, language: str) -> str:
    return Phrase("{level} interval", level=tell_level(release, language)).text(language)


def _render_grid(release: Release, language: str) -> list[str]:
    """A cross-tabulation in a fixed pitch: numbers to the right with the marks of their quality."""
    grid = arrange(release)
    writings = [Writing.of(grid.statistic(column), language) for column in range(len(grid.columns))]
    heads = [release.headings[index].title.text(language) for index in grid.down]
    beside = release.level is not None and release.kind not in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP)
    interval = _name_interval(release, language)
    tops = [words for top in grid.tops(language) for words in ([top, interval] if beside else [top])]
    rows = [[*map(clean, heads), *map(clean, tops)]]
    marked = {column for (_, column), figure in grid.figures.items() if _has_mark(figure)}
    for number, line in enumerate(grid.lines):
        names = [
            name_stand(release.headings[index], stand, language) for index, stand in zip(grid.down, line, strict=True)
        ]
        figures = []
        for column, writing in enumerate(writings):
            figure = grid.figures.get((number, column))
            # Digits stand below digits, whether or not a mark follows them.
            figures.append(writing.marked(figure) + (_UNMARKED if column in marked and not _has_mark(figure) else ""))
            figures += [] if not beside else ["" if figure is None else writing.interval(figure) or "–"]
        rows.append([*map(clean, names), *figures])
    return _align(rows, left=len(heads))


def _has_mark(figure: Figure | None) -> bool:
    return figure is not None and figure.value is not None and figure.quality in MARKS


def _align(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    widths = [max(map(screen_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (width - screen_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            cell + space if index < left else space + cell
            for index, (cell, space) in enumerate(zip(row, spaces, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
