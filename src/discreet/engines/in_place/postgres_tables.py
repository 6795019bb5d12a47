"""Tables in PostgreSQL, read where they are: one read-only snapshot per question, nothing written to the server.

The connection string comes from an environment variable and is never stored or shown.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Final

from discreet.catalogue import Phrase, say
from discreet.engines.exact_values import Row, exact_row
from discreet.engines.in_place.postgres_dialect import POSTGRES, schema_and_table
from discreet.engines.in_place.tables_in_place import PinnedTable
from discreet.errors import EngineUnavailable, ExtraMissing
from discreet.workspace import RowSource, StoredRows

if TYPE_CHECKING:
    import psycopg

__all__ = ["ORDERING", "PostgresRows", "fetch_columns"]

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
# Whether two reads in one snapshot surely give the same rows: tables and nothing else, also below them. Foreign tables
# know no snapshot; views and policies may choose rows by chance.
_PLAIN: Final = """
WITH RECURSIVE tree AS (
  SELECT pg_catalog.to_regclass(%s)::oid AS oid
  UNION
  SELECT h.inhrelid FROM pg_catalog.pg_inherits AS h JOIN tree ON h.inhparent = tree.oid
)
SELECT bool_and(c.relkind IN ('r', 'p', 'm') AND NOT c.relrowsecurity)
FROM tree JOIN pg_catalog.pg_class AS c USING (oid)
"""
_LOCKABLE: Final = """
SELECT c.oid, c.relkind FROM pg_catalog.pg_class AS c
WHERE c.oid = pg_catalog.to_regclass(%s) AND c.relkind IN ('r', 'p')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
"""
# By the number of a relation that is locked, so that no other table takes its name meanwhile.
_UNIQUE: Final = """
SELECT a.attname
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indisready AND i.indislive AND i.indimmediate
  AND i.indnkeyatts = 1 AND i.indpred IS NULL AND i.indexprs IS NULL
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid))
"""
# What a server gives by itself is too little to order many rows. A role that is given more keeps it.
ORDERING: Final = """
SELECT set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 262144) || 'kB', true)
"""
_BATCH: Final = 50_000


class PostgresRows:
    """An open connection. EngineUnavailable when it cannot be had; that says nothing about the rows."""

    reads_only: ClassVar[bool] = True

    def __init__(self, source: RowSource) -> None:
        assert source.dsn_env is not None
        assert source.table is not None
        self._variable = source.dsn_env
        self._schema, _ = schema_and_table(source.table)
        self._connection = self._connect()

    def columns(self, table: str) -> dict[str, str]:
        found = self._connection.execute(_COLUMNS, schema_and_table(table)).fetchall()
        return {str(name): str(kind) for name, kind in found}

    def pin(self, table: str) -> PinnedTable:
        """The table in the transaction's snapshot. An index vouches for the rows of that snapshot and this relation."""
        name = POSTGRES.table(table)
        [still] = self._connection.execute(_PLAIN, (name,)).fetchone() or (False,)
        found = self._connection.execute(_LOCKABLE, (name,)).fetchone()
        if not still or found is None:
            return PinnedTable(name, still=bool(still))
        self._connection.execute(f"LOCK TABLE {name} IN ACCESS SHARE MODE".encode())
        if self._connection.execute(_LOCKABLE, (name,)).fetchone() != found:
            return PinnedTable(name, still=False)
        unique = frozenset(str(column) for (column,) in self._connection.execute(_UNIQUE, (found[0],)).fetchall())
        # Without ONLY a table that is made to inherit from this one meanwhile would add its rows.
        only = "ONLY " if unique and found[1] == "r" else ""
        return PinnedTable(f"{only}{name}", unique=unique)

    def stored(self, rows: StoredRows) -> str:
        return POSTGRES.table(rows.name)

    def check(self, sql: str) -> None:
        import psycopg

        try:
            self._connection.execute(f"EXPLAIN {sql}".encode())
        except psycopg.errors.InsufficientPrivilege:
            raise EngineUnavailable(
                say(
                    "the user of PostgreSQL (variable '{variable}') may not read a table that this question needs. "
                    "Grant it SELECT on the table and USAGE on its schema.",
                    variable=self._variable,
                ),
                variable=self._variable,
                reason="InsufficientPrivilege",
            ) from None
        except psycopg.Error as error:
            raise EngineUnavailable(
                say(
                    "PostgreSQL (variable '{variable}') cannot run this question: {reason}. The table may have changed "
                    "since it was added: add it again with --replace.",
                    variable=self._variable,
                    reason=type(error).__name__,
                ),
                variable=self._variable,
                reason=type(error).__name__,
            ) from None

    def search(self, sql: str) -> list[Row]:
        # Sorting ids takes half the time that a hash table of very many does.
        self._connection.execute(ORDERING)
        self._connection.execute("SET LOCAL enable_hashagg = off")
        rows = self.run(sql)
        self._connection.execute("SET LOCAL enable_hashagg TO DEFAULT")
        return rows

    def run(self, sql: str) -> list[Row]:
        return [exact_row(row) for row in self._connection.execute(sql.encode()).fetchall()]

    def fetch(self, sql: str) -> Any:
        return fetch_columns(self._connection, sql)

    def rest(self) -> None:
        self._connection.rollback()

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            import psycopg
        except ImportError:
            raise ExtraMissing(needed_for=Phrase("Data in PostgreSQL"), extra="postgres") from None
        dsn = os.environ.get(self._variable)
        if not dsn:
            raise EngineUnavailable(
                say(
                    "the rows are in PostgreSQL and the environment variable '{variable}' is not set. Set it to the "
                    "connection string of the database.",
                    variable=self._variable,
                ),
                variable=self._variable,
            )
        try:
            connection = psycopg.connect(dsn, application_name="discreet", client_encoding="utf8")
            self._settle(connection)
        except psycopg.Error as error:
            # The driver's own words may quote the connection string.
            raise EngineUnavailable(
                say(
                    "PostgreSQL (variable '{variable}') cannot be used: {reason}. Check the connection string, the "
                    "server and the rights of its user.",
                    variable=self._variable,
                    reason=type(error).__name__,
                ),
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
                say(
                    "PostgreSQL (variable '{variable}') must be version 13 or newer, with a database in UTF-8: texts "
                    "are composed in the query.",
                    variable=self._variable,
                ),
                variable=self._variable,
            )
        connection.autocommit = True
        for setting in (
            f"default_transaction_read_only = {'on' if self.reads_only else 'off'}",
            f"search_path = pg_catalog, {POSTGRES.name(self._schema)}, pg_temp",
            "standard_conforming_strings = on",
            "extra_float_digits = 1",
            "TimeZone = 'UTC'",
            "DateStyle = 'ISO, YMD'",
            # Compiling these long expressions takes longer than running them.
            "jit = off",
        ):
            connection.execute(f"SET {setting}".encode())
        connection.autocommit = False
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = self.reads_only


def fetch_columns(connection: psycopg.Connection[Any], sql: str) -> Any:
    """What a statement gives, as a table of Arrow: only some of its rows are ever objects."""
    import pyarrow as pa

    cursor = connection.execute(sql.encode())
    fields = pa.schema([(column.name, _arrow_type(column.type_code)) for column in cursor.description or ()])
    parts = [fields.empty_table()]
    while rows := cursor.fetchmany(_BATCH):
        columns = zip(*rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
        parts.append(pa.Table.from_arrays(arrays, schema=fields))
    return pa.concat_tables(parts)


def _arrow_type(code: int) -> Any:
    """Whole numbers as they are or as decimals without places: a fraction would not fit."""
    import pyarrow as pa
    from psycopg.postgres import types

    kinds = {"int2": pa.int64(), "int4": pa.int64(), "int8": pa.int64(), "numeric": pa.decimal128(38, 0)}
    return kinds.get(types[code].name, pa.string())
