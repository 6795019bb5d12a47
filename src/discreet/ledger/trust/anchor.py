"""The anchor: a file outside the workspace that remembers every head, and what had been spent when it was written.

One line for each write, 'sequence hash spent mac': `spent` is what the populations had spent then, or '=' where it is
what the line before it said, and the key vouches for both. Lines of earlier releases end after the hash. The file is
locked from before a ledger is read until its new head stands here, so that copies of a workspace which share an anchor
write one after the other, and each of them sees what the others wrote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from discreet.catalogue import say
from discreet.errors import LedgerDamaged, LedgerUnavailable
from discreet.ledger.trust.seal import Seal
from discreet.paths import AnyPath, as_path, open_descriptor, read_regular, tell_reason

__all__ = ["Anchor", "AnchorLine", "HeldAnchor", "complete"]

SAME: Final = "="
_LINE: Final = re.compile(r"(\d{1,18}) ([0-9a-f]{64})(?: (=|\{.*\}) ([0-9a-f]{64}))?")
_TAIL_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class AnchorLine:
    """One head. `spent` and `mac` are None on lines of earlier releases."""

    sequence: int
    hash: str
    spent: str | None = None
    mac: str | None = None

    @classmethod
    def sealed(cls, seal: Seal, *, sequence: int, hash: str, spent: str) -> AnchorLine:
        return cls(sequence, hash, spent, seal.vouch(sequence=sequence, hash=hash, spent=spent))

    def holds(self, seal: Seal) -> bool:
        """Whether the key vouches for what the line says; it says nothing of lines of earlier releases."""
        return self.mac is None or seal.vouches(self.mac, sequence=self.sequence, hash=self.hash, spent=self.spent)

    def bytes_after(self, before: AnchorLine | None) -> bytes:
        """The line as it is written; a leading newline ends whatever line a crash may have torn."""
        text = SAME if before is not None and before.spent == self.spent else self.spent
        return f"\n{self.sequence} {self.hash} {text} {self.mac}\n".encode("ascii")


class HeldAnchor:
    """The anchor while nobody else may write: its newest line, and where the next one goes."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self.newest = _newest(_read_tail(descriptor), path)

    def cover(self, line: AnchorLine) -> None:
        """Make the file speak of this head and of what was spent, durably."""
        if self.newest.mac is not None and (line.sequence, line.hash) == (self.newest.sequence, self.newest.hash):
            return
        _append(self._path, self._descriptor, line.bytes_after(self.newest))
        self.newest = line


class Anchor:
    """The file in which heads are anchored."""

    def __init__(self, path: AnyPath) -> None:
        self.path = as_path(path, "anchor")

    def create(self, line: AnchorLine) -> None:
        """Start the file; refuse one that is there, because it speaks of a ledger that should exist."""
        self.require_absent()
        with _as_unusable(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _append(self.path, descriptor, line.bytes_after(None))
        finally:
            os.close(descriptor)

    def require_absent(self) -> None:
        if self.path.exists():
            raise LedgerUnavailable(
                say(
                    "The anchor '{path}' already speaks of a ledger. Restore that ledger, or choose another anchor.",
                    path=self.path,
                ),
                path=str(self.path),
            )

    @contextmanager
    def hold(self) -> Iterator[HeldAnchor]:
        """Wait for one's turn. Whatever fails here fails before anything is charged."""
        descriptor = self._lock()
        try:
            with _as_unusable(self.path):
                held = HeldAnchor(self.path, descriptor)
            yield held
        finally:
            os.close(descriptor)

    def newest(self) -> AnchorLine:
        """The newest head that was anchored, without waiting."""
        with _as_unusable(self.path):
            descriptor = open_descriptor(self.path, os.O_RDONLY)
            try:
                return _newest(_read_tail(descriptor), self.path)
            finally:
                os.close(descriptor)

    def lines(self) -> list[AnchorLine]:
        """Every head that was anchored, as it was written. A torn line, as a crash leaves it, is passed over."""
        with _as_unusable(self.path):
            return list(_parse(read_regular(self.path)))

    def _lock(self) -> int:
        """The file, open and locked; again where somebody put another one in its place while this one waited."""
        while True:
            with _as_unusable(self.path):
                descriptor = open_descriptor(self.path, os.O_RDWR | os.O_APPEND)
                try:
                    _wait_for(descriptor)
                    there, held = os.stat(self.path), os.fstat(descriptor)
                except BaseException:
                    os.close(descriptor)
                    raise
            if (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino):
                return descriptor
            os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks here: commands take turns by hand
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _append(path: Path, descriptor: int, line: bytes) -> None:
    with _as_unusable(path):
        if os.write(descriptor, line) != len(line):
            raise OSError("short write")
        os.fsync(descriptor)


def _read_tail(descriptor: int) -> list[AnchorLine]:
    """The last lines, as far back as the last one that says what was spent."""
    size = os.fstat(descriptor).st_size
    reach = _TAIL_BYTES
    while True:
        start = max(0, size - reach)
        content = os.pread(descriptor, size - start, start)
        lines = list(_parse(content if start == 0 else content.partition(b"\n")[2]))
        if start == 0 or any(line.spent not in {None, SAME} for line in lines):
            return lines
        reach *= 4


def _parse(content: bytes) -> Iterator[AnchorLine]:
    for text in content.decode("ascii", errors="replace").split("\n")[:-1]:
        if (found := _LINE.fullmatch(text)) is not None:
            yield AnchorLine(int(found[1]), found[2], found[3], found[4])


def complete(lines: Iterable[AnchorLine]) -> Iterator[AnchorLine]:
    """The same lines, each with what was spent written out where a line before it says so."""
    spent: str | None = None
    for line in lines:
        spent = spent if line.spent == SAME else line.spent
        yield replace(line, spent=spent)


def _newest(lines: Iterable[AnchorLine], path: Path) -> AnchorLine:
    """The last line; earlier releases wrote theirs in any order, the largest of those is the newest."""
    newest: AnchorLine | None = None
    for line in complete(lines):
        if newest is None or line.mac is not None or line.sequence >= newest.sequence:
            newest = line
    if newest is None:
        raise LedgerDamaged(
            say("The anchor '{path}' holds no head. Restore it, or replace it with: discreet ledger anchor", path=path),
            path=str(path),
        )
    return newest


@contextmanager
def _as_unusable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = tell_reason(error)
        raise LedgerUnavailable(
            say(
                "The anchor '{path}' cannot be used ({reason}). Nothing was answered; make it readable and "
                "writable, then ask again with the same request id.",
                path=path,
                reason=reason,
            ),
            path=str(path),
            reason=reason,
        ) from None
