"""Tables in a schema of the ledger's PostgreSQL database, for offices where several machines serve.

A writer locks one table first; PostgreSQL queues the others in order. The connection string comes from the environment
and is never shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, RecordsUnavailable
from discreet.ledger import ProcessConnection, sha256_hex
from discreet.stores.table_store import TAKEN, Rows, Run, Tables, Value, require_storable, take_steps, unavailable

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresOffice"]

_PATIENCE: Final = "60s"
_LONGEST_NAME: Final = 63
_KEY: Final = 0x646973637265657  # of the lock under which tables are made, once
_FOUND: Final = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? AND tablename = 'taken'"


class PostgresOffice:
    """A schema of its own for every workspace, made when it is first needed."""

    def __init__(self, *, dsn_env: str, workspace_id: str, tables: Tables) -> None:
        self._dsn_env = dsn_env
        readable = re.sub(r"[^a-z0-9]+", "_", workspace_id.lower()).strip("_")[: _LONGEST_NAME - 25]
        self._schema = f"discreet_{readable}_{sha256_hex(workspace_id.encode())[:8]}_office"
        self._tables = tables
        self._connection: ProcessConnection[psycopg.Connection[Any]] = ProcessConnection(
            self._connect, lambda connection: connection.close()
        )

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY") as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._writer("on") as run:
            yield run

    @contextmanager
    def jotting(self) -> Iterator[Run]:
        with self._writer("off") as run:
            yield run

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _writer(self, synchronous: str) -> Iterator[Run]:
        with self._transaction(
            "ISOLATION LEVEL READ COMMITTED",
            f"SET LOCAL synchronous_commit = {synchronous}",
            f"SET LOCAL lock_timeout = '{_PATIENCE}'",
            f"SET LOCAL idle_in_transaction_session_timeout = '{_PATIENCE}'",
            "LOCK TABLE taken IN EXCLUSIVE MODE",
        ) as run:
            yield run

    @contextmanager
    def _transaction(self, mode: str, *first: str) -> Iterator[Run]:
        begin = "; ".join([f"BEGIN {mode}", f"SET LOCAL search_path = {self._schema}", *first])
        with self._connection.turn():
            run = self._begin(begin)
            try:
                yield run
                run("COMMIT")
            except BaseException as error:
                self._abandon(run, error)
                raise

    def _begin(self, begin: str) -> Run:
        """Begin on the open connection; on another where the server has ended that one meanwhile."""
        connection = self._connection.get()
        run = _runner(connection)
        try:
            run(begin)
        except BaseException as error:
            ended = connection.closed
            self._abandon(run, error)
            if not ended or not isinstance(error, RecordsUnavailable):
                raise
            run = _runner(self._connection.get())
            run(begin)
        return run

    def _abandon(self, run: Run, error: BaseException) -> None:
        """What was begun is undone. After a fault of the server's the next turn looks at the tables anew."""
        with suppress(RecordsUnavailable):
            run("ROLLBACK")
        if isinstance(error, RecordsUnavailable):
            with suppress(RecordsUnavailable), _as_refusals():
                self._connection.drop()

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("A ledger in PostgreSQL"), extra="postgres") from None
        dsn = os.environ.get(self._dsn_env)
        if not dsn:
            raise unavailable(say("the environment variable '{variable}' is not set", variable=self._dsn_env))
        with _as_refusals():
            connection = psycopg.connect(
                dsn, autocommit=True, application_name="discreet office", client_encoding="utf8"
            )
        try:
            self._make(_runner(connection))
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self, run: Run) -> None:
        """The schema and its tables, unless they are there: whoever only uses them needs no right to make any."""
        run("BEGIN")
        run("SELECT pg_advisory_xact_lock(?)", _KEY)
        known = bool(run(_FOUND, self._schema))
        if not known:
            run(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        run(f"SET LOCAL search_path = {self._schema}")
        if not known:
            run(TAKEN)
        take_steps(run, self._tables)
        run("COMMIT")


def _runner(connection: psycopg.Connection[Any]) -> Run:
    def run(statement: str, *values: Value) -> Rows:
        require_storable(values)
        with _as_refusals():
            cursor = connection.execute(statement.replace("?", "%s").encode(), values or None)
            return cursor.fetchall() if cursor.description is not None else []

    return run


@contextmanager
def _as_refusals() -> Iterator[None]:
    """The driver's errors as ours. Their texts stay behind: they may quote the connection string or a row."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise unavailable(type(error).__name__) from None
