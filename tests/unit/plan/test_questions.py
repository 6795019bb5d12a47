"""SQL text to plan: what is answered, and what is refused from text and card alone."""

from __future__ import annotations

import pytest

from discreet.data.card import Card, parse_card
from discreet.errors import QueryRefused, UnknownName
from discreet.plan import CountPlan, plan_question
from discreet.plan.nodes import And, IsNull, Not, OneOf, Or, TextIn, Within

CARD = """
dataset: survey
population: people
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 3}
columns:
  pid: {kind: id, type: integer}
  region: {kind: category, categories: {10: East, 11: West, ON: Ontario, 010: Odd}}
  smokes: {kind: category, categories: {1: yes, 2: no, 9: unknown}}
  age: {kind: integer, bounds: [0, 4]}
  height: {kind: number, bounds: [1.2, 2.1], step: 0.001}
  diagnosis: {kind: text}
"""


@pytest.fixture(scope="module")
def card() -> Card:
    return parse_card(CARD, file="survey.yaml")


def plan(card: Card, sql: str) -> CountPlan:
    def find(name: str) -> Card:
        if name != "survey":
            raise UnknownName(sort="dataset", name=name, where="this workspace", known=["survey"])
        return card

    return plan_question(sql, find)


def where(card: Card, condition: str) -> object:
    return plan(card, f"SELECT COUNT(*) FROM survey WHERE {condition}").where


def test_plain_count(card: Card) -> None:
    found = plan(card, "select count(*) from survey")
    assert (found.dataset, found.rows_per_unit, found.keys, found.where) == ("survey", 3, (), None)
    assert found.outputs == ((None, "count"),)
    assert found.cell_count == 1


def test_keys_give_the_whole_domain_and_null_last(card: Card) -> None:
    found = plan(card, "SELECT smokes AS s, COUNT(*) AS n, age FROM survey t GROUP BY t.smokes, age")
    assert [key.column for key in found.keys] == ["smokes", "age"]
    assert found.keys[0].cells == (0, 1, 2, None)
    assert found.keys[1].cells == (0, 1, 2, 3, 4, None)
    assert found.outputs == (("smokes", "s"), (None, "n"), ("age", "age"))
    assert found.cell_count == 24


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("smokes = 1", OneOf("smokes", (0,))),
        ("smokes = '1'", OneOf("smokes", (0,))),
        ("1 = smokes", OneOf("smokes", (0,))),
        ("smokes <> 1", Not(OneOf("smokes", (0,)))),
        ("smokes != 1", Not(OneOf("smokes", (0,)))),
        ("smokes >= 2", OneOf("smokes", (1, 2))),
        ("2 > smokes", OneOf("smokes", (0,))),
        ("smokes BETWEEN 1 AND 2", And((OneOf("smokes", (0, 1, 2)), OneOf("smokes", (0, 1))))),
        ("region = 'ON'", OneOf("region", (2,))),
        ("region = 10", OneOf("region", (0,))),
        ("region = '010'", OneOf("region", (3,))),
        ("region IN (10, 'ON')", OneOf("region", (0, 2))),
        ("age = 3", OneOf("age", (3,))),
        ("age = 2.5", OneOf("age", ())),
        ("age < 2.5", Within("age", None, 2)),
        ("age < 2", Within("age", None, 1)),
        ("age > -1", Within("age", 0, None)),
        ("height >= 1.7005", Within("height", 1701, None)),
        ("height > 1.7", Within("height", 1701, None)),
        ("height <= 1.7e0", Within("height", None, 1700)),
        ("diagnosis = ' flu '", TextIn("diagnosis", ("flu",))),
        ("diagnosis IS NOT NULL", Not(IsNull("diagnosis"))),
        ("diagnosis IS NULL", IsNull("diagnosis")),
        ("diagnosis NOTNULL", Not(IsNull("diagnosis"))),
        ("age NOT IN (1, 2)", Not(OneOf("age", (1, 2)))),
        ("age IS NULL OR NOT (age = 1 AND smokes = 1)", None),
    ],
)
def test_conditions(card: Card, condition: str, expected: object) -> None:
    found = where(card, condition)
    if expected is None:
        expected = Or((IsNull("age"), Not(And((OneOf("age", (1,)), OneOf("smokes", (0,)))))))
    assert found == expected


