"""A journal of releases: one JSON line each, appended and flushed before the release leaves.

What was released stands in it, so that the same question returns the same figures; scales and sensitivities never do. A
line that a crash cut short never left: it is dropped with the next append.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from discreet.catalogue import say
from discreet.errors import DiscreetError, LedgerUnavailable, Refused
from discreet.paths import tell_reason

__all__ = ["Journal", "JournalEntry"]


class JournalEntry(Protocol):
    """One release, and its marker on the ledger. `question` is equal for two releases that must be one and the same."""

    @property
    def who(self) -> str: ...

    @property
    def request_id(self) -> str: ...

    @property
    def marker(self) -> int: ...

    @property
    def question(self) -> tuple[object, ...]: ...

    def to_line(self) -> str: ...


Entry = TypeVar("Entry", bound=JournalEntry)


class Journal(Generic[Entry]):
    """The file. Whoever releases holds it, so that one question asked twice at once is drawn once."""

    def __init__(self, path: Path, read: Callable[[str], Entry]) -> None:
        self._path = path
        self._read = read

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else looks for a stored release, or draws one, meanwhile."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            with suppress(ImportError):  # without such locks commands take turns by hand, as for the workspace
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """Every whole line; Refused when one of them cannot be read."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unwritable(error) from None
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        return [self._entry(number, line) for number, line in enumerate(lines, start=1)]

    def find(self, *questions: tuple[object, ...]) -> Entry | None:
        """The release that answered this question, if there is one; it may be known by several."""
        return next((entry for entry in self.entries() if entry.question in questions), None)

    def find_request(self, *, who: str, request_id: str) -> Entry | None:
        """The release that was made under a request id, if there is one."""
        asked = (entry for entry in self.entries() if (entry.who, entry.request_id) == (who, request_id))
        return next(asked, None)

    def append(self, entry: Entry) -> None:
        """Write a line so that it outlives a crash, or raise; called while the journal is held."""
        try:
            with self._path.open("r+b") as stream:
                stream.truncate(self._end(stream.read()))
                stream.seek(0, os.SEEK_END)
                stream.write(entry.to_line().encode("ascii"))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise self._unwritable(error) from None

    @staticmethod
    def _end(content: bytes) -> int:
        return content.rfind(b"\n") + 1

    def _entry(self, number: int, line: bytes) -> Entry:
        try:
            return self._read(line.decode("ascii"))
        except (ValueError, TypeError, KeyError, AttributeError, DiscreetError):
            name = self._path.name
            raise Refused(
                say(
                    "line {number} of '{name}' cannot be read; restore the file from a copy. Nothing was released.",
                    number=number,
                    name=name,
                ),
                file=name,
                line=number,
            ) from None

    def _unwritable(self, error: OSError) -> LedgerUnavailable:
        name = self._path.name
        told = say("'{name}' of the workspace cannot be used: {reason}.", name=name, reason=tell_reason(error))
        return LedgerUnavailable(told, file=name)
