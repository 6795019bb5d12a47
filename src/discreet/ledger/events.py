"""What the ledger records: one event per thing that happened, chained by hashes, never changed.

An event's bytes are its canonical JSON (keys sorted, no spaces, ASCII); its hash is their SHA-256; each holds
the hash of the one before. docs/ledger.md lists the payload of every kind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Self

from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Budget,
    CentralGuarantee,
    Neighbours,
    PopulationTerms,
    PureDP,
    Unproven,
    text,
)

__all__ = [
    "GENESIS",
    "REQUIRED",
    "Event",
    "EventKind",
    "KindUnknown",
    "canonical_json",
    "decode_guarantee",
    "decode_terms",
    "encode_guarantee",
    "encode_terms",
    "require_payload",
    "sha256_hex",
]

GENESIS: Final = "0" * 64
_LONGEST_NAME: Final = 200
_PLAIN: Final = frozenset({str, int, bool, type(None)})


class EventKind(StrEnum):
    """What happened. A kind that was ever written stays, and new fields of its payload are optional."""

    OPENED = "opened"
    POPULATION = "population"
    CHANGED = "changed"
    ANALYST = "analyst"
    DATASET = "dataset"
    CHARGE = "charge"
    ANSWER = "answer"
    REPLAY = "replay"
    MARKER = "marker"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    VIEW = "view"
    PEOPLE = "people"
    HOLD = "hold"
    HOLD_RELEASED = "hold-released"
    HOLD_EXPIRED = "hold-expired"
    REQUESTED = "requested"
    DECIDED = "decided"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    RESERVED = "reserved"
    LINKED = "linked"
    RESERVATION_CLOSED = "reservation-closed"
    RESTORED = "restored"
    ANCHORED = "anchored"
    KEYED = "keyed"
    MIGRATED = "migrated"


_LEASED: Final = ("analyst", "dataset", "version", "request_id", "plan_hash", "guarantee")
REQUIRED: Final[Mapping[EventKind, frozenset[str]]] = {
    kind: frozenset(names)
    for kind, names in {
        EventKind.OPENED: ("workspace",),
        EventKind.POPULATION: ("terms",),
        EventKind.CHANGED: ("terms",),
        EventKind.ANALYST: ("analyst",),
        EventKind.DATASET: ("dataset", "version"),
        EventKind.CHARGE: (*_LEASED, "mechanisms", "before"),
        EventKind.ANSWER: ("charge", "sha256"),
        EventKind.REPLAY: (*_LEASED, "charge", "before"),
        EventKind.MARKER: ("analyst", "dataset", "version", "plan_hash", "guarantee"),
        EventKind.SUSPENDED: ("dataset", "reason"),
        EventKind.RESUMED: ("dataset",),
        EventKind.VIEW: ("what",),
        EventKind.PEOPLE: ("act", "person"),
        EventKind.HOLD: _LEASED,
        EventKind.HOLD_RELEASED: ("hold",),
        EventKind.HOLD_EXPIRED: ("hold",),
        EventKind.REQUESTED: ("request", "analyst", "digest"),
        EventKind.DECIDED: ("request", "digest", "decision"),
        EventKind.PUBLISHED: ("release",),
        EventKind.WITHDRAWN: (),
        EventKind.RESERVED: ("reservation", "purpose", "agreement", "guarantee", "before"),
        EventKind.LINKED: ("reservation", "agreement", "request", "charge", "sample", "counters"),
        EventKind.RESERVATION_CLOSED: ("reservation",),
        EventKind.RESTORED: ("anchor", "spent"),
        EventKind.ANCHORED: ("lost",),
        EventKind.KEYED: ("lost",),
        EventKind.MIGRATED: ("format",),
    }.items()
}
"""What the payload of each kind must hold; more may stand beside it, and readers pass over what they do not know."""


class KindUnknown(ValueError):
    """An event of a kind that this version does not know: a newer one wrote it."""


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    `population` is empty where none is meant; `payload` holds JSON values only.
    """

    sequence: int
    kind: EventKind
    when: str
    who: str
    population: str
    payload: Mapping[str, Any]
    previous: str

    def __post_init__(self) -> None:
        if self.sequence < 1 or len(self.previous) != 64:
            raise ValueError("an event has a sequence number from 1 and the hash of the event before it")
        require_name(self.who, what="who")

    @cached_property
    def body(self) -> str:
        """The canonical JSON whose bytes are hashed and stored."""
        return canonical_json(
            {
                "kind": self.kind.value,
                "payload": self.payload,
                "population": self.population,
                "previous": self.previous,
                "sequence": self.sequence,
                "when": self.when,
                "who": self.who,
            }
        )

    @cached_property
    def hash(self) -> str:
        return sha256_hex(self.body.encode("ascii"))

    @classmethod
    def from_body(cls, body: str) -> Self:
        """The event whose canonical JSON is `body`; ValueError when there is none, KindUnknown when it is a newer."""
        fields = json.loads(body)
        if not isinstance(fields, dict) or canonical_json(fields) != body:
            raise ValueError("not canonical JSON")
        if isinstance(kind := fields.get("kind"), str) and kind not in REQUIRED:
            raise KindUnknown("not a kind of this version")
        try:
            event = cls(**{**fields, "kind": EventKind(fields["kind"])})
        except (KeyError, TypeError) as error:
            raise ValueError("not an event") from error
        event.__dict__["body"] = body  # the same fields, so the same bytes
        return event


