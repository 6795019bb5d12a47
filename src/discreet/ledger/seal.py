"""The key that authenticates the head, and the anchor that remembers it elsewhere.

Both live outside the workspace. Whoever can write the workspace but not the key cannot forge a head; whoever
cannot write the anchor cannot put an old ledger back unnoticed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
import threading
from pathlib import Path
from typing import Final

from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.ledger.events import canonical_json

__all__ = ["Anchor", "Seal", "create_key"]

_KEY_BYTES: Final = 32
_KEY_TEXT: Final = re.compile(rf"[0-9a-f]{{{2 * _KEY_BYTES}}}\n?")
_ANCHOR_LINE: Final = re.compile(r"(\d{1,18}) ([0-9a-f]{64})")
_TAIL_BYTES: Final = 4096


class Seal:
    """HMAC-SHA256 over workspace, sequence, hash and standing, under the key in `path`."""

    def __init__(self, *, path: Path, workspace_id: str) -> None:
        self._key = _read_key(path)
        self._workspace_id = workspace_id

    def sign(self, *, sequence: int, hash: str, standing: str) -> str:
        message = canonical_json([self._workspace_id, sequence, hash, standing]).encode("ascii")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def holds(self, mac: str, *, sequence: int, hash: str, standing: str) -> bool:
        expected = self.sign(sequence=sequence, hash=hash, standing=standing)
        return hmac.compare_digest(mac.encode(), expected.encode())


def create_key(path: Path) -> None:
    """A new key, readable by its owner alone, unless one is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise _key_unusable(path, os.strerror(error.errno or 0)) from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())


class Anchor:
    """A file to which the head is appended, one line 'sequence hash' each, before an answer may leave."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = 0
        self._lock = threading.Lock()

    def create(self, *, sequence: int, hash: str) -> None:
        """Start the file; refuse one that is there, because it speaks of a ledger that should exist."""
        self.require_absent()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from None
        self.cover(sequence=sequence, hash=hash)

    def require_absent(self) -> None:
        if self._path.exists():
            raise LedgerUnavailable(
                f"The anchor '{self._path}' already speaks of a ledger. Restore that ledger, or choose another anchor.",
                path=str(self._path),
            )

    def read(self) -> tuple[int, str]:
        """The newest head that was anchored. A torn last line, as a crash leaves it, is passed over."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _TAIL_BYTES))
                tail = file.read().decode("ascii", errors="replace")
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from None
        lines = [_ANCHOR_LINE.fullmatch(line) for line in tail.split("\n")[:-1]]
        heads = [(int(line[1]), line[2]) for line in lines if line is not None]
        if not heads:
            raise LedgerDamaged(
                f"The anchor '{self._path}' holds no head. Restore it, or give the anchor by hand to ledger verify.",
                path=str(self._path),
            )
        return max(heads)

    def require_writable(self) -> None:
        """Fail before anything is charged when the anchor could not be written after."""
        os.close(self._open())

    def cover(self, *, sequence: int, hash: str) -> None:
        """Make the file speak of this head or a later one, durably."""
        with self._lock:
            if sequence <= self._known:
                return
            descriptor = self._open()
            try:
                # A leading newline ends whatever line a crash may have torn.
                line = f"\n{sequence} {hash}\n".encode("ascii")
                if os.write(descriptor, line) != len(line):
                    raise OSError("short write")
                os.fsync(descriptor)
            except OSError as error:
                raise self._unusable(os.strerror(error.errno or 0)) from None
            finally:
                os.close(descriptor)
            self._known = sequence

    def _open(self) -> int:
        try:
            return os.open(self._path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise self._unusable(os.strerror(error.errno or 0)) from None

    def _unusable(self, reason: str) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"The anchor '{self._path}' cannot be used ({reason}). Nothing was answered; make it readable "
            "and writable, then ask again with the same request id.",
            path=str(self._path),
            reason=reason,
        )


def _read_key(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        content = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise _key_unusable(path, os.strerror(error.errno or 0)) from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise _key_unusable(path, "others may read it: chmod 600")
    if not _KEY_TEXT.fullmatch(content):
        raise _key_unusable(path, "it is not 64 hexadecimal digits")
    return bytes.fromhex(content.strip())


def _key_unusable(path: Path, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The ledger's key '{path}' cannot be used ({reason}). Nothing is answered without it; restore it "
        "from where the custodian keeps it.",
        path=str(path),
        reason=reason,
    )
