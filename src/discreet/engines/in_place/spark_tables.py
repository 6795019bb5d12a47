"""Tables that Spark can read, each in one state for all statements of a question.

Spark has no snapshots of its own. So the files of a table are listed once and exactly those are read; a table that has
versions is read as of its newest one. What has neither, such as a view, is read in one scan.

Which units have too many rows is found once for each state of a table: it takes longer than most questions. Files with
the same names, lengths and times are the same state.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from discreet.catalogue import Phrase, say
from discreet.engines.exact_values import Row, exact_row
from discreet.engines.in_place.spark_dialect import COMPOSER, SPARK, WRITERS
from discreet.engines.in_place.spark_sessions import shared_session, spark_unavailable
from discreet.engines.in_place.tables_in_place import PinnedTable
from discreet.errors import EngineUnavailable
from discreet.workspace import Form, RowSource, StoredRows

__all__ = ["SparkRows", "TableState", "file_path", "literal_path", "written_table"]

# What such a file holds, it says itself; text formats need options that only the catalogue knows.
_FILE_FORMATS: Final = ("parquet", "orc")
_MOST_SEARCHES: Final = 100
_PARTITION: Final = re.compile(r"([^=/]+)=[^/]*")
# The newest version of a table and what it is called, as the documentation of Delta Lake and of Iceberg has it.
_NEWEST: Final = {
    "delta": ("DESCRIBE HISTORY {} LIMIT 1", "version"),
    "iceberg": ("SELECT snapshot_id FROM {}.refs WHERE name = 'main'", "snapshot_id"),
}
_PATTERN_SIGNS: Final = re.compile(r"[\\*?\[\]{}]")
_DETAILS: Final = "# Detailed Table Information"
_PARTITIONS: Final = "# Partition Information"


@dataclass(frozen=True, slots=True)
class TableState:
    """What pins a table: the files of a format, under a folder where they are partitioned, or a version's id."""

    format: str
    files: tuple[str, ...] | None = None
    base: str | None = None
    version: str | None = None


class _Searches:
    """What the latest searches found, for every thread of this process."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, str], list[Row]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, search: tuple[str, str]) -> list[Row] | None:
        with self._lock:
            return self._found.get(search)

    def keep(self, search: tuple[str, str], rows: list[Row]) -> list[Row]:
        with self._lock:
            self._found[search] = rows
            while len(self._found) > _MOST_SEARCHES:
                self._found.popitem(last=False)
        return rows


_SEARCHED: Final = _Searches()


class SparkRows:
    """The shared session of an address, for one question: what it makes there, it removes."""

    def __init__(self, source: RowSource) -> None:
        assert source.remote is not None
        self._remote = source.remote
        self._session = shared_session(self._remote)
        self._pinned: dict[str, PinnedTable] = {}
        self._states: dict[str, str] = {}

    def columns(self, table: str) -> dict[str, str]:
        from pyspark.errors import AnalysisException

        try:
            fields = self._frame(table).schema.fields
        except AnalysisException:
            return {}
        return {str(field.name): str(field.dataType.simpleString()) for field in fields}

    def check_libraries(self) -> None:
        """Refuse a Spark that lacks what the dialect calls by name."""
        calls = (
            f"hex(reflect('{COMPOSER}', 'compose', 'e\\u0301', false))",
            f"reflect('{WRITERS[Form.DOUBLE]}', 'toString', 2E23D)",
            f"reflect('{WRITERS[Form.SINGLE]}', 'toString', CAST(0.1 AS float))",
        )
        try:
            found = self.run(f"SELECT {', '.join(calls)}")
        except Exception as error:
            raise spark_unavailable(self._remote, type(error).__name__) from None
        if found != [("C3A9", "2.0E23", "0.1")]:
            raise spark_unavailable(self._remote, Phrase("its libraries compose texts or write floats in another way"))

    def pin(self, table: str) -> PinnedTable:
        if table not in self._pinned:
            try:
                self._pinned[table] = self._pin(table)
            except EngineUnavailable:
                raise
            except Exception as error:
                raise self._unreadable(error) from None
        return self._pinned[table]

    def stored(self, rows: StoredRows) -> str:
        """Nobody changes prepared rows, so their view stays for the questions to come."""
        if rows.snapshot is not None:
            return _as_of(written_table(rows.name), rows.snapshot)
        name = f"discreet_{hashlib.sha256(repr((rows.name, rows.files)).encode()).hexdigest()}"
        try:
            if not self._session.catalog.tableExists(name):
                self._listed(TableState("parquet", rows.files), None).createOrReplaceTempView(name)
        except Exception as error:
            raise self._unreadable(error) from None
        return SPARK.name(name)

    def check(self, sql: str) -> None:
        try:
            _ = self._session.sql(sql).schema
        except Exception as error:
            raise self._unreadable(error) from None

    def search(self, sql: str) -> list[Row]:
        named = sql
        for view, state in self._states.items():
            named = named.replace(view, state)
        if named == sql:
            return self.run(sql)
        known = _SEARCHED.get((self._remote, named))
        return known if known is not None else _SEARCHED.keep((self._remote, named), self.run(sql))

    def run(self, sql: str) -> list[Row]:
        columns = [exact_row(column.to_pylist()) for column in self.fetch(sql).columns]
        return list(zip(*columns, strict=True))

    def fetch(self, sql: str) -> Any:
        return self._session.sql(sql).toArrow()

    def rest(self) -> None:
        """A listing takes nothing from others."""

    def close(self) -> None:
        """The session stays for other questions, at the same time and later."""
        while self._states:
            with suppress(Exception):
                self._session.catalog.dropTempView(self._states.popitem()[0])

    # The state of a table.

    def _pin(self, table: str) -> PinnedTable:
        state, schema = self._state(table)
        if state is None:
            return PinnedTable(SPARK.table(table), still=False)
        if state.version is not None:
            return PinnedTable(_as_of(SPARK.table(table), state.version))
        # No table is called so, and nobody else guesses it.
        name = f"discreet_{secrets.token_hex(16)}"
        self._listed(state, schema).createOrReplaceTempView(name)
        self._states[name] = self._fingerprint(state, schema)
        return PinnedTable(SPARK.name(name))

    def _fingerprint(self, state: TableState, schema: Any) -> str:
        """What tells two states of a table apart; no file is opened."""
        if not state.files:
            return "no files"
        files = self._session.read.format("binaryFile").load([literal_path(file) for file in state.files])
        seen = files.selectExpr("path", "length", "CAST(modificationTime AS string) AS time")
        rows = sorted(zip(*(column.to_pylist() for column in seen.toArrow().columns), strict=True))
        return hashlib.sha256(repr((state.format, state.base, schema.simpleString(), rows)).encode()).hexdigest()

    def _state(self, table: str) -> tuple[TableState | None, Any]:
        """What pins a table, None where nothing does, and its columns."""
        if table.startswith("parquet.`"):
            frame = self._frame(table)
            return _partitioned("parquet", frame.inputFiles(), frame.schema.names, None), frame.schema
        provider, partitions = self._described(table)
        if provider in _FILE_FORMATS:
            frame = self._frame(table)
            return _partitioned(provider, frame.inputFiles(), frame.schema.names, partitions), frame.schema
        return self._newest(provider, SPARK.table(table)), None

    def _newest(self, provider: str, table: str) -> TableState | None:
        """The newest version of a table that has versions."""
        if provider not in _NEWEST:
            return None
        question, column = _NEWEST[provider]
        found = self._session.sql(question.format(table)).select(column).toArrow()[0].to_pylist()
        return TableState(provider, version=str(int(found[0]))) if found else None

    def _described(self, table: str) -> tuple[str, list[str]]:
        """Who keeps a table's rows, '' for views, and the columns that it is partitioned by."""
        shown = self.run(f"DESCRIBE TABLE EXTENDED {SPARK.table(table)}")
        names = [str(name) for name, *_ in shown]
        start = len(names) - names[::-1].index(_DETAILS) if _DETAILS in names else len(names)
        provider = next((str(value) for name, value, *_ in shown[start:] if name == "Provider"), "")
        columns = names[names.index(_PARTITIONS) + 2 : start] if _PARTITIONS in names else []
        return provider.lower(), columns[: columns.index("")] if "" in columns else columns

    def _listed(self, state: TableState, schema: Any) -> Any:
        """Exactly these files; where their columns are known, no file is asked for them again."""
        if not state.files:
            return self._session.createDataFrame([], schema)
        reader = self._session.read
        if schema is not None:
            reader = reader.schema(schema)
        if state.base is not None:
            reader = reader.option("basePath", state.base)
        return getattr(reader, state.format)(*map(literal_path, state.files))

    def _frame(self, table: str) -> Any:
        return self._session.sql(f"SELECT * FROM {SPARK.table(table)}")

    def _unreadable(self, error: Exception) -> EngineUnavailable:
        """Spark's own words may quote what a file holds."""
        return EngineUnavailable(
            say(
                "Spark at '{remote}' cannot run this question: {reason}. The table may have changed since it was "
                "added: add it again with --replace.",
                remote=self._remote,
                reason=type(error).__name__,
            ),
            remote=self._remote,
            reason=type(error).__name__,
        )


