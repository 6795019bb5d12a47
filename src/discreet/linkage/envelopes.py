"""Envelopes: what offices send each other, signed by the sender and sealed to one receiver, by courier or by network.

    discreet-linked-1\\n | length of the header, 4 bytes | header | signature, 64 bytes | ciphertext

The header is canonical JSON, in clear. The signature (Ed25519) is over the mark, the header and the SHA-256 of the
ciphertext. The header is bound into the encryption too (HPKE's `info`), so whoever strips a signature and signs anew
gets what cannot be opened. What is sealed is padded: a relay learns its size up to a half. Nothing is compressed.

Whatever is wrong with an envelope, it is refused in the same words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, SignatureInvalid
from discreet.ledger import canonical_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

__all__ = [
    "MARK",
    "ROUTES",
    "EnvelopeHeader",
    "EnvelopeKind",
    "OfficeRole",
    "OpenedEnvelope",
    "envelope_limit",
    "open_envelope",
    "read_header",
    "refuse_envelope",
    "seal_envelope",
    "tell_kind",
    "tell_role",
]

MARK: Final = b"discreet-linked-1\n"
SMALLEST: Final = 4_096
_LONGEST_HEADER: Final = 65_536
_LENGTH: Final = 4
_SIGNATURE: Final = 64
_INNER_LENGTH: Final = 8
_OVERHEAD: Final = 32 + 16  # the encapsulated key and the tag
_CLOCKS_APART: Final = timedelta(minutes=10)
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_SHAPES: Final = {
    "agreement": re.compile(r"[0-9a-f]{64}"),
    "request": re.compile(r"[0-9a-f]{32}"),
    "created": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII),
    "expires": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII),
    "size": re.compile(r"\d{12}", re.ASCII),
}


class OfficeRole(StrEnum):
    """The three offices of an agreement."""

    RESEARCHER = "researcher"
    HOLDER = "holder"
    REGISTRY = "registry"


class EnvelopeKind(StrEnum):
    """What an envelope holds."""

    REQUEST = "request"
    TICKET = "ticket"
    SAMPLE = "sample"
    LABELS = "labels"
    ANSWER = "answer"
    LINK_KEY = "link-key"


ROUTES: Final[Mapping[EnvelopeKind, tuple[OfficeRole, OfficeRole]]] = MappingProxyType(
    {
        EnvelopeKind.REQUEST: (OfficeRole.RESEARCHER, OfficeRole.HOLDER),
        EnvelopeKind.TICKET: (OfficeRole.RESEARCHER, OfficeRole.REGISTRY),
        EnvelopeKind.SAMPLE: (OfficeRole.HOLDER, OfficeRole.REGISTRY),
        EnvelopeKind.LABELS: (OfficeRole.HOLDER, OfficeRole.RESEARCHER),
        EnvelopeKind.ANSWER: (OfficeRole.REGISTRY, OfficeRole.RESEARCHER),
        EnvelopeKind.LINK_KEY: (OfficeRole.REGISTRY, OfficeRole.HOLDER),
    }
)
"""Who sends a kind, and to whom. Another sender's signature is worth nothing for it."""

_ROLES: Final = {
    OfficeRole.RESEARCHER: Phrase("researcher"),
    OfficeRole.HOLDER: Phrase("holder"),
    OfficeRole.REGISTRY: Phrase("registry"),
}
_KINDS: Final = {
    EnvelopeKind.REQUEST: Phrase("request"),
    EnvelopeKind.TICKET: Phrase("ticket"),
    EnvelopeKind.SAMPLE: Phrase("sample"),
    EnvelopeKind.LABELS: Phrase("labels"),
    EnvelopeKind.ANSWER: Phrase("answer"),
    EnvelopeKind.LINK_KEY: Phrase("link-key"),
}


def tell_role(role: OfficeRole) -> str:
    """What an office is called."""
    return str(_ROLES[role])


def tell_kind(kind: EnvelopeKind) -> str:
    """What an envelope holds, in a word."""
    return str(_KINDS[kind])


@dataclass(frozen=True, slots=True)
class EnvelopeHeader:
    """What stands in clear: the agreement by its digest, the request, and until when the envelope may be opened."""

    agreement: str
    kind: EnvelopeKind
    request: str
    created: datetime
    expires: datetime

    def to_bytes(self, size: int) -> bytes:
        sender, receiver = ROUTES[self.kind]
        return canonical_json(
            {
                "agreement": self.agreement,
                "kind": self.kind,
                "from": sender,
                "to": receiver,
                "request": self.request,
                "created": self.created.astimezone(UTC).strftime(_TIME),
                "expires": self.expires.astimezone(UTC).strftime(_TIME),
                "size": f"{size:012}",
            }
        ).encode("ascii")


@dataclass(frozen=True, slots=True)
class OpenedEnvelope:
    """An envelope that was meant for this office and is what its sender signed. `digest` is of all its bytes."""

    header: EnvelopeHeader
    body: bytes
    digest: str


