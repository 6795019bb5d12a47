"""Which keys are listed: conditions on the key itself and complete columns take cells away, and nothing else does."""

from __future__ import annotations

import pytest

from discreet.errors import QueryRefused
from discreet.sql.algebra import Filter, IsNull, Marginal, Not, Rows
from discreet.sql.sensitivity import sensitivities
from discreet.sql.serialisation import plan_hash
from tests.unit.sql.catalogue import SURVEY, VISITS, columns, read, shelf

COMPLETE = (
    SURVEY.replace("010: Odd}}", "010: Odd}, complete: true}")
    .replace("9: unknown}}", "9: unknown}, complete: true}")
    .replace("bounds: [0, 4]", "bounds: [0, 4], complete: true")
    .replace("step: 0.001", "step: 0.001, complete: true")
    .replace("diagnosis: {kind: text", "diagnosis: {kind: text, complete: true")
)
BANDS = "CASE WHEN height < 1.5 THEN 'short' WHEN height < 1.8 THEN 'middle' WHEN height IS NOT NULL THEN 'tall' END"


def cells(sql: str, *texts: str) -> tuple[int | None, ...]:
    """The listed cells of the first key."""
    (key, *_) = read(sql, *texts).plan.keys
    assert key.cells is not None
    return key.cells


def by_smokes(condition: str) -> tuple[int | None, ...]:
    return cells(f"SELECT smokes, COUNT(*) FROM survey WHERE {condition} GROUP BY smokes")


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("smokes = 1", (0,)),
        ("'1' = smokes", (0,)),
        ("smokes IN (1, 9)", (0, 2)),
        ("smokes <> 1", (1, 2)),
        ("smokes NOT IN (1, 2)", (2,)),
        ("NOT smokes IN (1, 2)", (2,)),
        ("smokes < 9", (0, 1)),
        ("9 > smokes", (0, 1)),
        ("smokes >= 2", (1, 2)),
        ("smokes BETWEEN 2 AND 9", (1, 2)),
        ("NOT smokes BETWEEN 2 AND 9", (0,)),
        ("smokes IS NULL", (None,)),
        ("smokes IS NOT NULL", (0, 1, 2)),
        ("NOT smokes IS NULL", (0, 1, 2)),
        ("smokes <> 1 AND age > 2 AND smokes < 9", (1,)),
        ("(age > 2 AND (smokes <> 1 AND smokes <> 9))", (1,)),
        ("smokes = 1 OR smokes = 9", (0, 2)),
        ("NOT (smokes = 1 OR smokes = 9)", (1,)),
        ("smokes <> 1 OR smokes IS NULL", (1, 2, None)),
        ("smokes = 1 OR age = 2", (0, 1, 2, None)),
        ("NOT (smokes = 1 AND age = 2)", (0, 1, 2, None)),
        ("age = 2", (0, 1, 2, None)),
        ("diagnosis IS NULL", (0, 1, 2, None)),
        ("diagnosis IS NULL OR smokes = 1", (0, 1, 2, None)),
        ("CASE WHEN smokes = 1 THEN 1 ELSE 0 END = 1", (0, 1, 2, None)),
    ],
)
def test_conditions_on_the_key_itself(condition: str, left: tuple[int | None, ...]) -> None:
    assert by_smokes(condition) == left


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT age, COUNT(*) FROM survey WHERE age BETWEEN 1 AND 2 GROUP BY age", (1, 2)),
        ("SELECT age, COUNT(*) FROM survey WHERE age > 2.5 GROUP BY age", (3, 4)),
        ("SELECT age, COUNT(*) FROM survey WHERE 2 * age - 1 >= 5 GROUP BY age", (3, 4)),
        ("SELECT age, COUNT(*) FROM survey WHERE ABS(age - 2) = 1 GROUP BY age", (1, 3)),
        ("SELECT age, COUNT(*) FROM survey WHERE COALESCE(age, 3) = 3 GROUP BY age", (3, None)),
        ("SELECT age + 1 AS a, COUNT(*) FROM survey WHERE age + 1 <> 3 GROUP BY a", (1, 2, 4, 5)),
        ("SELECT x, COUNT(*) FROM (SELECT age AS x FROM survey WHERE age < 2) t WHERE x <> 0 GROUP BY x", (1,)),
        ("WITH t AS (SELECT pid, smokes AS s FROM survey) SELECT s, COUNT(*) FROM t WHERE s = 2 GROUP BY s", (1,)),
        (
            "SELECT s.smokes, COUNT(*) FROM survey s JOIN visits v ON s.pid = v.pid WHERE s.smokes = 2 AND v.day > 3 "
            "GROUP BY s.smokes",
            (1,),
        ),
        (
            "SELECT t.r, COUNT(*) FROM (SELECT pid, region AS r FROM visits WHERE region <> 10 GROUP BY pid, region) t "
            "GROUP BY t.r",
            (1,),
        ),
        (
            "SELECT region, COUNT(*) FROM survey s JOIN zones z ON s.region = z.code WHERE region <> 10 GROUP BY 1",
            (1, 2, 3),
        ),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey GROUP BY b", (0, 1, 2, None)),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey WHERE height >= 1.6 GROUP BY b", (1, 2)),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey WHERE height < 1.8 GROUP BY b", (0, 1)),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey WHERE {BANDS} <> 'tall' GROUP BY b", (0, 1)),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey WHERE height IS NULL GROUP BY b", (0, 1, 2, None)),
    ],
)
def test_the_same_column_by_another_road(sql: str, left: tuple[int | None, ...]) -> None:
    assert cells(sql) == left


