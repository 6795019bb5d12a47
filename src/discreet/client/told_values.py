"""What a server told, made safe to show, and taken apart by name and sort. ValueError where it is not as agreed.

Nothing in it steers a terminal: controls, halves of characters, line ends of other alphabets and marks that turn the
direction of writing are escaped, in data as in sentences, which are made `legible` beside that where they are said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeVar

from discreet.errors import ParameterInvalid
from discreet.results import Release, check_release_length, read_release_message

__all__ = ["UNREADABLE", "clean", "number_of", "read_json", "read_sent", "take", "take_texts"]

T = TypeVar("T")

UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, ParameterInvalid)
"""What reading raises where something is not as agreed."""

_DEEPEST: Final = 40
_MOST_PARTS: Final = 200_000
"""So many objects and lists have facts: a list of every question, or of every cell of a large plan."""

_DECIMAL: Final = re.compile(r"\d{1,40}(\.\d{1,40})?", re.ASCII)
_STEERING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # not tabs and line ends
)
# The same as JSON in ASCII has it. It may find more, never less: what it finds is looked at again.
_MAYBE_STEERING: Final = re.compile(
    rb"[^\t\n\r -~]|\\[bfr]|\\u(?:00[0189][0-9a-f]|007f|061c|200[ef]|202[89a-e]|206[6-9]|d[89a-f][0-9a-f]{2})",
    re.IGNORECASE,
)


def read_json(data: bytes) -> dict[str, Any]:
    """The object that these bytes are, made safe."""
    check_release_length(data, most_parts=_MOST_PARTS)
    found = clean(_parse(data))
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def read_sent(data: bytes) -> Release:
    """The release that these bytes are; Refused or ValueError where they are none. Its words steer no terminal."""
    check_release_length(data)
    message = _parse(data)
    return read_release_message(clean(message) if _MAYBE_STEERING.search(data) else message)


def clean(value: Any) -> Any:
    """The same with everything that steers a terminal escaped."""
    return _clean(value, _DEEPEST)


def take(facts: Mapping[str, Any], name: str, sort: type[T]) -> T:
    """A fact of this sort."""
    found = facts.get(name)
    if not isinstance(found, sort) or (isinstance(found, bool) and sort is not bool):
        raise ValueError(f"{name} is not as agreed")
    return found


def take_texts(facts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts."""
    found = take(facts, name, list)
    if not all(isinstance(item, str) for item in found):
        raise ValueError(f"{name} are no texts")
    return tuple(found)


def number_of(facts: Mapping[str, Any], name: str) -> Decimal | None:
    """An exact amount, which is text; None where there is none."""
    found = facts.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or not _DECIMAL.fullmatch(found):
        raise ValueError(f"{name} is no amount")
    return Decimal(found)


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("too deep") from None


def _refuse(_: str) -> NoReturn:
    raise ValueError("a number is not finite")


def _clean(value: Any, deep: int) -> Any:
    if isinstance(value, str):
        return _STEERING.sub(_escape, value)
    if not isinstance(value, dict | list):
        return value
    if not deep:
        raise ValueError("too deep")
    if isinstance(value, dict):
        return {_clean(name, 1): _clean(item, deep - 1) for name, item in value.items()}
    return [_clean(item, deep - 1) for item in value]


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
