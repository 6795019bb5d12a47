"""A table as a long list: one line for each figure, cells first, then margins; the columns every file format shares."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from discreet.data.columns import Labels
from discreet.tables.table import Entry, Heading, Shown, Table

__all__ = ["Column", "Sort", "list_columns", "name_free"]

_FIGURES: Final = ("margin", "value", "raw", "low", "high", "quality", "uncalibrated", "guarantee")


class Sort(StrEnum):
    """What a column holds: it decides types and number formats."""

    CODE = "code"
    WORDS = "words"
    VALUE = "value"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name for machines, its title for people, and a value for each figure.

    A column of codes knows its key, whose face says whether codes are texts or numbers.
    """

    name: str
    title: Labels
    sort: Sort
    values: Sequence[Shown]
    heading: Heading | None = None


def list_columns(table: Table, language: str) -> list[Column]:
    """Every key with its label, what was summed over, and the figures.

    A key whose name is that of a figure's column gets a trailing underscore, so that no two columns share a name.
    """
    entries = list(table.entries())
    columns = list(_key_columns(table, entries, language))
    columns.append(_words("margin", Labels("Summed over", "Somme sur"), [_summed_over(table, one) for one in entries]))
    columns.append(Column("value", table.statistic, Sort.VALUE, [one.value for one in entries]))
    raw = Labels("Raw estimate", "Estimation brute")
    columns.append(Column("raw", raw, Sort.ESTIMATE, [one.raw for one in entries]))
    low = Labels(f"Low ({table.level})", f"Borne basse ({table.level})")
    columns.append(Column("low", low, Sort.ESTIMATE, [one.low for one in entries]))
    high = Labels(f"High ({table.level})", f"Borne haute ({table.level})")
    columns.append(Column("high", high, Sort.ESTIMATE, [one.high for one in entries]))
    columns.append(_words("quality", Labels("Quality", "Qualité"), [str(one.quality) for one in entries]))
    if table.calibration is not None:
        before = Labels("Before calibration", "Avant calage")
        columns.append(Column("uncalibrated", before, Sort.ESTIMATE, [one.uncalibrated for one in entries]))
    if not table.guarantee.differentially_private:
        # A line may be copied out of the file by itself, and must still say what it is.
        said = [str(table.guarantee)] * len(entries)
        columns.append(_words("guarantee", Labels("Guarantee", "Garantie"), said))
    return columns


def name_free(wanted: str, taken: Container[str]) -> str:
    """The wanted name, with trailing underscores until nobody else has it."""
    while wanted in taken:
        wanted += "_"
    return wanted


def _key_columns(table: Table, entries: Sequence[Entry], language: str) -> Iterator[Column]:
    taken = set(_FIGURES)
    for place, heading in enumerate(table.headings):
        codes = name_free(heading.name, taken)
        # The names of the keys still to come are taken too: `sex_label` may be a column of its own.
        labels = name_free(f"{heading.name}_label", taken | {codes} | {one.name for one in table.headings})
        taken |= {codes, labels}
        titles = heading.title
        code_title = Labels(f"{titles.en} (code)", f"{titles.fr} (code)")
        yield Column(codes, code_title, Sort.CODE, [one.codes[place] for one in entries], heading)
        yield Column(labels, titles, Sort.WORDS, _labels(table, entries, place, language))


def _labels(table: Table, entries: Sequence[Entry], place: int, language: str) -> list[str]:
    """Each label is looked up once: a table has a million figures, a key a few hundred codes."""
    found: dict[tuple[bool, Shown], str] = {}
    labels = []
    for entry in entries:
        stand = (place in entry.over, entry.codes[place])
        if stand not in found:
            found[stand] = table.label(entry, place, language)
        labels.append(found[stand])
    return labels


def _words(name: str, title: Labels, values: Sequence[str]) -> Column:
    return Column(name, title, Sort.WORDS, values)


def _summed_over(table: Table, entry: Entry) -> str:
    return "+".join(table.headings[place].name for place in entry.over)
