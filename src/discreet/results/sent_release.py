"""A release on its way from a server to a program that reads it as what it was.

`write_release` gives bytes, compact JSON with the number of its form, and `read_release` the release: the same figures,
claim, settlement and notes, and so the same bytes in every format and language. Only lists take the place of arrays,
and plain texts that of phrases. Whatever a server sends, reading gives a release or raises Refused: nothing in it is
run or looked up by its name, and its size and depth are bounded.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused
from discreet.results.published_release import Release
from discreet.results.sent_checks import check_release
from discreet.results.sent_values import form_of

__all__ = [
    "LARGEST_RELEASE",
    "RELEASE_FORM",
    "check_release_length",
    "decode_release",
    "encode_release",
    "read_release",
    "read_release_message",
    "write_release",
]

T = TypeVar("T")

RELEASE_FORM: Final = 1
LARGEST_RELEASE: Final = 1 << 28
"""So many bytes are read at most: several tables of a million cells."""

MOST_PARTS: Final = 2_000_000
"""So many objects and lists: columns are lists whole, so a large table has few. Empty ones take twenty times the memory
of what is sent."""

_UNREADABLE: Final = (
    ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, ParameterInvalid,
)  # fmt: skip


def write_release(release: Release) -> bytes:
    """The release as one message."""
    message = {"format": RELEASE_FORM, "release": encode_release(release)}
    # In ASCII, since a card may hold what no encoding has: half of a surrogate pair.
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_release(data: bytes) -> Release:
    """The release of a message; Refused where it is none, or of another form."""
    return _trusting_nobody(_open, data)


def read_release_message(message: object) -> Release:
    """The same of a message that was parsed; whoever parsed it saw to its length (`check_release_length`)."""
    return _trusting_nobody(_open_message, message)


def check_release_length(data: bytes, *, most_parts: int = MOST_PARTS) -> None:
    """Nothing is parsed before this: ValueError where it is too long, or has so many parts that they fill memory."""
    if len(data) > LARGEST_RELEASE or data.count(b"{") + data.count(b"[") > most_parts:
        raise ValueError("a message is too long")


def encode_release(release: Release) -> dict[str, object]:
    """The release in plain JSON values. What no JSON has, such as NaN, is a ValueError."""
    found: dict[str, object] = form_of(Release).write(release)
    return found


def decode_release(value: object) -> Release:
    """The release that these values are; Refused where they are none."""
    return _trusting_nobody(_decode, value)


def _trusting_nobody(read: Callable[[Any], T], given: object) -> T:
    try:
        return read(given)
    except _UNREADABLE:
        raise Refused(say("what the server sent cannot be read as a release.")) from None


def _open(data: bytes) -> Release:
    check_release_length(data)
    return _open_message(json.loads(data.decode("utf-8"), parse_constant=_refuse_constant))


def _open_message(message: Any) -> Release:
    if (
        message.keys() != {"format", "release"}
        or type(message["format"]) is not int
        or message["format"] != RELEASE_FORM
    ):
        raise ValueError("a message has another form")
    return _decode(message["release"])


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("a number is not finite")


def _decode(value: Any) -> Release:
    # Before any is read: parts of parts of parts would have no end.
    if any(part["parts"] for part in value["parts"].values()):
        raise ValueError("a part has parts")
    release: Release = form_of(Release).read(value)
    check_release(release)
    return release
