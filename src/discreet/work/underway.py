"""Questions that are being answered, so that nobody learns from elsewhere when an answer was ready.

Until its slot has come, an answer that is stored already counts as not given: to its owner's history, and to whoever
asks again under its key. What is kept here is soon out of date, and losing it costs nothing but that.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from discreet.stores import Store, Tables
from discreet.work.jobs import in_microseconds, moment_of

__all__ = ["UNDERWAY_TABLES", "Underway"]

UNDERWAY_TABLES: Final = Tables(
    "underway",
    (
        """
        CREATE TABLE underway (
            owner text NOT NULL,
            request_id text NOT NULL,
            asked bigint NOT NULL,
            PRIMARY KEY (owner, request_id)
        )
        """,
    ),
)
_FORGOTTEN: Final = timedelta(seconds=60)
"""Questions that take longer are jobs. After so long, one whose worker was killed counts as given, if it was."""

_BEGIN: Final = """
INSERT INTO underway (owner, request_id, asked) VALUES (?, ?, ?)
ON CONFLICT (owner, request_id) DO UPDATE SET
    asked = CASE WHEN underway.asked <= ? THEN excluded.asked ELSE underway.asked END
RETURNING asked
"""


class Underway:
    """Of everybody who asks here. `store` has the tables UNDERWAY_TABLES."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def close(self) -> None:
        self._store.close()

    def begin(self, owner: str, request_id: str, *, asked: datetime) -> datetime:
        """Since when the question is underway: since now, unless somebody asked it before and was not answered yet."""
        with self._store.jotting() as run:
            [(since,)] = run(_BEGIN, owner, request_id, in_microseconds(asked), in_microseconds(asked - _FORGOTTEN))
        return moment_of(since)

    def end(self, owner: str, request_id: str) -> None:
        """What came of it leaves now."""
        with self._store.jotting() as run:
            run("DELETE FROM underway WHERE owner = ? AND request_id = ?", owner, request_id)

    def of(self, owner: str, *, now: datetime) -> frozenset[str]:
        """The request ids under which this owner's answers have not left yet."""
        with self._store.reading() as run:
            found = run(
                "SELECT request_id FROM underway WHERE owner = ? AND asked > ?",
                owner,
                in_microseconds(now - _FORGOTTEN),
            )
        return frozenset(request_id for (request_id,) in found)

    def sweep(self, now: datetime) -> int:
        """Forget questions whose workers were killed, and say how many."""
        with self._store.writing() as run:
            return len(run("DELETE FROM underway WHERE asked <= ? RETURNING owner", in_microseconds(now - _FORGOTTEN)))