def seal_envelope(body: bytes, header: EnvelopeHeader, *, sign: Ed25519PrivateKey, seal: X25519PublicKey) -> bytes:
    """The envelope of a body, to the office whose key `seal` is."""
    size = padded_size(len(body))
    head = header.to_bytes(size)
    if any(_SHAPES[part].fullmatch(getattr(header, part)) is None for part in ("agreement", "request")):
        raise ValueError("an agreement is named by 64 hexadecimal digits and a request by 32")
    inner = len(body).to_bytes(_INNER_LENGTH, "big") + body
    ciphertext = _suite().encrypt(inner.ljust(size, b"\0"), seal, MARK + head)
    signature = sign.sign(_signed(head, ciphertext))
    return b"".join([MARK, len(head).to_bytes(_LENGTH, "big"), head, signature, ciphertext])


def open_envelope(
    data: bytes,
    *,
    role: OfficeRole,
    agreement: str,
    senders: Mapping[OfficeRole, Ed25519PublicKey],
    key: X25519PrivateKey,
    now: datetime,
) -> OpenedEnvelope:
    """What an envelope holds, if it is one to this office under this agreement, from the sender that its kind has."""
    found = _take_apart(data)
    if found is None:
        raise refuse_envelope()
    header, head, size, signature, ciphertext = found
    sender, receiver = ROUTES[header.kind]
    in_time = header.created - _CLOCKS_APART <= now < header.expires
    if receiver is not role or header.agreement != agreement or not in_time or len(ciphertext) != size + _OVERHEAD:
        raise refuse_envelope()
    body = _unseal(head, signature, ciphertext, sender=senders[sender], key=key)
    if body is None:
        raise refuse_envelope()
    return OpenedEnvelope(header, body, hashlib.sha256(data).hexdigest())


def padded_size(length: int) -> int:
    """The smallest size of 4,096 times 1, 1½, 2, 3, 4, 6, … that holds a body and its length."""
    size = SMALLEST
    while size < length + _INNER_LENGTH:
        size = size * 3 // 2 if size.bit_count() == 1 else size * 4 // 3
    return size


def envelope_limit(length: int) -> int:
    """How long an envelope may be whose body has at most `length` bytes."""
    return len(MARK) + _LENGTH + _LONGEST_HEADER + _SIGNATURE + padded_size(length) + _OVERHEAD


def read_header(data: bytes) -> EnvelopeHeader:
    """What stands on an envelope in clear. Nothing of it is verified."""
    found = _take_apart(data)
    if found is None:
        raise refuse_envelope()
    return found[0]


def _take_apart(data: bytes) -> tuple[EnvelopeHeader, bytes, int, bytes, bytes] | None:
    """The parts of an envelope that is shaped like one, nothing of it believed; None for other bytes."""
    start = len(MARK) + _LENGTH
    if data[: len(MARK)] != MARK or len(data) < start:
        return None
    length = int.from_bytes(data[len(MARK) : start], "big")
    if length > _LONGEST_HEADER or len(data) < start + length + _SIGNATURE:
        return None
    head, rest = data[start : start + length], data[start + length :]
    read = _read_header(head)
    return None if read is None else (*read, rest[:_SIGNATURE], rest[_SIGNATURE:])


def _read_header(head: bytes) -> tuple[EnvelopeHeader, bytes, int] | None:
    try:
        found = json.loads(head)
        shaped = all(shape.fullmatch(found[part]) for part, shape in _SHAPES.items())
        size = int(found["size"]) if shaped else 0
        header = EnvelopeHeader(
            found["agreement"],
            EnvelopeKind(found["kind"]),
            found["request"],
            _moment(found["created"]),
            _moment(found["expires"]),
        )
        # Written again it is the same, so it has no other part and is canonical.
        whole = shaped and header.to_bytes(size) == head and padded_size(max(size - _INNER_LENGTH, 0)) == size
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return (header, head, size) if whole else None


def _unseal(
    head: bytes, signature: bytes, ciphertext: bytes, *, sender: Ed25519PublicKey, key: X25519PrivateKey
) -> bytes | None:
    from cryptography.exceptions import InvalidSignature, InvalidTag

    try:
        sender.verify(signature, _signed(head, ciphertext))
        inner = _suite().decrypt(ciphertext, key, MARK + head)
    except (InvalidSignature, InvalidTag, ValueError):
        return None
    length = int.from_bytes(inner[:_INNER_LENGTH], "big")
    body, padding = inner[_INNER_LENGTH : _INNER_LENGTH + length], inner[_INNER_LENGTH + length :]
    return body if len(body) == length and not any(padding) else None


def _moment(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)


def _signed(head: bytes, ciphertext: bytes) -> bytes:
    return MARK + head + hashlib.sha256(ciphertext).digest()


def refuse_envelope() -> SignatureInvalid:
    """What is said of every envelope that is not what it should be."""
    return SignatureInvalid(
        say(
            "the envelope was refused: it is damaged, out of time, not for this office, or not from the office that "
            "may send it. Ask the sender for it again."
        )
    )


def _suite() -> Any:
    try:
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("Linked counts"), extra="linked") from None
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
