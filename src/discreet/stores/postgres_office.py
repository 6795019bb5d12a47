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
from discreet.errors import DiscreetError, ExtraMissing
from discreet.ledger import ProcessConnection, sha256_hex
from discreet.stores.table_store import Rows, Run, Tables, require_known, unavailable

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresOffice"]

_PATIENCE: Final = "60s"
_LONGEST_NAME: Final = 63
_KEY: Final = 0x646973637265657  # of the lock under which tables are made, once
_FIRST: Final = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.taken (room text PRIMARY KEY, steps bigint NOT NULL)
"""


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
        with self._connection.turn(), self._as_refusals():
            connection = self._connection.get()
            try:
                connection.execute(begin.encode())
                yield _runner(connection)
                connection.execute(b"COMMIT")
            except BaseException:
                self._abandon(connection)
                raise

    def _abandon(self, connection: psycopg.Connection[Any]) -> None:
        """Whatever went wrong, this session's state is unknown or of no more use to anyone."""
        import psycopg

        try:
            connection.execute(b"ROLLBACK")
        except psycopg.Error:
            with suppress(psycopg.Error):
                self._connection.drop()

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("A ledger in PostgreSQL"), extra="postgres") from None
        dsn = os.environ.get(self._dsn_env)
        if not dsn:
            raise unavailable(say("the environment variable '{variable}' is not set", variable=self._dsn_env))
        connection = psycopg.connect(dsn, autocommit=True, application_name="discreet office", client_encoding="utf8")
        try:
            self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self, connection: psycopg.Connection[Any]) -> None:
        run = _runner(connection)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_KEY,))
            connection.execute(_FIRST.format(schema=self._schema).encode())
            connection.execute(f"SET LOCAL search_path = {self._schema}".encode())
            found = run("SELECT steps FROM taken WHERE room = ?", self._tables.room)
            for step in require_known(self._tables, found[0][0] if found else 0):
                run(step)
            run(
                "INSERT INTO taken VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET steps = excluded.steps",
                self._tables.room,
                len(self._tables.steps),
            )

    @contextmanager
    def _as_refusals(self) -> Iterator[None]:
        """The driver's errors as ours. Their texts stay behind: they may quote the connection string or a row."""
        try:
            yield
        except DiscreetError:
            raise
        except Exception as error:
            import psycopg

            if not isinstance(error, psycopg.Error):
                raise
            raise unavailable(type(error).__name__) from None


def _runner(connection: psycopg.Connection[Any]) -> Run:
    def run(statement: str, *values: str | int | None) -> Rows:
        cursor = connection.execute(statement.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description is not None else []

    return run
