"""Bounds found for private columns: statements of random SQL text follow the newest, whatever they followed before."""

from __future__ import annotations

from collections import Counter
from random import Random
from secrets import randbits
from typing import Final

import pytest

from discreet.cards.card import Card
from discreet.errors import DiscreetError
from discreet.lab.strategies.released_strategies import PrivateCatalogue
from discreet.sql.bounds import bound_statement
from discreet.sql.calculus import SEARCHED
from discreet.sql.reader.measures import Found
from discreet.sql.reader.questions import read_statement
from discreet.sql.statement import Statement
from tests.sql_text.populations import Population, population
from tests.sql_text.statements import random_question

BLOCK: Final = 200


def keep_private(random: Random, people: Population) -> PrivateCatalogue:
    """The population with the bounds of some confidential columns private."""
    weights = {card.weight.column for card in people.cards.values() if card.weight is not None}
    columns = [
        (name, column.name)
        for name, card in people.cards.items()
        for column in card.columns
        if column.bounds is not None and not column.public and column.name not in weights
    ]
    return PrivateCatalogue(people, frozenset(random.sample(columns, random.randint(1, len(columns)))))


def draw_bounds(random: Random, statement: Statement) -> Found:
    """Bounds for most of the columns, near 0 and far from it."""

    def ends() -> tuple[int, int]:
        reach = random.choice((4, 1000, SEARCHED))
        low = random.randint(-reach, reach - 1)
        return low, random.randint(low + 1, reach)

    return {column: ends() for column, _ in statement.private if random.random() < 0.8}


def all_told(statement: Statement) -> tuple[object, ...]:
    """Everything that a statement says; which aggregate each output shows is not part of its equality."""
    return statement, repr(statement.presentation), statement.hash


def require_followed(random: Random, sql: str, statement: Statement, cards: dict[str, Card]) -> None:
    first, second = (draw_bounds(random, statement) for _ in range(2))
    assert all_told(bound_statement(statement, cards, {})) == all_told(statement), sql
    within = bound_statement(statement, cards, second)
    assert all_told(bound_statement(bound_statement(statement, cards, first), cards, second)) == all_told(within), sql
    assert set(within.searched) == set(statement.searched) - set(second), sql
    assert (within.plan.source, within.plan.keys) == (statement.plan.source, statement.plan.keys), sql


@pytest.mark.parametrize("block", range(2))
def test_bounds_replace_each_other_and_none_change_nothing(block: int) -> None:
    start = randbits(48)  # new statements in every run
    seen: Counter[str] = Counter()
    for seed in range(start, start + BLOCK):
        random, question = Random(f"bounds {seed}"), random_question(seed)
        catalogue = keep_private(random, population(question.population))
        try:
            statement, cards = read_statement(question.sql, catalogue)
        except DiscreetError:
            continue
        require_followed(random, question.sql, statement, cards)
        seen["private" if statement.private else "others"] += 1
    assert seen["private"] >= BLOCK / 10, seen
