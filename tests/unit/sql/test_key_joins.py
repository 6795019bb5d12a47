"""Joins on a declared key: read for `elastic` alone, one count, every condition on its side; refused by all else."""

from __future__ import annotations

import pytest

from discreet.cards.card import ColumnKind, parse_card
from discreet.engines.dialects import DUCKDB
from discreet.engines.rendering import RenderedTable, render
from discreet.errors import QueryRefused, UnknownName
from discreet.sql.algebra import (
    And,
    Derive,
    Field,
    Filter,
    Identity,
    IsNull,
    Join,
    KeyJoin,
    Lookup,
    Not,
    OneOf,
    Plan,
    Rows,
    Scan,
    TextIn,
    Total,
    Whole,
    Within,
    scans,
    walk,
)
from discreet.sql.calculus import facts_of, lineage_of
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities
from discreet.sql.serialisation import Serialisation, plan_hash
from discreet.sql.statement import Statement
from discreet.sql.wording import word_relation
from tests.unit.sql.catalogue import SURVEY, called, shelf

ELASTIC = frozenset({"elastic"})
VISITS = """
dataset: visits
population: people
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
columns:
  pid: {kind: id, type: integer}
  clinic: {kind: text, references: clinics.name}
  ward: {kind: category, categories: [a, b], references: clinics.ward}
  floor: {kind: integer, bounds: [0, 9], references: clinics.level}
  region: {kind: category, categories: [10, 11], references: clinics.area}
  cost: {kind: number, bounds: [0, 10], step: 0.5}
  day: {kind: integer, bounds: [1, 730]}
  place: {kind: text, references: clinics.level}
"""
CLINICS = """
dataset: clinics
population: people
unit: {column: pid, rows: 2}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
columns:
  pid: {kind: id, type: integer}
  name: {kind: text}
  ward: {kind: category, categories: [a, b]}
  level: {kind: integer, bounds: [0, 9]}
  area: {kind: category, categories: [11, 10]}
  beds: {kind: integer, bounds: [0, 99]}
  price: {kind: number, bounds: [0, 10], step: 0.5}
"""
STRANGERS = CLINICS.replace("dataset: clinics", "dataset: others").replace("population: people", "population: them")
NAMED = "FROM visits v JOIN clinics c ON v.clinic = c.name"
CARDS = {card.dataset: card for card in (parse_card(text, file="card.yaml") for text in (SURVEY, VISITS, CLINICS))}


def read(sql: str, *, admit: frozenset[str] = ELASTIC) -> Statement:
    return read_statement(sql, shelf(SURVEY, VISITS, CLINICS, STRANGERS), admit=admit)[0]


def joined(sql: str) -> KeyJoin:
    statement = read(sql)
    assert (statement.plan.keys, statement.plan.measures) == ((), (Rows(None),))
    assert isinstance(statement.plan.source, KeyJoin)
    return statement.plan.source


def refusal(sql: str, *, admit: frozenset[str] = ELASTIC) -> str:
    with pytest.raises(QueryRefused) as refused:
        read(sql, admit=admit)
    return refused.value.message


def whole(dataset: str, before: int = 0, *, version: int = 0) -> Scan:
    """A dataset as it is read: its columns are numbered in the order of its card, after those read before it."""
    names = [column.name for column in CARDS[dataset].columns if column.kind is not ColumnKind.ID]
    columns = tuple((Identity(before + place), name) for place, name in enumerate(names))
    return Scan(dataset, CARDS[dataset].unit.rows, columns, version)


LEFT = whole("visits")
RIGHT = whole("clinics", len(LEFT.columns), version=7)


def of(side: Scan, name: str) -> Field:
    [column] = [column for column, one in side.columns if one == name]
    return Field(column)


@pytest.mark.parametrize(
    ("on", "left_key", "right_key"),
    [
        ("v.clinic = c.name", "clinic", "name"),
        ("c.name = v.clinic", "clinic", "name"),
        ("v.ward = c.ward", "ward", "ward"),
        ("v.floor = c.level", "floor", "level"),
    ],
)
def test_text_category_and_integer_keys(on: str, left_key: str, right_key: str) -> None:
    join = joined(f"SELECT COUNT(*) FROM visits v JOIN clinics c ON {on}")
    assert join == KeyJoin(LEFT, RIGHT, of(LEFT, left_key), of(RIGHT, right_key))


@pytest.mark.parametrize("name", ["ward", "c1", "unit", "ward_1", "_discreet_value", '"WARD"'])
def test_names_change_nothing(name: str) -> None:
    """A derived column called as one of the other side, or as an engine might call it."""
    derived = "(SELECT cost AS {0}, clinic AS k FROM visits) AS v JOIN clinics c ON v.k = c.name"
    asked = f"SELECT COUNT(v.{{0}}) FROM {derived}"
    assert joined(asked.format(name)) == joined(asked.format("plain"))


