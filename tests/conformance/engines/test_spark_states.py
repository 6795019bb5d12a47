"""All statements of a question see one state of a table in Spark, through a session that questions share."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.cards.card import parse_card
from discreet.engines.exact_values import Row
from discreet.engines.in_place import spark_tables
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.engines.in_place.spark_sessions import shared_session
from discreet.engines.in_place.spark_tables import SparkRows
from discreet.engines.in_place.tables_in_place import find_rows
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.errors import EngineUnavailable
from discreet.sql.algebra import Plan
from discreet.sql.reader.questions import read_statement
from discreet.workspace.row_source import RowSource
from tests.conformance.engines.spark_rows import fill, run_apart, source_of
from tests.unit.sql.catalogue import Shelf

pytestmark = pytest.mark.long

ODD = "a b'c \"é%20#+"
COLUMNS = {"who": pa.int64(), "x": pa.int32(), "town": pa.string()}
CARD = parse_card(
    """
dataset: people
unit: {column: who, rows: 2}
neighbours: add-remove
budget: {epsilon: 1}
columns:
  who: {kind: id, type: integer}
  x: {kind: integer, bounds: [0, 9]}
  town: {kind: category, categories: [N, S]}
""",
    file="p.yaml",
)
SQL = "SELECT town, COUNT(*), SUM(x), MEDIAN(x) FROM people GROUP BY town"


def people(first: int, last: int) -> list[tuple[Any, ...]]:
    return [(who, who % 10, "NS"[who % 2]) for who in range(first, last) for _ in range(1 + who % 3)]


def plan_of(sql: str = SQL) -> Plan:
    return read_statement(sql, Shelf({"people": CARD}, public={}))[0].plan


def engine_of(source: RowSource) -> TabularEngine:
    rows = find_rows(source, CARD, salt="00ff")
    return TabularEngine({"people": rows}, dialect=SPARK, connect=lambda: SparkRows(source))


def counted(source: RowSource) -> list[int]:
    found: Any = engine_of(source).measure(plan_of("SELECT COUNT(*) FROM people")).columns[0]
    return list(found)


def ask_while_files_come(remote: str, place: str) -> None:
    """Files that come between two statements of a question are not seen by it, and by the next one they are."""
    folder = Path(place) / ODD
    fill(folder, COLUMNS, people(0, 60))
    source = source_of(remote, folder)
    engine, real, added = engine_of(source), SparkRows.fetch, iter(range(100, 200))

    def fetch(self: SparkRows, sql: str) -> Any:
        found = real(self, sql)
        if "GROUP BY" in sql:
            number = next(added)
            fill(folder / "later", COLUMNS, people(number * 100, number * 100 + 50), files=1)
            (folder / "later" / "0.parquet").rename(folder / f"{number}.parquet")
            (folder / "later").rmdir()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkRows, "fetch", fetch)
        engine.prepare(plan_of())
        found: Any = engine.measure(plan_of()).columns
    counts, _, middles = (list(column) for column in found)
    assert counts == [sum(number for _, number in histogram) for histogram in middles]
    assert sum(counts) == 100, "one row of every third unit, two of the others"
    assert counted(source)[0] > 100
    # A session that the server has forgotten is opened anew, before any charge.
    shared_session(remote).stop()
    assert counted(source)[0] > 100


def test_files_that_come_meanwhile_are_not_seen(spark_master: str, tmp_path: Path) -> None:
    ask_while_files_come(spark_master, str(tmp_path))


def test_files_that_come_meanwhile_are_not_seen_through_spark_connect(spark_connect: str, tmp_path: Path) -> None:
    run_apart(__name__, "ask_while_files_come", spark_connect, tmp_path)


@pytest.fixture
def reader(spark_master: str) -> Iterator[SparkRows]:
    opened = SparkRows(RowSource("spark", remote=spark_master, table="t"))
    yield opened
    opened.close()


def test_columns_of_partitions_and_hostile_names_are_kept(reader: SparkRows, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    folder, part, name = tmp_path / ODD, "k=1 é/x", "n`.'\"é"
    written = f"SELECT id, nullif(id % 3, 2) AS {SPARK.name(part)}, 'x' || id AS {SPARK.name(name)} FROM range(30)"
    reader._session.sql(written).write.partitionBy(part).parquet(str(folder))
    table = f"parquet.`{folder}`"
    assert reader.columns(table) == {"id": "bigint", name: "string", part: "int"}
    pinned = reader.pin(table)
    assert pinned.still
    found = reader.run(
        f"SELECT {SPARK.name(part)}, count(*), max({SPARK.name(name)}) FROM {pinned.relation} GROUP BY 1 ORDER BY 1"
    )
    assert found == [(None, 10, "x8"), (0, 10, "x9"), (1, 10, "x7")]


def test_tables_of_the_catalogue(reader: SparkRows, tmp_path: Path) -> None:
    """Files are pinned where they say what they hold; a view or a text file is read in one scan."""
    tmp_path.chmod(0o777)
    session = reader._session
    for name, words in (
        ("parts", "(id INT, k STRING) USING parquet PARTITIONED BY (k)"),
        ("none", "(id INT) USING orc"),
        ("texts", "(id INT) USING csv"),
    ):
        session.sql(f"CREATE TABLE {name} {words} LOCATION '{tmp_path / name}'")
    session.sql("INSERT INTO parts VALUES (1, 'a'), (2, NULL), (3, 'b c')")
    session.sql("CREATE VIEW seen AS SELECT * FROM parts")
    try:
        assert [reader.pin(name).still for name in ("parts", "none", "texts", "seen")] == [True, True, False, False]
        session.sql("INSERT INTO parts VALUES (4, 'a')")
        rows = reader.run(f"SELECT id, k FROM {reader.pin('parts').relation} ORDER BY id")
        assert rows == [(1, "a"), (2, None), (3, "b c")]
        assert reader.run(f"SELECT count(*) FROM {reader.pin('none').relation}") == [(0,)]
        # Where a value of a partition is not the name of its folder, its files alone do not tell it.
        session.sql(f"ALTER TABLE parts ADD PARTITION (k='z') LOCATION '{tmp_path / 'elsewhere'}'")
        session.sql("INSERT INTO parts VALUES (5, 'z')")
        other = SparkRows(RowSource("spark", remote=reader._remote, table="parts"))
        assert not other.pin("parts").still
    finally:
        session.sql("DROP VIEW seen")
        for name in ("parts", "none", "texts"):
            session.sql(f"DROP TABLE {name}")
    with pytest.raises(EngineUnavailable) as refused:
        SparkRows(RowSource("spark", remote=reader._remote, table="parts")).pin("parts")
    assert "TABLE_OR_VIEW" not in refused.value.message


def test_questions_in_threads_share_one_session_and_leave_nothing(spark_master: str, tmp_path: Path) -> None:
    fill(tmp_path / "people", COLUMNS, people(0, 60))
    source = source_of(spark_master, tmp_path / "people")
    engine, plan = engine_of(source), plan_of()
    expected = [list(column) for column in engine.measure(plan).columns]
    before = views(spark_master)

    def ask(_: int) -> list[list[Any]]:
        engine.prepare(plan)
        return [list(column) for column in engine.measure(plan).columns]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(8))) == [expected] * 8
    assert SparkRows(source)._session is SparkRows(source)._session
    assert views(spark_master) == before


def views(remote: str) -> set[str]:
    return {table.name for table in shared_session(remote).catalog.listTables()}


def test_a_state_is_searched_once(spark_master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a file that is overwritten under its name makes another state."""
    searched: list[str] = []
    real = SparkRows.run

    def run(self: SparkRows, sql: str) -> list[Row]:
        if "HAVING" in sql:
            searched.append(sql)
        return real(self, sql)

    monkeypatch.setattr(SparkRows, "run", run)
    monkeypatch.setattr(spark_tables, "_SEARCHED", spark_tables._Searches())
    folder = tmp_path / "people"
    fill(folder, COLUMNS, [(who, 1, "N") for who in range(40)], files=2)
    source = source_of(spark_master, folder)
    assert (counted(source), counted(source), len(searched)) == ([40], [40], 1)
    fill(folder, COLUMNS, [(who % 10, 1, "N") for who in range(40)], files=2)
    assert (counted(source), counted(source), len(searched)) == ([20], [20], 2)
    fill(tmp_path / "other", COLUMNS, [(100, 1, "N")] * 3, files=1)
    (tmp_path / "other" / "0.parquet").rename(folder / "new.parquet")
    assert (counted(source), len(searched)) == ([22], 3)
