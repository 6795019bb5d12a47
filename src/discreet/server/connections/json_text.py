"""JSON as one reader reads it: what two parsers could take for two things, or what could exhaust one, is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from discreet.server.connections.refusals import RequestRefused

__all__ = ["DEEPEST", "read_json"]

DEEPEST: Final = 32
"""Arrays and objects within one another."""

# A string without an end reaches to the end of the text, so that no quote is looked at twice.
_LARGEST: Final = 2**53 - 1
"""Beyond it readers round whole numbers, each in its own way."""

_MARKS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def read_json(data: bytes) -> Any:
    """The value of a JSON text, or RequestRefused.

    UTF-8, no key twice in an object, no NaN or Infinity, no number that a float cannot hold, no half of a character and
    none that ends a text elsewhere (NUL). Depth is counted before anything is parsed.
    """
    _check_depth(data)
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_join,
            parse_constant=_refuse,
            parse_float=_read_float,
            parse_int=_read_whole,
        )
        if b"\\u" in data and not all(map(_is_whole_text, _find_texts(value))):
            raise ValueError("no text")
    except ValueError:
        raise RequestRefused("JsonInvalid") from None
    return value


def _check_depth(data: bytes) -> None:
    depth = 0
    for mark in _MARKS.finditer(data):
        first = data[mark.start()]
        if first in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise RequestRefused("JsonTooDeep")
        elif first in b"]}":
            depth -= 1


def _join(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError("no JSON")


def _read_whole(text: str) -> int:
    if len(text) > 17 or abs(number := int(text)) > _LARGEST:
        raise ValueError("beyond what a float holds exactly")
    return number


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("beyond what a float holds")
    return number


def _find_texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _find_texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _find_texts(item)


def _is_whole_text(text: str) -> bool:
    return not any(mark == "\0" or "\ud800" <= mark <= "\udfff" for mark in text)
