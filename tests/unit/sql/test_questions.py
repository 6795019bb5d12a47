"""SQL text to plan: what is answered, and what is refused from text and cards alone."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.cards.card import ColumnKind
from discreet.errors import QueryRefused, UnknownName
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Derive,
    Extreme,
    Field,
    Filter,
    IsNull,
    Join,
    Least,
    Lookup,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plus,
    Quantile,
    Rows,
    Scan,
    Tally,
    TextIn,
    Times,
    Total,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    scans,
    walk,
)
from discreet.sql.outputs import (
    All,
    Arithmetic,
    Comparison,
    Constant,
    KeyAmong,
    KeyShown,
    Mean,
    Negation,
    Noted,
    Order,
    Spread,
)
from discreet.sql.reader.questions import read_statement
from discreet.sql.serialisation import plan_hash
from discreet.workspace.public_tables import PublicColumn, PublicTable
from tests.unit.sql.catalogue import OTHERS, SURVEY, VISITS, called, columns, read, shelf

# Columns are numbered as they are read: those of a statement's first dataset have the same identities in every one.
SURVEYED = columns(read("SELECT COUNT(*) FROM survey"), "survey")
AGE, HEIGHT, WEIGHT, FREE = (SURVEYED[name] for name in ("age", "height", "weight", "free"))
SMOKES, REGION, DIAGNOSIS = (SURVEYED[name] for name in ("smokes", "region", "diagnosis"))


def where(condition: str) -> object:
    source = read(f"SELECT COUNT(*) FROM survey WHERE {condition}").plan.source
    assert isinstance(source, Filter)
    return source.where


def summed(expression: str, dataset: str = "survey") -> tuple[Value, Fraction]:
    statement = read(f"SELECT SUM({expression}) AS s FROM {dataset}")
    measure = statement.plan.measures[0]
    assert isinstance(measure, Total)
    return measure.value, statement.measures[0].step


def test_plain_count() -> None:
    statement = read("select count(*) from survey")
    listed = ("region", "smokes", "age", "height", "weight", "diagnosis", "free")
    assert statement.plan.source == Scan("survey", 1, tuple((SURVEYED[name].column, name) for name in listed))
    assert (statement.plan.keys, statement.plan.measures) == ((), (Rows(None),))
    assert [column.name for column in statement.presentation.columns] == ["count"]


def test_keys_give_the_whole_domain_and_null_last() -> None:
    statement = read("SELECT smokes AS s, COUNT(*) AS n, age FROM survey t WHERE age = 2 GROUP BY t.smokes, age")
    assert [key.field for key in statement.plan.keys] == [SMOKES, AGE]
    assert statement.plan.keys[0].cells == (0, 1, 2, None)
    assert (statement.plan.keys[1].cells, statement.plan.keys[1].domain) == ((2,), (0, 1, 2, 3, 4, None))
    assert [(column.name, column.shows) for column in statement.presentation.columns] == [
        ("s", KeyShown(0)),
        ("n", Noted(0, Fraction(1))),
        ("age", KeyShown(1)),
    ]
    assert statement.keys[0].shown(2) == "9"
    assert statement.keys[1].shown(3) == 3


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("smokes = 1", OneOf(SMOKES, (0,))),
        ("smokes = '1'", OneOf(SMOKES, (0,))),
        ("1 = smokes", OneOf(SMOKES, (0,))),
        ("smokes <> 1", Not(OneOf(SMOKES, (0,)))),
        ("smokes >= 2", OneOf(SMOKES, (1, 2))),
        ("2 > smokes", OneOf(SMOKES, (0,))),
        ("smokes BETWEEN 1 AND 2", And((OneOf(SMOKES, (0, 1, 2)), OneOf(SMOKES, (0, 1))))),
        ("region = 'ON'", OneOf(REGION, (2,))),
        ("region = '010'", OneOf(REGION, (3,))),
        ("region IN (10, 'ON')", OneOf(REGION, (0, 2))),
        ("age = 2.5", OneOf(AGE, ())),
        ("age IN (1, 2.5, -0.5)", OneOf(AGE, (1,))),
        ("age < 2.5", Within(AGE, None, 2)),
        ("age < 2", Within(AGE, None, 1)),
        ("height >= 1.7005", Within(HEIGHT, 1701, None)),
        ("height <= 1.7e0", Within(HEIGHT, None, 1700)),
        ("diagnosis = ' flu '", TextIn(DIAGNOSIS, ("flu",))),
        ("diagnosis <> 'flu'", Not(TextIn(DIAGNOSIS, ("flu",)))),
        ("diagnosis IS NOT NULL", Not(IsNull(DIAGNOSIS))),
        ("diagnosis NOTNULL", Not(IsNull(DIAGNOSIS))),
        ("age NOT IN (1, 2)", Not(OneOf(AGE, (1, 2)))),
        ("age IS NULL OR NOT (age = 1 AND age = 2)", Or((IsNull(AGE), Not(And((OneOf(AGE, (1,)), OneOf(AGE, (2,)))))))),
        ("age + 1 = 2", OneOf(Plus((AGE, Whole(1))), (2,))),
        ("age * 2 < 3", Within(AGE, None, 1)),
        ("age = height", OneOf(Plus((Times(Whole(1000), AGE), Times(Whole(-1), HEIGHT))), (0,))),
        ("age > free", Within(Plus((AGE, Times(Whole(-1), FREE))), 1, None)),
        ("1 = 1", OneOf(Whole(1), (1,))),
        ("age = 1 AND (age = 2 AND age = 3)", And((OneOf(AGE, (1,)), OneOf(AGE, (2,)), OneOf(AGE, (3,))))),
    ],
)  # fmt: skip
def test_conditions(condition: str, expected: object) -> None:
    assert where(condition) == expected


@pytest.mark.parametrize(
    ("expression", "value", "step"),
    [
        ("height", HEIGHT, Fraction(1, 1000)),
        ("height * 2.5", HEIGHT, Fraction(1, 400)),
        ("height / 3", HEIGHT, Fraction(1, 3000)),
        ("-height", Times(Whole(-1), HEIGHT), Fraction(1, 1000)),
        ("height + age", Plus((HEIGHT, Times(Whole(1000), AGE))), Fraction(1, 1000)),
        ("height - 1.5 + 0.5", Plus((HEIGHT, Whole(-1000))), Fraction(1, 1000)),
        ("age + 0.25", Plus((Times(Whole(4), AGE), Whole(1))), Fraction(1, 4)),
        ("2 * (age + 1)", Plus((AGE, Whole(1))), Fraction(2)),
        ("weight * height", Times(WEIGHT, HEIGHT), Fraction(1, 100_000)),
        ("ABS(age - 2)", Absolute(Plus((AGE, Whole(-2)))), Fraction(1)),
        ("CLAMP(height, 1.5, 2)", Clamp(HEIGHT, 1500, 2000), Fraction(1, 1000)),
        ("LEAST(age, height)", Least((Times(Whole(1000), AGE), HEIGHT)), Fraction(1, 1000)),
        ("COALESCE(age, 0)", Coalesce((AGE, Whole(0))), Fraction(1)),
        ("0 * age", Times(Whole(0), AGE), Fraction(1)),
        ("height * (1 - 1)", Times(Whole(0), HEIGHT), Fraction(1)),
        ("CASE WHEN smokes = 1 THEN age END", Case(((OneOf(SMOKES, (0,)), AGE),), Nothing()), Fraction(1)),
        ("CASE smokes WHEN 1 THEN 0.5 ELSE 2 END", Case(((OneOf(SMOKES, (0,)), Whole(1)),), Whole(4)), Fraction(1, 2)),
    ],
)
def test_expressions_become_whole_numbers_with_a_step(expression: str, value: Value, step: Fraction) -> None:
    assert summed(expression) == (value, step)


def test_a_mean_is_measured_around_the_middle() -> None:
    statement = read("SELECT AVG(height), COUNT(height) FROM survey")
    assert statement.plan.measures == (Total(Plus((HEIGHT, Whole(-1650)))), Rows(HEIGHT))
    mean, count = (column.shows for column in statement.presentation.columns)
    assert count == Noted(1, Fraction(1))
    assert isinstance(mean, Mean)
    assert (mean.total, mean.size, mean.centre, mean.low, mean.high) == (
        0,
        1,
        Fraction(33, 20),
        Fraction(6, 5),
        Fraction(21, 10),
    )


def test_a_weighted_mean_weighs_rows_that_have_the_value() -> None:
    statement = read("SELECT WAVG(height) FROM survey")
    centred = Times(WEIGHT, Plus((HEIGHT, Whole(-1650))))
    present = Case(((Not(IsNull(HEIGHT)), WEIGHT),), Nothing())
    assert statement.plan.measures == (Total(centred), Total(present))
    assert [face.step for face in statement.measures] == [Fraction(1, 100_000), Fraction(1, 100)]


def test_spreads_and_ranks() -> None:
    statement = read("SELECT VAR(age), STDDEV(age), MEDIAN(age), QUANTILE(age, 0.9), MIN(age), MAX(age) FROM survey")
    centred = Plus((AGE, Whole(-2)))
    assert statement.plan.measures == (
        Total(centred),
        Total(Times(centred, centred)),
        Rows(AGE),
        Quantile(AGE, Fraction(1, 2), (0, 4)),
        Quantile(AGE, Fraction(9, 10), (0, 4)),
        Extreme(AGE, largest=False, candidates=(0, 4)),
        Extreme(AGE, largest=True, candidates=(0, 4)),
    )
    variance, deviation = (column.shows for column in statement.presentation.columns[:2])
    assert isinstance(variance, Spread)
    assert isinstance(deviation, Spread)
    assert (variance.root, deviation.root, variance.high) == (False, True, Fraction(8))


def test_counts() -> None:
    assert read("SELECT COUNT(DISTINCT pid) FROM visits").plan.measures == (Units(),)
    assert read("SELECT COUNT(DISTINCT pid) FROM survey").plan.measures == (Rows(None),)
    assert read("SELECT COUNT(pid), COUNT(1) AS b FROM survey").plan.measures == (Rows(None),)
    assert read("SELECT COUNT(diagnosis) FROM survey").plan.measures == (Rows(DIAGNOSIS),)
    assert read("SELECT COUNT(age) FROM survey WHERE age > 1").plan.measures == (Rows(None),)
    assert read("SELECT COUNT(0 * age) FROM survey").plan.measures == (Rows(Times(Whole(0), AGE)),)


def test_names_of_unaliased_outputs() -> None:
    sql = """SELECT COUNT(*), COUNT(age), COUNT(DISTINCT pid), SUM(height), AVG(height), WAVG(height), VAR(height),
             STDDEV(height), MIN(height), MAX(height), MEDIAN(height), QUANTILE(height, 0.5), SUM(age * 2),
             SUM(age + 1), COUNT(*) * 2, region FROM survey GROUP BY region"""
    assert [column.name for column in read(sql).presentation.columns] == [
        "count",
        "count_age",
        "count_units",
        "sum_height",
        "avg_height",
        "wavg_height",
        "var_height",
        "stddev_height",
        "min_height",
        "max_height",
        "median_height",
        "quantile_height",
        "sum",
        "sum_2",
        "column_15",
        "region",
    ]


def test_outer_arithmetic_having_order_and_limit() -> None:
    statement = read(
        "SELECT region, 100 * COUNT(age) / COUNT(*) AS pct FROM survey GROUP BY region "
        "HAVING COUNT(*) > 10 AND pct < 50 ORDER BY pct DESC, region, 2 LIMIT 3 OFFSET 1"
    )
    share = statement.presentation.columns[1].shows
    assert share == Arithmetic(
        "/",
        Arithmetic("*", Constant(Fraction(100)), Noted(0, Fraction(1))),
        Noted(1, Fraction(1)),
    )
    assert isinstance(share, Arithmetic)
    having = statement.presentation.having
    assert having is not None
    assert having.operands == (  # type: ignore[union-attr]
        Comparison(">", Noted(1, Fraction(1)), Constant(Fraction(10))),
        Comparison("<", share, Constant(Fraction(50))),
    )
    order = statement.presentation.order
    assert [one.by for one in order] == [share, KeyShown(0), share]
    assert order[1] == Order(KeyShown(0))
    assert order[0].descending
    assert (statement.presentation.limit, statement.presentation.offset) == (3, 1)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("region <> 10", Negation(KeyAmong(0, (0,)))),
        ("region IS NOT NULL", Negation(KeyAmong(0, (None,)))),
        ("region IN (10, 'ON')", KeyAmong(0, (0, 2))),
        ("age >= 3", KeyAmong(1, (3, 4))),
        ("age BETWEEN 1 AND 2", All((KeyAmong(1, (1, 2, 3, 4)), KeyAmong(1, (0, 1, 2))))),
    ],
)
def test_having_may_choose_listed_keys(condition: str, expected: object) -> None:
    statement = read(f"SELECT region, age, COUNT(*) FROM survey GROUP BY region, age HAVING {condition}")
    assert statement.presentation.having == expected


def test_a_table_per_unit() -> None:
    statement = read(
        "SELECT n, COUNT(*) AS people, AVG(total) FROM "
        "(SELECT pid, COUNT(*) n, SUM(cost) total FROM visits WHERE day < 9 GROUP BY pid HAVING SUM(cost) > 5) t "
        "GROUP BY n"
    )
    source = statement.plan.source
    assert isinstance(source, Derive)
    kept = source.source
    assert isinstance(kept, Filter)
    inner = kept.source
    assert isinstance(inner, PerUnit)
    [counted, summed_] = [column for column, _ in inner.columns]
    cost = columns(statement, "visits")["cost"]
    assert inner.columns == ((counted, Tally(None)), (summed_, UnitTotal(cost)))
    assert kept.where == Within(Field(summed_), 501, None)
    assert called(statement, [key.field for key in statement.plan.keys]) == ["n"]
    assert statement.plan.keys[0].cells == (1, 2, 3)


def test_with_and_join_on_the_unit() -> None:
    statement = read(
        "WITH t AS (SELECT pid, region, SUM(cost) AS total FROM visits GROUP BY pid, region), "
        "u AS (SELECT pid, total FROM t) "
        "SELECT s.region, COUNT(*), SUM(u.total) FROM survey AS s JOIN u ON u.pid = s.pid GROUP BY s.region"
    )
    source = statement.plan.source
    assert isinstance(source, Join)
    assert source.left == read("SELECT COUNT(*) FROM survey").plan.source
    # The ledger keeps the first dataset's version beside the hash; those of the others are part of the plan.
    assert [(scan.dataset, scan.version) for scan in scans(source)] == [("survey", 0), ("visits", 7)]
    assert statement.plan.dataset == "survey"


def test_columns_of_one_name_are_told_apart() -> None:
    statement = read(
        "SELECT v.region AS a, s.region AS b, COUNT(*) FROM survey s JOIN visits v USING (pid) GROUP BY 1, 2"
    )
    assert [key.field for key in statement.plan.keys] == [
        columns(statement, "visits")["region"],
        columns(statement, "survey")["region"],
    ]
    assert len({key.field for key in statement.plan.keys}) == 2
    with pytest.raises(QueryRefused, match="several tables"):
        read("SELECT COUNT(*) FROM survey s JOIN visits v USING (pid) WHERE region = 10")


@pytest.mark.parametrize(
    "tables", ["survey s JOIN zones z ON s.region = z.code", "zones z JOIN survey s ON z.code = s.region"]
)
def test_a_public_table_joins_on_its_key(tables: str) -> None:
    statement = read(f"SELECT z.zone, COUNT(*), SUM(z.people) FROM {tables} GROUP BY z.zone")
    source = statement.plan.source
    assert isinstance(source, Lookup)
    assert source.key == REGION
    assert called(statement, map(Field, source.columns)) == ["z.zone", "z.people"]
    assert source.entries == ((0, 0, 3), (1, 1, None))
    assert statement.plan.keys[0].cells == (0, 1)
    assert statement.keys[0].codes == ("coast", "inland")
    only_zone = read(f"SELECT COUNT(*) FROM {tables}").plan.source
    assert isinstance(only_zone, Lookup)
    assert only_zone.columns == ()


def test_keys_of_a_public_table_that_the_column_cannot_have_join_nothing() -> None:
    bands = PublicTable(
        name="bands",
        version=1,
        key="years",
        columns=(
            PublicColumn("years", ColumnKind.INTEGER, Decimal(1), (), 5, 10),
            PublicColumn("worth", ColumnKind.INTEGER, Decimal(1), (), 1, 3),
        ),
        rows=((5, 1), (7, 2), (10, 3)),
    )
    found = shelf(
        SURVEY.replace("age: {kind: integer, bounds: [0, 4]}", "age: {kind: integer, bounds: [0, 20], step: 5}")
    )
    found.public["bands"] = bands
    statement, _ = read_statement("SELECT SUM(worth) FROM survey JOIN bands ON survey.age = bands.years", found)
    assert isinstance(statement.plan.source, Lookup)
    assert statement.plan.source.entries == ((1, 1), (2, 3))


def test_a_case_of_texts_is_a_key_of_its_own() -> None:
    statement = read(
        "SELECT CASE WHEN age < 2 THEN 'young' WHEN age < 9 THEN 'old' END AS band, SUM(weight) AS w "
        "FROM survey GROUP BY band"
    )
    assert statement.plan.keys[0].cells == (0, 1, None)
    assert statement.keys[0].codes == ("young", "old")
    source = statement.plan.source
    assert isinstance(source, Derive)
    *kept, (made, _) = source.columns
    assert dict(kept) == {one.column: one for one in (AGE, WEIGHT, REGION)}
    assert statement.plan.keys[0].field == Field(made)


def test_computed_numbers_are_keys_where_they_are_bounded() -> None:
    scaled = read("SELECT age * 2 AS d, COUNT(*) FROM survey GROUP BY d")
    assert scaled.plan.keys[0].cells == (0, 1, 2, 3, 4, None)
    assert [scaled.keys[0].shown(cell) for cell in (0, 4)] == [0, 8]
    moved = read("SELECT ABS(age - 3) AS d, COUNT(*) FROM survey WHERE age > 1 GROUP BY 1")
    assert moved.plan.keys[0].cells == (0, 1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age * 2 AS doubled, COUNT(*) FROM survey GROUP BY age",
        "SELECT age, COUNT(*) FROM survey GROUP BY age / 2",
    ],
)
def test_a_multiple_of_a_key_is_not_shown_for_it(sql: str) -> None:
    with pytest.raises(QueryRefused, match="not in GROUP BY"):
        read(sql)


def test_a_multiple_of_a_key_orders_as_it_does() -> None:
    plain = read("SELECT age, COUNT(*) FROM survey GROUP BY age ORDER BY age DESC")
    assert (
        read("SELECT age, COUNT(*) FROM survey GROUP BY age ORDER BY age * 2 DESC").presentation == plain.presentation
    )


def test_a_key_is_found_by_the_name_that_the_answer_gives_it() -> None:
    plain = read("SELECT age - 1 AS younger, COUNT(*) FROM survey GROUP BY younger")
    named = read('SELECT age - 1 AS "d\'été", COUNT(*) FROM survey GROUP BY "d\'e\u0301te\u0301"')
    assert named.plan == plain.plan


def test_open_keys_bring_a_count_of_units() -> None:
    single = read("SELECT diagnosis, COUNT(*) FROM survey GROUP BY diagnosis")
    assert single.plan.open
    assert single.plan.measures == (Units(),)
    assert single.presentation.columns[1].shows == Noted(0, Fraction(1))
    sums = read("SELECT free, SUM(age), COUNT(*) FROM survey GROUP BY free")
    assert sums.plan.measures == (Total(AGE), Units())
    assert [column.shows for column in sums.presentation.columns[1:]] == [Noted(0, Fraction(1)), Noted(1, Fraction(1))]
    several = read("SELECT day, COUNT(*) FROM visits GROUP BY day", VISITS.replace(", bounds: [1, 730]", ""))
    assert several.plan.measures == (Rows(None), Units())
    assert several.presentation.columns[1].shows == Noted(0, Fraction(1))


def test_two_wordings_have_one_hash() -> None:
    first = read("SELECT smokes, COUNT(*) n, SUM(age) FROM survey WHERE region = 10 GROUP BY smokes").plan
    second = read("select sum(AGE), count(*), SMOKES from survey where 10.0 = region group by smokes -- same").plan
    third = read("SELECT smokes, COUNT(*) n, SUM(age) FROM survey WHERE region = 11 GROUP BY smokes").plan
    assert plan_hash(first) == plan_hash(second) != plan_hash(third)


def test_every_column_has_an_identity_of_its_own() -> None:
    statement = read(
        "SELECT t.age AS age, z.zone AS age_2, COUNT(*) FROM "
        "(SELECT pid, region, age + 1 AS age FROM survey) t JOIN visits v USING (pid) "
        "JOIN (SELECT pid, COUNT(*) AS age FROM others GROUP BY pid) u ON u.pid = t.pid "
        "JOIN zones z ON t.region = z.code GROUP BY t.age, z.zone",
        SURVEY,
        VISITS,
        OTHERS.replace("population: strangers", "population: people"),
    )
    made = [column for one in scans(statement.plan.source) for column, _ in one.columns]
    for node in walk(statement.plan.source):
        if isinstance(node, Derive | PerUnit):
            made += [column for column, value in node.columns if value != Field(column)]
        elif isinstance(node, Lookup):
            made += node.columns
    assert len(set(made)) == len(made)
    assert set(made) <= set(statement.names)
    assert called(statement, (key.field for key in statement.plan.keys)) == ["age", "z.zone"]


STRANGE = ("x:1", "key 0", "a b", "t.region", "é", "", "1st", "a-b", "a" * 64, 'a"b', "prepared rows")


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT age AS {} FROM survey) t",
        "SELECT SUM(t.{}) FROM (SELECT age AS {} FROM survey) t",
        "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS {} FROM visits GROUP BY pid) t",
        "SELECT COUNT(*) FROM (SELECT age FROM survey) AS {}",
        "SELECT COUNT(*) FROM survey AS {}",
        "SELECT COUNT(*) FROM survey s JOIN visits AS {} ON s.pid = {}.pid",
        "SELECT COUNT(*) FROM survey s JOIN zones AS {} ON s.region = {}.code",
        "WITH {} AS (SELECT age FROM survey) SELECT COUNT(*) FROM {}",
    ],
)
def test_tables_and_columns_inside_have_ordinary_names(sql: str, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with pytest.raises(QueryRefused):
        read(sql.replace("{}", quoted))
    assert read(sql.replace("{}", '"Plain_1"')).hash == read(sql.replace("{}", "plain_1")).hash


@pytest.mark.parametrize("name", ["x:1", "key 0", "a b", "t.region", "é", "âge moyen", "C1"])
def test_names_of_the_answer_are_free(name: str) -> None:
    statement = read(f'SELECT smokes AS "{name}", COUNT(*) AS "{name} 2" FROM survey GROUP BY smokes')
    assert [column.name for column in statement.presentation.columns] == [name, f"{name} 2"]
    assert statement.hash == read("SELECT smokes, COUNT(*) FROM survey GROUP BY smokes").hash


@pytest.mark.parametrize("sql", ["CREATE FOO BAR", "SELECT 1 FROM a TABLESAMPLE", "PRAGMA x", "ALTER x y z"])
def test_the_parser_says_nothing_of_its_own(
    sql: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A statement half understood may hold anything: it is refused in our words, and nothing else is written."""
    with caplog.at_level("DEBUG"), pytest.raises(QueryRefused):
        read(sql)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


