"""The one way text gets into a CSV file. What a spreadsheet could run as a formula is neutralised, numbers stay.

A spreadsheet runs what begins with `=`, `+`, `-`, `@` or `|`, some also behind blanks and in full-width letters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["cell", "csv_line", "csv_text", "is_formula", "needs_quotes", "neutralise", "quote"]

_BREAKS: Final = ("\t", "\r", "\n")
_SIGNS: Final = ("=", "+", "-", "@", "|")
_UNSEEN: Final = "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"
_DIGITS: Final = r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"
_NUMBER: Final = re.compile(rf"{_DIGITS}(\.\.{_DIGITS})?", re.ASCII)  # -5..3 is the code of a band
_QUOTED: Final = re.compile('[",\r\n]')


def is_formula(text: str) -> bool:
    """Whether a spreadsheet could run the text. A number with its sign, or a band of two, is none."""
    if text.startswith(_BREAKS):
        return True
    begins = text if text.isascii() else unicodedata.normalize("NFKC", text).strip(_UNSEEN)
    return begins.lstrip().lstrip(_UNSEEN).startswith(_SIGNS) and not _NUMBER.fullmatch(text)


def neutralise(text: str) -> str:
    """A leading apostrophe before what would be read as a formula."""
    return f"'{text}" if is_formula(text) else text


def needs_quotes(text: str) -> bool:
    """Whether a field of a CSV file must stand in quotation marks."""
    # The csv module leaves a lone carriage return bare when lines end in a line feed.
    return _QUOTED.search(text) is not None


def quote(text: str) -> str:
    """A field of a CSV file, in quotation marks where it needs them."""
    return '"' + text.replace('"', '""') + '"' if needs_quotes(text) else text


def cell(value: object) -> str:
    """A value as it stands in a CSV file: text neutralised, nothing and NaN empty, truth as yes and no."""
    if isinstance(value, str):
        return neutralise(str(value))
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def csv_line(values: Iterable[object]) -> str:
    """One line of a CSV file, with its end."""
    # A line of one empty field would be read as no line at all.
    return (",".join(quote(cell(value)) for value in values) or '""') + "\n"


def csv_text(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A whole file: names, then one line for each row."""

    def lines() -> Iterator[str]:
        yield csv_line(head)
        yield from map(csv_line, rows)

    return "".join(lines())
