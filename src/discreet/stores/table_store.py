"""What the two stores share: declared tables, and transactions that read, write or jot.

Statements are written once, for both: placeholders are `?`, types are `text` and `bigint`, and what SQLite and
PostgreSQL both read alike (`ON CONFLICT`, `RETURNING`). A writing transaction is the only one until it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.catalogue import say
from discreet.errors import RecordsUnavailable

__all__ = ["Rows", "Run", "Store", "Tables", "require_known", "unavailable"]

Rows = list[tuple[Any, ...]]


class Run(Protocol):
    """Runs one statement and gives the rows it returns, if any."""

    def __call__(self, statement: str, *values: str | int | None) -> Rows: ...


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one room. Each step is a statement that takes them from one release's to the next's.

    Steps are added at the end and never changed; a store remembers how many of them it has taken.
    """

    room: str
    steps: tuple[str, ...]


class Store(Protocol):
    """Threads may share one; a forked process may go on using it."""

    def reading(self) -> AbstractContextManager[Run]:
        """A consistent view."""

    def writing(self) -> AbstractContextManager[Run]:
        """The one writer; durable when the block ends, undone when it raises."""

    def jotting(self) -> AbstractContextManager[Run]:
        """As `writing`, but what was written may be lost with the machine: for counts that are soon out of date."""

    def close(self) -> None: ...


def require_known(tables: Tables, taken: int) -> Sequence[str]:
    """The steps that are left to take; a store that has taken more was used by a later release."""
    if taken > len(tables.steps):
        raise RecordsUnavailable(
            say("its tables were made by a later version of Discreet. Use that version, or a later one")
        )
    return tables.steps[taken:]


def unavailable(reason: str) -> RecordsUnavailable:
    return RecordsUnavailable(reason)
