"""The key that vouches for the head of a ledger and for the lines of its anchor.

It lives outside the workspace: whoever can write the workspace but not the key cannot forge a head.
"""

from __future__ import annotations

import hmac
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Final

from discreet.catalogue import say
from discreet.errors import LedgerUnavailable
from discreet.files import put_in_place, write_whole
from discreet.ledger.events import canonical_json
from discreet.paths import AnyPath, as_path, read_regular, tell_reason

__all__ = ["Seal", "create_key", "next_key"]

_NEXT: Final = ".next"
_KEY_BYTES: Final = 32
_KEY_TEXT: Final = re.compile(rf"[0-9a-f]{{{2 * _KEY_BYTES}}}\n?")


class Seal:
    """HMAC-SHA256 under the key in `path`, over the workspace and what it is to vouch for."""

    def __init__(self, *, path: AnyPath, workspace_id: str) -> None:
        self._path = as_path(path, "key")
        self._key = _read_key(self._path)
        self._workspace_id = workspace_id
        self._trusts = False

    def renewals(self) -> Iterator[Seal]:
        """The seals with other keys than this one's: what is in the file now, and what is to take its place."""
        for path in (self._path, _next_path(self._path)):
            with suppress(LedgerUnavailable):
                seal = Seal(path=path, workspace_id=self._workspace_id)
                if not hmac.compare_digest(seal._key, self._key):
                    yield seal

    def settle(self) -> Seal:
        """As the key of its ledger, in its place: a crash may have come before it was put there."""
        path = self._path.with_name(self._path.name.removesuffix(_NEXT))
        if path != self._path:
            with suppress(OSError):
                put_in_place(self._path, path)
            self._path = path
        return self

    def trusting(self) -> Seal:
        """A seal that signs as this one does and believes what was signed by a key that is lost."""
        other = copy(self)
        other._trusts = True
        return other

    def sign(self, *, sequence: int, hash: str, standing: str) -> str:
        """For a head."""
        return self._mac([self._workspace_id, sequence, hash, standing])

    def holds(self, mac: str, *, sequence: int, hash: str, standing: str) -> bool:
        return self._trusts or _same(mac, self.sign(sequence=sequence, hash=hash, standing=standing))

    def vouch(self, *, sequence: int, hash: str, spent: str | None) -> str:
        """For a line of the anchor."""
        return self._mac(["anchor", self._workspace_id, sequence, hash, spent])

    def vouches(self, mac: str, *, sequence: int, hash: str, spent: str | None) -> bool:
        return self._trusts or _same(mac, self.vouch(sequence=sequence, hash=hash, spent=spent))

    def attest(self, parts: Sequence[str | int]) -> str:
        """For what is kept beside the ledger."""
        return self._mac(["beside", self._workspace_id, list(parts)])

    def _mac(self, parts: list[object]) -> str:
        return hmac.digest(self._key, canonical_json(parts).encode("ascii"), "sha256").hex()


def _same(mac: str, expected: str) -> bool:
    return hmac.compare_digest(mac.encode(), expected.encode())


def create_key(path: Path) -> None:
    """A new key, readable by its owner alone, unless one is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, secrets.token_hex(_KEY_BYTES) + "\n", mode=0o600, fresh=True)
    except FileExistsError:
        return
    except OSError as error:
        raise _key_unusable(path, tell_reason(error)) from None


@contextmanager
def next_key(path: Path, *, workspace_id: str) -> Iterator[Seal]:
    """A new key that takes the place of the one in `path` when the block ends well.

    It lies beside it until then: who opens a ledger that was signed with it after a crash finds it there.
    """
    following = _next_path(path)
    following.unlink(missing_ok=True)
    create_key(following)
    seal = Seal(path=following, workspace_id=workspace_id)
    yield seal
    put_in_place(following, path)
    seal._path = path


def _next_path(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix(_NEXT)}{_NEXT}")


def _read_key(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        content = read_regular(path).decode("ascii", errors="replace")
    except OSError as error:
        raise _key_unusable(path, tell_reason(error)) from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise _key_unusable(path, say("others may read it: chmod 600"))
    if not _KEY_TEXT.fullmatch(content):
        raise _key_unusable(path, say("it is not 64 hexadecimal digits"))
    return bytes.fromhex(content.strip())


def _key_unusable(path: Path, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        say(
            "The ledger's key '{path}' cannot be used ({reason}). Nothing is answered without it; restore it from "
            "where the custodian keeps it.",
            path=path,
            reason=reason,
        ),
        path=str(path),
        reason=reason,
    )
