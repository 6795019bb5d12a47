"""A release on its way from a server to a program that reads it as what it was.

`write_release` gives bytes, compact JSON with the number of its form, and `read_release` the release: the same figures,
claim, settlement and notes, and so the same bytes in every format and language. Only lists take the place of arrays,
and plain texts that of phrases. Whatever a server sends, reading gives a release or raises Refused: nothing in it is
run or looked up by its name, and its size and depth are bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain
from typing import Any, Final, NoReturn, TypeVar

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused
from discreet.results.figures import Margin, Statistic
from discreet.results.headings import Heading
from discreet.results.published_release import Release, ReleaseKind
from discreet.results.sent_values import form_of

__all__ = ["FORMAT", "LARGEST", "decode_release", "encode_release", "read_release", "write_release"]

T = TypeVar("T")

FORMAT: Final = 1
LARGEST: Final = 1 << 28
"""So many bytes are read at most: several tables of a million cells."""

MOST_PARTS: Final = 2_000_000
"""So many objects and lists: columns are lists whole, so a large table has few. Empty ones take twenty times the memory
of what is sent."""

_STEP: Final = re.compile(r"\d{1,40}(\.\d{1,40})?", re.ASCII)
_UNREADABLE: Final = (
    ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, ParameterInvalid,
)  # fmt: skip


def write_release(release: Release) -> bytes:
    """The release as one message."""
    message = {"format": FORMAT, "release": encode_release(release)}
    # In ASCII, since a card may hold what no encoding has: half of a surrogate pair.
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_release(data: bytes) -> Release:
    """The release of a message; Refused where it is none, or of another form."""
    return _trusting_nobody(_open, data)


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
    if len(data) > LARGEST or data.count(b"{") + data.count(b"[") > MOST_PARTS:
        raise ValueError("a message is too long")
    message = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    if message.keys() != {"format", "release"} or type(message["format"]) is not int or message["format"] != FORMAT:
        raise ValueError("a message has another form")
    return _decode(message["release"])


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("a number is not finite")


def _decode(value: Any) -> Release:
    # Before any is read: parts of parts of parts would have no end.
    if any(part["parts"] for part in value["parts"].values()):
        raise ValueError("a part has parts")
    release: Release = form_of(Release).read(value)
    for one in (release, *release.parts.values()):
        _check_rows(one)
    return release


# --- what holds of every release ------------------------------------------------------------------------------------


def _check_rows(release: Release) -> None:
    """Keys and figures fit each other, such that rows can be told."""
    if release.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP) and not release.statistics:
        raise ValueError("a table has figures")
    keys, statistics = ({item.name for item in items} for items in (release.headings, release.statistics))
    if len(keys) != len(release.headings) or len(statistics) != len(release.statistics):
        raise ValueError("two columns have one name")
    if release.order and not statistics <= set(release.order) <= keys | statistics:
        raise ValueError("a row has other columns than the release")
    margins = [item.figures.margins for item in release.statistics]
    for margin in chain(*margins, () if release.bare is None else (release.bare,)):
        _check_margin(margin, len(release.headings))
    if len({tuple(map(len, found)) for found in margins}) > 1:
        raise ValueError("statistics have other rows")
    for heading in release.headings:
        _check_labels(heading)
    for statistic in release.statistics:
        _check_step(statistic)


def _check_margin(margin: Margin, keys: int) -> None:
    columns = (*margin.codes, margin.raw, margin.low, margin.high, margin.quality, margin.uncalibrated)
    if any(column is not None and len(column) != len(margin) for column in columns):
        raise ValueError("columns have other lengths")
    if len(margin.codes) != keys or not set(margin.over) <= set(range(keys)):
        raise ValueError("keys are not those of the release")


def _check_labels(heading: Heading) -> None:
    if heading.face.labels and len(heading.face.labels) != len(heading.face.codes):
        raise ValueError("labels are not those of the codes")


def _check_step(statistic: Statistic) -> None:
    """A step says with how many decimals every figure is written: not with a million."""
    if statistic.step is not None and not _STEP.fullmatch(statistic.step):
        raise ValueError("a step is no short decimal")
