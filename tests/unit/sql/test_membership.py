"""Who is in a join, and how many add to a sum, is not told outside epsilon."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

import pytest

from discreet.cards.card import Membership, parse_card
from discreet.errors import CardInvalid, QueryRefused
from discreet.release.measurement.pricing import price
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities
from tests.unit.sql.catalogue import Shelf, shelf

CARD: Final = """
dataset: {name}
population: people
unit: {{column: pid, rows: 1}}
neighbours: replace-one
size: public
membership: {membership}
exact_public: {exact}
budget: {{epsilon: 3}}
columns:
  pid: {{kind: id, type: integer}}
  {value}: {{kind: integer, bounds: [0, 9]}}
  sex: {{kind: category, public: true, categories: [1, 2]}}
"""
ONE: Final = "FROM a"
BOTH: Final = "FROM a JOIN b ON a.pid = b.pid"
HIDDEN: Final = "SUM(CASE WHEN a.v > 5 THEN 1000001 ELSE 1000000 END)"


def house(
    *, membership: str = "confidential", exact: str = "false", other: str | None = None, other_exact: str | None = None
) -> Shelf:
    first = CARD.format(name="a", value="v", membership=membership, exact=exact)
    second = CARD.format(name="b", value="u", membership=other or membership, exact=other_exact or exact)
    return shelf(first, second)


def moved(sql: str, cards: Shelf) -> int:
    statement, found = read_statement(sql, cards)
    return int(sensitivities(statement.plan, statement.plan.measures[0], found).largest.l1)


@pytest.mark.parametrize(
    ("asked", "cards", "expected"),
    [
        (BOTH, house(), 1_000_001),
        (BOTH, house(exact="true"), 1_000_001),
        (BOTH, house(membership="public"), 1_000_001),
        (BOTH, house(membership="public", exact="true", other="confidential"), 1_000_001),
        (BOTH, house(membership="public", exact="true", other_exact="false"), 1_000_001),
        (BOTH, house(membership="public", exact="false", other_exact="true"), 1_000_001),
        (BOTH, house(membership="public", exact="true"), 1),
        (ONE, house(), 1_000_001),
        (ONE, house(membership="public"), 1_000_001),
        (ONE, house(exact="true"), 1),
    ],
)
def test_a_constant_inside_a_sum_tells_no_size(asked: str, cards: Shelf, expected: int) -> None:
    assert moved(f"SELECT {HIDDEN} {asked}", cards) == expected
    grouped = f"SELECT a.sex, {HIDDEN} {asked} GROUP BY a.sex"
    assert moved(grouped, cards) == expected


def test_who_is_in_both_is_counted_with_noise_unless_it_is_public() -> None:
    assert moved(f"SELECT COUNT(*) {BOTH}", house(exact="true")) == 1
    assert moved(f"SELECT COUNT(DISTINCT a.pid) {BOTH}", house(exact="true")) == 1
    assert moved(f"SELECT COUNT(*) {BOTH}", house(membership="public", exact="true")) == 0


@pytest.mark.parametrize(
    "output", ["COUNT(*)", "COUNT(DISTINCT a.pid)", "SUM(7)", "SUM(CASE WHEN sex = 1 THEN 3 ELSE 3 END)"]
)
def test_what_nobody_moves_is_refused_without_permission(output: str) -> None:
    statement, cards = read_statement(f"SELECT {output} {ONE}", house())
    with pytest.raises(QueryRefused, match="exact_public"):
        price(statement, cards, epsilon=Decimal(1))


def test_a_mean_costs_what_it_did() -> None:
    """It is summed around the middle of its bounds, so its share holds 0 anyway."""
    for cards in (house(), house(exact="true")):
        statement, found = read_statement("SELECT AVG(v) FROM a", cards)
        assert [sensitivities(statement.plan, one, found).largest.l1 for one in statement.plan.measures] == [9, 1]


def test_membership_is_public_only_with_a_public_size() -> None:
    card = CARD.format(name="a", value="v", membership="public", exact="false")
    assert parse_card(card, file="a.yaml").membership is Membership.PUBLIC
    with pytest.raises(CardInvalid, match="membership: public needs size: public"):
        parse_card(card.replace("size: public\n", ""), file="a.yaml")
    with pytest.raises(CardInvalid, match="membership"):
        parse_card(card.replace("membership: public", "membership: known"), file="a.yaml")
