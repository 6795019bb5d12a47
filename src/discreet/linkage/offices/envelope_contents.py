"""What envelopes hold: a request with its ticket, a sample, the meaning of its groups, an answer, a link key.

All but samples are canonical JSON. A sample is a line of JSON, then 17 bytes for each id: pseudonym and group. Anything
else is refused in the words of an envelope that is refused.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from discreet.guarantees import text
from discreet.ledger import canonical_json
from discreet.linkage.envelopes import refuse_envelope
from discreet.linkage.offices.link_ids import PSEUDONYM
from discreet.linkage.tariff import LinkedKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LARGEST_REQUEST",
    "LONGEST_NAME",
    "MOST_GROUPS",
    "AskedGroup",
    "CountRequest",
    "DrawnSample",
    "GroupLabels",
    "NoisyAnswer",
    "Ticket",
    "largest_sample",
    "read_link_key",
    "write_link_key",
]

MOST_GROUPS: Final = 50
LONGEST_NAME: Final = 100
_ENTRY: Final = PSEUDONYM + 1
_HEX32: Final = re.compile(r"[0-9a-f]{32}")
_RATE: Final = re.compile(r"0?\.\d{1,9}|1")
_LONGEST: Final = 20_000
_HEAD: Final = 16_384
LARGEST_REQUEST: Final = _HEAD + 12 * _LONGEST * (MOST_GROUPS + 1)
"""Bytes of a request at most: JSON writes a character in twelve at most."""

_T = TypeVar("_T")
Shape = Mapping[str, type | tuple[type, ...]]
_UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class Ticket:
    """What the registry is to count: sealed to it, carried by the holder, who cannot read it."""

    request: str
    property: str
    kind: LinkedKind
    scale: int
    groups: int

    def to_bytes(self) -> bytes:
        return _write(
            {
                "request": self.request,
                "property": self.property,
                "kind": self.kind.value,
                "scale": self.scale,
                "groups": self.groups,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Ticket:
        found = _read(data, {"request": str, "property": str, "kind": str, "scale": int, "groups": int})
        return _made(
            lambda: cls(found["request"], found["property"], LinkedKind(found["kind"]), found["scale"], found["groups"])
        )

    def question(self, draw: str) -> str:
        """What makes two counts the same: the draw and what is counted of it, whatever the requests are called."""
        return canonical_json([draw, self.property, self.kind.value, self.scale, self.groups])


@dataclass(frozen=True, slots=True)
class AskedGroup:
    """One group of a sample: its name for the researcher, whom it holds, and the rate at which they are drawn."""

    name: str
    where: str | None
    rate: Decimal


@dataclass(frozen=True, slots=True)
class CountRequest:
    """What the researcher asks of the holder. Without groups there is one, of everybody who meets the criteria."""

    request: str
    where: str | None
    groups: tuple[AskedGroup, ...]
    scale: int
    charge: int
    ticket: bytes

    def to_bytes(self) -> bytes:
        return _write(
            {
                "request": self.request,
                "where": self.where,
                "groups": [
                    {"name": group.name, "where": group.where, "rate": text(group.rate)} for group in self.groups
                ],
                "scale": self.scale,
                "charge": self.charge,
                "ticket": base64.b64encode(self.ticket).decode("ascii"),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> CountRequest:
        shape: Shape = {
            "request": str,
            "where": (str, type(None)),
            "groups": list,
            "scale": int,
            "charge": int,
            "ticket": str,
        }
        found = _read(data, shape)
        return _made(
            lambda: cls(
                found["request"],
                _condition(found["where"]),
                tuple(_group(item) for item in found["groups"]),
                found["scale"],
                found["charge"],
                base64.b64decode(found["ticket"], validate=True),
            )
        )

    def __post_init__(self) -> None:
        if not 1 <= len(self.groups) <= MOST_GROUPS:
            raise ValueError("a sample has 1 to 50 groups")


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """Pseudonyms, ascending and each once, with their groups. `draw` is the same for the same criteria and data."""

    request: str
    draw: str
    scale: int
    charge: int
    groups: int
    ticket: bytes
    pseudonyms: NDArray[np.uint64]
    group_of: NDArray[np.uint8]

    def to_bytes(self) -> bytes:
        head = _write(
            {
                "request": self.request,
                "draw": self.draw,
                "scale": self.scale,
                "charge": self.charge,
                "groups": self.groups,
                "ids": len(self.pseudonyms),
                "ticket": base64.b64encode(self.ticket).decode("ascii"),
            }
        )
        return head + b"\n" + self.entries()

    def entries(self) -> bytes:
        """17 bytes for each id."""
        rows = np.empty((len(self.pseudonyms), _ENTRY), dtype=np.uint8)
        rows[:, :PSEUDONYM] = self.pseudonyms.astype(">u8").view(np.uint8).reshape(-1, PSEUDONYM)
        rows[:, PSEUDONYM] = self.group_of
        return rows.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> DrawnSample:
        head, _, body = data.partition(b"\n")
        shape = {"request": str, "draw": str, "scale": int, "charge": int, "groups": int, "ids": int, "ticket": str}
        found = _read(head, shape)
        if len(body) != _ENTRY * found["ids"] or not 1 <= found["groups"] <= MOST_GROUPS:
            raise refuse_envelope()
        if _HEX32.fullmatch(found["draw"]) is None:
            raise refuse_envelope()
        rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, _ENTRY)
        pseudonyms = np.ascontiguousarray(rows[:, :PSEUDONYM]).view(">u8").astype(np.uint64).reshape(-1, 2)
        group_of = rows[:, PSEUDONYM].copy()
        if len(group_of) and group_of.max() >= found["groups"]:
            raise refuse_envelope()
        return _made(
            lambda: cls(
                found["request"],
                found["draw"],
                found["scale"],
                found["charge"],
                found["groups"],
                base64.b64decode(found["ticket"], validate=True),
                pseudonyms,
                group_of,
            )
        )


def largest_sample(ids: int) -> int:
    """Bytes of a sample at most, of so many ids."""
    return _HEAD + _ENTRY * ids


@dataclass(frozen=True, slots=True)
class GroupLabels:
    """Which group of the request each of the registry's is."""

    request: str
    order: tuple[int, ...]

    def to_bytes(self) -> bytes:
        return _write({"request": self.request, "order": list(self.order)})

    @classmethod
    def from_bytes(cls, data: bytes) -> GroupLabels:
        found = _read(data, {"request": str, "order": list})
        order = tuple(found["order"])
        if any(type(place) is not int for place in order) or sorted(order) != list(range(len(order))):
            raise refuse_envelope()
        return cls(found["request"], order)


