"""TRIMMED_AVG: read where the strategy `smooth` is admitted, refused by name in every question."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.cards.card import parse_card
from discreet.errors import QueryRefused
from discreet.sql.algebra import Plan, Trimmed
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities
from discreet.sql.statement import Statement
from tests.algebra.columns import field, scan
from tests.unit.sql.catalogue import columns, shelf

CARD = """
dataset: visits
population: people
unit: {column: pid, rows: 3}
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
columns:
  pid: {kind: id, type: integer}
  cost: {kind: integer, bounds: [0, 1000]}
  far: {kind: integer}
  region: {kind: category, categories: [N, S]}
"""


def read(sql: str, *, admit: frozenset[str] = frozenset({"smooth"})) -> Statement:
    return read_statement(sql, shelf(CARD), admit=admit)[0]


def test_value_and_share() -> None:
    statement = read("SELECT TRIMMED_AVG(cost, 0.1) FROM visits")
    assert statement.plan.measures == (Trimmed(columns(statement, "visits")["cost"], Fraction(1, 10)),)


@pytest.mark.parametrize("admit", [frozenset[str](), frozenset({"elastic"})], ids=["none", "elastic"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TRIMMED_AVG(cost, 0.1) FROM visits",
        "SELECT region, TRIMMED_AVG(cost, 0.1) FROM visits GROUP BY region",
        "SELECT COUNT(*) FROM visits HAVING TRIMMED_AVG(cost, 0.1) > 3",
        "SELECT COUNT(*) FROM visits ORDER BY TRIMMED_AVG(cost, 0.1)",
    ],
)
def test_questions_do_not_read_it(sql: str, admit: frozenset[str]) -> None:
    with pytest.raises(QueryRefused, match="custodians' comparisons under the strategy `smooth`"):
        read(sql, admit=admit)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("TRIMMED_AVG(cost)", "between 0 and 0.5"),
        ("TRIMMED_AVG(cost, 0)", "between 0 and 0.5"),
        ("TRIMMED_AVG(cost, 0.5)", "between 0 and 0.5"),
        ("TRIMMED_AVG(cost, '0.1')", "between 0 and 0.5"),
        ("TRIMMED_AVG(cost, cost)", "between 0 and 0.5"),
        ("TRIMMED_AVG(cost, 0.1, 0.2)", "between 0 and 0.5"),
        ("TRIMMED_AVG(far, 0.1)", "needs bounds"),
        ("TRIMMED_AVG(region, 0.1)", "needs a number"),
        ("TRIMMED_AVG(pid, 0.1)", "needs a number"),
    ],
)
def test_refusals(call: str, said: str) -> None:
    with pytest.raises(QueryRefused, match=said):
        read(f"SELECT {call} FROM visits")


def test_it_has_no_sensitivity_from_the_card() -> None:
    with pytest.raises(QueryRefused, match="smooth"):
        sensitivities(
            Plan(scan(parse_card(CARD, file="card.yaml")), (), ()), Trimmed(field("cost"), Fraction(1, 10)), {}
        )
