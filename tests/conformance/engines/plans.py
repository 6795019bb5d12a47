"""Small populations on each engine, as prepared rows, so that plans can be compared with the interpreter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.cards.card import Card
from discreet.engines.dialects import DUCKDB, Dialect
from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine import Engine, Measured
from discreet.engines.exact_values import Row
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.postgres_tables import fetch_columns
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.engines.in_place.tables_in_place import PinnedTable
from discreet.engines.in_place.tabular_engine import FindRows, TabularEngine
from discreet.engines.rendering import RenderedTable
from discreet.sql.algebra import Plan
from discreet.workspace.row_source import StoredRows

Tables = Mapping[str, list[dict[str, Any]]]
Cards = Mapping[str, Card]

_ARROW = {"int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(), "text": pa.string()}
POSTGRES_TYPES = {"int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "text": "text"}


class House(Protocol):
    """An engine that can be given prepared rows."""

    @property
    def dialect(self) -> Dialect: ...

    def open(self, cards: Cards, tables: Tables, dialect: Dialect) -> Engine: ...


def agrees(house: House, cards: Cards, tables: Tables, plan: Plan, truth: Measured, dialect: Dialect) -> bool:
    """Whether the engine gives the exact integers; failing is disagreeing."""
    try:
        return plain(answer(house, cards, tables, plan, dialect)) == plain(truth)
    except Exception:
        return False


def answer(house: House, cards: Cards, tables: Tables, plan: Plan, dialect: Dialect) -> Measured:
    engine = house.open(cards, tables, dialect)
    try:
        return engine.measure(plan)
    finally:
        engine.close()


def plain(measured: Measured) -> tuple[object, ...]:
    """In lists and tuples, whatever sequences an engine gives."""
    columns = [[list(one) if not isinstance(one, int) else one for one in column] for column in measured.columns]
    return columns, measured.keys


def write_prepared(path: Path, card: Card, rows: list[dict[str, Any]]) -> Path:
    """Rows as `discreet add` stores them: each column in the width of its card."""
    columns = {one.name: pa.array([row[one.name] for row in rows], _ARROW[one.storage]) for one in card.columns}
    order = pa.array([row["ord"] for row in rows], pa.int32())
    pq.write_table(pa.table({**columns, "ord": order}), path)
    return path


class _Lodger(EmbeddedEngine):
    """The embedded engine in a database that outlives it: opening one takes longer than most plans."""

    def __init__(self, files: Mapping[str, tuple[Path, Card]], dialect: Dialect, database: Any) -> None:
        super().__init__(files, dialect=dialect)
        self._database, self._owner = database, os.getpid()

    def close(self) -> None:
        """The house keeps its database."""


@dataclass(frozen=True, slots=True)
class DuckDBHouse:
    folder: Path
    dialect: Dialect = DUCKDB
    numbers: Iterator[int] = field(default_factory=count)
    database: Any = field(default_factory=duckdb.connect)

    def open(self, cards: Cards, tables: Tables, dialect: Dialect) -> Engine:
        case = next(self.numbers)
        files = {
            name: (write_prepared(self.folder / f"{name}-{case}.parquet", card, tables[name]), card)
            for name, card in cards.items()
        }
        return _Lodger(files, dialect, self.database)


@dataclass(frozen=True, slots=True)
class PostgresHouse:
    """Tables of a temporary schema, in the types that their values fit in."""

    connection: Any
    dialect: Dialect = POSTGRES

    def open(self, cards: Cards, tables: Tables, dialect: Dialect) -> Engine:
        self.connection.rollback()
        rows = {name: as_rows(self._load(name, card, tables[name]), card) for name, card in cards.items()}
        return TabularEngine(rows, dialect=dialect, connect=lambda: Reader(partial(fetch_columns, self.connection)))

    def _load(self, name: str, card: Card, rows: list[dict[str, Any]]) -> str:
        columns = [*((one.name, POSTGRES_TYPES[one.storage]) for one in card.columns), ("ord", "integer")]
        described = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        self.connection.execute(f"CREATE TEMPORARY TABLE {name} ({described}) ON COMMIT DROP")
        if rows:
            places = ", ".join(["%s"] * len(columns))
            values = [tuple(row[column] for column, _ in columns) for row in rows]
            self.connection.cursor().executemany(f"INSERT INTO {name} VALUES ({places})", values)
        return name


@dataclass(frozen=True, slots=True)
class SparkHouse:
    """The files that DuckDB reads, read by Spark."""

    folder: Path
    session: Any
    dialect: Dialect = SPARK
    numbers: Iterator[int] = field(default_factory=count)

    def open(self, cards: Cards, tables: Tables, dialect: Dialect) -> Engine:
        case = next(self.numbers)
        rows = {}
        for name, card in cards.items():
            path = write_prepared(self.folder / f"{name}-{case}.parquet", card, tables[name])
            rows[name] = as_rows(f"parquet.`{path}`", card)
        return TabularEngine(rows, dialect=dialect, connect=lambda: Reader(lambda sql: self.session.sql(sql).toArrow()))


def as_rows(relation: str, card: Card) -> FindRows:
    """Prepared rows that are there already."""
    return lambda _: RenderedTable(rows=relation, unit=card.unit.column)


class Reader:
    """What an engine asks of prepared rows in a house that keeps its connection."""

    def __init__(self, fetch: Callable[[str], Any]) -> None:
        self._fetch = fetch

    def fetch(self, sql: str) -> Any:
        return self._fetch(sql)

    def columns(self, table: str) -> dict[str, str]:
        raise AssertionError("prepared rows are not looked up")

    def pin(self, table: str) -> PinnedTable:
        raise AssertionError("prepared rows are not pinned")

    def stored(self, rows: StoredRows) -> str:
        raise AssertionError("the house has stored them")

    def check(self, sql: str) -> None:
        """Every statement is run at once."""

    def search(self, sql: str) -> list[Row]:
        raise AssertionError("prepared rows have their order")

    def run(self, sql: str) -> list[Row]:
        raise AssertionError("cells come in columns")

    def rest(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """The house keeps its connection."""


@contextmanager
def postgres_house(dsn: str) -> Iterator[PostgresHouse]:
    import psycopg

    with psycopg.connect(dsn, client_encoding="utf8") as connection:
        yield PostgresHouse(connection)
        connection.rollback()


# --- planted faults -------------------------------------------------------------------------------------------------


class _Faults:
    """Templates that look right. Mixed in before an engine's dialect, each spoils one."""


