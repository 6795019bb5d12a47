"""The ledger in one SQLite file: write-ahead log, every commit synced, never on a network drive.

Writers of all processes queue on a kernel lock beside the file, because SQLite's own waiting is a poll that
can starve. The file is opened for reading and writing only: a missing ledger stays missing. Where its folder cannot
be written, as on read-only media, SQLite cannot read a write-ahead log either: a copy made for the purpose is read.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from discreet.catalogue import say
from discreet.errors import LedgerUnavailable, Refused
from discreet.files import put_in_place, sync
from discreet.ledger.chain_stores.filesystem import refuse_network_drive
from discreet.ledger.chain_stores.store import (
    PATIENCE_SECONDS,
    AnswerRow,
    Head,
    ProcessConnection,
    StoreDialect,
    Transaction,
    damaged,
)
from discreet.ledger.events import Event
from discreet.paths import tell_reason

__all__ = ["SqliteStore", "set_aside"]

_DIALECT: Final = StoreDialect(
    charge="CAST(CAST(substr(body, instr(body, '\"charge\":') + 9) AS INTEGER) AS TEXT)",
    field="CAST(json_extract(body, '$.payload.{}') AS TEXT)",
)
_SCHEMA: Final = f"""
CREATE TABLE events (
    sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, population TEXT NOT NULL,
    analyst TEXT, request_id TEXT, plan_hash TEXT, body TEXT NOT NULL, hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE UNIQUE INDEX requests ON events (analyst, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX plans ON events (plan_hash) WHERE plan_hash IS NOT NULL;
CREATE INDEX markers ON events (population) WHERE kind = 'marker';
CREATE TABLE answers (
    sequence INTEGER PRIMARY KEY REFERENCES events (sequence), sha256 TEXT NOT NULL, answer BLOB NOT NULL
) STRICT;
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL,
    sequence INTEGER NOT NULL REFERENCES events (sequence),
    hash TEXT NOT NULL, standing TEXT NOT NULL, mac TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events stay'); END;
CREATE TRIGGER events_last BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events stay'); END;
CREATE TRIGGER answers_stay BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers stay'); END;
CREATE TRIGGER answers_last BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers stay'); END;
CREATE TRIGGER head_last BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the head stays'); END;
{";".join(_DIALECT.indexes)};
"""
_DAMAGE: Final = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_INTERNAL,
    sqlite3.SQLITE_NOTFOUND,
    sqlite3.SQLITE_SCHEMA,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_RANGE,
}
_PRIMARY_CODE: Final = 0xFF
_BESIDE: Final = ("", "-wal", "-shm")
_TRIES: Final = 20

_Mark = tuple[int, ...]


class SqliteStore:
    """One file, and `<file>.lock` beside it."""

    def __init__(self, path: Path) -> None:
        refuse_network_drive(path)
        self._path = path
        self._mark: _Mark | None = None
        self._copy: Path | None = None
        self._connection = ProcessConnection(self._connect, self._disconnect)

    def create(self, event: Event, head: Head) -> None:
        """Build the file aside and put it in place whole."""
        staged = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
        with _as_refusals(self._path):
            try:
                _build(staged, [event], [], head)
                put_in_place(staged, self._path, fresh=True)
            except FileExistsError:
                raise LedgerUnavailable(
                    say(
                        "A ledger is already at '{path}'; it is never replaced. Open it, or choose another folder.",
                        path=self._path,
                    ),
                    path=str(self._path),
                ) from None
            finally:
                _remove(staged)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self._connection.turn(), _as_refusals(self._path), self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self._connection.turn(), _as_refusals(self._path):
            _identify(self._path)
            if _sealed_off(self._path):
                raise _unavailable(self._path, say("its folder can only be read"))
            with _queue(Path(f"{self._path}.lock")), self._transaction("BEGIN IMMEDIATE") as transaction:
                yield transaction

    def copy_from(self, source: Transaction) -> None:
        """A new file with all that a transaction shows; refused where one is there."""
        with _as_refusals(self._path):
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                _build(self._path, source.events(), source.answers(), source.head())
            except BaseException:
                _remove(self._path)
                raise
            sync(self._path.parent)

    def install(self, source: SqliteStore) -> None:
        """Put the file of another ledger here in one step; what was here is kept beside it."""
        source.close()
        with self._connection.turn(), _as_refusals(self._path), _queue(Path(f"{self._path}.lock")):
            set_aside(self._path)
            put_in_place(source._path, self._path)

    def upgrade(self) -> None:
        with self.writing() as transaction:
            transaction.upgrade()

    def inspect(self) -> None:
        """SQLite's integrity check of every page, index and constraint, and of the references between tables."""
        with self._connection.turn(), _as_refusals(self._path), self._transaction("BEGIN"):
            connection = self._connection.get()
            if [tuple(row) for row in connection.execute("PRAGMA integrity_check")] != [("ok",)]:
                raise damaged(say("SQLite's own check of the file finds fault with it"))
            if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                raise damaged(say("an answer or the head stands for an event that is not there"))

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        # A file that was moved away or put back under a running process is another ledger: look before every
        # turn.
        if self._mark != self._look():
            self._connection.drop()
        connection = self._connection.get()

        def run(query: str, values: Sequence[object]) -> Any:
            return connection.execute(query, values)

        try:
            connection.execute(begin)
            yield Transaction(run, _DIALECT)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            raise

    def _connect(self) -> sqlite3.Connection:
        self._mark = self._look()
        if not _sealed_off(self._path):
            return _open(self._path, mode="rw")
        self._copy, self._mark = _copy_aside(self._path)
        try:
            return _open(self._copy / self._path.name, mode="rw")
        except BaseException:
            self._discard()
            raise

    def _disconnect(self, connection: sqlite3.Connection) -> None:
        try:
            connection.close()
        finally:
            self._discard()

    def _discard(self) -> None:
        copy, self._copy = self._copy, None
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)

    def _look(self) -> _Mark:
        """What changes when the file is another; for a copy, also when what was copied has changed."""
        return _marks(self._path) if _sealed_off(self._path) else _identify(self._path)


def _build(path: Path, events: Iterable[Event], answers: Iterable[AnswerRow], head: Head) -> None:
    path.unlink(missing_ok=True)
    connection = _open(path, mode="rwc")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN IMMEDIATE")
        Transaction(connection.execute, _DIALECT).fill(events, answers, head)
        connection.execute("COMMIT")
    finally:
        connection.close()
    sync(path)


def set_aside(path: Path) -> None:
    """What is at `path` keeps its bytes under another name, with whatever SQLite keeps beside it."""
    kept = f"{path}.replaced-{secrets.token_hex(4)}"
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            os.rename(f"{path}{suffix}", f"{kept}{suffix}")


def _remove(path: Path) -> None:
    for suffix in _BESIDE:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _open(path: Path, *, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=PATIENCE_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    # Bytes that are no text must not stop the driver: what is read is compared with its hash.
    connection.text_factory = _read_text
    try:
        for pragma in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _read_text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape")


def _sealed_off(path: Path) -> bool:
    """Whether nothing can be made beside the file, as SQLite must to read a write-ahead log."""
    return not os.access(path.parent, os.W_OK | os.X_OK)


def _copy_aside(path: Path) -> tuple[Path, _Mark]:
    """A folder with a copy of the file and its log, and what they were like while they were copied.

    Others may be writing who can: writers are kept out where their lock can be had, and what changed meanwhile is
    copied again.
    """
    folder = Path(tempfile.mkdtemp(prefix="discreet-ledger-"))
    try:
        for attempt in range(_TRIES):
            time.sleep(0.01 * attempt)
            before = _marks(path)
            with _stilled(Path(f"{path}.lock")):
                shutil.copyfile(path, folder / path.name)
                log = Path(f"{folder / path.name}-wal")
                log.unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}-wal", log)
            if _marks(path) == before:
                return folder, before
        raise _unavailable(path, say("it changes while it is read, and its folder can only be read"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _stilled(path: Path) -> Iterator[None]:
    """Keep writers out, where their lock is there and may be opened."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _queue(path: Path) -> Iterator[None]:
    """Wait on the kernel's lock, which the kernel frees when its holder dies."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _as_refusals(path: Path) -> Iterator[None]:
    """The store's own errors as ours. Their texts stay behind: they may quote what is stored."""
    try:
        yield
    except Refused:
        raise
    except FileNotFoundError:
        raise LedgerUnavailable(
            say(
                "The ledger '{path}' is missing. A budget is never made anew: restore the file from a copy that "
                "passes verification.",
                path=path,
            ),
            path=str(path),
        ) from None
    except OSError as error:
        raise _unavailable(path, tell_reason(error)) from None
    except UnicodeDecodeError:
        # The driver reads SQLite's sentences, which quote a schema that is no text any more.
        raise damaged(say("SQLite says that its schema cannot be read")) from None
    except MemoryError:
        raise _unavailable(path, "SQLITE_NOMEM") from None
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", None)
        code = getattr(error, "sqlite_errorcode", None)
        # An error without a code is the driver's: what was stored cannot be given as Python has it.
        if code is None or (code & _PRIMARY_CODE) in _DAMAGE:
            raise damaged(say("SQLite says {name}", name=name or type(error).__name__)) from None
        raise _unavailable(path, str(name)) from None


def _unavailable(path: Path, reason: str) -> LedgerUnavailable:
    return LedgerUnavailable(
        say(
            "The ledger '{path}' cannot be used ({reason}). Nothing was answered; see that its folder is writable and "
            "its disk has room, then ask again with the same request id.",
            path=path,
            reason=reason,
        ),
        path=str(path),
        reason=reason,
    )


def _identify(path: Path) -> _Mark:
    status = path.stat()
    return status.st_dev, status.st_ino


def _marks(path: Path) -> _Mark:
    result = _identify(path)
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            status = Path(f"{path}{suffix}").stat()
            result = (*result, status.st_ino, status.st_size, status.st_mtime_ns)
    return result
