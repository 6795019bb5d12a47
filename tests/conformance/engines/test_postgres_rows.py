"""PostgreSQL prepares every raw row exactly as the embedded ingest does."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from discreet.cards.card import Card, parse_card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.postgres_tables import PostgresRows
from discreet.engines.in_place.prepared_rows import prepared_rows
from discreet.workspace.row_source import RowSource
from tests.conformance.engines import nasty
from tests.conformance.engines.faults import POSTGRES_FAULTS, SHOWS, USUAL

DSN_ENV = "DISCREET_TEST_ROWS_DSN"


@pytest.fixture
def source(postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RowSource]:
    """A table's name of its own; the table is made by `load`."""
    monkeypatch.setenv(DSN_ENV, postgres_dsn)
    name = f"rows_{secrets.token_hex(6)}"
    yield RowSource("postgres", dsn_env=DSN_ENV, table=f"public.{name}")
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}".encode())


def load(dsn: str, source: RowSource, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> None:
    listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    with psycopg.connect(dsn) as connection:
        connection.execute(f"CREATE TABLE {source.table} ({listed})".encode())
        with connection.cursor() as cursor, cursor.copy(f"COPY {source.table} FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)


def load_nasty(dsn: str, source: RowSource, table: nasty.Table) -> None:
    load(dsn, source, {name: nasty.SQL_TYPES[name] for name in table.columns}, table.rows())


def found(source: RowSource, card: Card, dialect: InPlaceDialect | None = None) -> nasty.Prepared:
    assert source.table is not None
    rows = PostgresRows(source)
    try:
        types = rows.columns(source.table)
        relation = POSTGRES.table(source.table)
        sql = prepared_rows(dialect or POSTGRES, card, relation=relation, types=types, salt=nasty.SALT)
        return Counter(rows.run(sql))
    finally:
        rows.close()


def test_every_kind_over_every_type_is_prepared_as_by_the_ingest(postgres_dsn: str, source: RowSource) -> None:
    seed = secrets.randbits(32)
    table, card = nasty.make_table(seed), nasty.make_card()
    load_nasty(postgres_dsn, source, table)
    nasty.assert_same(card, found(source, card), nasty.ingested(card, table), seed)


@pytest.mark.parametrize(("unit", "kind"), nasty.OTHER_UNITS)
def test_units_of_every_type_are_told_apart_as_by_the_ingest(
    postgres_dsn: str, source: RowSource, unit: str, kind: str
) -> None:
    seed = secrets.randbits(32)
    table, card = nasty.make_table(seed), nasty.make_card(unit, kind, sources=["num"])
    load_nasty(postgres_dsn, source, table)
    nasty.assert_same(card, found(source, card), nasty.ingested(card, table), seed)


@pytest.mark.parametrize("sources", sorted({*SHOWS.values(), USUAL}))
def test_planted_faults_are_found(postgres_dsn: str, source: RowSource, sources: tuple[str, ...]) -> None:
    table, card = nasty.make_table(1), nasty.make_card(sources=list(sources))
    load_nasty(postgres_dsn, source, table)
    expected = nasty.ingested(card, table)
    nasty.assert_same(card, found(source, card), expected)
    for fault in (name for name in POSTGRES_FAULTS if SHOWS.get(name, USUAL) == sources):
        assert found(source, card, POSTGRES_FAULTS[fault]) != expected, fault


NUMERIC = """
dataset: odd
unit: {column: who, rows: 1}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  who: {kind: id, type: integer}
  x: {kind: number, bounds: [0, 10], step: 0.01}
  t: {kind: text, source: x}
"""


def test_numeric_beyond_files_is_absent_or_clamped(postgres_dsn: str, source: RowSource) -> None:
    values = ["NaN", "Infinity", "-Infinity", "1e100", "-1e-300", "0.005", "9.99500"]
    load(postgres_dsn, source, {"who": "int", "x": "numeric"}, list(enumerate(values)))
    card = parse_card(NUMERIC, file="odd.yaml")
    rows = sorted(row[:2] for row in found(source, card))
    assert rows == [(0, None), (1, None), (2, None), (3, 1000), (4, 0), (5, 1), (6, 1000)]


PUBLIC = """
dataset: towns
unit: {column: who, rows: 3}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  who: {kind: id, type: integer}
  town: {kind: category, public: true, categories: [N, S]}
  n: {kind: integer, bounds: [0, 9]}
"""


def test_rows_that_contradict_the_public_value_of_their_unit_do_not_count(postgres_dsn: str, source: RowSource) -> None:
    rows = [(1, "N", 1), (1, "N", 2), (1, "S", 3), (2, "S", 4), (2, "S", 5), (3, "N", 6), (3, None, 7)]
    load(postgres_dsn, source, {"who": "int", "town": "text", "n": "int"}, rows)
    kept = found(source, parse_card(PUBLIC, file="towns.yaml"))
    towns: dict[object, set[object]] = {}
    for who, town, _, _ in kept:
        towns.setdefault(who, set()).add(town)
    assert {who: len(seen) for who, seen in towns.items()} == {1: 1, 2: 1, 3: 1}
    assert [row for row in kept if row[0] == 2] != []
    assert len([row for row in kept if row[0] == 2]) == 2


def test_the_session_cannot_write_and_ignores_settings_of_the_user(
    postgres_dsn: str, source: RowSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "-c standard_conforming_strings=off -c extra_float_digits=-15 -c search_path=pg_temp"
    monkeypatch.setenv(DSN_ENV, f"{postgres_dsn} options='{hostile}'")
    load(postgres_dsn, source, {"who": "int", "x": "float8"}, [(1, 0.1 + 0.2), (2, 0.005)])
    card = parse_card(NUMERIC, file="odd.yaml")
    assert {(row[0], row[2]) for row in found(source, card)} == {(1, "0.30000000000000004"), (2, "0.005")}
    rows = PostgresRows(source)
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        rows.run(f"INSERT INTO {source.table} VALUES (3, 0) RETURNING who")
    rows.close()


def test_all_statements_of_a_question_see_the_rows_of_one_moment(postgres_dsn: str, source: RowSource) -> None:
    """A count and the histogram beside it are priced as two measures of the same rows."""
    load(postgres_dsn, source, {"who": "int"}, [(1,), (2,)])
    rows = PostgresRows(source)
    try:
        assert rows.run(f"SELECT count(*) FROM {source.table}") == [(2,)]
        with psycopg.connect(postgres_dsn) as other:
            other.execute(f"DELETE FROM {source.table} WHERE who = 2".encode())
        assert rows.run(f"SELECT who, count(*) FROM {source.table} GROUP BY who ORDER BY who") == [(1, 1), (2, 1)]
    finally:
        rows.close()
