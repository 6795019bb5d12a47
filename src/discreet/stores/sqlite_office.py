"""Tables in one SQLite file beside the ledger: write-ahead log, every commit synced but for what is jotted.

Writers of all processes queue on a kernel lock beside the file, because SQLite's own waiting is a poll that can starve.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from discreet.errors import RecordsUnavailable
from discreet.files import locked
from discreet.ledger import ProcessConnection
from discreet.paths import tell_reason
from discreet.stores.table_store import TAKEN, Rows, Run, Tables, Value, require_storable, take_steps, unavailable

__all__ = ["SqliteOffice"]

_PATIENCE: Final = 60
_PRAGMAS: Final = ("journal_mode = WAL", "foreign_keys = ON", "fullfsync = ON", "trusted_schema = OFF")


class SqliteOffice:
    """One file, made when it is first needed, and a lock beside it."""

    def __init__(self, path: Path, tables: Tables) -> None:
        self._path = path
        self._tables = tables
        self._mark: tuple[int, int] | None = None
        self._connection = ProcessConnection(self._connect, lambda connection: connection.close())

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._connection.turn():
            run = _runner(self._get())
            run("PRAGMA query_only = ON")
            with _transaction(run, "BEGIN"):
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
        with self._connection.turn():
            run = _runner(self._get())
            run("PRAGMA query_only = OFF")
            run(f"PRAGMA synchronous = {synchronous}")
            with self._queue(), _transaction(run, "BEGIN IMMEDIATE"):
                yield run

    @contextmanager
    def _queue(self) -> Iterator[None]:
        with ExitStack() as held:
            with _as_refusals():
                held.enter_context(locked(Path(f"{self._path}.lock")))
            yield

    def _get(self) -> sqlite3.Connection:
        """The open connection. A file that was moved away or put back under a running process is another file."""
        if self._mark != self._look():
            self._connection.drop()
        return self._connection.get()

    def _look(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _connect(self) -> sqlite3.Connection:
        # One at a time: whoever opens and closes a file lets go of all locks that its process has on it.
        with self._queue():
            with _as_refusals():
                self._path.touch(mode=0o600)
                connection = sqlite3.connect(
                    self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
                )
            try:
                run = _runner(connection)
                for pragma in _PRAGMAS:
                    run(f"PRAGMA {pragma}")
                with _transaction(run, "BEGIN IMMEDIATE"):
                    run(TAKEN)
                    take_steps(run, self._tables)
            except BaseException:
                connection.close()
                raise
            self._mark = self._look()
            return connection


def _runner(connection: sqlite3.Connection) -> Run:
    def run(statement: str, *values: Value) -> Rows:
        require_storable(values)
        with _as_refusals():
            return connection.execute(statement, values).fetchall()

    return run


@contextmanager
def _transaction(run: Run, begin: str) -> Iterator[None]:
    try:
        run(begin)
        yield
        run("COMMIT")
    except BaseException:
        with suppress(RecordsUnavailable):
            run("ROLLBACK")
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