def canonical_json(value: object) -> str:
    """Keys sorted, no spaces, ASCII, no floats: equal values have equal bytes on every machine."""
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def now() -> str:
    """The time in UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def require_name(name: str, *, what: str) -> None:
    """Names are short printable text, so that they can stand in logs and tables."""
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise ValueError(f"{what} must be printable text of 1 to {_LONGEST_NAME} characters")


def require_payload(kind: EventKind, payload: Mapping[str, Any]) -> None:
    """ValueError unless everything is there that the payload of this kind must hold."""
    if missing := sorted(REQUIRED[kind] - payload.keys()):
        raise ValueError(f"a payload of kind {kind.value} lacks {', '.join(missing)}")


def encode_guarantee(guarantee: CentralGuarantee | BootstrapDP | Unproven) -> dict[str, str]:
    """A guarantee as exact text."""
    if isinstance(guarantee, PureDP):
        return {"type": "PureDP", "epsilon": text(guarantee.epsilon)}
    if isinstance(guarantee, ZCDP):
        return {"type": "ZCDP", "rho": text(guarantee.rho), "delta": text(guarantee.delta)}
    if isinstance(guarantee, ApproxDP):
        return {"type": "ApproxDP", "epsilon": text(guarantee.epsilon), "delta": text(guarantee.delta)}
    if isinstance(guarantee, BootstrapDP):
        return {"type": "BootstrapDP", "epsilon": text(guarantee.epsilon)}
    return {"type": "Unproven", "reason": guarantee.reason}


def decode_guarantee(encoded: Mapping[str, str]) -> CentralGuarantee:
    """The differentially private guarantee that was charged."""
    match encoded["type"]:
        case "PureDP":
            return PureDP(epsilon=encoded["epsilon"])
        case "ZCDP":
            return ZCDP(rho=encoded["rho"], delta=encoded["delta"])
        case "ApproxDP":
            return ApproxDP(epsilon=encoded["epsilon"], delta=encoded["delta"])
    raise ValueError("a charge carries PureDP, ZCDP or ApproxDP")


def encode_terms(terms: PopulationTerms) -> dict[str, str]:
    """A population's terms as exact text."""
    budget = terms.budget
    return {
        "population": terms.population,
        "epsilon": text(budget.epsilon),
        "delta": text(budget.delta),
        "per_analyst": text(budget.per_analyst),
        "per_analyst_delta": text(budget.per_analyst_delta),
        "neighbours": terms.neighbours.value,
        "unit_column": terms.unit_column,
        "unit_type": terms.unit_type,
    }


def decode_terms(encoded: Mapping[str, str]) -> PopulationTerms:
    names = ("epsilon", "delta", "per_analyst", "per_analyst_delta")
    return PopulationTerms(
        population=encoded["population"],
        budget=Budget(**{name: encoded[name] for name in names}),
        neighbours=Neighbours(encoded["neighbours"]),
        unit_column=encoded["unit_column"],
        unit_type=encoded["unit_type"],
    )


def _refuse_floats(value: object) -> None:
    if type(value) in _PLAIN:
        return
    if isinstance(value, float):
        raise TypeError("the ledger holds exact text and integers, no floats")
    if isinstance(value, Mapping):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)
