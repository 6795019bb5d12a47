"""What a bootstrap release tells about the rows beyond its nominal epsilon, and what is never let out.

Refs: [P] Sections 3.1, 4.1 and 4.3.

Two rules hold for every release. Its scales and sensitivities are not shown, because they are facts about single rows.
No cell leaves exactly: one that no row of the data can move gets no less noise than the whole table or any other cell
(`sensitivity.released_scales`) and is not left out, because a gap would tell which cells are empty or hold one person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from discreet.catalogue import Phrase, say, say_count
from discreet.errors import Refused
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary, TableKind

__all__ = ["Leak", "LeakKind", "find_leaks", "require_silent"]

CellName = TypeVar("CellName")

_TELLING: Final = ("scale", "sensitivity", "variance", "half_width", "expected_error", "parameters")


class LeakKind(StrEnum):
    """The ways in which a release tells more than its nominal epsilon."""

    EMPTY = "empty cell"
    EVERYBODY = "cell of everybody"
    ONE_PERSON = "one-person cell"
    EQUAL = "equal rows"
    SCALE = "scale"
    OUTSIDERS = "outsiders"


_KINDS: Final = {
    LeakKind.EMPTY: Phrase("empty cell"),
    LeakKind.EVERYBODY: Phrase("cell of everybody"),
    LeakKind.ONE_PERSON: Phrase("one-person cell"),
    LeakKind.EQUAL: Phrase("equal rows"),
    LeakKind.SCALE: Phrase("scale"),
    LeakKind.OUTSIDERS: Phrase("outsiders"),
}


@dataclass(frozen=True, slots=True)
class Leak:
    """One of them, in words for the custodian; `cells` are those it concerns, none where it is the whole table."""

    kind: LeakKind
    cells: tuple[str, ...]
    words: str

    @property
    def name(self) -> str:
        """Its kind in the reader's language."""
        return str(_KINDS[self.kind])

    def to_dict(self) -> dict[str, object]:
        return {"kind": str(self.kind), "cells": list(self.cells), "words": self.words}


_WORDS: Final = {
    LeakKind.EMPTY: Phrase(
        "nobody is there. The paper releases the 0 exactly, because no row of the data can change it; here such a cell "
        "has no less noise than any other."
    ),
    LeakKind.EVERYBODY: Phrase(
        "every row of the data is there. The paper releases such a count exactly, which reveals that everybody has "
        "the property; here it has no less noise than any other cell."
    ),
    LeakKind.ONE_PERSON: Phrase(
        "one row is there, so what is said of the cell is said of one person, and V is 0. With public membership the "
        "paper releases that person's value exactly; here the cell then has no less noise than any other. Join it with "
        "another, or leave it out."
    ),
    LeakKind.EQUAL: Phrase(
        "all rows there have one value, so V is 0. With public membership the paper releases the total exactly, and "
        "with it everybody's value; here the cell then has no less noise than any other."
    ),
}


def find_leaks(
    summaries: Mapping[CellName, CellSummary],
    *,
    statistic: TableKind,
    outside: bool = False,
    name: Callable[[CellName], str] = str,
) -> list[Leak]:
    """Every warning that the rows give reason for, then those that hold for any bootstrap release.

    For the custodian alone: which cells are named is a fact about the rows.
    """
    rows = sum(summary.n for summary in summaries.values())
    found: dict[LeakKind, list[str]] = {}
    for cell, summary in summaries.items():
        for kind in _kinds(summary, statistic, everybody=not outside and summary.n == rows):
            found.setdefault(kind, []).append(name(cell))
    return [
        *(Leak(kind, tuple(cells), _told(cells, _WORDS[kind])) for kind, cells in sorted(found.items())),
        *_always(),
    ]


def _kinds(summary: CellSummary, statistic: TableKind, *, everybody: bool) -> Iterator[LeakKind]:
    if not summary.n:
        yield LeakKind.EMPTY
        return
    if everybody and statistic is TableKind.COUNT:
        yield LeakKind.EVERYBODY
    if summary.n == 1:
        yield LeakKind.ONE_PERSON
    elif statistic is TableKind.TOTAL and not summary.spread:
        yield LeakKind.EQUAL


def _always() -> Iterator[Leak]:
    yield Leak(
        LeakKind.SCALE,
        (),
        say(
            "The sensitivity is a difference or a sum of two rows' values. Whoever learns the scale of the noise "
            "learns it, and with the other rows of a cell the last one: never print a scale, and show this view to "
            "nobody."
        ),
    )
    yield Leak(
        LeakKind.OUTSIDERS,
        (),
        say(
            "Nobody outside the data, or outside a declared pool, is protected. A person with a larger value than all "
            "others who joins the data later shows in the change of the noise and of the total."
        ),
    )


def _told(cells: Sequence[str], words: Phrase) -> str:
    shown = "; ".join(cells[:10])
    if len(cells) > 10:
        shown = say_count("{shown}; and {count} more", "{shown}; and {count} more", len(cells) - 10, shown=shown)
    return say("{name}: {words}", name=shown, words=words)


def require_silent(release: Mapping[str, object]) -> None:
    """Refuse release fields that would tell the noise, at whatever depth they stand."""
    for path in _telling(release, ""):
        raise Refused(
            say(
                "a bootstrap release never shows its noise, because the noise reveals single rows: field '{path}' is "
                "not allowed. Leave it out; the custodian sees it with 'discreet lab examine'.",
                path=path,
            ),
            field=path,
        )


def _telling(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            here = f"{path}.{key}" if path else str(key)
            if any(word in str(key) for word in _TELLING):
                yield here
            yield from _telling(item, here)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _telling(item, path)