def _as_of(table: str, version: str) -> str:
    return f"{table} VERSION AS OF {int(version)}"


def written_table(name: str) -> str:
    """What prepared rows are written to, as a FROM item: a table, or a folder of Delta Lake."""
    return f"delta.{SPARK.name(name.removeprefix('delta:'))}" if name.startswith("delta:") else SPARK.table(name)


def literal_path(path: str) -> str:
    """A path that means itself: Spark takes some signs for patterns.

    Its own option for that (`__globPaths__`) reads each of several such files several times over.
    """
    return _PATTERN_SIGNS.sub(r"\\\g<0>", path)


def _partitioned(
    kind: str, uris: Sequence[str], columns: Sequence[str], declared: Sequence[str] | None
) -> TableState | None:
    """Files as a state, with the folder below which the folders' names are values.

    None where the catalogue keeps values of partitions that the names do not tell.
    """
    files = tuple(map(file_path, uris))
    known = {column.casefold() for column in columns}
    found = {_split(file, known) for file in files}
    bases, named = {base for base, _ in found}, {names for _, names in found}
    if not named or named == {()}:
        return TableState(kind, files) if not declared or not files else None
    if len(bases) > 1 or len(named) > 1:
        return None
    if declared is not None and tuple(name.casefold() for name in declared) != next(iter(named)):
        return None
    return TableState(kind, files, base=next(iter(bases)))


def _split(file: str, columns: set[str]) -> tuple[str, tuple[str, ...]]:
    """The folder above those that are called COLUMN=VALUE, and the columns."""
    names: list[str] = []
    folder = file.rpartition("/")[0]
    while True:
        above, _, name = folder.rpartition("/")
        found = _PARTITION.fullmatch(name)
        if found is None or unquote(found[1]).casefold() not in columns:
            return (folder if names else ""), tuple(reversed(names))
        names.append(unquote(found[1]).casefold())
        folder = above


def file_path(uri: str) -> str:
    """A file as Spark reads paths: nothing in them is escaped."""
    parts = urlsplit(uri)
    host = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{host}{unquote(parts.path)}" if parts.scheme else unquote(uri)