REFUSED = {
    "other statements": ["DELETE FROM survey", "DROP TABLE survey", "CREATE TABLE t AS SELECT 1", "COPY survey TO 'x'"],
    "several": ["SELECT COUNT(*) FROM survey; DROP TABLE survey", "SELECT COUNT(*) FROM survey UNION SELECT 1"],
    "no SQL": ["", "hello", "SELECT COUNT(*) FROM", "SELECT COUNT(*)", "SELECT (((("],
    "single rows": [
        "SELECT * FROM survey",
        "SELECT age FROM survey",
        "SELECT age, COUNT(*) FROM survey",
        "SELECT pid, COUNT(*) FROM survey GROUP BY pid",
        "SELECT smokes FROM survey GROUP BY smokes",
    ],
    "files and catalogues": [
        "SELECT COUNT(*) FROM read_parquet('x.parquet')",
        "SELECT COUNT(*) FROM main.survey",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM zones",
    ],
    "functions": [
        "SELECT SUM(age) OVER () FROM survey",
        "SELECT COUNT(*) FILTER (WHERE age = 1) FROM survey",
        "SELECT ROW_NUMBER() OVER (ORDER BY age) FROM survey",
        "SELECT COUNT(*) FROM survey WHERE random() < 0.5",
        "SELECT SUM(SQRT(age)) FROM survey",
        "SELECT ROUND(SUM(age)) FROM survey",
        "SELECT VAR_POP(age) FROM survey",
        "SELECT STRING_AGG(diagnosis, ',') FROM survey",
        "SELECT APPROX_DISTINCT(age) FROM survey",
        "SELECT SUM(age)::int FROM survey",
        "SELECT COUNT(*) FROM survey WHERE CAST(age AS text) = '1'",
        "SELECT SUM(SUM(age)) FROM survey",
        "SELECT SUM(age % 2) FROM survey",
        "SELECT SUM(age ^ 2) FROM survey",
        "SELECT MAX(age, height) FROM survey",
    ],
    "distinct": [
        "SELECT COUNT(DISTINCT age) FROM survey",
        "SELECT SUM(DISTINCT age) FROM survey",
        "SELECT DISTINCT region, COUNT(*) FROM survey GROUP BY region",
    ],
    "sub-queries": [
        "SELECT COUNT(*) FROM survey WHERE age = (SELECT MAX(day) FROM visits)",
        "SELECT COUNT(*) FROM survey WHERE pid IN (SELECT pid FROM visits)",
        "SELECT COUNT(*) FROM survey WHERE EXISTS (SELECT 1)",
        "SELECT (SELECT COUNT(*) FROM visits) FROM survey",
        "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits) t",
        "SELECT COUNT(*) FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) t",
        "SELECT COUNT(*) FROM (SELECT pid, day, COUNT(*) AS n FROM visits GROUP BY pid, day) t",
        "SELECT COUNT(*) FROM (SELECT pid, AVG(cost) AS n FROM visits GROUP BY pid) t",
        "SELECT COUNT(*) FROM (SELECT pid, cost FROM visits ORDER BY cost LIMIT 5) t",
        "SELECT COUNT(*) FROM (SELECT * FROM survey) t",
        "SELECT COUNT(*) FROM (SELECT age, age FROM survey) t",
        "SELECT COUNT(*) FROM (VALUES (1)) t",
        "WITH RECURSIVE t AS (SELECT pid FROM t) SELECT COUNT(*) FROM t",
        "WITH t AS (SELECT 1) SELECT COUNT(*) FROM t",
    ],
    "joins": [
        "SELECT COUNT(*) FROM survey, visits",
        "SELECT COUNT(*) FROM survey CROSS JOIN visits",
        "SELECT COUNT(*) FROM survey NATURAL JOIN visits",
        "SELECT COUNT(*) FROM survey LEFT JOIN visits ON survey.pid = visits.pid",
        "SELECT COUNT(*) FROM survey FULL JOIN visits ON survey.pid = visits.pid",
        "SELECT COUNT(*) FROM survey a JOIN survey b ON a.pid = b.pid",
        "SELECT COUNT(*) FROM survey JOIN visits ON survey.pid > visits.pid",
        "SELECT COUNT(*) FROM survey JOIN visits ON survey.age = visits.day",
        "SELECT COUNT(*) FROM survey JOIN visits ON survey.pid = visits.other_id",
        "SELECT COUNT(*) FROM survey JOIN visits ON survey.pid = visits.pid OR 1 = 1",
        "SELECT COUNT(*) FROM survey JOIN others ON survey.pid = others.pid",
        "SELECT COUNT(*) FROM survey JOIN zones ON survey.region = zones.zone",
        "SELECT COUNT(*) FROM survey JOIN zones ON survey.diagnosis = zones.code",
    ],
    "the unit's id": [
        "SELECT COUNT(*) FROM survey WHERE pid = 7",
        "SELECT COUNT(*) FROM survey WHERE pid IS NOT NULL",
        "SELECT COUNT(*) FROM survey WHERE pid IN (7)",
        "SELECT COUNT(*) FROM survey WHERE CASE WHEN pid = 7 THEN 1 END = 1",
        "SELECT SUM(pid) FROM survey",
        "SELECT MAX(pid) FROM survey",
        "SELECT COUNT(*) FROM visits WHERE other_id = 'x'",
        "SELECT COUNT(other_id) FROM visits",
        "SELECT COUNT(DISTINCT other_id) FROM visits",
        "SELECT SUM(n) FROM (SELECT pid, COUNT(other_id) AS n FROM visits GROUP BY pid) AS v",
        "SELECT COUNT(*) FROM (SELECT pid AS p FROM survey) t WHERE p = 7",
    ],
    "grouping": [
        "SELECT region, COUNT(*) FROM survey GROUP BY region HAVING age = 1",
        "SELECT region, COUNT(*) FROM survey GROUP BY region HAVING region = 10 OR COUNT(*) > region",
        "SELECT diagnosis, COUNT(*) FROM survey GROUP BY diagnosis HAVING diagnosis = 'flu'",
        "SELECT height, COUNT(*) FROM survey GROUP BY height",
        "SELECT COUNT(*) FROM survey GROUP BY 1",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY ALL",
        "SELECT COUNT(*) FROM survey GROUP BY ROLLUP (smokes)",
        "SELECT smokes, COUNT(*) FROM survey GROUP BY smokes, smokes",
        "SELECT COUNT(*) FROM survey GROUP BY height * 2",
        "SELECT COUNT(*) FROM survey GROUP BY COUNT(*)",
        "SELECT age - 1 AS smokes, COUNT(*) FROM survey GROUP BY smokes",
    ],
    "names": [
        "SELECT smokes AS x, COUNT(*) AS x FROM survey GROUP BY smokes",
        "SELECT COUNT(*) FROM survey WHERE hеight > 1",  # a Cyrillic letter
        "SELECT COUNT(*) AS соunt FROM survey",
        "SELECT COUNT(*) FROM ѕurvey",
    ],
    "conditions": [
        "SELECT COUNT(*) FROM survey WHERE age",
        "SELECT COUNT(*) FROM survey WHERE age = 'old'",
        "SELECT COUNT(*) FROM survey WHERE region > 10",
        "SELECT COUNT(*) FROM survey WHERE diagnosis LIKE 'f%'",
        "SELECT COUNT(*) FROM survey WHERE diagnosis ~ 'f'",
        "SELECT COUNT(*) FROM survey WHERE diagnosis SIMILAR TO 'f'",
        "SELECT COUNT(*) FROM survey WHERE diagnosis > 'f'",
        "SELECT COUNT(*) FROM survey WHERE diagnosis = region",
        "SELECT COUNT(*) FROM survey WHERE age = 1 / 0",
        "SELECT COUNT(*) FROM survey WHERE age IS TRUE",
        "SELECT COUNT(*) FROM survey WHERE age IS DISTINCT FROM 1",
        "SELECT COUNT(*) FROM survey WHERE age BETWEEN SYMMETRIC 3 AND 1",
        "SELECT COUNT(*) FROM survey WHERE age IN (1, NULL)",
        "SELECT COUNT(*) FROM survey WHERE COUNT(*) > 1",
    ],
    "numbers": [
        "SELECT SUM(smokes) FROM survey",
        "SELECT SUM(diagnosis) FROM survey",
        "SELECT SUM(free) FROM survey",
        "SELECT AVG(free) FROM survey",
        "SELECT MEDIAN(free) FROM survey",
        "SELECT SUM(age / height) FROM survey",
        "SELECT SUM(weight * weight * weight * weight * weight) FROM survey",
        "SELECT SUM(CLAMP(age, 3, 1)) FROM survey",
        "SELECT SUM(CLAMP(age, 1)) FROM survey",
        "SELECT QUANTILE(age, 1) FROM survey",
        "SELECT QUANTILE(age, height) FROM survey",
        "SELECT WAVG(cost) FROM visits",
        "SELECT SUM(NULL) FROM survey",
        "SELECT MEDIAN(NULL) FROM survey",
        "SELECT QUANTILE(age + NULL, 0.5) FROM survey",
        "SELECT MAX(CASE WHEN age = 1 THEN NULL END) FROM survey",
        "SELECT MIN(COALESCE(NULL, NULL)) FROM survey",
        "SELECT MAX(free) FROM survey",
        "SELECT SUM(age * 1e40 * 1e40) FROM survey",
        "SELECT AVG(age / 3e40 / 1e40) FROM survey",
        "SELECT SUM(CASE WHEN age = 1 THEN 'a' ELSE 2 END) FROM survey",
    ],
    "division by 0": [
        "SELECT COUNT(*) / 0 FROM survey",
        "SELECT COUNT(*) / -0.0 FROM survey",
        "SELECT COUNT(*) / (1 - 1) FROM survey",
        "SELECT COUNT(*) / (0 * COUNT(*)) FROM survey",
        "SELECT COUNT(*) / (COUNT(*) * 0) FROM survey",
        "SELECT COUNT(*) / -(0 * AVG(age)) FROM survey",
        "SELECT COUNT(*) / (0 / COUNT(*)) FROM survey",
        "SELECT COUNT(*) / ABS(2 - 2) FROM survey",
        "SELECT COUNT(*) / GREATEST(0, -1, 0 * COUNT(*)) FROM survey",
        "SELECT 2 * (1 / 0) + COUNT(*) FROM survey",
        "SELECT COUNT(*) FROM survey HAVING COUNT(*) / 0 > 1",
        "SELECT COUNT(*) FROM survey ORDER BY COUNT(*) / (1 - 1)",
        "SELECT SUM(age / 0) FROM survey",
        "SELECT SUM(age / (1 - 1)) FROM survey",
    ],
    "samples": ["SELECT COUNT(*) FROM survey TABLESAMPLE SYSTEM (10)", "SELECT COUNT(*) FROM survey LIMIT age"],
    "too large": [
        "SELECT COUNT(*) FROM " + "(SELECT age FROM " * 9 + "survey" + ")" * 9,
        "SELECT COUNT(*) FROM survey WHERE " + "(" * 3000 + "age = 1" + ")" * 3000,
        "SELECT COUNT(*) FROM survey WHERE " + "NOT " * 2400 + "age = 1",
        "SELECT COUNT(*) FROM survey WHERE " + "x" * 100_000,
        "SELECT SUM(" + "-" * 1 + " -".join(["1"] * 1200) + ") FROM survey",
        "SELECT SUM(" + "ABS(" * 49 + "age" + ")" * 49 + " + " + "- " * 900 + "age) FROM survey",
        "SELECT COUNT(*) FROM survey WHERE " + " AND ".join(["age = 1"] * 1000),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "sql", [pytest.param(sql, id=f"{why} {n}") for why, all_ in REFUSED.items() for n, sql in enumerate(all_)]
)
def test_refused(sql: str) -> None:
    with pytest.raises(QueryRefused):
        read(sql)


@pytest.mark.parametrize(
    ("sql", "guess"),
    [
        ("SELECT COUNT(*) FROM surveys", "survey"),
        ("SELECT COUNT(*) FROM survey WHERE smoke = 1", "smokes"),
        ("SELECT COUNT(*) FROM survey su WHERE sur.age = 1", "su"),
        ("SELECT COUNT(*) FROM 'surveys'", "survey"),
        ("SELECT COUNT(*) FROM survey JOIN zones USING (cod)", None),
        ("SELECT COUNT(*) FROM survey WHERE region = 'ONT'", "ON"),
        ("SELECT COUNT(*) FROM survey JOIN zones ON survey.region = zones.codes", "code"),
    ],
)
def test_unknown_names_are_guessed_from_public_names(sql: str, guess: str | None) -> None:
    with pytest.raises(UnknownName) as caught:
        read(sql)
    assert caught.value.fields["nearest"] == guess


def test_long_chains_are_read_without_recursion() -> None:
    many = read("SELECT COUNT(*) FROM survey WHERE " + " OR ".join(f"age = {n % 5}" for n in range(250))).plan.source
    assert isinstance(many, Filter)
    assert isinstance(many.where, Or)
    assert len(many.where.operands) == 250
    long_sum = read("SELECT SUM(" + " + ".join(["age"] * 300) + ") FROM survey").plan.measures[0]
    assert isinstance(long_sum, Total)
    assert isinstance(long_sum.value, Plus)


def test_too_many_cells() -> None:
    wide = SURVEY.replace("bounds: [0, 4]", "bounds: [0, 300000]")
    with pytest.raises(QueryRefused, match="cells"):
        read("SELECT COUNT(*) FROM survey GROUP BY age, smokes", wide)
    wider = SURVEY.replace("bounds: [0, 4]", "bounds: [0, 30000000]")
    with pytest.raises(QueryRefused, match="more than"):
        read("SELECT COUNT(*) FROM survey GROUP BY age", wider)
