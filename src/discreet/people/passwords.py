"""Passwords, hashed by argon2id: slow on purpose, so few at a time, or signing in would stop a server.

A hash takes 19 MiB and two passes. Whatever else shows who somebody is has 256 random bits, and needs no slow hash.
"""

from __future__ import annotations

import base64
import secrets
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say, say_count
from discreet.errors import ExtraMissing, ParameterInvalid, TooManyRequests

if TYPE_CHECKING:
    from argon2 import PasswordHasher

__all__ = ["hash_password", "matches", "require_password"]

SHORTEST: Final = 12
LONGEST: Final = 200
_MEMORY_KIB: Final = 19 * 1024
_PASSES: Final = 2
_AT_A_TIME: Final = 2
_PATIENCE: Final = 10.0
_RETRY: Final = 5
_TURNS: Final = threading.BoundedSemaphore(_AT_A_TIME)


def _as_text(random: bytes) -> str:
    return base64.b64encode(random).decode().rstrip("=")


_NOBODYS: Final = (
    f"$argon2id$v=19$m={_MEMORY_KIB},t={_PASSES},p=1"
    f"${_as_text(secrets.token_bytes(16))}${_as_text(secrets.token_bytes(32))}"
)
"""What a password is held against where there is none: it costs the same and matches nothing."""


def require_password(password: str) -> None:
    """ParameterInvalid for what is too short or too long; the password is not repeated."""
    if not SHORTEST <= len(_normal(password)) <= LONGEST:
        raise ParameterInvalid(
            parameter=Phrase("password"),
            rule=say("must have {shortest} to {longest} characters", shortest=SHORTEST, longest=LONGEST),
            given=say_count("{count} character", "{count} characters", len(_normal(password))),
        )


def hash_password(password: str) -> str:
    with _turn():
        return _hasher().hash(_as_bytes(password))


def matches(password: str, kept: str | None) -> bool:
    """Whether a password is the one that was hashed. Without a hash it takes as long, and is not."""
    from argon2.exceptions import InvalidHashError, VerificationError

    hasher = _hasher()
    with _turn():
        try:
            hasher.verify(_NOBODYS if kept is None else kept, _as_bytes(password))
        except (VerificationError, InvalidHashError):
            return False
    return kept is not None


def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher, Type
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("Passwords"), extra="server") from None
    return PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=1, hash_len=32, type=Type.ID)


@contextmanager
def _turn() -> Iterator[None]:
    if not _TURNS.acquire(timeout=_PATIENCE):
        raise TooManyRequests(seconds=_RETRY)
    try:
        yield
    finally:
        _TURNS.release()


def _normal(password: str) -> str:
    """Keyboards write one letter in several ways."""
    return unicodedata.normalize("NFC", password)


def _as_bytes(password: str) -> bytes:
    """Too long a text is none that anybody has set; what is hashed of it stays short."""
    return _normal(password[: 4 * LONGEST])[: LONGEST + 1].encode("utf-8", "surrogatepass")
