"""The SQL of a plan: golden files per engine, and what the text must not do."""

from __future__ import annotations

import os
import re

import pytest

from discreet.engines.dialects import DUCKDB, Dialect
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.spark_dialect import SPARK
from discreet.engines.rendering import RenderedTable, Rendering, render
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Clamp,
    Derive,
    Filter,
    Lookup,
    Plan,
    Plus,
    Rows,
    TextIn,
    Times,
    Total,
    Units,
    Value,
    Whole,
    Within,
)
from tests.algebra.columns import at, field, scan
from tests.conformance.engines.operators import CARDS, QUESTIONS, Question
from tests.places import GOLDEN as _GOLDEN

GOLDEN = _GOLDEN / "plans"
DIALECTS = (DUCKDB, POSTGRES, SPARK)
TABLES = {name: RenderedTable(f"prepared_{name}", card.unit.column) for name, card in CARDS.items()}
PEOPLE = CARDS["people"]


def golden_text(rendering: Rendering) -> str:
    texts = [*([rendering.numbers] if rendering.numbers is not None else []), *rendering.histograms]
    return ";\n\n".join(texts) + ";\n"


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.engine)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_text_is_the_golden_one(question: Question, dialect: Dialect) -> None:
    file = GOLDEN / dialect.engine / f"{question.name}.sql"
    text = golden_text(render(question.plan, dialect, TABLES))
    if os.environ.get("DISCREET_WRITE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_every_golden_file_belongs_to_a_question() -> None:
    wanted = {f"{dialect.engine}/{question.name}.sql" for dialect in DIALECTS for question in QUESTIONS}
    assert {str(file.relative_to(GOLDEN)) for file in GOLDEN.rglob("*.sql")} == wanted


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.engine)
def test_no_float_and_nothing_approximate_is_ever_written(dialect: Dialect) -> None:
    for question in QUESTIONS:
        text = golden_text(render(question.plan, dialect, TABLES)).lower()
        for word in ("double", "float", "real", "random", "approx", "round(", "hash(", "try_cast", " / "):
            assert word not in text, question.name


def test_equal_measures_are_computed_once() -> None:
    age = field("age")
    plan = Plan(scan(PEOPLE, 1), (), (Rows(None), Units(), Total(age), Total(Plus((age, Whole(0)))), Rows(None)))
    assert render(plan, DUCKDB, TABLES).places == (0, 0, 1, 1, 0)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.engine)
def test_arithmetic_that_decides_rows_sees_none_that_a_condition_below_has_dropped(dialect: Dialect) -> None:
    """An engine may try the key first; whether a product then overflows would depend on rows that do not count."""
    gain, age = field("gain"), field("age")
    few = Filter(Filter(scan(PEOPLE, 1), Within(gain, 0, 1000)), Within(age, 0, 50))
    square = Derive(few, ((at("square"), Times(gain, gain)),))
    plan = Plan(Lookup(square, field("square"), (at("worth"),), ((4, 1),)), (), (Rows(None),))
    text = render(plan, dialect, TABLES).numbers
    assert text is not None
    assert len(re.findall(r"CASE WHEN \(.* BETWEEN 0 AND 50\) THEN", text)) == 1
    assert len(re.findall(r"CASE WHEN \(.* BETWEEN 0 AND 1000\) THEN", text)) >= 1


def test_only_columns_in_use_are_read() -> None:
    text = render(Plan(scan(PEOPLE, 2), (), (Total(field("age")),)), DUCKDB, TABLES).numbers
    assert text is not None
    assert '"age"' in text
    assert '"gain"' not in text
    assert "pid" not in text
    assert "unit" not in text


def test_spark_reads_no_text_that_settings_could_change() -> None:
    texts = ("it's", "a\\b", "${env:HOME}", "plain", "é")
    plan = Plan(Filter(scan(PEOPLE, 1), TextIn(field("note"), texts)), (), (Rows(None),))
    text = render(plan, SPARK, TABLES).numbers
    assert text is not None
    assert "'plain'" in text
    assert not any(character in text for character in "\\$")


def test_clamps_that_multiply_the_text_are_refused() -> None:
    value: Value = field("age")
    for _ in range(40):
        value = Clamp(Plus((value, Whole(1))), 0, 9)
    with pytest.raises(QueryRefused, match="CLAMP"):
        render(Plan(scan(PEOPLE, 1), (), (Total(value),)), DUCKDB, TABLES)
