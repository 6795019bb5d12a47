"""Questions over raw rows that stay in an engine: preparation and plan in one statement, equal to the embedded engine.

An engine may try a condition of the plan before the preparation below it has run, on raw values that cannot be read;
so the two are tested together as well as apart.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine import Measured
from discreet.engines.in_place.tables_in_place import dialect_of, open_rows, rows_sql
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.sources.source import open_source
from discreet.sql.algebra import Plan
from discreet.sql.reader.questions import read_statement
from discreet.workspace.preparation import prepare
from discreet.workspace.row_source import RowSource
from tests.conformance.engines import nasty
from tests.conformance.engines.test_postgres_rows import load_nasty
from tests.unit.sql.catalogue import Shelf

CARD = nasty.make_card(sources=["dbl", "num", "txt", "code"])
STATEMENTS = [
    "SELECT place, COUNT(*), COUNT(DISTINCT who), SUM(w), COUNT(num_x), SUM(dbl_c) FROM nasty GROUP BY place",
    "SELECT code_cat, AVG(num_c), SUM(w * dbl_x), SUM(num_n) FROM nasty GROUP BY code_cat",
    "SELECT COUNT(*) FROM nasty WHERE num_wide > 3 AND dbl_x * 2 - num_x < 5 OR txt_t IS NULL",
    "SELECT COUNT(*) FROM nasty WHERE txt_t IN ('é', 'it''s', 'a\\b', '${x}', '|') OR NOT num_free BETWEEN -1 AND 1",
    "SELECT SUM(CLAMP(num_wide, -7, 7)), SUM(CLAMP(num_free, 0, 2)), SUM(ABS(dbl_c)) FROM nasty",
    "SELECT SUM(COALESCE(num_n, 5)) FROM nasty",
    "SELECT SUM(LEAST(num_x, dbl_x)), SUM(GREATEST(num_c, dbl_c)), VAR(dbl_x), WAVG(num_c) FROM nasty",
    "SELECT MEDIAN(num_c), MIN(dbl_x), MAX(num_n), QUANTILE(w, 0.1) FROM nasty WHERE dbl_cat IS NOT NULL",
    "SELECT txt_t, COUNT(*) FROM nasty GROUP BY txt_t",
    "SELECT n, SUM(t) FROM (SELECT who, COUNT(dbl_c) AS n, SUM(num_c) AS t, MAX(dbl_n) AS m FROM nasty "
    "WHERE num_x < 7 GROUP BY who HAVING MIN(num_n) < 200) WHERE m * 3 > 1 GROUP BY n",
    "SELECT CASE WHEN dbl_n > 100 THEN 'much' WHEN num_c < 0 THEN 'less' END AS k, SUM(w) FROM nasty GROUP BY k",
]  # fmt: skip


def plans() -> list[Plan]:
    shelf = Shelf({"nasty": CARD}, public={})
    return [read_statement(sql, shelf)[0].plan for sql in STATEMENTS]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[nasty.Table, Path, list[Measured]]:
    """A nasty table as a file, and what the embedded engine measures on its ingest."""
    folder = tmp_path_factory.mktemp("raw")
    table = nasty.make_table(secrets.randbits(32))
    file, data, work = table.write(folder / "raw"), folder / "data.parquet", folder / "work"
    work.mkdir()
    prepare(open_source(file), CARD, salt=nasty.SALT, data=data, work=work)
    engine = EmbeddedEngine({"nasty": (data, CARD)})
    return table, file, [engine.measure(plan) for plan in plans()]


def check(expected: list[Measured], measure: Callable[[Plan], Measured]) -> None:
    for sql, plan, exact in zip(STATEMENTS, plans(), expected, strict=True):
        found = measure(plan)
        assert found.keys == exact.keys, sql
        assert [list(column) for column in found.columns] == [list(column) for column in exact.columns], sql


def engine(source: RowSource) -> TabularEngine:
    reader = open_rows(source)
    types = tuple(reader.columns().items())
    reader.close()
    typed = RowSource(source.engine, dsn_env=source.dsn_env, remote=source.remote, table=source.table, types=types)
    return TabularEngine(
        {"nasty": (rows_sql(typed, CARD, salt=nasty.SALT), CARD)},
        dialect=dialect_of(source.engine),
        connect=lambda: open_rows(typed),
    )


def test_the_statements_say_something(rows: tuple[nasty.Table, Path, list[Measured]]) -> None:
    assert all(any(any(map(bool, column)) for column in exact.columns) for exact in rows[2])


def test_postgres(
    rows: tuple[nasty.Table, Path, list[Measured]], postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_TEST_RAW_DSN", postgres_dsn)
    table, _, expected = rows
    source = RowSource("postgres", dsn_env="DISCREET_TEST_RAW_DSN", table=f"public.raw_{secrets.token_hex(6)}")
    load_nasty(postgres_dsn, source, table)
    try:
        check(expected, engine(source).measure)
    finally:
        with psycopg.connect(postgres_dsn) as connection:
            connection.execute(f"DROP TABLE {source.table}".encode())


@pytest.mark.long
def test_spark(rows: tuple[nasty.Table, Path, list[Measured]], spark_master: str) -> None:
    _, file, expected = rows
    check(expected, engine(RowSource("spark", remote=spark_master, table=f"parquet.`{file}`")).measure)
