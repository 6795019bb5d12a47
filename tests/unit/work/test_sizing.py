"""Whether a question is a job follows from its words and the cards: equal for all rows, and at the limits it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cards.card import parse_card
from discreet.errors import UnknownName
from discreet.release import Ask, read_ask
from discreet.session import Session
from discreet.sql.reader.questions import read_statement
from discreet.tables import table_request
from discreet.work import is_long, sizing
from discreet.workspace import Dataset, RowSource

SURVEY = """
dataset: survey
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100, delta: 1e-6}
rows_at_most: 1000
columns:
  pid: {kind: id, type: integer}
  ten: {kind: integer, bounds: [1, 10], complete: true}
  two: {kind: category, categories: {a: A, b: B}, complete: true}
  x: {kind: integer, bounds: [0, 99]}
  income: {kind: integer, bounds: private}
  wealth: {kind: integer, bounds: private}
  town: {kind: text}
  wide: {kind: integer, bounds: [1, 500000], complete: true}
  many: {kind: integer, bounds: [1, 1000000], complete: true}
"""
VISITS = SURVEY.replace("dataset: survey", "dataset: visits").replace("rows: 1}", "rows: 3}")
OLD = SURVEY.replace("dataset: survey", "dataset: old").replace("rows_at_most: 1000\n", "")
CARDS = {name: parse_card(text, file=name) for name, text in (("survey", SURVEY), ("visits", VISITS), ("old", OLD))}
NOWHERE = Path("nowhere.parquet")
LIMITS = ("MOST_QUESTIONS_AT_ONCE", "MOST_CELLS_AT_ONCE", "MOST_ROWS_AT_ONCE", "MOST_POINTS_AT_ONCE")


class Shelf:
    """Datasets without rows, in files unless another engine has them."""

    def __init__(self, engine: str = "duckdb", **stated: int) -> None:
        self._engine = engine
        self._stated = stated

    def find(self, name: str) -> Dataset:
        if name not in CARDS:
            raise UnknownName(sort="Dataset", name=name, where="this shelf", known=CARDS)
        card, source = CARDS[name], RowSource("duckdb", path=NOWHERE)
        if name in self._stated:
            card = replace(card, rows_at_most=self._stated[name])
        if self._engine == "postgres":
            source = RowSource("postgres", table="t", dsn_env="DSN")
        return Dataset(name, version=1, card=card, data=NOWHERE, report=NOWHERE, source=source)


def ask(sql: str, shelf: Shelf | None = None) -> Ask:
    shelf = shelf or Shelf()
    statement, cards = read_statement(sql, shelf)
    return Ask(
        statement=statement,
        datasets={name: shelf.find(name) for name in cards},
        analyst="ana",
        request_id="r",
        epsilon=Decimal(1),
        level=Decimal("0.95"),
    )


def count(asked: Ask | list[Ask], limit: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """What a question counts for: the smallest limit at which it is answered at once, where no other stops it."""
    with monkeypatch.context() as patch:
        for other in LIMITS:
            patch.setattr(sizing, other, 2**63)
        low, high = -1, 2**40
        while high - low > 1:
            middle = (low + high) // 2
            patch.setattr(sizing, limit, middle)
            low, high = (middle, high) if is_long(asked) else (low, middle)
        return high


# --- what counts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "cells"),
    [
        ("SELECT COUNT(*) FROM survey", 1),
        ("SELECT ten, COUNT(*) FROM survey GROUP BY ten", 10),
        ("SELECT ten, two, COUNT(*) FROM survey GROUP BY ten, two", 20),
        ("SELECT ten, COUNT(*), SUM(x) FROM survey GROUP BY ten", 20),
        ("SELECT x, COUNT(*) FROM survey GROUP BY x", 101),
        ("SELECT two, MEDIAN(x) FROM survey GROUP BY two", 2 * sizing.QUANTILE_CELL),
        ("SELECT MAX(x), COUNT(*) FROM survey", sizing.QUANTILE_CELL + 1),
        ("SELECT town, COUNT(*) FROM survey GROUP BY town", 1),
        ("SELECT ten, COUNT(*) FROM survey JOIN visits USING (pid) GROUP BY ten", 10),
    ],
)
def test_cells_are_counted_once_for_every_measure(sql: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = sql.replace("SELECT ten, COUNT(*) FROM survey JOIN", "SELECT survey.ten, COUNT(*) FROM survey JOIN")
    sql = sql.replace("USING (pid) GROUP BY ten", "USING (pid) GROUP BY survey.ten")
    assert count(ask(sql), "MOST_CELLS_AT_ONCE", monkeypatch) == cells


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT COUNT(*) FROM survey", 1_000),
        ("SELECT COUNT(*) FROM old", sizing.UNSTATED_ROWS),
        ("SELECT COUNT(*) FROM survey JOIN visits USING (pid)", 2_000),
        ("SELECT COUNT(*) FROM survey JOIN old USING (pid)", 1_000 + sizing.UNSTATED_ROWS),
        ("SELECT SUM(income) FROM survey", 2_000),
        ("SELECT SUM(income), SUM(wealth) FROM survey", 3_000),
        ("SELECT two, COUNT(*), SUM(x), MEDIAN(x) FROM survey GROUP BY two", 1_000),
    ],
)
def test_rows_are_those_that_cards_state_as_often_as_they_are_read(
    sql: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count(ask(sql), "MOST_ROWS_AT_ONCE", monkeypatch) == rows


def test_rows_elsewhere_weigh_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask("SELECT COUNT(*) FROM survey", Shelf("postgres"))
    assert count(asked, "MOST_ROWS_AT_ONCE", monkeypatch) == 1_000 * sizing.ROWS_ELSEWHERE


def test_rows_elsewhere_that_nobody_stated_are_always_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in LIMITS:
        monkeypatch.setattr(sizing, limit, 2**63)
    assert is_long(ask("SELECT COUNT(*) FROM old", Shelf("postgres")))
    assert is_long([ask("SELECT COUNT(*) FROM survey"), ask("SELECT COUNT(*) FROM old", Shelf("postgres"))])
    assert not is_long(ask("SELECT COUNT(*) FROM old"))


@pytest.mark.parametrize(
    ("sql", "rows", "points"),
    [
        ("SELECT MEDIAN(x) FROM survey", 1_000, 100),
        ("SELECT MEDIAN(x), MAX(x) FROM survey", 1_000, 200),
        ("SELECT two, MEDIAN(x) FROM survey GROUP BY two", 1_000, 200),
        ("SELECT two, MEDIAN(x) FROM survey GROUP BY two", 150, 150),
        ("SELECT MEDIAN(x) FROM survey", 7, 7),
        ("SELECT COUNT(*), SUM(x) FROM survey", 1_000, 0),
    ],
)
def test_points_are_candidates_but_no_more_than_rows(
    sql: str, rows: int, points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count(ask(sql, Shelf(survey=rows)), "MOST_POINTS_AT_ONCE", monkeypatch) == points


def test_questions_of_a_workload_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [ask("SELECT ten, COUNT(*) FROM survey GROUP BY ten"), ask("SELECT MEDIAN(x) FROM old")]
    assert count(asked, "MOST_QUESTIONS_AT_ONCE", monkeypatch) == 2
    assert count(asked, "MOST_CELLS_AT_ONCE", monkeypatch) == 10 + sizing.QUANTILE_CELL
    assert count(asked, "MOST_ROWS_AT_ONCE", monkeypatch) == 1_000 + sizing.UNSTATED_ROWS
    assert count(asked, "MOST_POINTS_AT_ONCE", monkeypatch) == 100


# --- the limits as they are -----------------------------------------------------------------------------------------


def wide(shelf: Shelf | None = None) -> Ask:
    return ask("SELECT wide, COUNT(*) FROM survey GROUP BY wide", shelf)


@pytest.mark.parametrize(
    ("make", "long"),
    [
        (wide, False),
        (lambda: [wide(), ask("SELECT COUNT(*) FROM survey")], True),
        (lambda: ask("SELECT wide, two, COUNT(*) FROM survey GROUP BY wide, two"), True),
        (lambda: [ask("SELECT COUNT(*) FROM survey")] * 20, False),
        (lambda: [ask("SELECT COUNT(*) FROM survey")] * 21, True),
        (lambda: ask("SELECT COUNT(*) FROM survey", Shelf(survey=50_000_000)), False),
        (lambda: ask("SELECT COUNT(*) FROM survey", Shelf(survey=50_000_001)), True),
        (lambda: ask("SELECT SUM(income) FROM survey", Shelf(survey=25_000_001)), True),
        (lambda: ask("SELECT COUNT(*) FROM survey", Shelf("postgres", survey=5_000_000)), False),
        (lambda: ask("SELECT COUNT(*) FROM survey", Shelf("postgres", survey=5_000_001)), True),
        (lambda: ask("SELECT MEDIAN(many) FROM survey", Shelf(survey=2_000_000)), False),
        (
            lambda: [ask("SELECT MEDIAN(many) FROM survey", Shelf(survey=2_000_000)), ask("SELECT MAX(x) FROM old")],
            True,
        ),
    ],
    ids=range(12),
)
def test_a_question_at_a_limit_is_answered_at_once_and_one_beyond_it_is_a_job(
    make: Callable[[], Ask | list[Ask]], long: bool
) -> None:
    assert is_long(make()) is long


# --- the same for everybody -----------------------------------------------------------------------------------------

QUESTIONS = (
    "SELECT COUNT(*) FROM survey",
    "SELECT ten, two, COUNT(*), AVG(x) FROM survey GROUP BY ten, two",
    "SELECT town, COUNT(*) FROM survey GROUP BY town",
    "SELECT MEDIAN(many), MAX(x) FROM survey WHERE two = 'a'",
    "SELECT SUM(income) FROM survey",
    "SELECT wide, COUNT(*) FROM survey GROUP BY wide",
    "SELECT wide, SUM(x) FROM survey WHERE ten > 3 GROUP BY wide HAVING COUNT(*) > 5",
)


@pytest.fixture
def two_houses(tmp_path: Path) -> Any:
    """Equal cards: of one nobody, of the other four thousand people in four thousand towns."""
    houses = []
    for name, people in (("nobody", 0), ("many", 4_000)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "survey.yaml").write_text(SURVEY.replace("1000\n", "5000\n"), encoding="utf-8")
        lines = [f"{n},{n % 10 + 1},{'ab'[n % 2]},{n % 100},{n},{n},town {n},{n + 1},{n + 1}" for n in range(people)]
        text = "\n".join(["pid,ten,two,x,income,wealth,town,wide,many", *lines, ""])
        (folder / "survey.csv").write_text(text, encoding="utf-8")
        with Session.create(folder / "w") as made:
            made.add(folder / "survey.csv", confirm=lambda _: True)
        houses.append(discreet.open(folder / "w"))
    yield houses
    for house in houses:
        house.close()


def test_equal_cards_decide_alike_whatever_the_rows(two_houses: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(house: Session) -> list[tuple[int, ...]]:
        asked: list[Ask] = [
            read_ask(sql, house.workspace, house.ledger, analyst="ana", epsilon=1, delta="1e-7") for sql in QUESTIONS
        ]
        table = house.tables.read(table_request("survey", "ten,two"), epsilon=1)
        asked.append(table.ask(table.design))
        return [tuple(count(one, limit, monkeypatch) for limit in LIMITS) for one in asked]

    empty, full = map(sizes, two_houses)
    assert empty == full
    assert len(set(empty)) >= len(empty) - 1, "the questions differ in what they count for"
    assert empty[-1][1] == 20 + 2 * sizing.MARGIN_CELL, "twenty cells of a table, and two of its margin"


def test_what_was_asked_before_changes_nothing(two_houses: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is stored could be given at once; that it is there may follow from what others asked."""
    monkeypatch.setattr(sizing, "MOST_CELLS_AT_ONCE", 5)
    house, sql = two_houses[1], "SELECT ten, COUNT(*) FROM survey GROUP BY ten"
    for _ in range(2):
        assert is_long(read_ask(sql, house.workspace, house.ledger, analyst="ana", epsilon=1))
        house.query(sql, epsilon=1)
