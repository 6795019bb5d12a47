"""Envelopes: opened by the one office they are for, from the one that may send them, whole and in time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import SignatureInvalid
from discreet.linkage.envelopes import (
    MARK,
    ROUTES,
    EnvelopeHeader,
    EnvelopeKind,
    OfficeRole,
    OpenedEnvelope,
    open_envelope,
    padded_size,
    seal_envelope,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SIGNING = {role: Ed25519PrivateKey.from_private_bytes(hashlib.sha256(role.encode()).digest()) for role in OfficeRole}
SEALING = {
    role: X25519PrivateKey.from_private_bytes(hashlib.sha256(b"s" + role.encode()).digest()) for role in OfficeRole
}
HEADER = EnvelopeHeader("ab" * 32, EnvelopeKind.SAMPLE, "cd" * 16, NOW, NOW + timedelta(days=7))


def seal(body: bytes = b"ids", header: EnvelopeHeader = HEADER, *, signer: OfficeRole | None = None) -> bytes:
    sender, receiver = ROUTES[header.kind]
    return seal_envelope(body, header, sign=SIGNING[signer or sender], seal=SEALING[receiver].public_key())


def opened(data: bytes, **changes: Any) -> OpenedEnvelope:
    asked: dict[str, Any] = {
        "role": OfficeRole.REGISTRY,
        "agreement": HEADER.agreement,
        "senders": {role: key.public_key() for role, key in SIGNING.items()},
        "key": SEALING[OfficeRole.REGISTRY],
        "now": NOW,
    }
    return open_envelope(data, **{**asked, **changes})


def refused(data: bytes, **changes: Any) -> bool:
    with pytest.raises(SignatureInvalid) as found:
        opened(data, **changes)
    return str(found.value).startswith("the envelope was refused: it is damaged, out of time, not for this office")


@given(st.binary(max_size=9_000))
def test_what_is_sealed_is_what_is_opened(body: bytes) -> None:
    data = seal(body)
    found = opened(data)
    assert (found.header, found.body, found.digest) == (HEADER, body, hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("kind", list(EnvelopeKind))
def test_every_kind_goes_its_own_way_and_no_other(kind: EnvelopeKind) -> None:
    header = replace(HEADER, kind=kind)
    sender, receiver = ROUTES[kind]
    for role in OfficeRole:
        data, mine = seal(header=header), {"role": role, "key": SEALING[role]}
        if role is receiver:
            assert opened(data, **mine).header.kind is kind
        else:
            assert refused(data, **mine)
            assert refused(data, role=role, key=SEALING[receiver])
        if role is not sender:
            assert refused(seal(header=header, signer=role), role=receiver, key=SEALING[receiver])


def test_one_changed_byte_anywhere_is_refused() -> None:
    data = seal()
    places = [*range(len(data) - 4_096 - 48), *range(len(data) - 4_144, len(data), 97), len(data) - 1]
    for place in places:
        assert refused(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


@given(st.binary(max_size=300))
def test_no_bytes_are_taken_for_an_envelope(data: bytes) -> None:
    assert refused(data)
    assert refused(MARK + data)


@pytest.mark.parametrize(
    "cut",
    [lambda data: data[:-1], lambda data: data + b"\0", lambda data: data[: len(MARK) + 3], lambda data: data[:60]],
)
def test_more_or_fewer_bytes_are_refused(cut: Callable[[bytes], bytes]) -> None:
    assert refused(cut(seal()))


@pytest.mark.parametrize(
    ("now", "fits"),
    [
        (NOW + timedelta(days=7, seconds=-1), True),
        (NOW + timedelta(days=7), False),
        (NOW - timedelta(minutes=10), True),
        (NOW - timedelta(minutes=11), False),
    ],
)
def test_an_envelope_has_its_time(now: datetime, fits: bool) -> None:
    if fits:
        assert opened(seal(), now=now).body == b"ids"
    else:
        assert refused(seal(), now=now)


def test_another_agreement_is_refused() -> None:
    assert refused(seal(), agreement="ef" * 32)


def test_a_relay_that_signs_what_others_sealed_gets_nowhere() -> None:
    """It may be an office of the agreement itself: the header that it would sign is bound into the seal."""
    data = seal(header=replace(HEADER, kind=EnvelopeKind.TICKET))
    length = int.from_bytes(data[len(MARK) : len(MARK) + 4], "big")
    ciphertext = data[len(MARK) + 4 + length + 64 :]
    head = HEADER.to_bytes(4_096)
    signature = SIGNING[OfficeRole.HOLDER].sign(MARK + head + hashlib.sha256(ciphertext).digest())
    forged = MARK + len(head).to_bytes(4, "big") + head + signature + ciphertext
    assert refused(forged)


def rewritten(change: Callable[[dict[str, Any]], Any], *, spaces: bool = False) -> bytes:
    """An envelope that its rightful sender signed, with a header of another shape."""
    head = json.loads(HEADER.to_bytes(4_096))
    changed = change(head)
    separators = (", ", ": ") if spaces else (",", ":")
    text = json.dumps(head if changed is None else changed, sort_keys=True, separators=separators).encode()
    inner = (3).to_bytes(8, "big") + b"ids"
    from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
    ciphertext = suite.encrypt(inner.ljust(4_096, b"\0"), SEALING[OfficeRole.REGISTRY].public_key(), MARK + text)
    signature = SIGNING[OfficeRole.HOLDER].sign(MARK + text + hashlib.sha256(ciphertext).digest())
    return MARK + len(text).to_bytes(4, "big") + text + signature + ciphertext


def test_a_header_has_one_shape() -> None:
    assert opened(rewritten(lambda head: None)).body == b"ids"
    assert refused(rewritten(lambda head: None, spaces=True))
    for change in (
        lambda head: head.update(more=1),
        lambda head: head.pop("to"),
        lambda head: head.update(to="holder"),
        lambda head: head.update({"from": "researcher"}),
        lambda head: head.update(size="4096"),
        lambda head: head.update(size="000000004097"),
        lambda head: head.update(size="000000006144"),
        lambda head: head.update(kind="poem"),
        lambda head: head.update(request="cd" * 15),
        lambda head: head.update(request=7),
        lambda head: head.update(created="2026-02-30T00:00:00Z"),
        lambda head: head.update(expires="２026-03-08T12:00:00Z"),
        lambda head: [head],
    ):
        assert refused(rewritten(change))


def test_sizes_are_padded_to_few_and_by_half_at_most() -> None:
    sizes = sorted({padded_size(length) for length in range(0, 200_000, 501)})
    assert sizes == [4_096 * part // 2 for part in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)]
    for length in (4_089, 10_000, 1_600_000):
        assert length < padded_size(length) <= 1.5 * (length + 8) + 1
    assert {len(seal(b"x" * length)) for length in (0, 1, 4_000, 4_088)} == {len(seal())}


def test_a_name_of_another_shape_is_never_sent() -> None:
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        seal(header=replace(HEADER, agreement="AB" * 32))
