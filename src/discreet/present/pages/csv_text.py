"""The one way a CSV file is written, by columns or by rows: fields between commas, lines that end in a line feed.

A field stands in quotation marks where it holds a comma, a quotation mark or a line break, and only there.

What a spreadsheet could run as a formula is neutralised by an apostrophe, numbers stay. A spreadsheet runs what begins
with `=`, `+`, `-`, `@` or `|`, some also behind blanks and in full-width letters; and where it splits a line at
semicolons or tabs, as it does in much of Europe, also what begins so behind one of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isnan
from typing import Any, Final

__all__ = ["cell", "csv_columns", "csv_text", "is_formula", "neutralise"]

_BREAKS: Final = ("\t", "\r", "\n")
_SIGNS: Final = ("=", "+", "-", "@", "|")
_UNSEEN: Final = "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"
_DIGITS: Final = r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"
_NUMBER: Final = re.compile(rf"{_DIGITS}(\.\.{_DIGITS})?", re.ASCII)  # -5..3 is the code of a band
_QUOTED: Final = re.compile('[",\r\n]')
_SPLITS: Final = re.compile("([;\t\r\n])")
_BARE: Final = re.compile('[A-Za-z0-9][^;\t\r\n",]*')  # begins with no sign, splits nowhere, needs no quotation marks
_NOTHING: Final = {"None", "nan"}
_PART: Final = 8_192


def is_formula(text: str) -> bool:
    """Whether a spreadsheet could run the text. A number with its sign, or a band of two, is none."""
    return text.startswith(_BREAKS) or any(map(_runs, _SPLITS.split(text)))


def neutralise(text: str) -> str:
    """A leading apostrophe before what would be read as a formula."""
    if not is_formula(text):
        return text
    safe = "".join(f"'{piece}" if _runs(piece) else piece for piece in _SPLITS.split(text))
    return f"'{safe}" if safe.startswith(_BREAKS) else safe


def cell(value: object) -> str:
    """A value as it stands in a CSV file: text neutralised, nothing and NaN empty, truth as yes and no."""
    return neutralise(str(value)) if isinstance(value, str) else _plain(value)


def csv_columns(
    head: Iterable[str], parts: Iterable[Sequence[Sequence[object]]], *, verbatim: bool = False
) -> Iterator[str]:
    """A whole file by columns, in parts: the line of names, then the lines of each part's columns.

    `verbatim` leaves formulas as they are, for what goes back into a program and is never opened by people.
    """
    yield _lines([[name] for name in head], verbatim)
    for columns in parts:
        yield _lines(columns, verbatim)


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A whole file by rows: names, then one line for each row."""
    left = iter(rows)
    taken = iter(lambda: list(islice(left, _PART)), [])
    return "".join(csv_columns(head, (list(zip(*some, strict=True)) for some in taken)))


def _runs(text: str) -> bool:
    begins = text if text.isascii() else unicodedata.normalize("NFKC", text).strip(_UNSEEN)
    return begins.lstrip().lstrip(_UNSEEN).startswith(_SIGNS) and not _NUMBER.fullmatch(text)


def _lines(columns: Sequence[Sequence[object]], verbatim: bool) -> str:
    lines = list(map(",".join, zip(*(_fields(column, verbatim) for column in columns), strict=True)))
    if len(columns) < 2:
        # A line of one empty field would be read as no line at all.
        lines = [line or '""' for line in lines]
    return "\n".join([*lines, ""])


def _fields(column: Sequence[Any], verbatim: bool) -> list[str]:
    kinds = set(map(type, column))
    if kinds == {int}:
        return list(map(str, column))
    if kinds <= {int, float, type(None)}:
        return ["" if text in _NOTHING else text for text in map(str, column)]
    write = _plain if verbatim else cell
    if kinds <= {str, type(None)}:
        # Each text is looked at once, however many lines have it.
        bare = _BARE.fullmatch
        known = {value: value if value and bare(value) else _quote(write(value)) for value in set(column)}
        return list(map(known.__getitem__, column))
    return [_quote(write(value)) for value in column]


def _plain(value: object) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _quote(text: str) -> str:
    # The csv module leaves a lone carriage return bare when lines end in a line feed.
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
