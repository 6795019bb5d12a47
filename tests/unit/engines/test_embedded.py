"""The embedded engine: nothing else reachable, many cells as few, one engine for many questions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.engines import cell_arrays, embedded
from discreet.engines.embedded import EmbeddedEngine, open_database
from discreet.sql.algebra import Key, Least, Plan, Quantile, Rows, Times, Total, Units, Whole
from tests.algebra.columns import field, scan
from tests.conformance.engines.operators import CARDS, FAR, PEOPLE, QUESTIONS, TABLES, Question
from tests.conformance.engines.plans import plain, write_prepared

SCAN = scan(PEOPLE)
AGE, GAIN, REGION = field("age"), field("gain"), field("region")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    made = EmbeddedEngine(files(tmp_path, TABLES))
    yield made
    made.close()


def files(folder: Path, tables: Any) -> dict[str, Any]:
    return {
        name: (write_prepared(folder / f"{name}.parquet", card, tables[name]), card) for name, card in CARDS.items()
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_operators(question: Question, engine: EmbeddedEngine) -> None:
    assert plain(engine.measure(question.plan)) == ([list(column) for column in question.columns], question.keys)


@pytest.mark.parametrize(
    "question", [one for one in QUESTIONS if not one.plan.open], ids=lambda question: question.name
)
def test_many_cells_are_arranged_as_few(
    question: Question, engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_MANY_CELLS", 0)
    monkeypatch.setattr(cell_arrays, "_LONG", 0)
    assert plain(engine.measure(question.plan)) == ([list(column) for column in question.columns], None)


@pytest.mark.parametrize(
    "cells", [(None, 0, 1), (1, 0, None), (1, 5, 0), (7, 9, None), (None,), tuple(range(-3, 9)), ()], ids=str
)
def test_many_cells_in_any_order(
    cells: tuple[int | None, ...], engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(SCAN, (Key(REGION, cells), Key(AGE, (0, 120, None))), (Rows(None), Quantile(GAIN, Fraction(1, 2))))
    few = engine.measure(plan)
    monkeypatch.setattr(embedded, "_MANY_CELLS", -1)
    assert plain(engine.measure(plan)) == plain(few)


def test_sums_beyond_64_bits_among_many_cells(tmp_path: Path) -> None:
    sign = {0: 1, 1: -1}
    rows: list[dict[str, Any]] = [
        {"pid": unit, "region": unit % 2, "age": 120, "gain": sign[unit % 2] * FAR, "note": None, "ord": 1}
        for unit in range(20)
    ]
    engine = EmbeddedEngine(files(tmp_path, {**TABLES, "people": rows}))
    value = Times(GAIN, Times(AGE, Least((AGE, Whole(30)))))
    found = engine.measure(Plan(scan(PEOPLE, 1), (Key(REGION, tuple(range(10_000))),), (Total(value), Rows(None))))
    engine.close()
    assert found.columns[0][:3] == [36_000 * FAR, -36_000 * FAR, 0]
    assert found.columns[1][:3] == [10, 10, 0]
    assert len(found.columns[0]) == 10_000


def test_a_data_set_without_rows_gives_zeros(tmp_path: Path) -> None:
    engine = EmbeddedEngine(files(tmp_path, {name: [] for name in CARDS}))
    by_region = (Key(REGION, (0, 1, None)),)
    found = engine.measure(Plan(SCAN, by_region, (Rows(None), Total(AGE), Units(), Quantile(AGE, Fraction(1, 2)))))
    scalar = engine.measure(Plan(SCAN, (), (Rows(None), Total(AGE))))
    engine.close()
    assert plain(found) == ([[0, 0, 0], [0, 0, 0], [0, 0, 0], [[], [], []]], None)
    assert plain(scalar) == ([[0], [0]], None)


def test_threads_share_an_engine(engine: EmbeddedEngine) -> None:
    plan = Plan(SCAN, (Key(REGION, (0, 1, None)),), (Rows(None),))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: plain(engine.measure(plan)), range(40)))
    assert answers == [([[2, 3, 1]], None)] * 40


def test_an_engine_opens_again_after_it_was_closed_or_its_process_forked(
    engine: EmbeddedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(SCAN, (), (Rows(None),))
    assert plain(engine.measure(plan)) == ([[6]], None)
    first = engine._database
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert plain(engine.measure(plan)) == ([[6]], None)
    assert engine._database is not first
    engine.close()
    assert plain(engine.measure(plan)) == ([[6]], None)


def test_nothing_but_the_files_is_reachable(tmp_path: Path) -> None:
    data = write_prepared(tmp_path / "d.parquet", PEOPLE, [])
    other = write_prepared(tmp_path / "other.parquet", PEOPLE, [])
    with open_database((str(data),)) as database:
        assert database.execute(f"SELECT count(*) FROM read_parquet('{data}')").fetchall() == [(0,)]
        for statement in (
            f"SELECT * FROM read_parquet('{other}')",
            f"SELECT * FROM read_text('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'x.db'}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET allowed_paths = []",
        ):
            with pytest.raises(duckdb.Error):
                database.execute(statement).fetchall()


def test_rows_too_many_for_memory_are_not_written_to_disk(tmp_path: Path) -> None:
    data = write_prepared(tmp_path / "d.parquet", PEOPLE, [])
    with open_database((str(data),)) as database:
        assert database.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]
        with pytest.raises(duckdb.Error, match="locked"):
            database.execute("SET memory_limit = '1GB'")


def test_a_path_with_quotes_is_read(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "place"'
    folder.mkdir()
    engine = EmbeddedEngine({"people": (write_prepared(folder / "p.parquet", PEOPLE, TABLES["people"]), PEOPLE)})
    assert plain(engine.measure(Plan(SCAN, (), (Rows(None),)))) == ([[6]], None)
    engine.close()