@pytest.mark.parametrize("name", ['"ward:1"', '"c.ward"', '"key 0"'])
def test_odd_names_are_refused(name: str) -> None:
    assert "letters, digits and underscores" in refusal(
        f"SELECT COUNT(*) FROM (SELECT cost AS {name}, clinic AS k FROM visits) AS v JOIN clinics c ON v.k = c.name"
    )


def test_using_and_the_reference_from_the_other_side() -> None:
    assert joined("SELECT COUNT(*) FROM visits JOIN clinics USING (ward)").right_key == of(RIGHT, "ward")
    join = joined("SELECT COUNT(*) FROM clinics c JOIN visits v ON c.name = v.clinic")
    first = whole("clinics")
    second = whole("visits", len(first.columns), version=7)
    assert join == KeyJoin(first, second, of(first, "name"), of(second, "clinic"))


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT pid, floor AS f FROM visits WHERE day > 3) v",
        "survey s JOIN (SELECT pid, floor AS f FROM visits) v ON s.pid = v.pid",
    ],
)
def test_a_key_by_another_name_is_the_same_column(source: str) -> None:
    statement = read(f"SELECT COUNT(*) FROM {source} JOIN clinics c ON v.f = c.level")
    assert (statement.plan.keys, statement.plan.measures) == ((), (Rows(None),))
    join = statement.plan.source
    assert isinstance(join, KeyJoin)
    assert called(statement, [join.left_key, join.right_key]) == ["f", "level"]
    [clinics] = scans(join.right)
    assert join.right_key == of(clinics, "level")
    derived = next(node for node in walk(join.left) if isinstance(node, Derive))
    [visits] = scans(derived)
    assert dict(derived.columns)[join.left_key.column] == of(visits, "floor")


def test_conditions_go_to_the_side_they_speak_of() -> None:
    join = joined(f"SELECT COUNT(*) {NAMED} WHERE v.day > 3 AND c.beds = 5 AND (c.ward = 'a' OR c.beds = 7) AND 1 = 1")
    assert isinstance(join.left, Filter)
    assert isinstance(join.right, Filter)
    assert isinstance(join.left.where, And)
    assert join.left.where.operands == (Within(of(LEFT, "day"), 4, None), OneOf(Whole(1), (1,)))
    assert isinstance(join.right.where, And)
    assert join.right.where.operands[0] == OneOf(of(RIGHT, "beds"), (5,))
    assert join.right.source == RIGHT


def test_a_single_condition_needs_no_conjunction() -> None:
    join = joined(f"SELECT COUNT(*) {NAMED} WHERE v.clinic = 'north'")
    assert (join.left, join.right) == (Filter(LEFT, TextIn(of(LEFT, "clinic"), ("north",))), RIGHT)


def test_a_counted_column_must_be_there() -> None:
    assert joined(f"SELECT COUNT(c.beds) {NAMED}").right == Filter(RIGHT, Not(IsNull(of(RIGHT, "beds"))))
    assert joined(f"SELECT COUNT(v.cost) {NAMED}").left == Filter(LEFT, Not(IsNull(of(LEFT, "cost"))))
    assert (
        joined(f"SELECT COUNT(v.pid) {NAMED}")
        == joined(f"SELECT COUNT(1) {NAMED}")
        == joined(f"SELECT COUNT(*) {NAMED}")
    )


def test_faces() -> None:
    statement = read(f"SELECT COUNT(*) AS pairs {NAMED}")
    assert [column.name for column in statement.presentation.columns] == ["pairs"]
    assert read(f"SELECT COUNT(*) {NAMED}").presentation.columns[0].name == "count"
    assert statement.measures[0].text == "COUNT(*)"
    assert statement.plan.dataset == "visits"
    other = read("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.ward = c.ward")
    assert plan_hash(statement.plan) != plan_hash(other.plan)
    written = Serialisation.of(statement.plan).relation(statement.plan.source)
    assert written[:2] == ["key-join", ["scan", "visits", 3, 0, [[0, "clinic"]]]]


def test_each_side_may_join_on_the_unit_and_with_public_tables() -> None:
    join = joined(
        "SELECT COUNT(*) FROM visits v JOIN survey s ON v.pid = s.pid JOIN zones z ON s.region = z.code "
        "JOIN (SELECT name, beds FROM clinics WHERE beds > 3) c ON v.clinic = c.name WHERE z.zone = 'coast'"
    )
    assert isinstance(join.left, Filter)
    assert isinstance(join.left.source, Lookup)
    assert isinstance(join.left.source.source, Join)
    assert isinstance(join.right, Derive)
    assert facts_of(join.left, CARDS).rows == 3


def test_other_statements_are_read_as_ever() -> None:
    sql = "SELECT s.region, AVG(v.cost) AS m FROM visits v JOIN survey s ON v.pid = s.pid GROUP BY s.region"
    assert read(sql) == read(sql, admit=frozenset())


