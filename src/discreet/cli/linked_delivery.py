"""A linked count for people: figures with their intervals, one below the other or by group, then what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import typer

from discreet.cli.screen import show_columns, show_table

if TYPE_CHECKING:
    from discreet.results import Release, Statistic

__all__ = ["show_linked"]

_TOGETHER: Final = ("count size share", "distribution", "rate", "scaled linked")
"""The first words of the statistics that stand in one table, of those that have more than one row."""

_FIGURE: Final = {"en": "figure", "fr": "chiffre"}


def show_linked(release: Release, lang: str) -> None:
    """A single row stands upright; several have a table for figures that belong together."""
    from discreet.present import list_notes, tell_level

    level = tell_level(release, lang)
    interval = f"intervalle à {level}" if lang == "fr" else f"{level} interval"
    typer.echo(release.title.text(lang))
    if len(release) == 1:
        rows = [[item.title.text(lang), *(cells[0] for cells in _write(item, lang))] for item in release.statistics]
        show_table("", [("", "left"), (_FIGURE[lang], "right"), (interval, "right")], rows)
    else:
        for place, statistics in enumerate(_tables(release)):
            typer.echo("", nl=place > 0)
            _show_table(release, statistics, interval, lang)
    typer.echo("")
    for heading, sentence in list_notes(release, lang):
        typer.echo(f"{heading}{' ' if lang == 'fr' else ''}: {sentence}")


def _tables(release: Release) -> Iterator[list[Statistic]]:
    for words in _TOGETHER:
        found = [item for item in release.statistics if item.name.partition("_")[0] in words.split()]
        if found:
            yield found


def _show_table(release: Release, statistics: list[Statistic], interval: str, lang: str) -> None:
    headings = [(heading.title.text(lang), "left") for heading in release.headings]
    cells = [
        [heading.label(figure.codes[place], lang) for figure in release.statistic.figures]
        for place, heading in enumerate(release.headings)
    ]
    for item in statistics:
        headings += [(item.title.text(lang), "right"), (interval, "right")]
        cells += _write(item, lang)
    show_columns("", headings, cells)


def _write(statistic: Statistic, lang: str) -> list[list[str]]:
    """Figures and their intervals, with the decimals that these bear."""
    from discreet.present import Writing

    writing = Writing.of(statistic, lang)
    return [
        [writing.value(figure) for figure in statistic.figures],
        [writing.interval(figure) or "–" for figure in statistic.figures],
    ]
