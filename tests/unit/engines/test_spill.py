"""Larger than memory: plans spill to a private folder and answer, or are refused before a charge."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cards.card import Card
from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine import Measured
from discreet.engines.footprint import most_bytes
from discreet.engines.resources import EngineResources, read_resources
from discreet.errors import EngineUnavailable, ParameterInvalid, QueryRefused
from discreet.session import Session
from discreet.sql.algebra import Join, Key, PerUnit, Plan, Quantile, Rows, Tally, Total, Units, UnitTotal
from discreet.workspace.folder import PrivateFolder
from tests.algebra.columns import at, field, scan
from tests.conformance.engines.operators import PEOPLE, TABLES, VISITS
from tests.conformance.engines.plans import plain, write_prepared

MEMORY = 64
UNITS = 3_000_000
PEOPLE_ONCE, VISITS_ONCE = scan(PEOPLE, 1), scan(VISITS, 1)
AGE, GAIN, COST, REGION = (field(name) for name in ("age", "gain", "cost", "region"))
TOTALS = PerUnit(PEOPLE_ONCE, ((at("total"), UnitTotal(GAIN)), (at("many"), Tally(None))))
PLANS = {
    "per unit": Plan(TOTALS, (), (Total(field("total")), Rows(None))),
    "join": Plan(Join(PEOPLE_ONCE, VISITS_ONCE), (), (Total(COST), Total(GAIN), Rows(None))),
    "units": Plan(scan(PEOPLE, 2), (Key(REGION, (0, 1)),), (Units(),)),
    "quantile": Plan(PEOPLE_ONCE, (), (Quantile(GAIN, Fraction(1, 2), (0, UNITS)),)),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Card]]:
    """A row for each of very many units, their ids in no order."""
    folder = tmp_path_factory.mktemp("large")
    unit = np.random.default_rng(7).permutation(UNITS).astype(np.int64)
    first = np.ones(UNITS, dtype=np.int32)
    columns = {
        "people": {
            "pid": unit,
            "region": (unit % 2).astype(np.int8),
            "age": (unit % 100).astype(np.int8),
            "gain": unit,
            "note": pa.nulls(UNITS, pa.string()),
            "ord": first,
        },
        "visits": {"pid": unit, "cost": (unit % 7).astype(np.int16), "day": (unit % 7).astype(np.int8), "ord": first},
    }
    for name, table in columns.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return {card.dataset: (folder / f"{card.dataset}.parquet", card) for card in (PEOPLE, VISITS)}


def held(plan: Plan, cards: dict[str, Card]) -> int:
    found = most_bytes(plan, cards)
    assert found is not None
    return found


def stated(files: dict[str, tuple[Path, Card]], rows: int) -> dict[str, Any]:
    return {name: (path, replace(card, rows_at_most=rows)) for name, (path, card) in files.items()}


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def put(memory: str, spill: str) -> None:
        monkeypatch.setenv("DISCREET_MEMORY", memory)
        monkeypatch.setenv("DISCREET_SPILL", spill)

    put("1GB", "10GB")
    return put


@pytest.mark.slow
@pytest.mark.parametrize("name", ["per unit", "join", "quantile"])
def test_what_does_not_fit_into_memory_is_written_to_a_private_folder(
    name: str, data: dict[str, tuple[Path, Card]], tmp_path: Path, limits: Any
) -> None:
    """With as much disk as is just admitted the plan answers, so the bound holds; without any it cannot."""
    plan, staging = PLANS[name], tmp_path / "staging"
    expected = plain(_measured(EmbeddedEngine(data), plan))
    limits(f"{MEMORY}MB", "0")
    with pytest.raises(duckdb.OutOfMemoryException):
        _measured(EmbeddedEngine(data, staging=staging), plan)
    needed = held(plan, {card.dataset: card for _, card in stated(data, UNITS).values()})
    limits(f"{MEMORY}MB", f"{-(-needed // 10**6) - MEMORY}MB")
    engine = EmbeddedEngine(stated(data, UNITS), staging=staging)
    engine.prepare(plan)
    (folder,) = (path for path in staging.iterdir() if path.is_dir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert plain(_measured(engine, plan)) == expected
    assert not list(staging.iterdir())


def _measured(engine: EmbeddedEngine, plan: Plan) -> Measured:
    try:
        return engine.measure(plan)
    finally:
        engine.close()


@pytest.mark.parametrize("name", PLANS)
def test_what_may_need_more_than_there_is_is_refused(name: str, tmp_path: Path, limits: Any) -> None:
    files = {
        card.dataset: (write_prepared(tmp_path / f"{card.dataset}.parquet", card, TABLES[card.dataset]), card)
        for card in (PEOPLE, VISITS)
    }
    engine = EmbeddedEngine(stated(files, 10**8), staging=tmp_path / "staging")
    limits("1GB", "1GB")
    with pytest.raises(QueryRefused, match=r"may take up to .* 1 GB of memory \(DISCREET_MEMORY\) and 1 GB of disk"):
        engine.prepare(PLANS[name])
    unstated = EmbeddedEngine(files, staging=tmp_path / "staging")
    unstated.prepare(PLANS[name])
    unstated.close()
    few = EmbeddedEngine(stated(files, 10**6), staging=tmp_path / "staging")
    few.prepare(PLANS[name])
    few.close()


def test_few_groups_take_little_however_many_rows() -> None:
    cards = {"people": replace(PEOPLE, rows_at_most=2 * 10**9)}
    few = held(Plan(PEOPLE_ONCE, (Key(REGION, (0, 1)),), (Rows(None), Total(AGE), Units())), cards)
    ranked = held(Plan(PEOPLE_ONCE, (), (Quantile(AGE, Fraction(1, 2), (0, 120)),)), cards)
    wide = held(Plan(PEOPLE_ONCE, (Key(GAIN, None),), (Rows(None),)), cards)
    assert few < 10_000
    assert ranked < 100_000
    assert wide >= 2 * 10**9 * 64


def test_rows_of_a_join_are_bounded_by_those_of_a_unit() -> None:
    cards = {card.dataset: replace(card, rows_at_most=1000) for card in (PEOPLE, VISITS)}
    key = (Key(GAIN, None),)
    one = held(Plan(Join(scan(PEOPLE, 1), scan(VISITS, 1)), key, (Rows(None),)), cards)
    many = held(Plan(Join(scan(PEOPLE, 5), scan(VISITS, 3)), key, (Rows(None),)), cards)
    assert many - one == 2 * 1000 * (40 + 24 + 64 + 24)


@pytest.mark.parametrize("memory", ["4", "GB", "-1GB", "4 gigabytes", "1MB", "0", "1e9", "nan"])
def test_bad_sizes_are_refused_before_anything_is_opened(
    memory: str, data: dict[str, tuple[Path, Card]], tmp_path: Path, limits: Any
) -> None:
    limits(memory, "1GB")
    with pytest.raises(ParameterInvalid, match="DISCREET_MEMORY must be"):
        EmbeddedEngine(data, staging=tmp_path / "s").prepare(PLANS["per unit"])
    assert not (tmp_path / "s").exists()


def test_sizes(limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limits("1.5 GB", "0")
    assert read_resources() == EngineResources(memory=1_500_000_000, spill=0)
    limits("1GiB", "2tb")
    assert read_resources() == EngineResources(memory=2**30, spill=2 * 10**12)
    limits("1GB", "many")
    with pytest.raises(ParameterInvalid, match=r"DISCREET_SPILL must be a size such as 4GB or 500MB, or 0"):
        read_resources()
    monkeypatch.delenv("DISCREET_MEMORY")
    monkeypatch.delenv("DISCREET_SPILL")
    assert read_resources().memory >= 64 * 10**6


def test_without_a_place_nothing_is_written(tmp_path: Path, limits: Any) -> None:
    files = {"people": (write_prepared(tmp_path / "p.parquet", PEOPLE, TABLES["people"]), PEOPLE)}
    limits("1GB", "0")
    engine = EmbeddedEngine(files, staging=tmp_path / "staging")
    engine.prepare(PLANS["per unit"])
    engine.close()
    assert not (tmp_path / "staging").exists()


def test_a_place_that_cannot_be_made_is_said_before_a_charge(tmp_path: Path, limits: Any) -> None:
    files = {"people": (write_prepared(tmp_path / "p.parquet", PEOPLE, TABLES["people"]), PEOPLE)}
    (tmp_path / "staging").touch()
    with pytest.raises(EngineUnavailable, match="DISCREET_SPILL=0"):
        EmbeddedEngine(files, staging=tmp_path / "staging").prepare(PLANS["per unit"])


def test_a_fork_leaves_the_folder_to_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"people": (write_prepared(tmp_path / "p.parquet", PEOPLE, TABLES["people"]), PEOPLE)}
    engine = EmbeddedEngine(files, staging=tmp_path / "staging")
    engine.prepare(PLANS["per unit"])
    (folder,) = (path for path in (tmp_path / "staging").iterdir() if path.is_dir())
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    engine.close()
    assert folder.is_dir()
    monkeypatch.setattr(os, "getpid", lambda: parent)


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    (left / "duckdb_temp.tmp").write_bytes(b"rows")
    held = PrivateFolder(tmp_path)
    assert not left.exists()
    other = PrivateFolder(tmp_path)
    assert held.path.is_dir()
    other.remove()
    held.remove()
    assert not list(tmp_path.iterdir())


CARD = """\
dataset: pay
unit: {column: id, rows: 2}
neighbours: add-remove
rows_at_most: ROWS
budget: {epsilon: 1}
columns:
  id: {kind: id, type: integer}
  pay: {kind: integer, bounds: [0, 9]}
"""


def test_nothing_is_charged_for_what_is_refused_by_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Any
) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    (tmp_path / "pay.csv").write_text("id,pay\n1,2\n1,3\n2,4\n")
    (tmp_path / "pay.yaml").write_text(CARD.replace("ROWS", "1000000000"))
    sql = "SELECT AVG(t) FROM (SELECT id, SUM(pay) AS t FROM pay GROUP BY id)"
    with Session.create(tmp_path / "w") as session:
        session.add(tmp_path / "pay.csv")
        limits("1GB", "1GB")
        before = session.ledger.head()
        with pytest.raises(QueryRefused, match="Nothing was charged"):
            session.query(sql, epsilon="0.1")
        limits("many", "1GB")
        with pytest.raises(ParameterInvalid, match="DISCREET_MEMORY"):
            session.query(sql, epsilon="0.1")
        assert session.ledger.head() == before
        limits("1GB", "1GB")
        assert session.query("SELECT COUNT(*) FROM pay", epsilon="0.1").rows
        assert [path for path in (tmp_path / "w" / "staging").iterdir() if path.is_dir()]
    assert not list((tmp_path / "w" / "staging").iterdir())
