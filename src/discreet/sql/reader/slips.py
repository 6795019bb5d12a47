"""Slips of the pen in a statement: words of SQL, decimal commas, codes. Guessed from text and card, never from rows.

A word or a comma is mended only where the statement can then be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeVar

from discreet.catalogue import say
from discreet.errors import DiscreetError, QueryRefused, nearest

__all__ = ["find_commas", "find_words", "guess_function", "read_mended"]

_KEYWORDS: Final = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "WITH", "DISTINCT", "AS", "ASC",
    "DESC", "JOIN", "LEFT", "INNER", "ON", "USING", "AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "CASE", "WHEN",
    "THEN", "ELSE", "END",
)  # fmt: skip
_PHRASES: Final = ("GROUP BY", "ORDER BY")
_OTHERS: Final = frozenset({"DELETE", "INSERT", "UPDATE", "CREATE", "DROP", "ALTER", "MERGE", "COPY"})
_FUNCTIONS: Final = (
    "COUNT", "SUM", "AVG", "WAVG", "VAR", "VARIANCE", "STDDEV", "MEDIAN", "QUANTILE", "MIN", "MAX", "CLAMP", "ABS",
)  # fmt: skip
# Texts and quoted names are stepped over as they are.
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[A-Za-z_]\w*|\d(?:[\d.,]*\d)?|.", re.DOTALL | re.ASCII)
_COMMA: Final = re.compile(r"(?<=\d),(?=\d)", re.ASCII)
_Read = TypeVar("_Read")

_MOST_TRIED: Final = 12
_LONGEST: Final = 2_000  # every guess is a parse


def read_mended(sql: str, read: Callable[[str], _Read], *, words: bool = False) -> _Read:
    """What is read, or its refusal with a likely slip: a decimal comma, and with `words` a mistyped word of SQL."""
    try:
        return read(sql)
    except QueryRefused as refusal:

        def reads(mended: str) -> bool:
            try:
                return bool(read(mended))
            except DiscreetError:
                return False

        slip = find_words(sql, reads) if words else ""
        if not slip and not _tells_point(refusal.message):
            slip = find_commas(sql, reads)
        raise QueryRefused(f"{refusal.message}{slip}", **refusal.fields) if slip else refusal from None


def _tells_point(message: str) -> bool:
    """Whether a refusal says already how the number with a comma is written."""
    return _use_point("").rstrip(".").strip() in message


def find_words(sql: str, reads: Callable[[str], bool]) -> str:
    """Did you mean …? for words of SQL that are mistyped, one or two of them; nothing where that is no help."""
    tokens = _split(sql)
    slips = list(_list_slips(tokens))[:_MOST_TRIED]
    for many in (1, 2):
        for chosen in map(dict, combinations(slips, many)):
            if reads(_mend(tokens, chosen)):
                meant = [say("{word} for '{given}'", word=word, given=tokens[at]) for at, word in chosen.items()]
                return say(" Did you mean {meant}?", meant=", ".join(meant))
    return ""


def find_commas(sql: str, reads: Callable[[str], bool]) -> str:
    """To use a point, for a number with a decimal comma; nothing where that is no help."""
    tokens = _split(sql)
    numbers = [index for index, token in enumerate(tokens) if token[0].isdigit() and _COMMA.search(token)][:_MOST_TRIED]
    single = [
        {index: f"{tokens[index][: comma.start()]}.{tokens[index][comma.end() :]}"}
        for index in numbers
        for comma in list(_COMMA.finditer(tokens[index]))[:_MOST_TRIED]
    ]
    for chosen in (*single, {index: _COMMA.sub(".", tokens[index]) for index in numbers}):
        if chosen and reads(_mend(tokens, chosen)):
            number = next(part for part in chosen[min(chosen)].split(",") if "." in part)
            return _use_point(number)
    return ""


def _use_point(number: str) -> str:
    return say(" Use a point: write {number}.", number=number)


def _split(sql: str) -> list[str]:
    return _TOKEN.findall(sql) if len(sql) <= _LONGEST else []


def _mend(tokens: Sequence[str], mended: Mapping[int, str]) -> str:
    return "".join(mended.get(index, token) for index, token in enumerate(tokens))


def guess_function(name: str) -> str:
    """Did you mean …? for the name of a function that is not known."""
    guess = nearest(name, _FUNCTIONS)
    return say(" Did you mean {meant}?", meant=guess) if guess else ""


def _list_slips(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    for index, token in enumerate(tokens):
        written = token.upper()
        if not token[0].isalpha() or written in _KEYWORDS or written in _OTHERS:
            continue
        if guess := nearest(written, (*_KEYWORDS, *_PHRASES)):
            yield index, guess
