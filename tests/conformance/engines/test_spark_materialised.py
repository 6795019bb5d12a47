"""Rows that Spark prepares once, for Discreet: equal to a file's, and one version after another."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.in_place.materialised_rows import materialise_table
from discreet.engines.in_place.spark_writer import SparkWriter
from discreet.errors import EngineUnavailable
from discreet.session import Session
from discreet.workspace import Dataset, RowSource, StoredRows, Workspace
from tests.conformance.engines import nasty
from tests.conformance.engines.spark_rows import fill, run_apart

pytestmark = pytest.mark.long

CARD = """\
dataset: visits
unit: {column: who, rows: 2}
neighbours: add-remove
budget: {epsilon: 1000}
columns:
  who: {kind: id, type: integer}
  town: {kind: category, categories: [N, S]}
  x: {kind: number, bounds: [0, 9], step: 0.5, source: "x `'\\"é"}
"""
COLUMNS = {"who": pa.int32(), "town": pa.string(), "x `'\"é": pa.float64()}


def visits(units: int) -> list[tuple[Any, ...]]:
    return [(who, "NS"[who % 2], row * 1.5) for who in range(units) for row in range(3)]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    with made_session(tmp_path) as opened:
        yield opened


def made_session(folder: Path) -> Session:
    """A workspace, a card, raw rows and a home for prepared ones, with hostile names."""
    (folder / "visits.yaml").write_text(CARD, encoding="utf-8")
    fill(folder / "raw rows é", COLUMNS, visits(200))
    home_of(folder).mkdir()
    home_of(folder).chmod(0o777)
    return discreet.create(folder / "w")


def home_of(folder: Path) -> Path:
    return folder / "prepared {rows} [é]"


def add(session: Session, remote: str, home: str) -> Dataset:
    folder = session.workspace.path.parent
    source = RowSource("spark", remote=remote, table=f"parquet.`{folder / 'raw rows é'}`", materialise=home)
    return session.add_table(source, card=folder / "visits.yaml")


def count(session: Session) -> int:
    [row] = session.query("SELECT COUNT(*) AS n FROM visits", epsilon="5", fresh=True).rows
    return int(str(row["n"]))


def near(found: int, exact: int) -> bool:
    return abs(found - exact) < 30


def held(home: Path) -> set[str]:
    """What a home holds rows of."""
    return {file.parent.name for file in home.rglob("*.parquet") if pq.read_metadata(file).num_rows}


def add_and_refresh(remote: str, place: str) -> None:
    folder = Path(place)
    with made_session(folder) as session:
        refresh_twice(session, remote)


def refresh_twice(session: Session, remote: str) -> None:
    folder = session.workspace.path.parent
    home = home_of(folder)
    first = add(session, remote, str(home))
    assert near(count(session), 400)
    fill(folder / "raw rows é", COLUMNS, visits(100))
    assert near(count(session), 400), "the raw rows are not read"
    second, third = session.refresh("visits"), session.refresh("visits")
    assert [one.version for one in (first, second, third)] == [1, 2, 3]
    assert near(count(session), 200)
    assert held(home) == {Path(one.source.stored.name).name for one in (second, third) if one.source.stored}


def test_a_refresh_is_the_next_version_and_keeps_one_before_it(spark_master: str, session: Session) -> None:
    refresh_twice(session, spark_master)
    assert [place.name for place in home_of(session.workspace.path.parent).iterdir() if "probe" in place.name] == []


def test_a_refresh_through_spark_connect(spark_connect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    run_apart(__name__, "add_and_refresh", spark_connect, tmp_path)


@pytest.mark.parametrize("home", ["a folder", "a schema"])
def test_what_spark_stores_is_what_a_file_is_prepared_to(
    spark_master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    table, card = nasty.make_table(secrets.randbits(32)), nasty.make_card(sources=["dbl", "num", "txt", "code"])
    file = table.write(tmp_path / "raw")
    for place in (tmp_path, tmp_path / "raw"):
        place.chmod(0o777)
    writer = SparkWriter(RowSource("spark", remote=spark_master, table="t"))
    schema = f"made_{secrets.token_hex(6)}"
    writer._session.sql(f"CREATE SCHEMA {schema} LOCATION '{tmp_path / 'schema'}'")
    try:
        target = str(tmp_path) if home == "a folder" else schema
        source = RowSource("spark", remote=spark_master, table=f"parquet.`{file}`", materialise=target)
        workspace = Workspace.create(tmp_path / "w")
        object.__setattr__(workspace, "salt", nasty.SALT)
        stored = materialise_table(workspace, source, card, replace=False).source.stored
        assert isinstance(stored, StoredRows)
        found: nasty.Prepared = Counter(writer.run(f"SELECT * FROM {writer.stored(stored)}"))
        nasty.assert_same(card, found, nasty.ingested(card, table))
        writer.remove(stored.name)
    finally:
        writer._session.sql(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize("half", ["nothing", "some files"])
def test_a_failure_in_the_middle_leaves_the_old_version_in_use(
    spark_master: str, session: Session, monkeypatch: pytest.MonkeyPatch, half: str
) -> None:
    home = home_of(session.workspace.path.parent)
    add(session, spark_master, str(home))
    real = SparkWriter._save

    def fail(self: SparkWriter, name: str, frame: Any) -> None:
        if half == "some files":
            real(self, name, frame.limit(3))
        raise RuntimeError("value 412000 in row 88")

    with monkeypatch.context() as patch:
        patch.setattr(SparkWriter, "_save", fail)
        with pytest.raises(EngineUnavailable) as failed:
            session.refresh("visits")
    assert "412000" not in failed.value.message
    assert session.workspace.dataset("visits").version == 1
    assert near(count(session), 400)
    assert session.refresh("visits").version == 2
    assert len(held(home)) == 2


@pytest.mark.parametrize(
    ("home", "words"),
    [("/nowhere/at all", "is not there"), ("nowhere", "is not there"), ("{closed}", "may not be written to")],
)
def test_a_home_that_is_not_there_or_closed_is_refused(
    spark_master: str, session: Session, home: str, words: str
) -> None:
    closed = session.workspace.path.parent / "closed"
    closed.write_text("a file is no folder", encoding="utf-8")
    closed.chmod(0o644)
    with pytest.raises(EngineUnavailable, match=words):
        add(session, spark_master, home.format(closed=closed))
    assert session.workspace.datasets() == ()
