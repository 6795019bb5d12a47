"""What the card says of an answer: the figures of the plan's calculus, and the words for a table of strategies."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.cards.card import parse_card
from discreet.guarantees.types import PureDP
from discreet.lab.strategies.public_strategy import Public, PublicBound, public_bound
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities

CARD = """
dataset: t
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100}
columns:
  pid: {kind: id, type: integer}
  age: {kind: integer, bounds: [0, 120]}
  height: {kind: number, bounds: [1.0, 2.5], step: 0.01}
"""
KNOWN = (
    CARD.replace("add-remove", "replace-one\nsize: public\nexact_public: true")
    .replace("bounds: [0, 120]", "bounds: [0, 120], presence: public")
    .replace("step: 0.01", "step: 0.01, presence: public")
)


class Catalogue:
    """One dataset, by its card."""

    def __init__(self, text: str) -> None:
        self.card = parse_card(text, file="t.yaml")

    def find(self, name: str) -> Any:
        return SimpleNamespace(name=name, version=1, card=self.card)


def bound(sql: str, card: str = CARD) -> PublicBound:
    statement, cards = read_statement(sql, Catalogue(card))
    return public_bound(statement, cards)


def test_counts_and_sums_are_what_the_plan_derives() -> None:
    assert bound("SELECT COUNT(*) FROM t").of_answer() == 1
    assert bound("SELECT SUM(age) FROM t").of_answer() == 120
    height = bound("SELECT SUM(height) FROM t")
    assert height.of_answer() == Fraction(5, 2)
    assert height.words == "moves by at most 2.5"
    statement, cards = read_statement("SELECT SUM(height) FROM t", Catalogue(CARD))
    [measure] = statement.plan.measures
    derived = sensitivities(statement.plan, measure, cards).largest
    assert height.total.derivation == derived.derivation
    assert height.total.sensitivity == derived.l1 / 100


def test_a_mean_over_a_public_number_is_one_noisy_sum() -> None:
    found = bound("SELECT AVG(height) FROM t", KNOWN)
    assert found.size is not None
    assert found.size.sensitivity == 0
    assert found.of_answer(300) == Fraction(3, 2) / 300
    assert found.of_answer() is None
    assert found.words == "a noisy sum, which moves by at most 1.5, over a public count"


def test_another_mean_is_a_noisy_sum_over_a_noisy_count() -> None:
    found = bound("SELECT AVG(age) FROM t")
    assert [one.text for one in found.measures] == ["SUM(age − 60)", "COUNT(age)"]
    assert [one.sensitivity for one in found.measures] == [60, 1]
    assert found.of_answer(300) == Fraction(60, 300)
    assert found.words == "a noisy sum over a noisy count"


@pytest.mark.parametrize("sql", ["SELECT MEDIAN(age) FROM t", "SELECT MAX(age) FROM t"])
def test_what_is_chosen_by_rank_has_a_bound_on_scores_alone(sql: str) -> None:
    found = bound(sql)
    assert found.of_answer() is None
    assert found.words.startswith("a choice by rank; scores move by ")


def test_a_strategy_draws_as_it_was_told() -> None:
    answers = iter((1.0, 2.0))
    strategy = Public(bound("SELECT SUM(age) FROM t"), Decimal("0.5"), lambda: next(answers))
    assert strategy.name == "public"
    assert strategy.guarantee == PureDP(epsilon="0.5")
    assert [strategy.draw().result, strategy.draw().result] == [1.0, 2.0]
    mean = Public(bound("SELECT AVG(age) FROM t"), Decimal(1), lambda: 0.0)
    assert math.isnan(mean.draw().sensitivity)
