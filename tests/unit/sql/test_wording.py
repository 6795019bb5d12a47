"""Plans in words: real units, codes, and nothing that the plan does not do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.sql.algebra import Case, Coalesce, Derive, Filter, IsNull, Join, Nothing, OneOf, Plus, Whole, Within
from discreet.sql.reader.questions import read_statement
from discreet.sql.wording import word_number, word_relation, word_statement
from tests.algebra.columns import at, called, field, scan
from tests.unit.sql.catalogue import shelf

CARDS = shelf().cards
SURVEY, VISITS = scan(CARDS["survey"]), scan(CARDS["visits"], prefix="visits ")


def words(sql: str) -> tuple[str, ...]:
    statement, cards = read_statement(sql, shelf())
    return word_statement(statement, cards)


def where(sql: str) -> str:
    return next(line for line in words(f"SELECT COUNT(*) FROM survey WHERE {sql}") if line.startswith("where "))[6:]


def test_a_whole_statement() -> None:
    lines = words("SELECT region, smokes, COUNT(*) FROM survey WHERE age >= 2 GROUP BY region, smokes")
    assert lines == (
        "rows of survey, at most 1 of each pid",
        "where age >= 2",
        "group by region (5 values, NULL last), smokes (4 values, NULL last): 20 cells",
        "measure COUNT(*)",
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("smokes = 1", "smokes = '1'"),
        ("region IN ('ON', '10')", "region IN ('10', 'ON')"),
        ("height > 1.5", "height >= 1.501"),
        ("height BETWEEN 1.5 AND 1.75", "height >= 1.5 AND height <= 1.75"),
        ("height IS NOT NULL", "height IS NOT NULL"),
        ("diagnosis = 'it''s'", "diagnosis = 'it''s'"),
        ("3 * height >= 4.5", "height >= 1.5"),
        ("height + weight < 50", "(height + weight) <= 49.999"),
        ("height - weight >= 0", "(height - weight) >= 0"),
        ("ABS(age - 2) <= 1", "ABS(age - 2) <= 1"),
        ("age > 1 OR age < 1 AND smokes = 2", "age >= 2 OR (age <= 0 AND smokes = '2')"),
    ],
)
def test_conditions_are_in_real_units(written: str, said: str) -> None:
    assert where(written) == said


def test_a_constant_takes_the_step_of_what_it_is_added_to() -> None:
    plus = Plus((field("height"), Whole(500)))
    lines = list(word_relation(Filter(SURVEY, Within(plus, None, 2000)), CARDS, called()))
    assert lines[-1] == "where (height + 0.5) <= 2"


def test_case_and_coalesce() -> None:
    value = Case(((OneOf(field("smokes"), (0,)), field("height")),), Coalesce((field("height"), Whole(1000))))
    lines = list(word_relation(Filter(SURVEY, IsNull(value)), CARDS, called()))
    assert lines[-1] == "where CASE WHEN smokes = '1' THEN height ELSE COALESCE(height, 1) END IS NULL"
    nothing = list(word_relation(Filter(SURVEY, IsNull(Nothing())), CARDS, called()))
    assert nothing[-1] == "where NULL IS NULL"


def test_joins_and_tables_per_unit() -> None:
    lines = words(
        "SELECT COUNT(*) FROM survey s JOIN (SELECT pid, SUM(cost) AS total FROM visits GROUP BY pid) v "
        "ON s.pid = v.pid WHERE v.total > 100"
    )
    assert lines == (
        "joined on the unit:",
        "  rows of survey, at most 1 of each pid",
        "and",
        "  rows of visits, at most 3 of each pid",
        "  one row per unit: SUM(cost) AS u1",
        "  with u1 AS total",
        "where total >= 100.01",
        "measure COUNT(*)",
    )


def test_columns_of_one_name_are_written_with_their_datasets() -> None:
    lines = words(
        "SELECT COUNT(*) FROM survey s JOIN visits v USING (pid) WHERE s.region = 10 AND v.region = 11 AND s.age > 1"
    )
    assert lines[-2] == "where survey.region = '10' AND visits.region = '11' AND age >= 2"


def test_a_column_without_a_name_has_its_number() -> None:
    made = Derive(SURVEY, ((at("unnamed"), field("age")),))
    assert list(word_relation(made, CARDS, {}))[-1] == f"with age AS column {at('unnamed')}"


def test_columns_that_are_passed_on_are_not_told() -> None:
    passed = Derive(SURVEY, ((at("age"), field("age")), (at("height"), field("height"))))
    assert list(word_relation(passed, CARDS, called())) == ["rows of survey, at most 1 of each pid"]
    beside = Derive(SURVEY, ((at("age"), field("age")), (at("twice"), Plus((field("age"), field("age"))))))
    assert list(word_relation(beside, CARDS, called()))[-1] == "with age + age AS twice"


def test_a_public_table() -> None:
    lines = words("SELECT zone, COUNT(*) FROM survey JOIN zones ON region = code GROUP BY zone")
    assert lines[1] == "joined with a public table of 2 keys by region, giving zones.zone"


def test_long_lists_are_cut_and_the_two_sides_of_a_join_are_indented() -> None:
    many = OneOf(field("visits day"), tuple(range(1, 31)))
    lines = list(word_relation(Join(SURVEY, Filter(VISITS, many)), CARDS, called()))
    assert lines[1] == "  rows of survey, at most 1 of each pid"
    assert lines[-1].endswith("… 18 more)")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (Fraction(1234567), "1,234,567"),
        (Fraction(-5, 4), "-1.25"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-1, 10**9), "-0.000000001"),
    ],
)
def test_numbers(number: Fraction, said: str) -> None:
    assert word_number(number) == said