@dataclass(frozen=True, slots=True)
class NoisyAnswer:
    """What the registry answers: noisy whole numbers, cells of the first group first. None once it has closed."""

    request: str
    property: str
    kind: LinkedKind
    scale: int
    charge: int
    cells: tuple[tuple[int, ...], ...] | None
    receipt: str

    def to_bytes(self) -> bytes:
        return _write(
            {
                "request": self.request,
                "property": self.property,
                "kind": self.kind.value,
                "scale": self.scale,
                "charge": self.charge,
                "cells": None if self.cells is None else [list(group) for group in self.cells],
                "receipt": self.receipt,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> NoisyAnswer:
        shape: Shape = {
            "request": str,
            "property": str,
            "kind": str,
            "scale": int,
            "charge": int,
            "cells": (list, type(None)),
            "receipt": str,
        }
        found = _read(data, shape)
        cells = found["cells"]
        if cells is not None and not all(
            isinstance(group, list) and all(type(value) is int for value in group) for group in cells
        ):
            raise refuse_envelope()
        return _made(
            lambda: cls(
                found["request"],
                found["property"],
                LinkedKind(found["kind"]),
                found["scale"],
                found["charge"],
                None if cells is None else tuple(tuple(group) for group in cells),
                found["receipt"],
            )
        )


def write_link_key(key: bytes) -> bytes:
    return _write({"link_key": key.hex()})


def read_link_key(data: bytes) -> bytes:
    found = _read(data, {"link_key": str})
    if re.fullmatch(r"[0-9a-f]{64}", found["link_key"]) is None:
        raise refuse_envelope()
    return bytes.fromhex(found["link_key"])


def _group(content: object) -> AskedGroup:
    if not isinstance(content, dict) or content.keys() != {"name", "where", "rate"}:
        raise ValueError("not a group")
    name, rate = content["name"], content["rate"]
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError("not a name")
    if not isinstance(rate, str) or _RATE.fullmatch(rate) is None or not Decimal(rate):
        raise ValueError("not a rate")
    return AskedGroup(name, _condition(content["where"]), Decimal(rate))


def _condition(found: object) -> str | None:
    if found is not None and (not isinstance(found, str) or not 1 <= len(found) <= _LONGEST):
        raise ValueError("not a condition")
    return found


def _write(content: Mapping[str, Any]) -> bytes:
    return canonical_json(content).encode("ascii")


def _read(data: bytes, shape: Shape) -> dict[str, Any]:
    """The fields of a message that is written in the one way, or a refusal."""
    try:
        found = json.loads(data)
        fit = isinstance(found, dict) and found.keys() == shape.keys() and _write(found) == data
        for name, kind in shape.items():
            fit = fit and isinstance(found[name], kind) and not isinstance(found[name], bool)
    except _UNREADABLE:
        raise refuse_envelope() from None
    if not fit:
        raise refuse_envelope()
    result: dict[str, Any] = found
    return result


def _made(make: Callable[[], _T]) -> _T:
    try:
        return make()
    except _UNREADABLE:
        raise refuse_envelope() from None
