"""A published table: cells and margins with intervals and quality, and everything that says what they mean.

Built by `releasing` (differentially private) and by `bootstrap` (not); written by the exporters, drawn by the pictures.
All of it may be seen by anyone; nothing here holds an exact aggregate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import overload

from discreet.data.columns import Labels
from discreet.guarantees.types import Guarantee
from discreet.plan.statement import KeyFace

__all__ = ["ALL", "NOTHING", "Entry", "Figures", "Heading", "Number", "Quality", "Shown", "Table"]

Shown = int | float | str | None
Number = int | float

ALL = Labels("All", "Ensemble")
NOTHING = Labels("(no value)", "(sans valeur)")


class Quality(StrEnum):
    """How far to trust a figure: its error, or that it is left out, or a public total and no estimate.

    A mean whose group is so small that it may be nobody is not shown, and has no grade.
    """

    GOOD = "good"
    CAUTION = "caution"
    UNRELIABLE = "unreliable"
    SUPPRESSED = "suppressed"
    TOO_SMALL = "too small"
    NOT_RATED = "not rated"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Heading:
    """One key of the table: its column's name and title, and how its cells are shown."""

    name: str
    title: Labels
    face: KeyFace

    def code(self, cell: int | str | None) -> Shown:
        return self.face.shown(cell)

    def label(self, code: Shown, language: str) -> str:
        """What a reader sees for a code: its label; the code itself where it has none; words for no value."""
        if code is None:
            return NOTHING.text(language)
        if self.face.labels and code in self.face.codes:
            return self.face.labels[self.face.codes.index(str(code))].text(language)
        return str(code)


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure. `codes` has one entry for each key: a code, or None for no value and for keys summed over.

    `over` are the places of the keys summed over: empty for a cell. `value` is published; `raw` is the estimate behind
    it, to which the interval belongs. Of counts and totals, values add up and raw estimates are unbiased; a mean is its
    own raw estimate. A suppressed figure, or one of a group that is too small, has none of them; a figure that is not
    differentially private has no interval.
    In a calibrated table the value meets public totals, and interval and quality are its own; `uncalibrated` is what
    would have been published without.
    """

    codes: tuple[Shown, ...]
    over: tuple[int, ...]
    value: Number | None
    raw: Number | None
    low: Number | None
    high: Number | None
    quality: Quality
    uncalibrated: Number | None = None


class Figures(Sequence[Entry]):
    """So many entries, put together when one is first looked at: a large table has more than most readers want."""

    def __init__(self, count: int, put_together: Callable[[], list[Entry]]) -> None:
        self._count = count
        self._put_together = put_together

    @cached_property
    def _entries(self) -> list[Entry]:
        entries = self._put_together()
        assert len(entries) == self._count, "a table has as many figures as it says"
        return entries

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @overload
    def __getitem__(self, place: int) -> Entry: ...

    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...

    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        return self._entries[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Table:
    """A table as published. `release` holds the release fields of an answer in JSON form, in their order.

    `statistic` says what a figure is ("Weighted count", "Total of height"); the title begins with it. `step` is the
    decimal step on which values are published, as text ("1", "0.01"); means have None. `notes` are (heading, sentence)
    pairs for people: what is promised and what the figures mean. `created` is the day on which the table was written.
    """

    dataset: str
    title: Labels
    statistic: Labels
    headings: tuple[Heading, ...]
    cells: Sequence[Entry]
    margins: Sequence[Entry]
    step: str | None
    level: str
    guarantee: Guarantee
    quality_basis: str
    release: Mapping[str, object]
    notes: tuple[tuple[Labels, Labels], ...]
    calibration: Mapping[str, object] | None = None
    created: str = ""
    description: Mapping[str, object] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether published values are whole numbers."""
        return self.step is not None and "." not in self.step

    def entries(self) -> Iterator[Entry]:
        """Cells, then margins."""
        yield from self.cells
        yield from self.margins

    def label(self, entry: Entry, place: int, language: str) -> str:
        """The label of a figure's key; "All" where it was summed over."""
        if place in entry.over:
            return ALL.text(language)
        return self.headings[place].label(entry.codes[place], language)

    def to_dict(self, language: str = "en") -> dict[str, object]:
        """Every field of the JSON form; docs/tables.md says what each means."""
        return {
            "table": {
                "title": self.title.text(language),
                "statistic": self.statistic.text(language),
                "keys": [{"column": heading.name, "title": heading.title.text(language)} for heading in self.headings],
                "step": self.step,
                **self.description,
            },
            "cells": [self._entry(entry) for entry in self.cells],
            "margins": [self._entry(entry) for entry in self.margins],
            "labels": {
                heading.name: dict(
                    zip(heading.face.codes, (label.text(language) for label in heading.face.labels), strict=False)
                )
                for heading in self.headings
                if heading.face.labels
            },
            "quality_basis": self.quality_basis,
            **({} if self.calibration is None else {"calibration": dict(self.calibration)}),
            **self.release,
        }

    def _entry(self, entry: Entry) -> dict[str, object]:
        keys = {heading.name: code for heading, code in zip(self.headings, entry.codes, strict=True)}
        figures: dict[str, object] = {
            "keys": keys,
            "value": entry.value,
            "raw": entry.raw,
            "low": entry.low,
            "high": entry.high,
            "quality": str(entry.quality),
        }
        if entry.over:
            figures["over"] = [self.headings[place].name for place in entry.over]
        if self.calibration is not None:
            figures["calibrated"] = entry.value  # the name under which programs of earlier releases look for it
            figures["uncalibrated"] = entry.uncalibrated
        return figures