def test_long_keys_lose_cells_too() -> None:
    card = SURVEY.replace("free: {kind: integer}", "free: {kind: integer, bounds: [1, 900000], complete: true}")
    asked = "SELECT free, COUNT(*) FROM survey {} GROUP BY free"
    assert cells(asked.format(""), card) == tuple(range(1, 900_001))
    assert cells(asked.format("WHERE free NOT IN (1, 3) AND free < 6"), card) == (2, 4, 5)


def test_a_plan_is_known_by_the_whole_domain() -> None:
    """Hashes of questions whose answers were stored before stay what they were."""
    listed = read("SELECT smokes, COUNT(*) FROM survey WHERE smokes <> 1 GROUP BY smokes")
    assert listed.plan.keys[0].domain == (0, 1, 2, None)
    assert plan_hash(listed.plan) == plan_hash(listed.plan.widened) == listed.hash == listed.widened.hash
    assert listed.plan.cell_count == 2


@pytest.mark.parametrize("condition", ["smokes = 1 AND smokes = 2", "smokes IS NULL AND smokes > 1", "smokes < 1"])
def test_a_question_without_any_key_is_refused(condition: str) -> None:
    with pytest.raises(QueryRefused, match=r"leave no value of 'smokes'.*Change WHERE"):
        by_smokes(condition)


def test_having_takes_nothing_away() -> None:
    assert cells("SELECT smokes, COUNT(*) FROM survey GROUP BY smokes HAVING smokes = 1") == (0, 1, 2, None)


# --- complete columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT smokes, COUNT(*) FROM survey GROUP BY smokes", (0, 1, 2)),
        ("SELECT age, COUNT(*) FROM survey GROUP BY age", (0, 1, 2, 3, 4)),
        ("SELECT age * 2 AS d, COUNT(*) FROM survey GROUP BY d", (0, 1, 2, 3, 4)),
        ("SELECT age + 1 AS d, COUNT(*) FROM survey GROUP BY d", (1, 2, 3, 4, 5)),
        ("SELECT s, COUNT(*) FROM (SELECT smokes AS s FROM survey) t GROUP BY s", (0, 1, 2)),
        ("WITH t AS (SELECT pid, smokes AS s FROM survey) SELECT s, COUNT(*) FROM t GROUP BY s", (0, 1, 2)),
        ("SELECT s.smokes, COUNT(*) FROM survey s JOIN visits v ON s.pid = v.pid GROUP BY 1", (0, 1, 2)),
        ("SELECT smokes, COUNT(*) FROM survey JOIN zones ON survey.region = zones.code GROUP BY smokes", (0, 1, 2)),
        (f"SELECT {BANDS} AS b, COUNT(*) FROM survey GROUP BY b", (0, 1, 2)),
    ],
)
def test_a_complete_column_has_no_null_key(sql: str, left: tuple[int | None, ...]) -> None:
    statement = read(sql, COMPLETE, VISITS)
    assert statement.plan.keys[0].cells == left
    source = statement.plan.source
    assert isinstance(source, Filter)
    assert source.by_card
    assert source.where == Not(IsNull(statement.plan.keys[0].field))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CASE WHEN smokes = 1 THEN 'a' WHEN smokes = 2 THEN 'b' END AS k, COUNT(*) FROM survey GROUP BY k",
        "SELECT CASE WHEN smokes = 1 THEN age END AS k, COUNT(*) FROM survey GROUP BY k",
        "SELECT age + CLAMP(day, 1, 9) AS k, COUNT(*) FROM survey JOIN visits USING (pid) GROUP BY k",
        "SELECT CLAMP(free, 0, 2) AS k, COUNT(*) FROM survey GROUP BY k",
        "SELECT CLAMP(people, 3, 9) AS k, COUNT(*) FROM survey JOIN zones ON survey.region = zones.code GROUP BY k",
        "SELECT v.region AS k, COUNT(*) FROM survey s JOIN visits v ON s.pid = v.pid GROUP BY k",
        "SELECT k, COUNT(*) FROM (SELECT CASE WHEN age > 1 THEN age END AS k FROM survey) t GROUP BY k",
        "SELECT k, COUNT(*) FROM (SELECT pid, MAX(CASE WHEN age > 1 THEN age END) AS k FROM survey GROUP BY pid) t "
        "GROUP BY k",
    ],
)
def test_null_comes_back_where_it_can_occur(sql: str) -> None:
    assert cells(sql, COMPLETE, VISITS)[-1] is None


