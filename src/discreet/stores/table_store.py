"""What the two stores share: declared tables, and transactions that read, write or jot.

Statements are written once, for both: placeholders are `?`, types are `text` and `bigint`, and what SQLite and
PostgreSQL both read alike (`ON CONFLICT`, `RETURNING`). A writing transaction is the only one until it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from discreet.catalogue import say
from discreet.errors import RecordsUnavailable, UsageError

__all__ = ["TAKEN", "Rows", "Run", "Store", "Tables", "Value", "require_storable", "take_steps", "unavailable"]

Rows = list[tuple[Any, ...]]
Value = str | int | None

_LONGEST_NUMBER: Final = 63  # bits, without the sign
TAKEN: Final = "CREATE TABLE IF NOT EXISTS taken (room text PRIMARY KEY, steps bigint NOT NULL)"
_FOUND: Final = "SELECT steps FROM taken WHERE room = ?"
_TAKE: Final = "INSERT INTO taken VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET steps = excluded.steps"


class Run(Protocol):
    """Runs one statement and gives the rows it returns, if any."""

    def __call__(self, statement: str, *values: Value) -> Rows: ...


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one room. Each step is a statement that takes them from one release's to the next's.

    Steps are added at the end and never changed; a store remembers how many of them it has taken.
    """

    room: str
    steps: tuple[str, ...]


class Store(Protocol):
    """Threads may share one; a forked process may go on using it.

    A thread has one transaction at a time, of all stores of a workspace: a second would wait for the first for ever.
    """

    def reading(self) -> AbstractContextManager[Run]:
        """A consistent view, in which nothing can be written."""

    def writing(self) -> AbstractContextManager[Run]:
        """The one writer; durable when the block ends, undone when it raises."""

    def jotting(self) -> AbstractContextManager[Run]:
        """As `writing`, but what was written may be lost with the machine: for counts that are soon out of date."""

    def close(self) -> None: ...


def take_steps(run: Run, tables: Tables) -> None:
    """Take the steps that are left, in one transaction of one process at a time; TAKEN has been run.

    A store that has taken more was used by a later release.
    """
    found = run(_FOUND, tables.room)
    taken = found[0][0] if found else 0
    if taken > len(tables.steps):
        raise RecordsUnavailable(
            say("its tables were made by a later version of Discreet. Use that version, or a later one")
        )
    for step in tables.steps[taken:]:
        run(step)
    if taken < len(tables.steps):
        run(_TAKE, tables.room, len(tables.steps))


def require_storable(values: Sequence[Value]) -> None:
    """Refuse in the same words what one database holds and another does not."""
    for value in values:
        if isinstance(value, str) and not _is_text(value):
            raise UsageError(
                say("a text cannot be kept that holds a NUL character or half of a surrogate pair. Leave it out.")
            )
        if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
            raise UsageError(say("a number cannot be kept that is longer than 64 bits. Choose a smaller one."))


def _is_text(value: str) -> bool:
    try:
        return "\0" not in value and value.encode() is not None
    except UnicodeEncodeError:
        return False


def unavailable(reason: str) -> RecordsUnavailable:
    return RecordsUnavailable(reason)
