"""Spark, as a cluster of its own processes, prepares every raw row exactly as the embedded ingest does."""

from __future__ import annotations

import secrets
from collections import Counter
from pathlib import Path

import pytest

from discreet.cards.card import Card
from discreet.engines.dialects import InPlaceDialect
from discreet.engines.in_place.prepared_rows import prepared_rows
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.engines.in_place.spark_tables import SparkRows
from discreet.workspace.row_source import RowSource
from tests.conformance.engines import nasty
from tests.conformance.engines.faults import SHOWS, SPARK_FAULTS, USUAL

pytestmark = pytest.mark.long

# PostgreSQL cannot hold U+0000, files and Spark can.
NULS = ["a\0b", "\0", "1\0", "\0 1", "é\0"]


def reader(master: str, file: Path) -> tuple[SparkRows, str]:
    source = RowSource("spark", remote=master, table=f"parquet.`{file}`")
    assert source.table is not None
    return SparkRows(source), source.table


def found(
    master: str, file: Path, card: Card, dialect: InPlaceDialect | None = None, *, mode: str = "FALLBACK"
) -> nasty.Prepared:
    rows, table = reader(master, file)
    rows._session.conf.set("spark.sql.codegen.factoryMode", mode)
    try:
        types, relation = rows.columns(table), rows.pin(table).relation
        return Counter(rows.run(prepared_rows(dialect or SPARK, card, relation=relation, types=types, salt=nasty.SALT)))
    finally:
        rows._session.conf.unset("spark.sql.codegen.factoryMode")
        rows.close()


@pytest.mark.parametrize("mode", ["FALLBACK", "NO_CODEGEN"], ids=["generated", "interpreted"])
def test_every_kind_over_every_type_is_prepared_as_by_the_ingest(spark_master: str, tmp_path: Path, mode: str) -> None:
    """Spark has two ways to work an expression out, and takes the second where the first fails."""
    seed = secrets.randbits(32)
    table, card = nasty.make_table(seed, extra=NULS), nasty.make_card()
    file = table.write(tmp_path)
    nasty.assert_same(card, found(spark_master, file, card, mode=mode), nasty.ingested(card, table), seed)


@pytest.mark.parametrize(("unit", "kind"), nasty.OTHER_UNITS)
def test_units_of_every_type_are_told_apart_as_by_the_ingest(
    spark_master: str, tmp_path: Path, unit: str, kind: str
) -> None:
    seed = secrets.randbits(32)
    table, card = nasty.make_table(seed), nasty.make_card(unit, kind, sources=["num"])
    file = table.write(tmp_path)
    nasty.assert_same(card, found(spark_master, file, card), nasty.ingested(card, table), seed)


@pytest.mark.parametrize("sources", sorted({*SHOWS.values(), USUAL}))
def test_planted_faults_are_found(spark_master: str, tmp_path: Path, sources: tuple[str, ...]) -> None:
    table, card = nasty.make_table(1), nasty.make_card(sources=list(sources))
    file, expected = table.write(tmp_path), nasty.ingested(card, table)
    nasty.assert_same(card, found(spark_master, file, card), expected)
    for fault in (name for name in SPARK_FAULTS if SHOWS.get(name, USUAL) == sources):
        spoilt = found(spark_master, file, card, SPARK_FAULTS[fault])
        assert spoilt != expected, fault


def test_settings_hold_and_failures_are_not_written_anywhere(
    spark_master: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows, _ = reader(spark_master, nasty.make_table(1).write(tmp_path))
    rows.check_libraries()
    assert rows.run("SELECT '${spark.app.name}', 'a\\\\b'") == [("${spark.app.name}", "a\\b")]
    assert rows.run("SELECT CAST(7 AS decimal(38, 0)), NULL, 'é'") == [(7, None, "é")]
    with pytest.raises(TypeError):
        rows.run("SELECT 0.5")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        rows.run("SELECT id, 1 div (id - 17) FROM range(30)")
    assert "".join(capfd.readouterr()) == ""