def test_a_case_with_else_takes_rows_without_a_value_as_sql_does() -> None:
    sql = "SELECT CASE WHEN age > 1 THEN 'a' ELSE 'b' END AS k, COUNT(*) FROM survey GROUP BY k"
    assert cells(sql, COMPLETE) == (0, 1)
    assert not any(isinstance(node, Filter) for node in [read(sql, COMPLETE).plan.source])


def test_only_keys_are_taken_at_their_word() -> None:
    statement = read("SELECT COUNT(*), SUM(age), AVG(height) FROM survey WHERE smokes = 1", COMPLETE)
    plain = read("SELECT COUNT(*), SUM(age), AVG(height) FROM survey WHERE smokes = 1")
    assert statement.plan == plain.plan


def test_open_keys_of_a_complete_text_have_no_null() -> None:
    statement = read("SELECT diagnosis, COUNT(*) FROM survey GROUP BY diagnosis", COMPLETE)
    field = columns(statement, "survey")["diagnosis"]
    assert statement.plan.source == Filter(statement.plan.source.source, Not(IsNull(field)), by_card=True)  # type: ignore[union-attr]


REPLACING = [text.replace("add-remove", "replace-one\nsize: public\nexact_public: true") for text in (SURVEY, COMPLETE)]


@pytest.mark.parametrize("texts", [(SURVEY, COMPLETE), tuple(REPLACING)], ids=["add-remove", "replace-one"])
@pytest.mark.parametrize("key", ["smokes", "region", "age", "age * 2"])
@pytest.mark.parametrize("asked", ["COUNT(*)", "COUNT(smokes)", "COUNT(region)", "SUM(age)", "SUM(weight)", "AVG(age)"])
def test_no_sensitivity_falls_by_it(asked: str, key: str, texts: tuple[str, str]) -> None:
    """The complete column is never `presence: public`, and a sum of it may lack a row as before."""
    found = []
    for text in texts:
        statement = read(f"SELECT {key} AS k, {asked} FROM survey GROUP BY k", text)
        cards = {"survey": shelf(text).cards["survey"]}
        found.append([sensitivities(statement.plan, one, cards).largest.l1 for one in statement.plan.measures])
    assert all(after >= before for before, after in zip(*found, strict=True))


def test_a_margin_of_public_keys_is_not_steady_where_a_confidential_one_is_complete() -> None:
    """Whether a unit is in any cell is confidential then, so the number of units in a region is."""
    text = REPLACING[1]
    statement = read("SELECT region, smokes, COUNT(*) FROM survey GROUP BY region, smokes", text)
    cards = {"survey": shelf(text).cards["survey"]}
    assert sensitivities(statement.plan, Marginal(Rows(None), (0,)), cards).largest.l1 == 1
    assert sensitivities(statement.plan, Marginal(Rows(None), ()), cards).largest.l1 == 1


@pytest.mark.parametrize(
    ("sql", "known"),
    [
        (
            "SELECT smokes, COUNT(*) FROM survey WHERE smokes <> 1 GROUP BY smokes",
            "9605ceb7c1b81810208121615386a96a93f13a811fc617b32132ecccc0bf71ab",
        ),
        (
            "SELECT region, age, SUM(weight) FROM survey WHERE region IN (10, 11) AND age BETWEEN 1 AND 2 "
            "GROUP BY region, age",
            "08babbbc028be51d0c88b3c7bb24e628df99b66cf95cb4cef8634e393c0199b4",
        ),
        (
            "SELECT v.region, COUNT(DISTINCT v.pid) FROM visits v WHERE v.region IS NOT NULL GROUP BY v.region",
            "c038647b2acce974f36f81ee6f6118e5df43e3242a6167b27b462d389fc21d6a",
        ),
    ],
)
def test_hashes_are_those_of_main_a14e1e5(sql: str, known: str) -> None:
    assert read(sql).hash == known
