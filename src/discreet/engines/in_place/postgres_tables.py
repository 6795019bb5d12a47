"""A raw table in PostgreSQL, read where it is: one read-only snapshot per question, nothing written to the server.

The connection string comes from an environment variable and is never stored or shown.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from discreet.engines.exact_values import Row, exact_row
from discreet.engines.in_place.postgres_dialect import POSTGRES, schema_and_table
from discreet.errors import EngineUnavailable, ExtraMissing
from discreet.workspace import RowSource

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresRows"]

_OLDEST: Final = 130000
_COLUMNS: Final = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute AS a
JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""


class PostgresRows:
    """An open, read-only connection. EngineUnavailable when it cannot be had; that says nothing about the rows."""

    def __init__(self, source: RowSource) -> None:
        assert source.dsn_env is not None
        assert source.table is not None
        self._variable = source.dsn_env
        self._schema, self._name = schema_and_table(source.table)
        self._connection = self._connect()

    def columns(self) -> dict[str, str]:
        """The columns of the table and their types, from the catalogue; empty when there is no such table."""
        found = self._connection.execute(_COLUMNS, (self._schema, self._name)).fetchall()
        return {str(name): str(kind) for name, kind in found}

    def run(self, sql: str) -> list[Row]:
        """The rows of one statement, as whole numbers, texts and NULL."""
        return [exact_row(row) for row in self._connection.execute(sql.encode()).fetchall()]

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise ExtraMissing(needed_for="Data in PostgreSQL", extra="postgres") from None
        dsn = os.environ.get(self._variable)
        if not dsn:
            raise EngineUnavailable(
                f"the rows are in PostgreSQL and the environment variable '{self._variable}' is not set. Set it to the "
                "connection string of the database.",
                variable=self._variable,
            )
        try:
            connection = psycopg.connect(dsn, application_name="discreet", client_encoding="utf8")
            self._settle(connection)
        except psycopg.Error as error:
            # The driver's own words may quote the connection string.
            raise EngineUnavailable(
                f"PostgreSQL (variable '{self._variable}') cannot be used: {type(error).__name__}. Check the "
                "connection string, the server and the rights of its user.",
                variable=self._variable,
                reason=type(error).__name__,
            ) from None
        return connection

    def _settle(self, connection: psycopg.Connection[Any]) -> None:
        """One snapshot for all statements, no writing, and the settings that the dialect rests on."""
        from psycopg import IsolationLevel

        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8" or connection.info.server_version < _OLDEST:
            connection.close()
            raise EngineUnavailable(
                f"PostgreSQL (variable '{self._variable}') must be version 13 or newer, with a database in UTF-8: "
                "texts are composed in the query.",
                variable=self._variable,
            )
        connection.autocommit = True
        for setting in (
            "default_transaction_read_only = on",
            f"search_path = pg_catalog, {POSTGRES.name(self._schema)}, pg_temp",
            "standard_conforming_strings = on",
            "extra_float_digits = 1",
            # Compiling these long expressions takes longer than running them.
            "jit = off",
        ):
            connection.execute(f"SET {setting}".encode())
        connection.autocommit = False
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
