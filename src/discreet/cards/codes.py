"""Codes that a card does not list: what was meant, by label or by spelling."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final

from discreet.cards.columns import Labels
from discreet.catalogue import Phrase, language, say
from discreet.errors import UnknownName, nearest

__all__ = ["nearest_code", "unknown_code"]

_CODES_LISTED: Final = 12
_CODES_NEAR: Final = 0.5  # codes are short: of two signs one may be wrong


def unknown_code(given: str, codes: Sequence[str], labels: Sequence[Labels] = (), *, where: str) -> UnknownName:
    """With the code that has this label, else the nearest code or label, else the first codes."""
    named = {label.text(lang).casefold(): index for index, label in enumerate(labels) for lang in ("en", "fr")}
    index = named.get(given.casefold())
    if index is None and (spelt := nearest_code(given, codes)) is not None:
        index = codes.index(spelt)
    if index is None and (label := nearest(given.casefold(), named)) is not None:
        index = named[label]
    listed = ", ".join(codes[:_CODES_LISTED]) + (", …" if len(codes) > _CODES_LISTED else "")
    code, called = (None, "") if index is None else (codes[index], labels[index].text(language()) if labels else "")
    return UnknownName(
        sort=Phrase("code"),
        name=given,
        where=where,
        guess=code,
        called="" if called == code else called,
        otherwise=say("They are {listed}.", listed=listed),
    )


def nearest_code(given: str, codes: Sequence[str]) -> str | None:
    """The code most like what was given; of those equally like, the one that begins the same, then the first."""

    def likeness(code: str) -> tuple[float, int]:
        one, other = given.casefold(), code.casefold()
        same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
        return SequenceMatcher(None, one, other).ratio(), len(list(same))

    best = max(codes, key=likeness, default=None)
    return best if best is not None and likeness(best)[0] >= _CODES_NEAR else None
