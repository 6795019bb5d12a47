"""Words and numbers as drawings show them: how wide they run, where they break, how a language writes a number.

Widths are estimates for the usual sans-serif faces, a little generous, because no font is at hand when a file is
written. Nothing here is HTML yet: `drawing` escapes what it puts into a file.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from functools import lru_cache
from typing import Final

from discreet.catalogue import localise

__all__ = [
    "begin",
    "borne_decimals",
    "clean",
    "isolate",
    "screen_width",
    "shorten",
    "tell_compactly",
    "tell_number",
    "text_width",
    "wrap",
]

# What XML 1.0 cannot hold at all, and halves of characters that no encoding can write.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SPACES: Final = re.compile(r"[\t\n\r\u2028\u2029 ]+")

_NARROW: Final = frozenset("iljItfr.,;:'|!()[]{}/\\-`’ʼ· ")
_SLIM: Final = frozenset("ckszvxyJ")
_ROUNDING: Final = 1e-9  # room that was made for a text holds it, whatever was added and taken away since
_WIDE: Final = frozenset("mwMW@%—…Œœ")
_THIN: Final = frozenset("\u2009\u200a\u202f")
# Two or three parts in a hundred more than Arial and Helvetica need; DejaVu, wider still, is not asked for.
_EM: Final = {"narrow": 0.32, "thin": 0.2, "slim": 0.51, "other": 0.56, "digit": 0.57, "upper": 0.71, "wide": 0.88}
_FULL: Final = 1.02
_BOLD: Final = 1.07
_LEFTWARDS: Final = frozenset({"R", "AL", "AN"})

_SCIENTIFIC: Final = 10**15
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def clean(text: str) -> str:
    """One line that any file can hold: controls and broken characters are replaced, spaces and breaks become one."""
    return _SPACES.sub(" ", _UNWRITABLE.sub("\ufffd", text)).strip()


def begin(text: str) -> str:
    """A sentence with a large first letter, unless its first word has capitals of its own (zCDP)."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def isolate(text: str) -> str:
    """A label inside a sentence, so that one written from right to left does not turn the words around it."""
    return f"\u2068{text}\u2069" if any(unicodedata.bidirectional(item) in _LEFTWARDS for item in text) else text


# --- widths -----------------------------------------------------------------------------------------------------------


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """About how many units a line takes at a font size."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1.0)


@lru_cache(maxsize=4096)
def _em(character: str) -> float:
    if character in _NARROW:
        return _EM["narrow"]
    if character in _SLIM:
        return _EM["slim"]
    if character in _WIDE:
        return _EM["wide"]
    if character in _THIN:
        return _EM["thin"]
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    if character.isdigit():
        return _EM["digit"]
    return _EM["upper"] if character.isupper() else _EM["other"]


def screen_width(text: str) -> int:
    """Columns a text takes in a fixed pitch: accents on their own take none, East Asian wide letters two."""
    if text.isascii():
        return len(text)
    letters = [letter for letter in text if not unicodedata.combining(letter)]
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in letters)


def shorten(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The text, or as much of its beginning as fits with an ellipsis; at least the ellipsis."""
    if text_width(text, size, bold=bold) <= width + _ROUNDING:
        return text
    room = width - text_width("…", size, bold=bold)
    kept = 0
    for character in text:
        room -= text_width(character, size, bold=bold)
        if room < 0:
            break
        kept += 1
    # A mark that belongs to the letter before it never stands alone before the ellipsis.
    while 0 < kept < len(text) and unicodedata.combining(text[kept]):
        kept -= 1
    return f"{text[:kept].rstrip()}…"


def wrap(text: str, width: float, size: float, *, lines: int, bold: bool = False) -> list[str]:
    """The text in at most so many lines, broken at spaces; the last one is shortened where it does not fit."""
    written: list[str] = []
    rest = text
    while rest and len(written) < lines - 1 and text_width(rest, size, bold=bold) > width + _ROUNDING:
        line, rest = _first_line(rest, width, size, bold=bold)
        written.append(line)
    return [*written, shorten(rest, width, size, bold=bold)] if rest or not written else written


def _first_line(text: str, width: float, size: float, *, bold: bool) -> tuple[str, str]:
    words = text.split(" ")
    for count in range(len(words) - 1, 0, -1):
        line = " ".join(words[:count])
        if text_width(line, size, bold=bold) <= width:
            return line, " ".join(words[count:])
    # A first word that is too long by itself is broken after its last hyphen that fits, else shortened.
    parts = words[0].split("-")
    for count in range(len(parts) - 1, 0, -1):
        head = "-".join(parts[:count]) + "-"
        if text_width(head, size, bold=bold) <= width:
            return head, " ".join(["-".join(parts[count:]), *words[1:]])
    return shorten(words[0], width, size, bold=bold), " ".join(words[1:])


# --- numbers ----------------------------------------------------------------------------------------------------------


def borne_decimals(widths: Iterable[float]) -> int:
    """How many decimals figures bear whose intervals are so wide: those that show the narrowest one in two digits.

    At most 9; 3 where no interval has a width.
    """
    narrowest = min((width for width in widths if 0 < width < math.inf), default=None)
    return 3 if narrowest is None else min(max(1 - math.floor(math.log10(narrowest)), 0), 9)


def tell_number(value: float | Decimal, language: str, *, decimals: int = 0, toward: int = 0) -> str:
    """A number as the language writes it: thousands apart, a true minus.

    `toward` -1 rounds down and 1 rounds up, for the ends of intervals; 0 rounds to nearest. Fractions from 10^15 on
    are written with a power of ten, because their digits would be those of the computer; whole numbers stay exact.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else "−∞" if value < 0 else "∞"
    if isinstance(value, float) and abs(value) >= _SCIENTIFIC:
        return _tell_power(value, language)
    rounding = {-1: ROUND_FLOOR, 0: ROUND_HALF_EVEN, 1: ROUND_CEILING}[toward]
    with localcontext(prec=400):
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
        return _localise(f"{abs(rounded):,f}", language, negative=rounded < 0)


def tell_compactly(value: float, language: str, *, decimals: int = 0) -> str:
    """A number for an axis: in full below a million, then in millions, from a thousand millions on as a power."""
    size = abs(value)
    if size >= 10**9 or 0 < size < 10**-5:
        return _tell_power(value, language)
    if size >= 10**6:
        millions = f"{abs(value) / 10**6:.6g}"
        return f"{_localise(millions, language, negative=value < 0)}\u00a0M"
    return tell_number(value, language, decimals=decimals)


def _tell_power(value: float, language: str) -> str:
    digits, _, power = f"{abs(value):.3e}".partition("e")
    digits = digits.rstrip("0").rstrip(".")
    head = "" if digits == "1" else f"{_localise(digits, language, negative=False)}×"
    return f"{'−' if value < 0 else ''}{head}10{str(int(power)).translate(_SUPERSCRIPT)}"


def _localise(digits: str, language: str, *, negative: bool) -> str:
    written = localise(digits, language)
    return f"−{written}" if negative else written
