"""Prepared rows written by PostgreSQL itself into a schema of Discreet's own, in one transaction."""

from __future__ import annotations

from typing import ClassVar, Final

from discreet.catalogue import say
from discreet.engines.in_place.postgres_dialect import POSTGRES, schema_and_table
from discreet.engines.in_place.postgres_tables import ORDERING, PostgresRows
from discreet.errors import EngineUnavailable
from discreet.workspace import StoredRows

__all__ = ["PostgresWriter"]

_COMMENT: Final = "Prepared by Discreet: confidential, and never changed once it is there. See docs/engines.md."
_LOCK_SECONDS: Final = 2


class PostgresWriter(PostgresRows):
    """One transaction that reads a raw table and writes a prepared one: nothing is there before `finish`."""

    reads_only: ClassVar[bool] = False

    def check_home(self, home: str) -> None:
        found = self._connection.execute(
            "SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE, CREATE') FROM pg_catalog.pg_namespace AS n "
            "WHERE n.nspname = %s",
            (home,),
        ).fetchone()
        if found is None:
            raise self._refusal(
                say("has no schema '{home}'. Make one: CREATE SCHEMA {name}", home=home, name=POSTGRES.name(home)),
                "no schema",
            )
        if not found[0]:
            raise self._refusal(
                say(
                    "does not let this user make tables in schema '{home}'. Grant it: GRANT USAGE, CREATE ON SCHEMA "
                    "{name} TO …",
                    home=home,
                    name=POSTGRES.name(home),
                ),
                "InsufficientPrivilege",
            )

    def write(self, name: str, select: str) -> StoredRows:
        table = POSTGRES.table(name)
        self._connection.execute(ORDERING)
        self._connection.execute(f"CREATE TABLE {table} AS\n{select}".encode())
        self._connection.execute(f"REVOKE ALL ON TABLE {table} FROM PUBLIC".encode())
        self._connection.execute(f"COMMENT ON TABLE {table} IS {POSTGRES.text(_COMMENT)}".encode())
        self._connection.execute(f"ANALYZE {table}".encode())
        return StoredRows(name)

    def finish(self) -> None:
        self._connection.commit()

    def remove(self, name: str) -> None:
        """A question that reads the table holds a lock: then the table stays until the next time."""
        import psycopg

        schema, table = schema_and_table(name)
        self._connection.rollback()
        try:
            self._connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'".encode())
            self._connection.execute(f"DROP TABLE IF EXISTS {POSTGRES.name(schema)}.{POSTGRES.name(table)}".encode())
            self._connection.commit()
        except psycopg.errors.LockNotAvailable:
            self._connection.rollback()
            raise EngineUnavailable(
                say("table '{name}' is being read and stays until the dataset is refreshed again.", name=name),
                table=name,
            ) from None

    def _refusal(self, why: str, reason: str) -> EngineUnavailable:
        message = say("PostgreSQL (variable '{variable}') {why}.", variable=self._variable, why=why)
        return EngineUnavailable(message, variable=self._variable, reason=reason)
