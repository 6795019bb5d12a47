"""The kidney data from their ARFF file, read cleanly and as the thesis read them.

Some records of the file hold stray tabs. The clean reading strips them. The thesis' reading loses every field after the
first tab of a record: inferred, because it alone gives all that the thesis prints.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import FileRefused

__all__ = ["KIDNEY_COLUMNS", "KidneyReading", "canonical_names", "read_arff"]

# fmt: off
KIDNEY_COLUMNS: Final = (
    "age", "bp", "sg", "al", "su", "rbc", "pc", "pcc", "ba", "bgr", "bu", "sc", "sod", "pot", "hemo", "pcv", "wbcc",
    "rbcc", "htn", "dm", "cad", "appet", "pe", "ane", "class",
)
# fmt: on

_SYNONYMS: Final = {"wc": "wbcc", "rc": "rbcc", "classification": "class"}
_UNKNOWN: Final = "?"


class KidneyReading(StrEnum):
    """How the tabs in the kidney file are taken."""

    CLEAN = "clean"
    THESIS = "thesis"

    @property
    def told(self) -> Phrase:
        """Which reading of kidney, in words."""
        return _TOLD[self]


_TOLD: Final = {
    KidneyReading.CLEAN: Phrase("kidney in the clean reading"),
    KidneyReading.THESIS: Phrase("kidney in the thesis reading"),
}


def canonical_names(names: list[str]) -> list[str]:
    """Column names as the thesis has them; copies in circulation call two of them otherwise."""
    plain = [name.strip().strip("'\"").strip().lower() for name in names]
    return [_SYNONYMS.get(name, name) for name in plain]


def read_arff(text: str, reading: KidneyReading, *, file: str, marks: bool = False) -> dict[str, list[str | None]]:
    """The columns as text, None where a value is missing. FileRefused names the first line that is off.

    With `marks` a '?' is kept as written: the thesis counts it as a value, and what a tab cut off it does not.
    """
    lines = enumerate(text.splitlines(), start=1)
    names = canonical_names(list(_attributes(lines, file)))
    absent = [name for name in KIDNEY_COLUMNS if name not in names]
    if absent:
        raise FileRefused(
            say(
                "'{file}' is not the chronic kidney disease file: it lacks the attributes {names}.",
                file=file,
                names=", ".join(absent),
            ),
            file=file,
        )
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        for name, field in zip(names, _fields(line, reading, len(names), file, number), strict=True):
            columns[name].append(None if field == "" or (field == _UNKNOWN and not marks) else field)
    if not columns[names[0]]:
        raise FileRefused(say("'{file}' has no records after @data.", file=file), file=file)
    return {name: columns[name] for name in KIDNEY_COLUMNS}


def _attributes(lines: Iterator[tuple[int, str]], file: str) -> Iterator[str]:
    """The names in the header; the lines are left at the first record."""
    for number, line in lines:
        words = line.split(None, 1)
        if not words or words[0].startswith("%"):
            continue
        match words[0].lower():
            case "@relation":
                continue
            case "@attribute" if len(words) == 2:
                yield _first_name(words[1])
            case "@data":
                return
            case _:
                raise FileRefused(
                    say(
                        "line {number} of '{file}' does not belong in the header of an ARFF file.",
                        number=number,
                        file=file,
                    ),
                    file=file,
                )
    raise FileRefused(
        say("'{file}' has no @data: it is not an ARFF file, or its end is missing.", file=file), file=file
    )


def _first_name(declaration: str) -> str:
    mark = declaration[0]
    if mark in "'\"" and mark in declaration[1:]:
        return declaration[1 : declaration.index(mark, 1)]
    return declaration.split(maxsplit=1)[0].partition("{")[0]


def _fields(line: str, reading: KidneyReading, width: int, file: str, number: int) -> list[str]:
    whole = _split(line)
    while len(whole) > width and not whole[-1]:
        whole.pop()
    if len(whole) != width:
        raise FileRefused(
            say(
                "line {number} of '{file}' has {found} fields; {declared} were declared.",
                number=number,
                file=file,
                found=len(whole),
                declared=width,
            ),
            file=file,
        )
    if reading is KidneyReading.THESIS and "\t" in line:
        kept = _split(line.split("\t", 1)[0])[:width]
        whole = [*kept, *[""] * (width - len(kept))]
    return whole


def _split(line: str) -> list[str]:
    [fields] = csv.reader([line], quotechar="'", skipinitialspace=True)
    return [field.strip().strip('"').strip() for field in fields]
