"""Questions over raw rows that stay in an engine: preparation and plan in one statement, equal to the embedded engine.

An engine may try a condition of the plan before the preparation below it has run, on raw values that cannot be read;
so the two are tested together as well as apart.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.in_place.bounded_rows import RawTable
from discreet.engines.in_place.tables_in_place import dialect_of, find_rows, open_rows
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.sql.algebra import Plan
from discreet.sql.reader.questions import read_statement
from discreet.workspace.row_source import RowSource
from tests.conformance.engines import nasty
from tests.conformance.engines.plans import plain, write_prepared
from tests.conformance.engines.raw_tables import kept_rows
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


def check(source: RowSource, folder: Path) -> None:
    """Every statement over raw rows gives what the embedded engine gives over the rows that count."""
    assert source.table is not None
    reader = open_rows(source)
    try:
        typed = replace(source, types=tuple(reader.columns(source.table).items()))
        rows = find_rows(typed, CARD, salt=nasty.SALT)
        raw = rows(reader)
        assert isinstance(raw, RawTable)
        kept = kept_rows(raw, reader)
    finally:
        reader.close()
    names = [column.name for column in CARD.columns]
    prepared = [{**dict(zip(names, row, strict=True)), "ord": 1} for row in kept]
    embedded = EmbeddedEngine({"nasty": (write_prepared(folder / "kept.parquet", CARD, prepared), CARD)})
    engine = TabularEngine({"nasty": rows}, dialect=dialect_of(source.engine), connect=lambda: open_rows(typed))
    for sql, plan in zip(STATEMENTS, plans(), strict=True):
        engine.prepare(plan)
        found, exact = engine.measure(plan), embedded.measure(plan)
        assert any(any(map(bool, column)) for column in exact.columns), sql
        assert plain(found) == plain(exact), sql


def test_postgres(tmp_path: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_TEST_RAW_DSN", postgres_dsn)
    source = RowSource("postgres", dsn_env="DISCREET_TEST_RAW_DSN", table=f"public.raw_{secrets.token_hex(6)}")
    load_nasty(postgres_dsn, source, nasty.make_table(secrets.randbits(32)))
    try:
        check(source, tmp_path)
    finally:
        with psycopg.connect(postgres_dsn) as connection:
            connection.execute(f"DROP TABLE {source.table}".encode())


@pytest.mark.long
def test_spark(tmp_path: Path, spark_master: str) -> None:
    file = nasty.make_table(secrets.randbits(32)).write(tmp_path / "raw")
    check(RowSource("spark", remote=spark_master, table=f"parquet.`{file}`"), tmp_path)
