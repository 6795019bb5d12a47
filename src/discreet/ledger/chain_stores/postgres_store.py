"""The ledger in a schema of a PostgreSQL database, for offices where several machines ask.

A writer locks the head's table first; PostgreSQL queues the others in order. Commits are synchronous, and a
server that does not sync its own log is refused. The connection string comes from the environment and is
never shown.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, LedgerUnavailable, Refused
from discreet.ledger.chain_stores.store import (
    PATIENCE_SECONDS,
    Head,
    ProcessConnection,
    StoreDialect,
    Transaction,
    damaged,
)
from discreet.ledger.events import Event, sha256_hex

if TYPE_CHECKING:
    import psycopg

    from discreet.ledger.chain_stores.sqlite_store import SqliteStore

__all__ = ["PostgresStore", "schema_name"]

_DIALECT: Final = StoreDialect(
    charge="substring(body from '\"charge\":([0-9]+)')",
    field="(CAST(body AS json) #>> '{{payload,{}}}')",
)
_SCHEMA: Final = """
CREATE SCHEMA {schema};
SET LOCAL search_path = {schema};
CREATE TABLE events (
    sequence bigint PRIMARY KEY, kind text NOT NULL, population text NOT NULL,
    analyst text, request_id text, plan_hash text, body text NOT NULL, hash text NOT NULL UNIQUE
);
CREATE UNIQUE INDEX requests ON events (analyst, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX plans ON events (plan_hash) WHERE plan_hash IS NOT NULL;
CREATE INDEX markers ON events (population) WHERE kind = 'marker';
CREATE TABLE answers (
    sequence bigint PRIMARY KEY REFERENCES events (sequence), sha256 text NOT NULL, answer bytea NOT NULL
);
CREATE TABLE head (
    one integer PRIMARY KEY CHECK (one = 1), format integer NOT NULL,
    sequence bigint NOT NULL REFERENCES events (sequence),
    hash text NOT NULL, standing text NOT NULL, mac text NOT NULL
);
CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON events EXECUTE FUNCTION stay();
CREATE TRIGGER answers_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON answers EXECUTE FUNCTION stay();
CREATE TRIGGER head_stays BEFORE DELETE OR TRUNCATE ON head EXECUTE FUNCTION stay();
"""
_INDEXED: Final = (
    ("events", "sequence", "true"),
    ("events", "hash", "true"),
    ("events", "analyst, request_id", "request_id IS NOT NULL"),
    ("events", "plan_hash", "plan_hash IS NOT NULL"),
    ("events", "population", "kind = 'marker'"),
    ("events", _DIALECT.charge, "kind = 'answer'"),
    ("events", "analyst, sequence", "kind IN ('charge', 'replay')"),
    ("answers", "sequence", "true"),
)
"""What is indexed: table, key, and of which rows."""
_LONGEST_SCHEMA: Final = 63
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def schema_name(workspace_id: str) -> str:
    """A schema of its own for every workspace: readable, and unique by a hash of the id."""
    readable = re.sub(r"[^a-z0-9]+", "_", workspace_id.lower()).strip("_")[: _LONGEST_SCHEMA - 18]
    return f"discreet_{readable}_{sha256_hex(workspace_id.encode())[:8]}"


class PostgresStore:
    """One schema of the database whose connection string stands in the environment variable `dsn_env`."""

    def __init__(self, *, dsn_env: str, schema: str) -> None:
        if not _NAME.fullmatch(schema):
            raise ValueError("a schema's name is lower-case letters, digits and _")
        self._dsn_env = dsn_env
        self._schema = schema
        self._connection: ProcessConnection[psycopg.Connection[Any]] = ProcessConnection(
            self._connect, lambda connection: connection.close()
        )

    def create(self, event: Event, head: Head) -> None:
        """Schema, first event and head in one transaction."""
        with self._connection.turn(), self._as_refusals(), self._transaction("BEGIN") as transaction:
            if self._exists():
                raise LedgerUnavailable(
                    say(
                        "A ledger is already in the schema '{schema}'; it is never replaced. Open it, or choose "
                        "another schema.",
                        schema=self._schema,
                    ),
                    schema=self._schema,
                )
            self._connection.get().execute(_SCHEMA.format(schema=self._schema))
            transaction.upgrade()
            transaction.fill([event], [], head)

    def install(self, source: SqliteStore) -> None:
        """In one transaction; the schema that was here gets another name."""
        with self._connection.turn(), self._as_refusals(), self._transaction("BEGIN") as transaction:
            connection = self._connection.get()
            if self._exists():
                kept = f"{self._schema[: _LONGEST_SCHEMA - 18]}_replaced_{secrets.token_hex(4)}"
                connection.execute(f"ALTER SCHEMA {self._schema} RENAME TO {kept}".encode())
            connection.execute(_SCHEMA.format(schema=self._schema).encode())
            transaction.upgrade()
            with source.reading() as other:
                transaction.fill(other.events(), other.answers(), other.head())

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = {self._schema}"
        with self._connection.turn(), self._as_refusals(), self._transaction(begin) as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        patience = f"{PATIENCE_SECONDS}s"
        begin = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = {self._schema}; "
            f"SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '{patience}'; "
            f"SET LOCAL idle_in_transaction_session_timeout = '{patience}'; LOCK TABLE head IN EXCLUSIVE MODE"
        )
        with self._connection.turn(), self._as_refusals(), self._transaction(begin) as transaction:
            yield transaction

    def upgrade(self) -> None:
        with self.writing() as transaction:
            transaction.upgrade()

    def inspect(self) -> None:
        """Every index against its table: the same rows in the same order, whichever way they are read.

        That is all that can be asked without extensions. A server with page checksums also finds torn pages, because
        every row is read; one without them does not, and amcheck and pg_checksums look deeper.
        """
        with self.reading():
            connection = self._connection.get()

            def read(ways: dict[str, str]) -> list[object]:
                for way, whether in ways.items():
                    connection.execute(f"SET LOCAL enable_{way} = {whether}".encode())
                result: list[object] = []
                for table, key, rows in _INDEXED:
                    order = f"{key}, sequence"
                    ranked = f"SELECT sequence, row_number() OVER (ORDER BY {order}) AS rank FROM {table} WHERE {rows}"
                    # The order of an index is read by rank, so that rows it has lost or misplaced show.
                    query = f"SELECT count(*), sum(sequence), sum(sequence * rank) FROM ({ranked}) AS ranked"
                    result.append(connection.execute(query.encode()).fetchone())
                return result

            by_table = read(dict.fromkeys(("indexscan", "indexonlyscan", "bitmapscan"), "off") | {"seqscan": "on"})
            by_index = read(dict.fromkeys(("indexscan", "indexonlyscan", "bitmapscan"), "on") | {"seqscan": "off"})
            if by_table != by_index:
                raise damaged(say("an index of PostgreSQL does not hold what its table does"))
            lost = "SELECT 1 FROM answers LEFT JOIN events USING (sequence) WHERE events.sequence IS NULL LIMIT 1"
            if connection.execute(lost.encode()).fetchone() is not None:
                raise damaged(say("an answer stands for an event that is not there"))

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        connection = self._connection.get()

        def run(query: str, values: Sequence[object]) -> Any:
            return connection.execute(query.replace("?", "%s").encode(), values)

        try:
            connection.execute(begin.encode())
            yield Transaction(run, _DIALECT)
            connection.execute(b"COMMIT")
        except BaseException:
            # Whatever went wrong, this session's state is unknown or of no more use to anyone.
            self._abandon(connection)
            raise

    def _abandon(self, connection: psycopg.Connection[Any]) -> None:
        import psycopg

        try:
            connection.execute(b"ROLLBACK")
        except psycopg.Error:
            with suppress(psycopg.Error):
                self._connection.drop()

    def _exists(self) -> bool:
        query = b"SELECT 1 FROM information_schema.schemata WHERE schema_name = %s"
        return self._connection.get().execute(query, (self._schema,)).fetchone() is not None

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("A ledger in PostgreSQL"), extra="postgres") from None
        dsn = os.environ.get(self._dsn_env)
        if not dsn:
            raise LedgerUnavailable(
                say(
                    "The ledger is in PostgreSQL and the environment variable '{variable}' is not set. Set it to the "
                    "connection string of the database.",
                    variable=self._dsn_env,
                ),
                variable=self._dsn_env,
            )
        connection = psycopg.connect(dsn, autocommit=True, application_name="discreet ledger", client_encoding="utf8")
        syncs = connection.execute(b"SHOW fsync").fetchone()
        if syncs is None or syncs[0] != "on":
            connection.close()
            raise LedgerUnavailable(
                say("The PostgreSQL server runs with fsync = off and may forget charges. Turn it on and ask again.")
            )
        return connection

    @contextmanager
    def _as_refusals(self) -> Iterator[None]:
        """The driver's errors as ours.

        Their texts stay behind: they may quote the connection string or a row.
        """
        try:
            yield
        except (Refused, ExtraMissing):
            raise
        except Exception as error:
            import psycopg

            if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
                raise LedgerUnavailable(
                    say(
                        "The ledger's schema '{schema}' is missing. A budget is never made anew: restore it from a "
                        "copy that passes verification.",
                        schema=self._schema,
                    ),
                    schema=self._schema,
                ) from None
            if isinstance(error, _damage()):
                raise damaged(say("PostgreSQL says {name}", name=type(error).__name__)) from None
            if not isinstance(error, psycopg.Error):
                raise
            raise LedgerUnavailable(
                say(
                    "The ledger in PostgreSQL (variable '{variable}') cannot be used: {reason}. Nothing was answered; "
                    "ask again with the same request id once the server is well.",
                    variable=self._dsn_env,
                    reason=type(error).__name__,
                ),
                variable=self._dsn_env,
                reason=type(error).__name__,
            ) from None


def _damage() -> tuple[type[Exception], ...]:
    """What the driver raises where the tables are not ours any more, or hold what cannot be read."""
    import psycopg
    from psycopg import errors

    return (
        psycopg.DataError,
        psycopg.IntegrityError,
        errors.DataCorrupted,
        errors.DatatypeMismatch,
        errors.IndexCorrupted,
        errors.UndefinedColumn,
        errors.UndefinedFunction,
        UnicodeError,
    )