class NullBecomesBound(_Faults):
    def clamp(self, value: str, low: int, high: int) -> str:
        return f"least(greatest({value}, {low}), {high})"


class LastRowLost(_Faults):
    def first_rows(self, order: str, rows: int) -> str:
        return f"{order} < {rows}"


class BoundForgotten(_Faults):
    def first_rows(self, order: str, rows: int) -> str:
        return f"{order} IS NOT NULL"


class NarrowSum(_Faults):
    def sum(self, value: str) -> str:
        return f"sum(CAST({value} AS INTEGER))"


class FloatSum(_Faults):
    def sum(self, value: str) -> str:
        return f"CAST(sum(CAST({value} AS DOUBLE PRECISION)) AS DECIMAL(38, 0))"


class BareText(_Faults):
    def text(self, text: str) -> str:
        return f"'{text}'"


FAULTS: tuple[type[_Faults], ...] = (
    NullBecomesBound,
    LastRowLost,
    BoundForgotten,
    NarrowSum,
    FloatSum,
    BareText,
)


def planted(fault: type[_Faults], dialect: Dialect) -> Dialect:
    """The engine's dialect with one template spoilt."""
    base = type(dialect)
    made = type(f"{fault.__name__}{base.__name__}", (fault, base), {})()
    assert isinstance(made, Dialect)
    return made