def test_without_admission_the_refusal_names_elastic_and_what_can_be_done() -> None:
    for on in ("v.clinic = c.name", "v.day = c.beds"):
        message = refusal(f"SELECT COUNT(*) FROM visits v JOIN clinics c ON {on}", admit=frozenset())
        assert "custodians' comparisons under the strategy `elastic`" in message
        assert "Join on the unit" in message
        assert "public table" in message


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.day = c.beds", "clinics.beds` at column 'day'"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.clinic = c.ward", "`references: clinics.ward`"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.pid = c.name", "Units are joined with units"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.clinic = c.pid", "Units are joined with units"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.cost = c.price", "categories, integers or texts"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.region = c.area", "not written alike"),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.place = c.level", "not written alike"),
        ("SELECT COUNT(*) FROM visits v JOIN others o ON v.clinic = o.name", "different populations"),
        ("SELECT COUNT(*) FROM visits v JOIN visits w ON v.clinic = w.clinic", "joined with itself"),
        (
            "SELECT COUNT(*) FROM (SELECT pid, floor + 1 AS f FROM visits) v JOIN clinics c ON v.f = c.level",
            "as they are",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT pid, MIN(floor) AS f FROM visits GROUP BY pid) v JOIN clinics c "
            "ON v.f = c.level",
            "as they are",
        ),
        (f"SELECT SUM(c.beds) {NAMED}", "one COUNT"),
        (f"SELECT COUNT(*), COUNT(c.beds) {NAMED}", "one COUNT"),
        (f"SELECT 2 * COUNT(*) {NAMED}", "one COUNT"),
        (f"SELECT COUNT(DISTINCT v.pid) {NAMED}", "one COUNT"),
        (f"SELECT COUNT(*) {NAMED} GROUP BY v.ward", "one COUNT"),
        (f"SELECT v.ward, COUNT(*) {NAMED} GROUP BY v.ward", "one COUNT"),
        (f"SELECT COUNT(*) {NAMED} HAVING COUNT(*) > 3", "one COUNT"),
        (f"SELECT COUNT(*) AS n {NAMED} ORDER BY n", "one COUNT"),
        (f"SELECT COUNT(*) {NAMED} LIMIT 1", "one COUNT"),
        (f"SELECT COUNT(v.day + c.beds) {NAMED}", "mixes columns of both"),
        (f"SELECT COUNT(*) {NAMED} WHERE v.day = c.beds", "mixes columns of both"),
        (f"SELECT COUNT(*) {NAMED} WHERE v.day = 1 OR c.beds = 2", "mixes columns of both"),
        (f"SELECT COUNT(*) {NAMED} JOIN survey s ON v.pid = s.pid", "write others before it"),
        (f"SELECT COUNT(*) {NAMED} JOIN zones z ON v.region = z.code", "write others before it"),
        (f"SELECT COUNT(*) FROM (SELECT v.day AS day {NAMED}) t", "outer statement"),
        (f"SELECT COUNT(*) FROM (SELECT v.pid AS pid, COUNT(*) AS n {NAMED} GROUP BY v.pid) t", "outer statement"),
        ("SELECT COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic = c.name", "not answered"),
    ],
)  # fmt: skip
def test_refusals(sql: str, said: str) -> None:
    assert said in refusal(sql)


def test_an_unknown_column_is_told() -> None:
    with pytest.raises(UnknownName):
        read("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.clinic = c.nome")


def test_nothing_but_elastic_takes_the_node() -> None:
    join = joined(f"SELECT COUNT(*) {NAMED}")
    plan = Plan(join, (), (Rows(None), Total(of(RIGHT, "beds"))))
    tables = {name: RenderedTable(name, "pid") for name in CARDS}
    survey = whole("survey", 100)
    for refused in (
        lambda: facts_of(join, CARDS),
        lambda: facts_of(Filter(join, IsNull(of(RIGHT, "beds"))), CARDS),
        lambda: facts_of(Join(survey, join), CARDS),
        lambda: lineage_of(plan, CARDS),
        lambda: sensitivities(plan, Rows(None), CARDS),
        lambda: render(plan, DUCKDB, tables),
        lambda: render(Plan(Join(join, survey), (), (Total(of(RIGHT, "beds")),)), DUCKDB, tables),
    ):
        with pytest.raises(QueryRefused, match="elastic"):
            refused()


def test_wording() -> None:
    statement = read("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.ward = c.ward WHERE c.beds > 3")
    assert list(word_relation(statement.plan.source, CARDS, statement.names)) == [
        "joined where visits.ward = clinics.ward, across units:",
        "  rows of visits, at most 3 of each pid",
        "and",
        "  rows of clinics, at most 2 of each pid",
        "  where beds >= 4",
    ]
