"""What a language says in the place of an English sentence, from its compiled catalogue.

A catalogue is gettext's own file of sorted sentences (`.mo`), in which one sentence is found by halving. Reading all of
them first, as Python's gettext does, takes longer than most commands may (ADR 0043).
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import Final

from discreet.catalogue.languages import ENGLISH

__all__ = ["CatalogueFile", "catalogue_path", "is_built", "open_catalogue", "translate", "translate_count"]

_MAGIC: Final = 0x950412DE
_HEAD: Final = struct.Struct("<7I")
_ENTRY: Final = struct.Struct("<2I")


class CatalogueFile:
    """A compiled catalogue. What it does not hold is None."""

    def __init__(self, data: bytes) -> None:
        magic, _, self._count, self._originals, self._translations, *_ = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("not a compiled catalogue")
        self._data = data

    def find(self, text: str) -> str | None:
        """What stands for a sentence; forms for several numbers are apart by NUL."""
        wanted = text.encode()
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            found = self._read(self._originals, middle).partition(b"\0")[0]
            if found == wanted:
                return self._read(self._translations, middle).decode() or None
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return None

    def _read(self, table: int, index: int) -> bytes:
        length, start = _ENTRY.unpack_from(self._data, table + index * _ENTRY.size)
        return self._data[start : start + length]


def catalogue_path(lang: str) -> Path:
    return Path(__file__).parent / "locale" / lang / "LC_MESSAGES" / "discreet.mo"


def is_built(lang: str) -> bool:
    """Whether a language can be spoken. English always can: sentences stand in it."""
    return lang == ENGLISH or catalogue_path(lang).is_file()


@lru_cache(maxsize=8)
def open_catalogue(lang: str) -> CatalogueFile | None:
    """The catalogue of a language; None where it was not built."""
    try:
        return CatalogueFile(catalogue_path(lang).read_bytes())
    except FileNotFoundError:
        return None


def translate(text: str, lang: str) -> str:
    """A sentence in a language; as it stands where the language has no other."""
    if lang == ENGLISH or not text:
        return text
    return _find(text, lang) or text


def translate_count(one: str, many: str, count: int, lang: str) -> str:
    """The form of a sentence for so many."""
    if lang == ENGLISH or (found := _find(one, lang)) is None:
        return one if count == 1 else many
    forms = found.split("\0")
    # French says "0 ligne, 1 ligne, 2 lignes": its catalogue's rule is n > 1.
    return forms[-1] if count > 1 else forms[0]


@lru_cache(maxsize=4096)
def _find(text: str, lang: str) -> str | None:
    catalogue = open_catalogue(lang)
    return None if catalogue is None else catalogue.find(text)