def test_two_wordings_have_one_hash(card: Card) -> None:
    first = plan(card, "SELECT smokes, COUNT(*) n FROM survey WHERE region = 10 GROUP BY smokes")
    second = plan(card, "select count(*), SMOKES from survey where 10.0 = region group by smokes -- same")
    third = plan(card, "SELECT smokes, COUNT(*) n FROM survey WHERE region = 11 GROUP BY smokes")
    assert first.hash == second.hash != third.hash


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM survey",
        "SELECT age FROM survey",
        "SELECT age, COUNT(*) FROM survey",
        "SELECT COUNT(*), COUNT(*) AS b FROM survey",
        "SELECT COUNT(age) FROM survey",
        "SELECT COUNT(DISTINCT age) FROM survey",
        "SELECT COUNT(*) FILTER (WHERE age = 1) FROM survey",
        "SELECT COUNT(*) OVER () FROM survey",
        "SELECT COUNT(*) + 1 FROM survey",
        "SELECT DISTINCT COUNT(*) FROM survey",
        "SELECT COUNT(*) FROM survey LIMIT 1",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY smokes HAVING COUNT(*) > 2",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY smokes ORDER BY 2",
        "SELECT COUNT(*) FROM survey TABLESAMPLE SYSTEM (10)",
        "SELECT COUNT(*) FROM survey, survey s2",
        "SELECT COUNT(*) FROM survey JOIN survey s2 ON survey.pid = s2.pid",
        "SELECT COUNT(*) FROM (SELECT * FROM survey) t",
        "SELECT COUNT(*) FROM read_parquet('x.parquet')",
        "SELECT COUNT(*) FROM main.survey",
        "WITH t AS (SELECT 1) SELECT COUNT(*) FROM survey",
        "SELECT COUNT(*) FROM survey; DROP TABLE survey",
        "DELETE FROM survey",
        "SELECT COUNT(*) FROM survey WHERE pid = 7",
        "SELECT pid, COUNT(*) FROM survey GROUP BY pid",
        "SELECT diagnosis, COUNT(*) FROM survey GROUP BY diagnosis",
        "SELECT height, COUNT(*) FROM survey GROUP BY height",
        "SELECT COUNT(*) FROM survey GROUP BY 1",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY ALL",
        "SELECT COUNT(*) FROM survey GROUP BY ROLLUP (smokes)",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY smokes, smokes",
        "SELECT smokes AS x, COUNT(*) AS x FROM survey GROUP BY smokes",
        "SELECT COUNT(*) FROM survey WHERE age",
        "SELECT COUNT(*) FROM survey WHERE age + 1 = 2",
        "SELECT COUNT(*) FROM survey WHERE age = height",
        "SELECT COUNT(*) FROM survey WHERE age = 'old'",
        "SELECT COUNT(*) FROM survey WHERE region > 10",
        "SELECT COUNT(*) FROM survey WHERE diagnosis LIKE 'f%'",
        "SELECT COUNT(*) FROM survey WHERE diagnosis > 'f'",
        "SELECT COUNT(*) FROM survey WHERE age IN (SELECT 1)",
        "SELECT COUNT(*) FROM survey WHERE CAST(age AS text) = '1'",
        "SELECT COUNT(*) FROM survey WHERE age = 1 / 0",
        "SELECT COUNT(*) FROM survey WHERE age IS TRUE",
        "SELECT COUNT(*) FROM survey WHERE age IS DISTINCT FROM 1",
        "SELECT COUNT(*) FROM survey WHERE age BETWEEN SYMMETRIC 3 AND 1",
        "SELECT COUNT(*) FROM survey WHERE age = NULL",
        "SELECT COUNT(*) FROM survey WHERE EXISTS (SELECT 1)",
        "SELECT COUNT(*) FROM",
        "",
        "hello",
        "SELECT COUNT(*) FROM survey WHERE " + "(" * 3000 + "age = 1" + ")" * 3000,
        "SELECT COUNT(*) FROM survey WHERE " + "NOT " * 2400 + "age = 1",
        "SELECT COUNT(*) FROM survey WHERE " + "x" * 100_000,
    ],
)
def test_refused(card: Card, sql: str) -> None:
    with pytest.raises(QueryRefused):
        plan(card, sql)


@pytest.mark.parametrize(
    ("sql", "guess"),
    [
        ("SELECT COUNT(*) FROM surveys", "survey"),
        ("SELECT COUNT(*) FROM survey WHERE smoke = 1", "smokes"),
        ("SELECT COUNT(*) FROM survey WHERE hеight > 1", "height"),  # a Cyrillic letter
        ("SELECT COUNT(*) FROM survey WHERE region = 'ONT'", "ON"),
    ],
)
def test_unknown_names_are_guessed_from_public_names(card: Card, sql: str, guess: str) -> None:
    with pytest.raises(UnknownName) as caught:
        plan(card, sql)
    assert caught.value.fields["nearest"] == guess


def test_too_many_cells(card: Card) -> None:
    wide = CARD.replace("bounds: [0, 4]", "bounds: [0, 300000]")
    with pytest.raises(QueryRefused, match="cells"):
        plan(parse_card(wide, file="x"), "SELECT COUNT(*) FROM survey GROUP BY age, smokes")
