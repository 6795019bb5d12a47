"""Tables in one SQLite file beside the ledger: write-ahead log, every commit synced but for what is jotted.

Writers of all processes queue on a kernel lock beside the file, because SQLite's own waiting is a poll that can starve.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from discreet.files import locked
from discreet.ledger import ProcessConnection
from discreet.paths import tell_reason
from discreet.stores.table_store import Rows, Run, Tables, require_known, unavailable

__all__ = ["SqliteOffice"]

_PATIENCE: Final = 60
_TAKEN: Final = "CREATE TABLE IF NOT EXISTS taken (room text PRIMARY KEY, steps bigint NOT NULL)"


class SqliteOffice:
    """One file, made when it is first needed, and a lock beside it."""

    def __init__(self, path: Path, tables: Tables) -> None:
        self._path = path
        self._tables = tables
        self._connection = ProcessConnection(self._connect, lambda connection: connection.close())

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._connection.turn(), _as_refusals(), _transaction(self._connection.get(), "BEGIN") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._writer("FULL") as run:
            yield run

    @contextmanager
    def jotting(self) -> Iterator[Run]:
        with self._writer("NORMAL") as run:
            yield run

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _writer(self, synchronous: str) -> Iterator[Run]:
        with self._connection.turn(), _as_refusals():
            connection = self._connection.get()
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            with locked(self._lock), _transaction(connection, "BEGIN IMMEDIATE") as run:
                yield run

    @property
    def _lock(self) -> Path:
        return Path(f"{self._path}.lock")

    def _connect(self) -> sqlite3.Connection:
        self._path.touch(mode=0o600)
        connection = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            with locked(self._lock):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA foreign_keys = ON")
                with _transaction(connection, "BEGIN IMMEDIATE") as run:
                    _take_steps(run, self._tables)
        except BaseException:
            connection.close()
            raise
        return connection


def _take_steps(run: Run, tables: Tables) -> None:
    run(_TAKEN)
    found = run("SELECT steps FROM taken WHERE room = ?", tables.room)
    for step in require_known(tables, found[0][0] if found else 0):
        run(step)
    run(
        "INSERT INTO taken VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET steps = excluded.steps",
        tables.room,
        len(tables.steps),
    )


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[Run]:
    def run(statement: str, *values: str | int | None) -> Rows:
        return connection.execute(statement, values).fetchall()

    connection.execute(begin)
    try:
        yield run
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _as_refusals() -> Iterator[None]:
    """The driver's errors as ours. Their texts stay behind: they may quote what is stored."""
    try:
        yield
    except OSError as error:
        raise unavailable(tell_reason(error)) from None
    except sqlite3.Error as error:
        raise unavailable(getattr(error, "sqlite_errorname", type(error).__name__)) from None
